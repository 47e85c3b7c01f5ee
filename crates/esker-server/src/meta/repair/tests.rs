//! What is due without anybody's asking.

use esker_raft::NodeId;

use crate::meta::directive::Directive;
use crate::meta::outcome::Outcome;
use crate::meta::plan::directives;
use crate::meta::trial::{Trial, UNIX_MS, addresses, epoch, new_node, new_table, report};

use super::*;

#[test]
fn a_table_opens_when_each_partition_can_be_written_to() {
    let mut trial = Trial::new(3);
    trial.rounds(20);
    trial.done(Deed::CreateTable {
        table: new_table("t", 4, 3),
    });
    trial.rounds(1);
    let opens = |trial: &Trial| {
        let all = repairs(&trial.state, &trial.live, UNIX_MS);
        all.iter()
            .any(|one| matches!(one.deed, Deed::OpenTable { .. }))
    };
    assert!(!opens(&trial));
    trial.hear();
    assert!(opens(&trial));
    // With one partition that nobody leads any more, it waits.
    let group = crate::meta::trial::group(1, 3);
    let leader = trial.live.group(group).expect("a leader").node;
    let leader = trial.replica(leader, group).expect("it leads");
    let members = leader.configuration.take();
    leader.role = crate::meta::report::Role::Follower;
    trial.hear();
    assert!(trial.live.group(group).is_some() && !opens(&trial));
    let at = trial.live.group(group).expect("it was led").node;
    let leader = trial.replica(at, group).expect("it is there");
    leader.configuration = members;
    leader.role = crate::meta::report::Role::Leader;
    trial.hear();
    assert!(opens(&trial));
}

#[test]
fn a_table_whose_opening_is_lost_opens_though_nobody_leads_it() {
    let mut trial = Trial::new(3);
    trial.rounds(20);
    for name in ["ships", "boats"] {
        let table = new_table(name, 1, 3);
        trial.done(Deed::CreateTable { table });
    }
    // Of the first one there is a replica that nobody leads; the second one was never made.
    let (ships, boats) = (TableId(1), TableId(2));
    let group = crate::meta::trial::group(1, 0);
    let (&replica, &node) = trial.state.partitions[&group].wished.iter().next().unwrap();
    trial.put(node, group, replica, None);
    trial.hear();
    let opens = |trial: &Trial| {
        let all = repairs(&trial.state, &trial.live, UNIX_MS).into_iter();
        let opened = all.filter_map(|one| match one.deed {
            Deed::OpenTable { table } => Some(table),
            _ => None,
        });
        opened.collect::<Vec<_>>()
    };
    assert_eq!(opens(&trial), [], "it is on its way");
    trial.done(Deed::RecoverMeta { epoch: epoch(1) });
    assert_eq!(opens(&trial), [ships]);
    trial.done(Deed::OpenTable { table: ships });
    assert!(trial.state.is_settled(group) && opens(&trial).is_empty());
    // The second one is made after all, and what is made from then on is open when it is led.
    let told = directives(&trial.state, &trial.live, &trial.reports[&NodeId(1)]);
    let boats = crate::meta::trial::group(boats.0, 0);
    let is_made =
        |one: &Directive| matches!(one, Directive::Create { group, .. } if *group == boats);
    assert!(told.iter().any(is_made), "{told:?}");
    let table = new_table("rafts", 1, 3);
    let Outcome::Table { table: rafts } = trial.done(Deed::CreateTable { table }) else {
        panic!("a table");
    };
    let group = crate::meta::trial::group(rafts.0, 0);
    let (&replica, &node) = trial.state.partitions[&group].wished.iter().next().unwrap();
    trial.put(node, group, replica, None);
    trial.hear();
    assert_eq!(opens(&trial), []);
}

#[test]
fn a_node_that_moved_is_known_where_it_is() {
    let mut trial = Trial::new(2);
    trial.rounds(20);
    let report = trial.reports.get_mut(&NodeId(2)).expect("a node");
    report.addresses = addresses(77);
    report.incarnation = 9;
    trial.rounds(2);
    let row = &trial.state.nodes[&NodeId(2)];
    assert_eq!((&row.addresses, row.incarnation), (&addresses(77), 9));
}

#[test]
fn a_dropped_table_is_forgotten_at_its_end() {
    let mut trial = Trial::new(1);
    trial.table(new_table("t", 1, 1));
    trial.done(Deed::DropTable {
        name: "t".into(),
        reserve_s: 10,
        or_absent: false,
    });
    let due = |trial: &Trial, s: u64| {
        let all = repairs(&trial.state, &trial.live, UNIX_MS + s * 1000);
        all.into_iter()
            .filter(|one| matches!(one.deed, Deed::ForgetTable { .. }))
            .collect()
    };
    let early: Vec<Command> = due(&trial, 9);
    assert_eq!(early, []);
    let late: Vec<Command> = due(&trial, 10);
    trial.apply_command(&late[0]);
    assert_eq!(trial.state.tables.len(), 0);
    trial.rounds(2);
    assert_eq!(
        trial.reports[&NodeId(1)].replicas.len(),
        1,
        "the meta group's"
    );
}

#[test]
fn nothing_is_due_before_the_cluster_begins() {
    assert_eq!(repairs(&State::default(), &Live::new(), UNIX_MS), []);
}

#[test]
fn a_node_at_whose_address_another_one_is_has_time_to_come_back() {
    let mut trial = Trial::new(3);
    let node = crate::meta::command::NewNode {
        addresses: addresses(3),
        ..new_node(4, "")
    };
    trial.done(Deed::RegisterNode { node });
    let there = crate::meta::report::Report {
        addresses: addresses(3),
        ..report(4)
    };
    trial.reports.insert(NodeId(4), there);
    trial.reports.remove(&NodeId(3));
    trial.live = Live::new();
    for second in 1..=10 {
        trial.hear();
        let due = repairs(&trial.state, &trial.live, UNIX_MS);
        let removal = Deed::RemoveNode { node: NodeId(3) };
        let is_removed = due.iter().any(|one| one.deed == removal);
        assert_eq!(is_removed, second == 10, "{second} s");
    }
}
