//! What nodes are told: what follows from state, members and report, and nothing else.

use esker_raft::Configuration;

use crate::meta::command::{Command, Deed};
use crate::meta::trial::{Trial, UNIX_MS, group, new_table, report};

use super::*;

fn told(trial: &Trial, node: u64) -> Vec<Directive> {
    directives(&trial.state, &trial.live, &trial.reports[&NodeId(node)])
}

#[test]
fn a_node_is_told_tables_and_nodes_once() {
    let mut trial = Trial::new(2);
    trial.rounds(5);
    assert_eq!(told(&trial, 2), []);
    trial.done(Deed::CreateTable {
        table: new_table("t", 1, 1),
    });
    let Some(Directive::Tables { tables, .. }) = told(&trial, 2).into_iter().next() else {
        panic!("the tables");
    };
    assert_eq!(
        (tables[0].name.as_str(), tables[0].partition_count),
        ("t", 1)
    );
    assert!(!tables[0].is_dropped);
    trial.rounds(5);
    assert_eq!(told(&trial, 2), []);
    trial.done(Deed::DropTable {
        name: "t".into(),
        reserve_s: 5,
        or_absent: false,
    });
    let Some(Directive::Tables { tables, .. }) = told(&trial, 2).into_iter().next() else {
        panic!("the tables");
    };
    assert!(tables[0].is_dropped);
}

#[test]
fn a_first_voter_is_made_until_it_was_reported_and_never_again() {
    let mut trial = Trial::new(3);
    trial.rounds(5);
    trial.done(Deed::CreateTable {
        table: new_table("t", 1, 3),
    });
    let create = |trial: &Trial, node| {
        let all = told(trial, node);
        let found = all
            .into_iter()
            .find(|one| matches!(one, Directive::Create { .. }));
        found.map(|one| match one {
            Directive::Create { first, .. } => first,
            other => panic!("{other:?}"),
        })
    };
    let first = create(&trial, 2).expect("it is to be made");
    assert_eq!(first.len(), 3);
    assert_eq!(create(&trial, 3), Some(first.clone()));
    // A crash before the report: the same again.
    trial.hear();
    assert_eq!(create(&trial, 2), Some(first));
    trial.rounds(2);
    assert_eq!(create(&trial, 2), None);
    // The node lost it: its vote is gone, and it must not come back under its id.
    trial
        .reports
        .get_mut(&NodeId(2))
        .expect("a node")
        .replicas
        .clear();
    trial.hear();
    assert_eq!(create(&trial, 2), None);
    assert!(trial.state.partitions[&group(1, 0)].unmade.is_empty());
}

#[test]
fn a_replica_goes_only_when_its_group_or_its_table_is_done_with_it() {
    let mut trial = Trial::new(4);
    let table = trial.table(new_table("t", 1, 3));
    trial.rounds(5);
    let id = group(table.0, 0);
    let members = trial.members(id);
    // One that nobody wishes and that is no member yet stays: it may become one.
    let spare = (1..=4)
        .map(NodeId)
        .find(|node| !members.nodes.values().any(|at| at == node));
    let spare = spare.expect("a spare node");
    trial.put(spare, id, ReplicaId(8), None);
    // One of a table that this state never gave a number to stays: the state may be behind.
    trial.put(spare, group(50, 0), ReplicaId(1), None);
    trial.hear();
    assert_eq!(told(&trial, spare.0), []);
    // One that has left goes, and the members are the proof.
    trial.replica(spare, id).expect("it was put").replica = ReplicaId(2);
    let node = members.nodes[&ReplicaId(1)];
    let leader = trial.live.group(id).expect("a leader").node;
    let mut without: Configuration = members.clone();
    without.version += 1;
    without.voters.remove(&ReplicaId(2));
    without.nodes.remove(&ReplicaId(2));
    trial.replica(leader, id).expect("it leads").configuration = Some(without.clone());
    // As long as no majority knows it, the vote of the one that leaves may be needed.
    trial.hear();
    let destroys = |one: &Directive| matches!(one, Directive::Destroy { .. });
    assert!(!told(&trial, spare.0).iter().any(destroys));
    for node in without.nodes.values() {
        trial.replica(*node, id).expect("it is there").applied = without.version;
    }
    trial.hear();
    let goes = Directive::Destroy {
        group: id,
        replica: ReplicaId(2),
        without: Some(without),
    };
    assert!(told(&trial, spare.0).contains(&goes));
    assert!(
        !told(&trial, node.0)
            .iter()
            .any(|one| matches!(one, Directive::Destroy { .. }))
    );
    // A dropped table keeps its replicas until it is forgotten.
    trial.done(Deed::DropTable {
        name: "t".into(),
        reserve_s: 1,
        or_absent: false,
    });
    let destroys = |trial: &Trial| {
        let all = told(trial, leader.0);
        all.iter()
            .any(|one| matches!(one, Directive::Destroy { without: None, .. }))
    };
    assert!(!destroys(&trial));
    let unix_ms = UNIX_MS + 2000;
    trial.apply_command(&Command {
        unix_ms,
        deed: Deed::ForgetTable { table },
    });
    assert!(destroys(&trial));
}

#[test]
fn nothing_moves_while_the_level_is_frozen() {
    let mut trial = Trial::new(4);
    let table = trial.table(new_table("t", 4, 3));
    trial.rounds(20);
    trial.done(Deed::DrainNode {
        node: NodeId(2),
        is_draining: true,
    });
    trial.rounds(2);
    trial.done(Deed::SetLevel {
        level: Level::Frozen,
    });
    trial.rounds(2);
    let moves = |trial: &Trial| {
        let all = (1..=4).flat_map(|node| told(trial, node));
        all.filter(|one| matches!(one, Directive::Change { .. } | Directive::Transfer { .. }))
            .count()
    };
    assert_eq!(moves(&trial), 0);
    trial.done(Deed::SetLevel {
        level: Level::Steady,
    });
    assert!(moves(&trial) > 0);
    assert_eq!(trial.rounds(40), 0);
    for (group, _) in trial.state.groups(table) {
        assert!(
            !trial
                .members(group)
                .nodes
                .values()
                .any(|node| *node == NodeId(2))
        );
    }
}

#[test]
fn a_stranger_is_told_to_stop_and_nothing_else() {
    let mut trial = Trial::new(3);
    trial.done(Deed::RemoveNode { node: NodeId(3) });
    let all = directives(&trial.state, &trial.live, &report(3));
    assert!(matches!(&all[..], [Directive::Stop { why }] if why.contains("removed")));
    // One with a number that was not given yet is told nothing: this state may be behind.
    assert_eq!(directives(&trial.state, &trial.live, &report(8)), []);
}

#[test]
fn what_waits_for_an_image_that_is_wished_no_more_goes() {
    let mut trial = Trial::new(4);
    let table = trial.table(new_table("t", 1, 3));
    trial.rounds(9);
    let id = group(table.0, 0);
    let row = trial.state.partitions[&id].clone();
    let spare = (1..=4)
        .map(NodeId)
        .find(|node| !row.wished.values().any(|at| at == node));
    let spare = spare.expect("a spare node");
    let change = |trial: &mut Trial, version, add, drop| {
        let adopt = Vec::new();
        let wish = crate::meta::command::Wish {
            group: id,
            version,
            add,
            adopt,
            drop,
        };
        trial.done(Deed::Wish { wish });
    };
    change(&mut trial, row.version, vec![spare], vec![]);
    trial.rounds(1);
    let waits = trial.replica(spare, id).expect("it was made");
    assert_eq!((waits.replica, waits.applied), (ReplicaId(4), 0));
    change(&mut trial, row.version + 1, vec![], vec![ReplicaId(4)]);
    trial.hear();
    let discard = Directive::Discard {
        group: id,
        replica: ReplicaId(4),
    };
    assert_eq!(told(&trial, spare.0), [discard]);
    // With an image it stays until its group says that it has left.
    trial.replica(spare, id).expect("it is there").applied = 1;
    trial.hear();
    assert_eq!(told(&trial, spare.0), []);
}
