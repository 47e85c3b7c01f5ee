//! What nobody sees any more goes when somebody asks for a compaction.

use std::sync::Arc;
use std::time::Duration;

use esker::internals::env::sim::SimWorld;
use esker::{Db, MergeOperator, MergeRule, Readable};

/// A database on `world` whose files take what is put into it.
fn open(world: &SimWorld) -> Db {
    let builder = Db::builder("/db").env(world.env());
    builder.set("compression", "none").unwrap().open().unwrap()
}

fn fill(db: &Db, byte: u8) {
    for number in 0..500 {
        db.put(format!("{number:04}"), vec![byte; 1000]).unwrap();
    }
}

fn bytes(db: &Db) -> u64 {
    db.files().iter().map(|file| file.size_bytes).sum()
}

/// Bytes that compactions have written.
fn written_bytes(db: &Db) -> u64 {
    let stats = db.stats();
    let mut counters = stats.counters.iter();
    let written = counters.find(|(name, ..)| *name == "esker_compaction_written_bytes_total");
    written.unwrap().2
}

/// Has everything compacted; says whether that wrote anything.
fn compact(db: &Db) -> bool {
    let before = written_bytes(db);
    db.compact::<&[u8]>(..).unwrap();
    written_bytes(db) > before
}

fn rest(world: &SimWorld) {
    for _ in 0..10 {
        world.pool.run_all();
        world.clock.advance(Duration::from_secs(1));
    }
    world.pool.run_all();
}

/// Whether nothing runs in an hour, and nothing waits to.
fn sleeps(world: &SimWorld) -> bool {
    let run_count = world.pool.run_count();
    world.clock.advance(Duration::from_secs(3600));
    world.pool.run_all();
    world.pool.run_count() == run_count && world.pool.drop_all() == 0
}

/// Folds and combines nothing.
struct Refusing;

impl MergeOperator for Refusing {
    fn name(&self) -> &str {
        "refusing"
    }

    fn fold(&self, _: &[u8], _: Option<&[u8]>, _: &[&[u8]]) -> Result<Vec<u8>, String> {
        Err("never".into())
    }

    fn combine(&self, _: &[u8], _: &[u8], _: &[u8]) -> Option<Vec<u8>> {
        None
    }
}

#[test]
fn what_a_snapshot_kept_goes_when_somebody_compacts_after_it() {
    // Both versions of each value are there as long as the snapshot is; after it one of them.
    let world = SimWorld::new(3);
    let db = open(&world);
    fill(&db, 1);
    let snapshot = db.snapshot();
    fill(&db, 2);
    compact(&db);
    assert!(bytes(&db) > 900_000);
    assert!(!compact(&db), "the snapshot lives");
    drop(snapshot);
    assert!(compact(&db));
    assert!(bytes(&db) < 600_000, "{}", bytes(&db));
    assert!(!compact(&db), "there is nothing left to take out");
}

#[test]
fn what_has_expired_goes_when_somebody_compacts() {
    // It was merged before it had expired: the next compaction has it to take out.
    let world = SimWorld::new(4);
    let db = open(&world);
    for number in 0..500 {
        db.put_with_ttl(
            format!("{number:04}"),
            vec![1; 1000],
            Duration::from_secs(10),
        )
        .unwrap();
    }
    db.put("stays", "here").unwrap();
    compact(&db);
    assert!(!compact(&db), "nothing has expired yet");
    world.clock.advance(Duration::from_secs(20));
    assert_eq!(db.iter().unwrap().count(), 1);
    assert!(compact(&db));
    assert!(bytes(&db) < 100_000, "{}", bytes(&db));
    assert!(!compact(&db), "there is nothing left to take out");
}

#[test]
fn values_that_a_snapshot_kept_go_after_it() {
    // Large values: half of what lies in the value log is overwritten, and nobody sees it.
    let world = SimWorld::new(5);
    let mut builder = Db::builder("/db").env(world.env());
    for (name, text) in [
        ("value_log.threshold", "1000B"),
        ("value_log.segment_size", "1MiB"),
        ("max_space_amp", "1.2"),
    ] {
        builder = builder.set(name, text).unwrap();
    }
    let db = builder.open().unwrap();
    let fill = |byte: u8| {
        for number in 0..2000 {
            db.put(format!("{number:04}"), vec![byte; 5000]).unwrap();
        }
    };
    fill(1);
    let snapshot = db.snapshot();
    fill(2);
    db.compact::<&[u8]>(..).unwrap();
    drop(snapshot);
    rest(&world);
    let at_rest = db.stats().disk_bytes;
    db.compact::<&[u8]>(..).unwrap();
    let asked = db.stats().disk_bytes;
    for bytes in [at_rest, asked] {
        assert!(
            bytes < 13_000_000,
            "{bytes} bytes for ten millions of values"
        );
    }
    assert!(!compact(&db));
    assert!(sleeps(&world));
}

#[test]
fn what_a_snapshot_kept_goes_at_rest() {
    // Nobody asks: a while after the snapshot is gone one version of each is left, and then
    // nothing is done any more. While it lives there is nothing to do either.
    let world = SimWorld::new(6);
    let db = open(&world);
    fill(&db, 1);
    let snapshot = db.snapshot();
    fill(&db, 2);
    compact(&db);
    rest(&world);
    assert!(bytes(&db) > 900_000);
    assert!(sleeps(&world));
    drop(snapshot);
    rest(&world);
    assert!(bytes(&db) < 600_000, "{}", bytes(&db));
    assert!(sleeps(&world));
    assert_eq!(db.get("0007").unwrap().unwrap(), vec![2; 1000]);
}

#[test]
fn what_a_snapshot_of_an_earlier_process_kept_goes_at_rest() {
    let world = SimWorld::new(7);
    let db = open(&world);
    fill(&db, 1);
    let snapshot = db.snapshot();
    fill(&db, 2);
    compact(&db);
    let killed = world.after_kill();
    drop((snapshot, db));
    let db = open(&killed);
    assert!(bytes(&db) > 900_000);
    rest(&killed);
    assert!(bytes(&db) < 600_000, "{}", bytes(&db));
    assert!(sleeps(&killed));
}

#[test]
fn what_expired_goes_at_rest() {
    // A third of the entries has expired when somebody writes again, and rests.
    let world = SimWorld::new(8);
    let db = open(&world);
    for number in 0..600 {
        let ttl = Duration::from_secs(if number % 3 == 0 { 10 } else { 13 });
        let key = format!("{number:04}");
        db.put_with_ttl(key, vec![1; 1000], ttl).unwrap();
    }
    compact(&db);
    world.clock.advance(Duration::from_secs(11));
    let snapshot = db.snapshot();
    db.put("other", "1").unwrap();
    db.flush().unwrap();
    db.put("other", "2").unwrap();
    compact(&db);
    drop(snapshot);
    assert!(bytes(&db) < 450_000, "{}", bytes(&db));
    world.clock.advance(Duration::from_secs(10));
    rest(&world);
    assert!(bytes(&db) < 10_000, "{}", bytes(&db));
    assert!(sleeps(&world));
}

#[test]
fn operands_that_nobody_folds_are_not_rewritten_over_and_over() {
    // Both the snapshot and the operator keep them; then the operator alone.
    let world = SimWorld::new(9);
    let builder = Db::builder("/db").env(world.env());
    let builder = builder.merge_operator(MergeRule(Arc::new(Refusing)));
    let db = builder.set("compression", "none").unwrap().open().unwrap();
    let merge = |byte: u8| {
        for number in 0..500 {
            db.merge(format!("{number:04}"), vec![byte; 1000]).unwrap();
        }
    };
    merge(1);
    let snapshot = db.snapshot();
    merge(2);
    compact(&db);
    assert!(!compact(&db));
    drop(snapshot);
    rest(&world);
    assert!(!compact(&db), "they were tried once, at rest");
    assert!(bytes(&db) > 900_000);
    assert!(sleeps(&world));
}

#[test]
fn deletes_go_with_the_snapshot_that_they_were_kept_for() {
    // A range of them, and one by one; what they hide goes too.
    let world = SimWorld::new(10);
    let db = open(&world);
    fill(&db, 1);
    let snapshot = db.snapshot();
    db.delete_range("0000".."0400").unwrap();
    for number in 400..500 {
        db.delete(format!("{number:04}")).unwrap();
    }
    db.put("stays", "here").unwrap();
    compact(&db);
    assert!(!compact(&db));
    assert!(bytes(&db) > 450_000);
    assert_eq!(snapshot.iter().unwrap().count(), 500);
    drop(snapshot);
    rest(&world);
    assert!(bytes(&db) < 10_000, "{}", bytes(&db));
    assert!(!compact(&db));
    assert_eq!(db.iter().unwrap().count(), 1);
    assert!(sleeps(&world));
}

#[test]
fn of_two_snapshots_each_gives_back_what_it_kept_alone() {
    let world = SimWorld::new(11);
    let db = open(&world);
    fill(&db, 1);
    let first = db.snapshot();
    fill(&db, 2);
    let second = db.snapshot();
    fill(&db, 3);
    compact(&db);
    assert!(bytes(&db) > 1_400_000);
    drop(first);
    assert!(compact(&db));
    assert!((900_000..1_100_000).contains(&bytes(&db)));
    assert!(!compact(&db));
    assert_eq!(second.get("0007").unwrap().unwrap(), vec![2; 1000]);
    drop(second);
    assert!(compact(&db));
    assert!(bytes(&db) < 600_000);
    assert!(!compact(&db));
}
