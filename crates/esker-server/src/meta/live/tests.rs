//! Who lives, who leads, and who is a stranger.

use esker_raft::Configuration;

use crate::meta::trial::{Trial, group, new_table, report};

use super::*;

#[test]
fn a_pause_of_the_leader_is_no_silence_of_the_nodes() {
    let mut trial = Trial::new(2);
    assert!(trial.live.is_alive(NodeId(2)));
    trial.live.pass(3_600_000);
    assert!(trial.live.is_alive(NodeId(2)));
    for _ in 0..4 {
        trial.live.pass(1000);
    }
    assert!(!trial.live.is_alive(NodeId(2)));
    assert!(!trial.live.is_gone(NodeId(2)));
    for _ in 0..595 {
        trial.live.pass(1000);
    }
    assert!(trial.live.is_gone(NodeId(2)));
    // Whoever leads next has watched nobody yet.
    assert!(!Live::new().is_gone(NodeId(2)));
}

#[test]
fn strangers_are_told_to_stop_and_not_heard() {
    let mut trial = Trial::new(3);
    // Nobody has that number yet: this state may be the one that is behind.
    assert!(stranger(&trial.state, &trial.live, &report(9)).is_none());
    assert!(!trial.live.hear(&trial.state, &report(9)));
    let node = NodeId(3);
    trial.done(crate::meta::command::Deed::RemoveNode { node });
    let mut told = |report: Report| {
        let why = stranger(&trial.state, &trial.live, &report).expect("a stranger");
        assert!(!trial.live.hear(&trial.state, &report));
        why
    };
    let cluster = crate::meta::ids::ClusterId(5);
    assert!(
        told(Report {
            cluster,
            ..report(2)
        })
        .contains("cluster 0000000000000005")
    );
    assert!(told(report(3)).contains("removed"));
    assert!(
        told(Report {
            incarnation: 0,
            ..report(2)
        })
        .contains("opened again")
    );
    // Whoever has not read its state yet stops nobody.
    assert!(stranger(&State::default(), &trial.live, &report(1)).is_none());
    assert!(trial.live.hear(
        &trial.state,
        &Report {
            incarnation: 2,
            ..report(2)
        }
    ));
    // The one before is a stranger even before the state knows of the new one.
    assert!(!trial.live.hear(&trial.state, &report(2)));
}

#[test]
fn the_newest_term_leads_and_the_newest_members_count() {
    let mut trial = Trial::new(3);
    let table = trial.table(new_table("t", 1, 3));
    let group = group(table.0, 0);
    let known = trial.live.group(group).expect("a leader").clone();
    let others = trial.members(group);
    let (heir, at) = others
        .nodes
        .iter()
        .find(|one| *one.0 != known.leader)
        .expect("a voter");
    let mut say = |term, version, replica: ReplicaId, node: NodeId| {
        let members = Configuration {
            version,
            ..others.clone()
        };
        let mut report = report(node.0);
        report.replicas.push(ReplicaReport {
            stall: None,
            leaderless: None,
            group,
            replica,
            role: Role::Leader,
            term,
            applied: 9,
            bytes: 0,
            damage: None,
            configuration: Some(members),
        });
        assert!(trial.live.hear(&trial.state, &report));
        let known = trial.live.group(group).expect("a leader");
        (known.leader, known.term, known.configuration.version)
    };
    let (leader, node) = (known.leader, known.node);
    assert_eq!(say(5, 7, leader, node), (leader, 5, 7));
    // A new leader has not applied the newest members yet.
    assert_eq!(say(6, 6, *heir, *at), (*heir, 6, 7));
    // One that was deposed and does not know knows the members at the best.
    assert_eq!(say(5, 8, leader, node), (*heir, 6, 8));
    let led = trial.live.led_group(group).expect("led");
    assert_eq!(led.leader, *heir);
    for _ in 0..5 {
        trial.live.pass(1000);
    }
    assert_eq!(trial.live.led_group(group), None);
    assert!(trial.live.group(group).is_some());
}

#[test]
fn with_half_of_the_nodes_away_nobody_is_taken_for_dead() {
    let mut trial = Trial::new(5);
    assert!(!trial.live.is_cut_off(&trial.state));
    for (node, is_cut_off) in [(5, false), (4, false), (3, true)] {
        trial.reports.remove(&NodeId(node));
        trial.seconds(6);
        assert_eq!(trial.live.is_cut_off(&trial.state), is_cut_off);
    }
}

#[test]
fn what_one_report_lacks_the_next_one_may_have() {
    let mut trial = Trial::new(2);
    let id = crate::meta::ids::META;
    let lacks = |trial: &Trial| {
        let node = trial.live.node(NodeId(1)).expect("it was heard");
        node.lacks(id, ReplicaId(1))
    };
    let kept = trial.reports[&NodeId(1)].replicas.clone();
    let mut say = |replicas| {
        trial.reports.get_mut(&NodeId(1)).expect("a node").replicas = replicas;
        trial.hear();
        lacks(&trial)
    };
    assert!(!say(Vec::new()));
    assert!(!say(kept.clone()));
    assert!(!say(Vec::new()));
    assert!(say(Vec::new()));
    assert!(!say(kept));
}

#[test]
fn one_that_is_damaged_does_not_count_as_one_that_waits_for_room() {
    let mut trial = Trial::new(2);
    trial.put(NodeId(2), group(1, 0), ReplicaId(1), None);
    let mut report = trial.reports[&NodeId(2)].clone();
    for (damage, has_room) in [(None, false), (Some("its rows cannot be read"), true)] {
        let replica = report.replicas.last_mut().expect("it has one");
        replica.stall = Some("the disk is full".to_owned());
        replica.damage = damage.map(str::to_owned);
        assert!(trial.live.hear(&trial.state, &report));
        let node = trial.live.node(NodeId(2)).expect("it was heard");
        assert_eq!(node.has_space(), has_room, "{damage:?}");
    }
}

/// A report of a node with a disk of so many bytes, and so many of them free.
fn of_disk(node: u64, total: u64, free: u64) -> Report {
    Report {
        space_total_bytes: total,
        space_free_bytes: free,
        ..report(node)
    }
}

#[test]
fn a_disk_is_short_by_its_size_and_a_large_one_by_what_is_enough() {
    let mib = 1 << 20;
    let mut trial = Trial::new(2);
    let mut has_space = |total, free| {
        for report in [of_disk(1, 0, mib), of_disk(2, total, free)] {
            assert!(trial.live.hear(&trial.state, &report));
        }
        trial.live.with_space(&trial.state).contains(&NodeId(2))
    };
    assert!(has_space(10_000 * mib, 500 * mib));
    assert!(!has_space(10_000 * mib, 500 * mib - 1));
    assert!(has_space(1_000_000 * mib, 1024 * mib));
    assert!(!has_space(1_000_000 * mib, 1024 * mib - 1));
    // Nobody says how large it is.
    assert!(has_space(0, mib));
}

#[test]
fn where_all_disks_are_short_those_that_live_are_taken() {
    let gib = 1 << 30;
    let mut trial = Trial::new(2);
    for node in 1..=2 {
        let report = of_disk(node, 100 * gib, gib / 2);
        assert!(trial.live.hear(&trial.state, &report));
    }
    assert_eq!(trial.live.with_space(&trial.state).len(), 2);
    let report = of_disk(2, 100 * gib, 50 * gib);
    assert!(trial.live.hear(&trial.state, &report));
    assert_eq!(trial.live.with_space(&trial.state), [NodeId(2)]);
}
