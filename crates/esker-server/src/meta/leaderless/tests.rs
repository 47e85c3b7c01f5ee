//! What a node says of tables while nobody leads the meta group.

use std::collections::BTreeMap;

use esker_raft::NodeId;
use esker_rpc::codec::scalars::Address;

use crate::meta::command::Deed;
use crate::meta::trial::{Trial, addresses, group, new_table};

use super::*;

/// Nodes that live, and what the node's own replicas know.
struct Sight {
    alive: Vec<u64>,
    leaders: BTreeMap<GroupId, (u64, Option<NodeId>)>,
}

impl Seen for Sight {
    fn leader(&self, group: GroupId) -> Option<(u64, Option<NodeId>)> {
        self.leaders.get(&group).copied()
    }

    fn is_alive(&self, node: NodeId) -> bool {
        self.alive.contains(&node.0)
    }
}

fn asked(name: &str, partition_indices: &[i32]) -> QueryConfigRequest {
    QueryConfigRequest {
        app_name: name.to_owned(),
        partition_indices: partition_indices.to_vec(),
    }
}

fn at(number: u64) -> Address {
    addresses(number).client.into()
}

#[test]
fn partitions_are_told_by_what_the_node_sees_itself() {
    // Of two partitions on three nodes each: of one the node's replica knows the leader, of the
    // other it has none, and names somebody who lives.
    let mut trial = Trial::new(3);
    let table = trial.table(new_table("ships", 2, 3));
    let leaders = BTreeMap::from([(group(table.0, 0), (7, Some(NodeId(3))))]);
    let alive = vec![2, 3];
    let sight = Sight { alive, leaders };
    let told = partitions(&trial.state, &sight, &asked("ships", &[])).expect("it is known");
    assert!(told.err.is_ok() && told.is_stateful);
    assert_eq!((told.app_id, told.partition_count), (table.wire(), 2));
    let [first, second] = &told.partitions[..] else {
        panic!("two partitions: {told:?}");
    };
    assert_eq!((first.primary, first.ballot), (at(3), 7));
    assert_eq!(first.secondaries, [at(2)]);
    let mut both = second.secondaries.clone();
    both.push(second.primary);
    both.sort();
    assert_eq!((both, second.ballot), (vec![at(2), at(3)], 1));
    let told = partitions(&trial.state, &sight, &asked("ships", &[1])).expect("it is known");
    assert_eq!(told.partitions, std::slice::from_ref(second));
}

#[test]
fn a_leader_that_does_not_live_is_not_named() {
    let mut trial = Trial::new(3);
    let table = trial.table(new_table("ships", 1, 3));
    let leaders = BTreeMap::from([(group(table.0, 0), (7, Some(NodeId(3))))]);
    let alive = vec![2];
    let sight = Sight { alive, leaders };
    let told = partitions(&trial.state, &sight, &asked("ships", &[])).expect("it is known");
    assert_eq!(told.partitions[0].primary, at(2));
}

#[test]
fn what_may_be_otherwise_by_now_is_not_said() {
    // A table that is not there may have been made, or recalled; one that is being made needs the
    // leader. And who is cut off from everybody leaves the answer to others.
    let mut trial = Trial::new(3);
    trial.table(new_table("ships", 1, 3));
    let (alive, leaders) = (vec![1, 2, 3], BTreeMap::new());
    let sight = Sight { alive, leaders };
    assert!(partitions(&trial.state, &sight, &asked("ships", &[])).is_some());
    assert_eq!(partitions(&trial.state, &sight, &asked("boats", &[])), None);
    let blind = Sight {
        alive: Vec::new(),
        leaders: BTreeMap::new(),
    };
    assert_eq!(partitions(&trial.state, &blind, &asked("ships", &[])), None);
    let table = new_table("boats", 1, 3);
    trial.done(Deed::CreateTable { table });
    assert_eq!(partitions(&trial.state, &sight, &asked("boats", &[])), None);
    let name = "ships".to_owned();
    trial.done(Deed::DropTable {
        name,
        reserve_s: 60,
        or_absent: false,
    });
    assert_eq!(partitions(&trial.state, &sight, &asked("ships", &[])), None);
}
