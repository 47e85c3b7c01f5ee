//! Tests of `cursor`.

use std::time::Duration;

use crate::base::options::call::ReadOptions;
use crate::base::types::error::ErrorKind;
use crate::db::handle::Db;
use crate::env::sim::SimWorld;

/// A database, and how often it looked for a block.
fn open(world: &SimWorld) -> (Db, impl Fn() -> u64 + use<>) {
    let db = Db::builder("db").env(world.env()).open().unwrap();
    let told = db.clone();
    let blocks = move || {
        let counters = told.stats().counters;
        let of_cache = counters
            .iter()
            .filter(|(name, ..)| name.starts_with("esker_block_cache_"));
        of_cache.map(|(.., value)| value).sum()
    };
    (db, blocks)
}

#[test]
fn refreshing_what_has_not_changed_reads_nothing() {
    // A cursor in a file is refreshed a hundred times while nobody writes, and seeks the same key:
    // it has that block. After a write it reads the block again.
    let world = SimWorld::new(1);
    let (db, blocks) = open(&world);
    db.put("a", "1").unwrap();
    db.put("b", "2").unwrap();
    db.flush().unwrap();
    let mut cursor = db.cursor().unwrap();
    assert!(cursor.seek("a").unwrap());
    let before = blocks();
    for _ in 0..100 {
        cursor.refresh().unwrap();
        assert!(!cursor.is_valid() && cursor.key().is_none());
        assert!(!cursor.next().unwrap(), "from nowhere it stays nowhere");
        assert!(cursor.seek("a").unwrap());
    }
    assert_eq!(blocks(), before);
    db.put("c", "3").unwrap();
    cursor.refresh().unwrap();
    assert!(cursor.seek_to_last().unwrap());
    assert_eq!(cursor.key(), Some(&b"c"[..]));
    assert!(cursor.seek("a").unwrap());
    assert!(blocks() > before);
}

#[test]
fn a_cursor_of_a_snapshot_is_refreshed_to_now() {
    // And it keeps its range, and how it reads.
    let world = SimWorld::new(2);
    let (db, _) = open(&world);
    db.put("b", "1").unwrap();
    let snapshot = db.snapshot();
    let mut cursor = snapshot.cursor_in("b"..="c").unwrap();
    for key in ["a", "b", "c", "d"] {
        db.put(key, "2").unwrap();
    }
    assert!(cursor.seek_to_last().unwrap());
    assert_eq!(cursor.value().unwrap(), Some(&b"1"[..]));
    cursor.refresh().unwrap();
    assert!(cursor.seek_to_first().unwrap());
    assert_eq!(
        (cursor.key(), cursor.value().unwrap()),
        (Some(&b"b"[..]), Some(&b"2"[..]))
    );
    assert!(cursor.next().unwrap() && cursor.key() == Some(b"c"));
    assert!(!cursor.next().unwrap());
    drop(db);
    drop(snapshot);
    cursor.refresh().unwrap();
    assert!(cursor.seek("b").unwrap(), "it keeps the database open");
}

#[test]
fn what_expired_meanwhile_is_gone_after_a_refresh() {
    // Nothing is written, but a second has passed.
    let world = SimWorld::new(3);
    let (db, _) = open(&world);
    db.put_with_ttl("visit", "anna", Duration::from_secs(10))
        .unwrap();
    let mut cursor = db.cursor().unwrap();
    assert!(cursor.seek_to_first().unwrap());
    let then = world.env().clock.unix_seconds() + 11;
    world.clock.set_unix_time(Duration::from_secs(then));
    assert!(cursor.seek_to_first().unwrap(), "it sees its moment");
    cursor.refresh().unwrap();
    assert!(!cursor.seek_to_first().unwrap());
}

#[test]
fn a_cursor_that_outlives_its_keyspace_or_database_says_so() {
    // Of a dropped keyspace it sees what was left; of a closed database nothing.
    let world = SimWorld::new(4);
    let (db, _) = open(&world);
    let visits = db.keyspace("visits").unwrap();
    visits.put("anna", "1").unwrap();
    let reading = ReadOptions {
        fill_cache: false,
        ..ReadOptions::default()
    };
    let mut cursor = visits.with_read(reading).cursor().unwrap();
    visits.put("bela", "2").unwrap();
    db.drop_keyspace("visits").unwrap();
    db.keyspace("visits").unwrap().put("carl", "3").unwrap();
    cursor.refresh().unwrap();
    assert!(cursor.seek_to_last().unwrap());
    assert_eq!(cursor.key(), Some(&b"bela"[..]));
    db.close().unwrap();
    assert_eq!(cursor.refresh().unwrap_err().kind(), ErrorKind::Closed);
}
