//! What is given away, how often, and what is said of it.

use esker::internals::env::sim::SimWorld;
use esker::{Db, KeyspaceOptions};
use esker_raft::{Member, ReplicaId};

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
    shortage.gave(&[GroupId(8)], Duration::from_secs(1));
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
    shortage.gave(&[GroupId(7), GroupId(8)], Duration::from_secs(1));
    views[1].set_stall(None);
    shortage.forget_who_goes_on(&views);
    views[1].set_stall(Some("the disk is full".to_owned()));
    assert_eq!(meant(&shortage, &views), [8]);
    // A raft log without room is everybody's.
    shortage.gave(&[GroupId(8)], Duration::from_secs(2));
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
