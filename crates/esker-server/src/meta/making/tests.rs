//! When a table that is being made is placed anew, and when it must not be.

use esker_raft::Configuration;

use crate::meta::directive::Directive;
use crate::meta::outcome::{Cause, Outcome};
use crate::meta::plan::directives;
use crate::meta::repair::repairs;
use crate::meta::report::{Leaderless, Role};
use crate::meta::rows::Level;
use crate::meta::trial::{Trial, UNIX_MS, addresses, epoch, group, new_node, new_table, report};

use super::*;

/// A table of one partition that is being made, its group, and where its first voters are to be.
fn being_made(nodes: u64, replicas: u32) -> (Trial, GroupId, Vec<(ReplicaId, NodeId)>) {
    let mut trial = Trial::new(nodes);
    let table = new_table("t", 1, replicas);
    let Outcome::Table { table } = trial.done(Deed::CreateTable { table }) else {
        panic!("a table");
    };
    let id = group(table.0, 0);
    let first = trial.state.partitions[&id].first.clone();
    (trial, id, first.into_iter().collect())
}

/// A first voter is there, and knows no leader.
fn put(trial: &mut Trial, id: GroupId, first: &[(ReplicaId, NodeId)], at: usize) {
    let (replica, node) = first[at];
    trial.put(node, id, replica, None);
    trial.replica(node, id).expect("it was put").leaderless = Some(Leaderless {
        last_term: 1,
        last: 1,
        configuration: Configuration::first(1, first),
    });
}

fn due(trial: &Trial) -> Vec<Deed> {
    made_anew(&trial.state, &trial.live)
}

fn table_of(id: GroupId) -> TableId {
    crate::meta::ids::PartitionId::of(id).table
}

#[test]
fn a_partition_that_others_are_about_to_make_is_not_lost() {
    // One of three first voters is there, and the others are slow: they were never reported.
    let (mut trial, id, first) = being_made(4, 3);
    put(&mut trial, id, &first, 0);
    for _ in 0..60 {
        trial.hear();
        assert_eq!(due(&trial), []);
    }
    // One of their nodes is begun again meanwhile, twice; then it is there as well.
    for incarnation in [2, 3] {
        let mut back = trial.reports.remove(&first[1].1).expect("a node");
        trial.seconds(9);
        assert_eq!(due(&trial), []);
        back.incarnation = incarnation;
        trial.reports.insert(first[1].1, back);
        trial.seconds(2);
        assert_eq!(due(&trial), []);
    }
    put(&mut trial, id, &first, 1);
    trial.reports.remove(&first[2].1);
    trial.seconds(60);
    assert_eq!(due(&trial), [], "two of three elect");
}

#[test]
fn a_table_without_most_of_its_first_voters_is_placed_where_nodes_live() {
    let (mut trial, id, first) = being_made(5, 3);
    put(&mut trial, id, &first, 0);
    let old = table_of(id);
    for (_, node) in &first[1..] {
        trial.reports.remove(node);
    }
    trial.seconds(9);
    assert_eq!(due(&trial), []);
    trial.seconds(1);
    let due = repairs(&trial.state, &trial.live, UNIX_MS);
    let is_it = |it: &Deed| matches!(it, Deed::MakeAnew { table, .. } if *table == old);
    let anew = due.iter().find(|it| is_it(&it.deed)).expect("it is due");
    let Outcome::Table { table: new } = trial.apply_command(anew) else {
        panic!("another table");
    };
    // A second one comes to nothing.
    assert_eq!(trial.refused(anew.deed.clone()), Cause::NoTable);
    assert!(new > old && trial.state.groups(old).next().is_none());
    let row = &trial.state.partitions[&group(new.0, 0)];
    assert_eq!(row.wished.len(), 3);
    assert!(row.wished.values().all(|node| trial.live.is_alive(*node)));
    // What was made before goes, and the table opens.
    trial.hear();
    let told = directives(&trial.state, &trial.live, &trial.reports[&first[0].1]);
    let goes = Directive::Destroy {
        group: id,
        replica: first[0].0,
        without: None,
    };
    assert!(told.contains(&goes), "{told:?}");
    trial.rounds(4);
    let (table, row) = trial.state.table("t").expect("a table");
    assert_eq!((table, row.status), (new, TableStatus::Open));
}

#[test]
fn a_table_gets_no_fewer_replicas_than_it_was_to_have() {
    // Of three nodes one is left: that it alone lives says nothing of the others.
    let (mut trial, id, first) = being_made(3, 3);
    put(&mut trial, id, &first, 0);
    for (_, node) in &first[1..] {
        trial.reports.remove(node);
    }
    trial.seconds(600);
    assert_eq!(due(&trial), []);
    let early = Deed::MakeAnew {
        table: table_of(id),
        candidates: vec![first[0].1],
    };
    assert_eq!(trial.refused(early), Cause::TooFewNodes);
    // One comes back without what it had, as another node.
    let lost = first[1].1.0;
    trial.done(Deed::RegisterNode {
        node: crate::meta::command::NewNode {
            addresses: addresses(lost),
            ..new_node(4, "")
        },
    });
    let mut new = report(4);
    new.addresses = addresses(lost);
    trial.reports.insert(NodeId(4), new);
    trial.seconds(2);
    assert_eq!(due(&trial), []);
    trial.reports.insert(first[2].1, report(first[2].1.0));
    trial.seconds(1);
    assert_eq!(due(&trial), [], "two of three elect");
    trial.reports.remove(&first[2].1);
    trial.seconds(12);
    // Somebody lets go of the dead one: there are two hosts, and two replicas then. Who joined anew
    // is one in its old number's place, which goes by itself.
    let node = first[2].1;
    trial.done(Deed::LeaveNode { node });
    let anew = due(&trial);
    let Outcome::Table { table } = trial.done(anew[0].clone()) else {
        panic!("another table");
    };
    let wished = &trial.state.partitions[&group(table.0, 0)].wished;
    let nodes: BTreeSet<_> = wished.values().copied().collect();
    assert_eq!(nodes, [first[0].1, NodeId(4)].into());
    let all = repairs(&trial.state, &trial.live, UNIX_MS);
    let removed = Deed::RemoveNode { node: first[1].1 };
    assert!(all.iter().any(|it| it.deed == removed), "{all:?}");
}

#[test]
fn a_table_is_not_opened_without_the_nodes_that_led_it() {
    // One partition was led, and its only replica is gone before the other one is.
    let mut trial = Trial::new(4);
    let table = new_table("t", 2, 1);
    let Outcome::Table { table } = trial.done(Deed::CreateTable { table }) else {
        panic!("a table");
    };
    let at = |trial: &Trial, index| {
        let first = &trial.state.partitions[&group(table.0, index)].first;
        let (replica, node) = first.first_key_value().expect("one replica");
        (*replica, *node)
    };
    let (one, two) = (at(&trial, 0), at(&trial, 1));
    let opens = |trial: &Trial| {
        let all = repairs(&trial.state, &trial.live, UNIX_MS);
        all.iter()
            .any(|it| matches!(it.deed, Deed::OpenTable { .. }))
    };
    let led = |trial: &mut Trial, index, voter: (ReplicaId, NodeId)| {
        let members = Some(Configuration::first(1, &[voter]));
        trial.put(voter.1, group(table.0, index), voter.0, members);
    };
    led(&mut trial, 0, one);
    trial.hear();
    let back = trial.reports.remove(&one.1).expect("a node");
    trial.seconds(12);
    led(&mut trial, 1, two);
    trial.hear();
    assert!(!opens(&trial));
    assert_eq!(due(&trial).len(), 1);
    trial.reports.insert(one.1, back);
    trial.hear();
    assert!(opens(&trial) && due(&trial).is_empty());
}

#[test]
fn a_table_that_was_led_once_and_is_not_any_more_is_made_elsewhere() {
    // Of two first voters one has led by the other's word, whose node is gone since.
    let (mut trial, id, first) = being_made(3, 2);
    put(&mut trial, id, &first, 0);
    put(&mut trial, id, &first, 1);
    let leader = trial.replica(first[0].1, id).expect("it was put");
    let leaderless = leader.leaderless.take();
    leader.role = Role::Leader;
    leader.configuration = Some(Configuration::first(1, &first));
    trial.hear();
    let opens = |trial: &Trial| {
        let all = repairs(&trial.state, &trial.live, UNIX_MS);
        all.iter()
            .any(|it| matches!(it.deed, Deed::OpenTable { .. }))
    };
    assert!(opens(&trial));
    trial.reports.remove(&first[1].1);
    let leader = trial.replica(first[0].1, id).expect("it was put");
    (leader.role, leader.configuration) = (Role::Follower, None);
    leader.leaderless = leaderless;
    for _ in 0..9 {
        trial.hear();
        assert!(!opens(&trial) && due(&trial).is_empty());
    }
    trial.hear();
    assert!(!opens(&trial) && due(&trial).len() == 1);
}

/// The disk of a node has so much room, of a thousand.
fn room(trial: &mut Trial, node: NodeId, free: u64) {
    let report = trial.reports.get_mut(&node).expect("a node");
    report.space_free_bytes = free;
}

#[test]
fn a_table_of_which_a_first_voter_has_no_room_is_made_where_there_is_some() {
    // It was not made yet, or does not go on: neither lets the other one be elected.
    for is_made in [false, true] {
        let (mut trial, id, first) = being_made(3, 2);
        put(&mut trial, id, &first, 0);
        let full = first[1].1;
        if is_made {
            put(&mut trial, id, &first, 1);
            let replica = trial.replica(full, id).expect("it was put");
            replica.stall = Some("the disk is full".to_owned());
        }
        room(&mut trial, full, 10);
        for _ in 0..10 {
            trial.hear();
            assert_eq!(due(&trial), [], "there may be room in a moment");
        }
        trial.hear();
        let due = due(&trial);
        let [Deed::MakeAnew { candidates, .. }] = &due[..] else {
            panic!("it is due: {due:?}");
        };
        assert!(candidates.len() == 2 && !candidates.contains(&full));
        let Outcome::Table { table } = trial.done(due[0].clone()) else {
            panic!("another table");
        };
        let wished = &trial.state.partitions[&group(table.0, 0)].wished;
        assert!(!wished.values().any(|node| *node == full), "{wished:?}");
        trial.rounds(4);
        let (_, row) = trial.state.table("t").expect("a table");
        assert_eq!(row.status, TableStatus::Open);
    }
}

#[test]
fn a_table_stays_where_it_is_placed_as_long_as_there_is_no_room_elsewhere() {
    // There are two hosts for two replicas.
    let (mut trial, id, first) = being_made(2, 2);
    put(&mut trial, id, &first, 0);
    room(&mut trial, first[1].1, 10);
    trial.seconds(600);
    assert_eq!(due(&trial), []);
    // No disk has room: it would come back to the same ones.
    let (mut trial, id, first) = being_made(3, 2);
    put(&mut trial, id, &first, 0);
    (1..=3).for_each(|node| room(&mut trial, NodeId(node), 10));
    trial.seconds(600);
    assert_eq!(due(&trial), []);
    // With one of three that has none the other two elect.
    let (mut trial, id, first) = being_made(4, 3);
    put(&mut trial, id, &first, 0);
    put(&mut trial, id, &first, 1);
    room(&mut trial, first[2].1, 10);
    trial.seconds(600);
    assert_eq!(due(&trial), []);
    // Room that comes back in time, again and again, is room.
    let (mut trial, id, first) = being_made(3, 2);
    put(&mut trial, id, &first, 0);
    for _ in 0..20 {
        room(&mut trial, first[1].1, 10);
        trial.seconds(8);
        room(&mut trial, first[1].1, 900);
        trial.seconds(1);
        assert_eq!(due(&trial), []);
    }
}

#[test]
fn a_node_that_damages_what_it_makes_is_left_out_where_there_are_others() {
    let (mut trial, id, first) = being_made(3, 2);
    put(&mut trial, id, &first, 0);
    put(&mut trial, id, &first, 1);
    trial.replica(first[1].1, id).expect("it is there").damage = Some("a bit".to_owned());
    trial.hear();
    let [Deed::MakeAnew { candidates, .. }] = &due(&trial)[..] else {
        panic!("it is due");
    };
    assert!(candidates.len() == 2 && !candidates.contains(&first[1].1));
    // With two nodes for two replicas it is tried again.
    let third = (1..=3).map(NodeId);
    let mut third = third.filter(|node| first.iter().all(|one| one.1 != *node));
    trial.done(Deed::DrainNode {
        node: third.next().expect("a third one"),
        is_draining: true,
    });
    let [Deed::MakeAnew { candidates, .. }] = &due(&trial)[..] else {
        panic!("it is due");
    };
    assert!(candidates.contains(&first[1].1));
}

#[test]
fn what_a_living_node_has_lost_of_a_table_votes_no_more() {
    let damaged = |trial: &mut Trial, id: GroupId, (_, node): (ReplicaId, NodeId)| {
        trial.replica(node, id).expect("it is there").damage = Some("a bit".to_owned());
    };
    let destroyed = |trial: &mut Trial, id: GroupId, (replica, node): (ReplicaId, NodeId)| {
        let report = trial.reports.get_mut(&node).expect("a node");
        report.replicas.retain(|one| one.group != id);
        report.lost.push((id, replica));
    };
    let gone = |trial: &mut Trial, id: GroupId, (_, node): (ReplicaId, NodeId)| {
        let report = trial.reports.get_mut(&node).expect("a node");
        report.replicas.retain(|one| one.group != id);
    };
    type Lose<'a> = &'a dyn Fn(&mut Trial, GroupId, (ReplicaId, NodeId));
    let ways: [(Lose<'_>, usize); 3] = [(&damaged, 1), (&destroyed, 1), (&gone, 2)];
    for (lose, reports) in ways {
        let (mut trial, id, first) = being_made(3, 2);
        put(&mut trial, id, &first, 0);
        put(&mut trial, id, &first, 1);
        let replicas = first.iter().map(|one| (id, one.0)).collect();
        trial.done(Deed::NoteMade { replicas });
        trial.seconds(3);
        assert_eq!(due(&trial), []);
        lose(&mut trial, id, first[1]);
        // One report without it may be of a moment in which it was not looked at.
        trial.seconds(reports - 1);
        assert_eq!(due(&trial), []);
        trial.seconds(1);
        assert_eq!(due(&trial).len(), 1);
    }
}

#[test]
fn a_table_that_is_open_or_may_be_keeps_its_number() {
    let lose = |trial: &mut Trial, first: &[(ReplicaId, NodeId)]| {
        for (_, node) in &first[1..] {
            trial.reports.remove(node);
        }
        trial.seconds(10);
    };
    let refused = |trial: &mut Trial, id: GroupId| {
        trial.refused(Deed::MakeAnew {
            table: table_of(id),
            candidates: (1..=5).map(NodeId).collect(),
        })
    };
    let (mut trial, id, first) = being_made(5, 3);
    lose(&mut trial, &first);
    assert_eq!(due(&trial).len(), 1);
    let table = table_of(id);
    trial.done(Deed::OpenTable { table });
    trial.live = Live::new();
    trial.seconds(12);
    assert_eq!(
        (due(&trial), refused(&mut trial, id)),
        (vec![], Cause::Stale)
    );
    // That it was opened may be among entries that are lost.
    let (mut trial, id, first) = being_made(5, 3);
    lose(&mut trial, &first);
    assert_eq!(due(&trial).len(), 1);
    trial.done(Deed::RecoverMeta { epoch: epoch(1) });
    assert_eq!(
        (due(&trial), refused(&mut trial, id)),
        (vec![], Cause::Stale)
    );
    // At this level no table is created.
    let (mut trial, id, first) = being_made(5, 3);
    lose(&mut trial, &first);
    let level = Level::Frozen;
    trial.done(Deed::SetLevel { level });
    let all = repairs(&trial.state, &trial.live, UNIX_MS);
    assert!(
        !all.iter()
            .any(|it| matches!(it.deed, Deed::MakeAnew { .. }))
    );
    assert_eq!(refused(&mut trial, id), Cause::Frozen);
    // Dropped it is forgotten.
    trial.done(Deed::DropTable {
        name: "t".into(),
        reserve_s: 1,
        or_absent: false,
    });
    assert_eq!(
        (due(&trial), refused(&mut trial, id)),
        (vec![], Cause::Stale)
    );
}
