//! Which replicas are replaced, when, and where to.

use crate::meta::command::Deed;
use crate::meta::ids::TableId;
use crate::meta::repair::repairs;
use crate::meta::trial::{Trial, UNIX_MS, new_table, report};

use super::*;

fn on(trial: &Trial, table: TableId, node: u64) -> usize {
    let groups = trial.state.groups(table);
    groups
        .filter(|group| group.1.wished.values().any(|at| at.0 == node))
        .count()
}

fn wishes(trial: &Trial) -> usize {
    let all = repairs(&trial.state, &trial.live, UNIX_MS);
    all.iter()
        .filter(|one| matches!(one.deed, Deed::Wish { .. }))
        .count()
}

/// A cluster with a table of eight partitions at rest.
fn at_rest(nodes: u64, replicas: u32) -> (Trial, TableId) {
    let mut trial = Trial::new(nodes);
    let table = trial.table(new_table("t", 8, replicas));
    assert_eq!(trial.rounds(40), 0);
    (trial, table)
}

#[test]
fn a_silent_node_is_replaced_after_ten_minutes_and_not_before() {
    let (mut trial, table) = at_rest(5, 3);
    let before = on(&trial, table, 5);
    assert!(before > 0);
    trial.silence(5);
    for _ in 0..599 {
        trial.hear();
        assert_eq!(wishes(&trial), 0);
    }
    assert_eq!(trial.rounds(40), 0);
    assert_eq!(on(&trial, table, 5), 0);
    for (group, row) in trial.state.groups(table) {
        assert_eq!(
            (row.wished.len(), trial.members(group).voters.len()),
            (3, 3)
        );
    }
}

#[test]
fn a_node_that_comes_back_in_time_keeps_its_replicas() {
    let (mut trial, _) = at_rest(5, 3);
    let before = trial.state.partitions.clone();
    let kept = trial.reports[&NodeId(5)].clone();
    trial.silence(5);
    trial.seconds(500);
    let mut back = kept;
    back.incarnation += 1;
    for replica in &mut back.replicas {
        replica.configuration = None;
        replica.role = crate::meta::report::Role::Follower;
    }
    trial.reports.insert(NodeId(5), back);
    assert_eq!(trial.rounds(20), 0);
    trial.seconds(500);
    assert_eq!((wishes(&trial), &trial.state.partitions), (0, &before));
}

#[test]
fn a_group_without_a_leader_is_left_alone() {
    let (mut trial, _) = at_rest(5, 1);
    // Each partition has one copy: moving its wish elsewhere would help nobody.
    trial.reports.remove(&NodeId(4));
    trial.seconds(1200);
    assert_eq!(wishes(&trial), 0);
}

#[test]
fn a_damaged_replica_gets_a_new_id_elsewhere_or_at_home() {
    for nodes in [4, 3] {
        let (mut trial, table) = at_rest(nodes, 3);
        let group = trial.state.groups(table).next().expect("a group").0;
        let members = trial.members(group);
        let leader = trial.live.group(group).expect("a leader").leader;
        let (&damaged, &node) = members
            .nodes
            .iter()
            .find(|one| *one.0 != leader)
            .expect("a follower");
        trial.replica(node, group).expect("it is there").damage = Some("a flipped bit".into());
        assert_eq!(trial.rounds(40), 0);
        let after = trial.members(group);
        assert!(after.has_left(damaged) && after.voters.len() == 3);
        assert_eq!(after.replica_max, 4);
        let is_home = after.nodes.values().any(|at| *at == node);
        assert_eq!(
            is_home,
            nodes == 3,
            "another node is better where there is one"
        );
    }
}

#[test]
fn what_a_node_has_lost_comes_back_under_a_new_id() {
    let (mut trial, table) = at_rest(3, 3);
    // A wiped node under its old number has nothing, and says so.
    let leads = |trial: &Trial, node: u64| {
        let replicas = &trial.reports[&NodeId(node)].replicas;
        replicas.iter().any(|one| one.configuration.is_some())
    };
    let kept = trial.reports[&NodeId(2)].clone();
    trial.silence(2);
    assert!(kept.replicas.len() > 8 || !leads(&trial, 1));
    trial.reports.insert(NodeId(2), report(2));
    assert_eq!(trial.rounds(80), 0);
    for (group, row) in trial.state.groups(table) {
        let members = trial.members(group);
        assert_eq!((members.voters.len(), members.replica_max), (3, 4));
        assert!(row.wished.values().any(|node| *node == NodeId(2)));
    }
}

#[test]
fn a_drained_node_is_emptied_and_may_go() {
    let (mut trial, table) = at_rest(4, 3);
    trial.done(Deed::DrainNode {
        node: NodeId(1),
        is_draining: true,
    });
    assert_eq!(trial.rounds(60), 0);
    assert_eq!(on(&trial, table, 1), 0);
    assert_eq!(trial.reports[&NodeId(1)].replicas, []);
    trial.done(Deed::RemoveNode { node: NodeId(1) });
    assert!(trial.live.hear(&trial.state, &report(2)));
    assert!(!trial.live.hear(&trial.state, &report(1)));
}

#[test]
fn a_node_that_cannot_be_spared_stays() {
    let (mut trial, table) = at_rest(3, 3);
    trial.done(Deed::DrainNode {
        node: NodeId(1),
        is_draining: true,
    });
    trial.rounds(20);
    assert_eq!((on(&trial, table, 1), wishes(&trial)), (8, 0));
}

#[test]
fn more_or_fewer_replicas_come_one_by_one() {
    let (mut trial, table) = at_rest(5, 3);
    for count in [5, 2, 3, 1, 4] {
        trial.done(Deed::SetReplicaCount {
            name: "t".into(),
            count,
            hosts: 5,
        });
        assert_eq!(trial.rounds(80), 0);
        for (group, row) in trial.state.groups(table) {
            let wanted = usize::try_from(count).expect("few");
            assert_eq!(
                (row.wished.len(), trial.members(group).voters.len()),
                (wanted, wanted)
            );
        }
    }
}

#[test]
fn full_disks_and_busy_nodes_get_nothing() {
    let (mut trial, table) = at_rest(5, 3);
    for node in [4, 5] {
        trial
            .reports
            .get_mut(&NodeId(node))
            .expect("a node")
            .space_free_bytes = 49;
    }
    let before = (on(&trial, table, 4), on(&trial, table, 5));
    trial.done(Deed::DrainNode {
        node: NodeId(1),
        is_draining: true,
    });
    trial.rounds(60);
    let after = (on(&trial, table, 4), on(&trial, table, 5));
    assert_eq!(before, after);
    // Many at once: a node gets no more than so many at a time.
    let mut trial = Trial::new(4);
    trial.table(new_table("t", 64, 3));
    trial.rounds(40);
    trial.done(Deed::DrainNode {
        node: NodeId(1),
        is_draining: true,
    });
    trial.hear();
    assert!(wishes(&trial) <= 3 * INCOMING_MAX && wishes(&trial) > 0);
}

#[test]
fn a_member_that_is_back_is_better_than_a_new_one() {
    let (mut trial, table) = at_rest(4, 3);
    let (group, row) = trial.state.groups(table).next().expect("a group");
    let row = row.clone();
    let leader = trial.live.group(group).expect("a leader").leader;
    let (&old, &home) = row
        .wished
        .iter()
        .find(|one| *one.0 != leader)
        .expect("a follower");
    let spare = (1..=4)
        .map(NodeId)
        .find(|node| !row.wished.values().any(|at| at == node));
    let spare = spare.expect("a spare node");
    let wish = Wish {
        group,
        version: row.version,
        add: vec![spare],
        adopt: Vec::new(),
        drop: vec![old],
    };
    trial.done(Deed::Wish { wish });
    // The new one's node dies before it has begun; the old one is a member still.
    trial.reports.remove(&spare);
    trial.seconds(601);
    for command in repairs(&trial.state, &trial.live, UNIX_MS) {
        trial.apply_command(&command);
    }
    assert_eq!(trial.state.partitions[&group].wished.get(&old), Some(&home));
}

#[test]
fn replicas_that_share_a_host_by_a_later_label_part() {
    let (mut trial, table) = at_rest(4, 3);
    for node in [1, 2] {
        trial.reports.get_mut(&NodeId(node)).expect("a node").label = "rack".into();
    }
    assert_eq!(trial.rounds(60), 0);
    for (group, row) in trial.state.groups(table) {
        let hosts: BTreeSet<_> = row
            .wished
            .values()
            .map(|node| trial.state.host(*node))
            .collect();
        assert_eq!((hosts.len(), trial.members(group).voters.len()), (3, 3));
    }
}

#[test]
fn the_meta_group_never_rests_at_two() {
    let mut trial = Trial::new(3);
    for _ in 0..20 {
        trial.rounds(1);
        let members = trial.members(META);
        assert_ne!(members.voters.len(), 2, "{members:?}");
    }
    assert_eq!(trial.members(META).voters.len(), 3);
}

#[test]
fn a_label_that_is_none_does_not_hide_where_a_node_is() {
    let mut trial = Trial::new(2);
    trial.rounds(9);
    let report = trial.reports.get_mut(&NodeId(2)).expect("a node");
    report.label = "x".repeat(65);
    report.incarnation = 7;
    assert_eq!(trial.rounds(9), 0);
    let row = &trial.state.nodes[&NodeId(2)];
    assert_eq!((row.incarnation, row.label.as_str()), (7, ""));
}

#[test]
fn a_node_is_needed_as_long_as_a_group_counts_on_it() {
    // One copy of each partition: the wish is elsewhere long before the copy is.
    let (mut trial, table) = at_rest(4, 1);
    trial.done(Deed::DrainNode {
        node: NodeId(2),
        is_draining: true,
    });
    trial.rounds(1);
    assert_eq!(on(&trial, table, 2), 0);
    let needs = |trial: &Trial| trial.live.needs(&trial.state, NodeId(2));
    let refusal = needs(&trial).expect("its copies are the only ones");
    assert!(refusal.why.contains("drain it first"), "{refusal}");
    // Even removed it goes on, until nobody counts on it.
    let mut state = trial.state.clone();
    state.nodes.remove(&NodeId(2));
    let report = trial.reports[&NodeId(2)].clone();
    assert_eq!(
        crate::meta::live::stranger(&state, &trial.live, &report),
        None
    );
    assert_eq!(trial.rounds(60), 0);
    assert_eq!(needs(&trial), None);
    // A leader of the meta group that has not heard of every group does not know.
    trial.live = Live::new();
    assert!(
        needs(&trial)
            .expect("nobody was heard")
            .why
            .contains("nobody has heard")
    );
}

#[test]
fn replicas_of_dropped_tables_are_made_after_those_of_others() {
    // The dropped one was there first; each node takes a few replicas at a time.
    let mut trial = Trial::new(4);
    let dropped = trial.table(new_table("dropped", 64, 3));
    let kept = trial.table(new_table("kept", 16, 3));
    assert_eq!(trial.rounds(60), 0);
    trial.done(Deed::DropTable {
        name: "dropped".into(),
        reserve_s: 604_800,
        or_absent: false,
    });
    trial.silence(4);
    trial.seconds(600);
    let all = repairs(&trial.state, &trial.live, UNIX_MS);
    let wished = all.into_iter().filter_map(|one| match one.deed {
        Deed::Wish { wish } => Some(crate::meta::ids::PartitionId::of(wish.group).table),
        _ => None,
    });
    let wished: Vec<TableId> = wished.collect();
    let first = on(&trial, kept, 4);
    assert!(first > 0 && wished.len() > first, "{wished:?}");
    assert!(
        wished[..first].iter().all(|table| *table == kept),
        "{wished:?}"
    );
    assert!(
        wished[first..].iter().all(|table| *table == dropped),
        "{wished:?}"
    );
}
