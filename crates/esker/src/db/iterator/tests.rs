//! Tests of `iterator`.

use std::time::Duration;

use crate::base::types::error::ErrorKind;
use crate::db::handle::Db;
use crate::env::sim::SimWorld;

fn open(world: &SimWorld) -> Db {
    Db::builder("db").env(world.env()).open().unwrap()
}

#[test]
fn refreshing_what_has_not_changed_opens_nothing() {
    // An iterator that stands in a file with both ends begins again and again while nobody writes,
    // and keeps its cursors. After a write it has others.
    let world = SimWorld::new(1);
    let db = open(&world);
    for key in ["a", "b", "c"] {
        db.put(key, "1").unwrap();
    }
    db.flush().unwrap();
    let mut entries = db.iter().unwrap();
    assert!(entries.next().is_some() && entries.next_back().is_some());
    for _ in 0..100 {
        entries.refresh().unwrap();
        assert_eq!(entries.rested.len(), 2);
        assert_eq!(entries.next().unwrap().unwrap().0, "a");
        assert_eq!(entries.next_back().unwrap().unwrap().0, "c");
        assert_eq!(entries.next().unwrap().unwrap().0, "b");
        assert!(entries.next().is_none() && entries.next_back().is_none());
    }
    db.put("d", "2").unwrap();
    entries.refresh().unwrap();
    assert!(entries.rested.is_empty());
    assert_eq!(entries.next_back().unwrap().unwrap().0, "d");
    assert_eq!(entries.next_back().unwrap().unwrap().0, "c");
    assert_eq!(entries.count(), 2);
}

#[test]
fn an_iterator_of_a_snapshot_is_refreshed_to_now() {
    // It keeps its range, and its ends never see two moments.
    let world = SimWorld::new(2);
    let db = open(&world);
    db.put("b", "1").unwrap();
    let snapshot = db.snapshot();
    let mut keys = snapshot.range("b"..="c").unwrap().keys();
    for key in ["a", "b", "c", "d"] {
        db.put(key, "2").unwrap();
    }
    assert_eq!(keys.next_back().unwrap().unwrap(), "b");
    keys.refresh().unwrap();
    assert_eq!(keys.next().unwrap().unwrap(), "b");
    db.delete("c").unwrap();
    assert_eq!(keys.next_back().unwrap().unwrap(), "c");
    keys.refresh().unwrap();
    assert_eq!(keys.next_back().unwrap().unwrap(), "b");
    assert!(keys.next().is_none());
    drop((db, snapshot));
    keys.refresh().unwrap();
    assert_eq!(keys.count(), 1, "it keeps the database open");
}

#[test]
fn what_expired_meanwhile_is_gone_after_a_refresh() {
    // Nothing is written, but a second has passed.
    let world = SimWorld::new(3);
    let db = open(&world);
    let ttl = Duration::from_secs(10);
    db.put_with_ttl("visit", "anna", ttl).unwrap();
    let mut entries = db.iter().unwrap();
    let then = world.env().clock.unix_seconds() + 11;
    world.clock.set_unix_time(Duration::from_secs(then));
    assert!(entries.next().is_some(), "it sees its moment");
    entries.refresh().unwrap();
    assert!(entries.next().is_none());
}

#[test]
fn a_refresh_that_is_refused_changes_nothing() {
    // A transaction's has no other moment, and of a closed database nothing is seen.
    let world = SimWorld::new(4);
    let db = open(&world);
    db.put("a", "1").unwrap();
    db.put("b", "2").unwrap();
    let transaction = db.begin();
    let mut entries = transaction.iter().unwrap();
    assert!(entries.next().is_some());
    assert_eq!(entries.refresh().unwrap_err().kind(), ErrorKind::Invalid);
    assert_eq!(entries.next().unwrap().unwrap().0, "b", "it goes on");
    drop((entries, transaction));
    let mut entries = db.iter().unwrap();
    db.close().unwrap();
    assert_eq!(
        entries.next().unwrap().unwrap_err().kind(),
        ErrorKind::Closed
    );
    assert_eq!(entries.refresh().unwrap_err().kind(), ErrorKind::Closed);
    assert!(entries.next().is_none());
}
