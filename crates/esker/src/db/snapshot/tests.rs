//! Tests of `snapshot`, and of what reads a keyspace as its handle says.

use crate::base::options::call::ReadOptions;
use crate::db::handle::Db;
use crate::db::keyspace_handle::Keyspace;
use crate::env::sim::SimWorld;

/// A database with one file, and how often a block was not in the cache.
fn open(world: &SimWorld) -> (Db, impl Fn() -> u64 + use<>) {
    let db = Db::builder("db").env(world.env()).open().unwrap();
    let told = db.clone();
    let misses = move || {
        let counters = told.stats().counters;
        let mut counters = counters.iter();
        let counter = counters.find(|(name, ..)| *name == "esker_block_cache_misses_total");
        counter.map(|(.., value)| *value).unwrap()
    };
    db.put("a", "1").unwrap();
    db.flush().unwrap();
    (db, misses)
}

/// A handle that leaves the cache to others.
fn passing(db: &Db) -> Keyspace {
    db.with_read(ReadOptions {
        fill_cache: false,
        ..ReadOptions::default()
    })
}

#[test]
fn a_keyspace_of_a_snapshot_is_read_as_its_handle_says() {
    // A report reads a file of yesterday and leaves the cache to others: each of its reads misses.
    // Another reader of that moment has the block from the second time on.
    let world = SimWorld::new(1);
    let (db, misses) = open(&world);
    let before = db.snapshot();
    db.put("a", "2").unwrap();
    let (report, reader) = (before.of(&passing(&db)), before.of(&db));
    for _ in 0..3 {
        let so_far = misses();
        assert_eq!(report.get("a").unwrap().as_deref(), Some(&b"1"[..]));
        assert_eq!(misses(), so_far + 1);
    }
    assert_eq!(reader.get("a").unwrap().as_deref(), Some(&b"1"[..]));
    let cached = misses();
    assert_eq!(reader.get("a").unwrap().as_deref(), Some(&b"1"[..]));
    assert_eq!(misses(), cached);
}

#[test]
fn a_keyspace_of_a_transaction_is_read_as_its_handle_says() {
    // As above, within a transaction.
    let world = SimWorld::new(2);
    let (db, misses) = open(&world);
    let tx = db.begin();
    for _ in 0..3 {
        let so_far = misses();
        let report = tx.of(&passing(&db));
        assert_eq!(report.get("a").unwrap().as_deref(), Some(&b"1"[..]));
        assert_eq!(misses(), so_far + 1);
    }
    assert!(tx.of(&db).contains_key("a").unwrap());
    let cached = misses();
    assert!(tx.of(&db).contains_key("a").unwrap());
    assert_eq!(misses(), cached);
}
