//! What deletes leave behind, and how soon it is gone.

use esker::Db;
use esker::internals::env::fs::Fs;
use esker::internals::env::sim::SimWorld;

/// A database whose `count` keys lie at rest at the bottom.
fn filled(world: &SimWorld, count: u32) -> Db {
    let db = Db::builder("db").env(world.env()).open().unwrap();
    for number in 0..count {
        db.put(number.to_be_bytes(), "a value").unwrap();
    }
    db.compact::<&[u8]>(..).unwrap();
    db
}

/// Deletes nine of ten of its keys.
fn empty(db: &Db) {
    for number in 0..18_000_u32 {
        db.delete(number.to_be_bytes()).unwrap();
    }
}

/// How many entries a walk hands out, and how many it passes over.
fn walk(db: &Db) -> (usize, u64) {
    let passed = || {
        let stats = db.stats();
        let mut counters = stats.counters.iter();
        let found = counters.find(|(name, _, _)| *name == "esker_passed_entries_total");
        found.unwrap().2
    };
    let before = passed();
    let count = db.iter().unwrap().map(Result::unwrap).count();
    (count, passed() - before)
}

#[test]
fn a_scan_over_deletes_makes_the_next_one_cost_what_is_left() {
    // Nine of ten keys are deleted, and nothing is flushed: the first scan passes over each
    // delete and what it hides. It has them flushed, and they go with what they hid.
    let world = SimWorld::new(1);
    let db = filled(&world, 20_000);
    empty(&db);
    assert_eq!(walk(&db), (2_000, 36_000));
    world.pool.run_all();
    assert_eq!(walk(&db), (2_000, 0));
}

#[test]
fn a_flush_of_deletes_is_merged_with_what_they_hide() {
    // One run in level 0 is no reason to compact, but one that is all deletes is.
    let world = SimWorld::new(2);
    let db = filled(&world, 20_000);
    empty(&db);
    db.flush().unwrap();
    world.pool.run_all();
    assert_eq!(walk(&db), (2_000, 0));
}

#[test]
fn a_scan_that_meets_few_deletes_flushes_nothing() {
    // Mostly puts, or a handful of deletes: what was not full stays in memory.
    let world = SimWorld::new(3);
    let db = filled(&world, 20_000);
    for number in 0..9_000_u32 {
        db.delete(number.to_be_bytes()).unwrap();
        db.put((100_000 + number).to_be_bytes(), "new").unwrap();
    }
    for number in 0..1_000_u32 {
        db.put((200_000 + number).to_be_bytes(), "new").unwrap();
    }
    assert_eq!(walk(&db), (21_000, 18_000));
    world.pool.run_all();
    assert_eq!(walk(&db), (21_000, 18_000));
}

#[test]
fn deletes_stay_while_a_snapshot_reads_around_them() {
    // Then they go: a snapshot that ends has the background look again.
    let world = SimWorld::new(4);
    let db = filled(&world, 20_000);
    let snapshot = db.snapshot();
    empty(&db);
    db.flush().unwrap();
    world.pool.run_all();
    assert_eq!(snapshot.iter().unwrap().count(), 20_000);
    assert_eq!(walk(&db), (2_000, 36_000));
    drop(snapshot);
    world.pool.run_all();
    assert_eq!(walk(&db), (2_000, 0));
}

#[test]
fn a_reader_of_somebody_elses_database_leaves_deletes_alone() {
    // Nothing is flushed, compacted or removed by who opened it for reading, neither for a scan
    // over deletes nor when a snapshot ends.
    let world = SimWorld::new(5);
    let builder = |is_automatic: &str| {
        let builder = Db::builder("db").env(world.env());
        builder.set("compaction.automatic", is_automatic).unwrap()
    };
    let db = builder("false").open().unwrap();
    for number in 0..20_000_u32 {
        db.put(number.to_be_bytes(), "a value").unwrap();
    }
    db.flush().unwrap();
    empty(&db);
    db.flush().unwrap();
    empty(&db);
    let names = || world.fs.list("db".as_ref()).unwrap();
    let before = names();
    let reader = builder("true").read_only(true).open().unwrap();
    assert_eq!(walk(&reader).0, 2_000);
    drop(reader.snapshot());
    world.pool.run_all();
    assert_eq!(walk(&reader).0, 2_000);
    assert_eq!(names(), before);
}
