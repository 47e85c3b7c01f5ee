//! What is given away, how often, and what is said of it.

use esker::internals::env::sim::SimWorld;
use esker::{Db, KeyspaceOptions};
use esker_raft::Member;

use crate::node::Alarm;
use crate::partition::signature::Signature;

use super::*;

fn views(db: &Db) -> Vec<Arc<View>> {
    let view = |group: u64| {
        let options = KeyspaceOptions {
            is_unlogged: true,
            ..KeyspaceOptions::default()
        };
        let keyspace = db.keyspace_with(&group.to_string(), options).unwrap();
        let member = Member {
            group: GroupId(group),
            replica: ReplicaId(1),
        };
        Arc::new(View::new(
            member,
            keyspace,
            Signature::default(),
            (1, 0, 1),
            Alarm::default(),
        ))
    };
    [7, 8, 9].map(view).to_vec()
}

fn db() -> Db {
    let builder = Db::builder("/db").env(SimWorld::new(1).env());
    builder.open().unwrap()
}

fn meant(shortage: &Shortage, views: &[Arc<View>]) -> Vec<u64> {
    let meant = views.iter().filter(|view| shortage.evades(view));
    meant.map(|view| view.member.group.0).collect()
}

fn give(shortage: &mut Shortage, groups: &[u64], second: u64) -> Option<String> {
    let groups: Vec<GroupId> = groups.iter().map(|group| GroupId(*group)).collect();
    shortage.gave(&groups, Duration::from_secs(second), |group| {
        format!("{} is full", group.0)
    })
}

#[test]
fn what_comes_back_is_given_away_more_and_more_seldom_and_said_once() {
    // Where no other disk has room each lead was handed round every three seconds, with a line.
    let db = db();
    let views = views(&db);
    let mut shortage = Shortage {
        log_is_full: true,
        ..Shortage::default()
    };
    let mut given = Vec::new();
    let mut lines = Vec::new();
    for second in 0..200 {
        assert!(shortage.is_due(Duration::from_secs(second)));
        if shortage.evades(&views[0]) {
            given.push(second);
            lines.extend(give(&mut shortage, &[7], second));
        }
    }
    assert_eq!(given, [0, 3, 9, 21, 45, 93, 141, 189]);
    assert_eq!(
        lines,
        ["1 partition is to be led elsewhere, 0.7 for one: 7 is full"]
    );
    let line = give(&mut shortage, &[7, 8, 9], 200).unwrap();
    assert!(
        line.starts_with("2 partitions are to be led elsewhere, 0.8 for one: 8 is full"),
        "{line}"
    );
}

#[test]
fn each_time_another_one_is_to_lead() {
    // The first one was asked again and again, though its disk was as full.
    let mut members = Configuration::default();
    for id in 1..=4 {
        members.nodes.insert(ReplicaId(id), NodeId(10 + id));
    }
    members.voters = [1, 2, 3].map(ReplicaId).into();
    members.learners = [4].map(ReplicaId).into();
    let mut shortage = Shortage::default();
    let of = (GroupId(7), ReplicaId(1));
    let heir = |shortage: &Shortage| shortage.heir(of, &members, |_| true).unwrap().0;
    let mut heirs = Vec::new();
    for second in 0..4 {
        heirs.push(heir(&shortage));
        give(&mut shortage, &[7], second);
    }
    assert_eq!(heirs, [2, 3, 2, 3]);
    let only = |node: NodeId| node == NodeId(13);
    assert_eq!(shortage.heir(of, &members, only), Some(ReplicaId(3)));
    assert_eq!(shortage.heir(of, &members, |_| false), None);
}

#[test]
fn what_cannot_go_on_is_given_away_once_in_three_seconds() {
    let db = db();
    let views = views(&db);
    let mut shortage = Shortage::default();
    assert!(shortage.is_due(Duration::ZERO));
    assert!(!shortage.is_due(Duration::from_millis(900)));
    assert_eq!(meant(&shortage, &views), [0; 0]);
    views[1].set_stall(Some("the disk is full".to_owned()));
    assert_eq!(meant(&shortage, &views), [8]);
    give(&mut shortage, &[8], 1);
    assert_eq!(meant(&shortage, &views), [0; 0]);
    // A raft log that cannot grow is every group's.
    shortage.log_is_full = true;
    assert_eq!(meant(&shortage, &views), [7, 9]);
    assert!(shortage.is_due(Duration::from_secs(3)));
    assert_eq!(meant(&shortage, &views), [7, 9]);
    assert!(shortage.is_due(Duration::from_secs(4)));
    assert_eq!(meant(&shortage, &views), [7, 8, 9]);
    shortage.log_is_full = false;
    views[1].set_stall(None);
    assert_eq!(meant(&shortage, &views), [0; 0]);
}

#[test]
fn what_stops_once_more_is_given_away_at_once() {
    // It was given away, had room, led again, and has none.
    let db = db();
    let views = views(&db);
    let mut shortage = Shortage::default();
    views[0].set_stall(Some("the disk is full".to_owned()));
    views[1].set_stall(Some("the disk is full".to_owned()));
    give(&mut shortage, &[7, 8], 1);
    views[1].set_stall(None);
    shortage.forget_who_goes_on(&views);
    views[1].set_stall(Some("the disk is full".to_owned()));
    assert_eq!(meant(&shortage, &views), [8]);
    // A raft log without room is everybody's.
    give(&mut shortage, &[8], 2);
    views[1].set_stall(None);
    shortage.log_is_full = true;
    shortage.forget_who_goes_on(&views);
    assert_eq!(meant(&shortage, &views), [9]);
}

#[test]
fn it_is_said_once_what_does_not_go_on_and_once_that_it_does() {
    let db = db();
    let views = views(&db);
    let mut shortage = Shortage::default();
    assert_eq!(shortage.line(&views), None);
    views[0].set_stall(Some("the disk is full".to_owned()));
    views[2].set_stall(Some("the disk is full".to_owned()));
    let (level, line) = shortage.line(&views).unwrap();
    assert_eq!(level, Level::Warning);
    assert!(line.starts_with("2 replicas do not go on, "), "{line}");
    assert!(line.ends_with(": the disk is full"), "{line}");
    assert_eq!(shortage.line(&views), None);
    views[0].set_stall(None);
    assert_eq!(shortage.line(&views), None);
    views[2].set_stall(None);
    let (level, line) = shortage.line(&views).unwrap();
    assert_eq!(
        (level, &line[..]),
        (Level::Note, "all replicas go on again")
    );
    assert_eq!(Shortage::why(Some(&views[0])), stall::LOG_HAS_NO_ROOM);
}
