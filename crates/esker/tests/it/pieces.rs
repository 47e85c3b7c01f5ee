//! Compression of what was loaded goes by the piece: a process that ends loses one at the most.

use std::collections::BTreeSet;
use std::time::Duration;

use esker::internals::env::pool::{Pool, Priority};
use esker::internals::env::random::Random;
use esker::internals::env::sim::SimWorld;
use esker::{Db, ErrorKind};

use crate::compressions::or_plain;

/// Bytes after which files of blocks are cut.
const FILE_BYTES: u64 = 16 << 10;

/// Reviews of one database: a megabyte, in thirty files of blocks or more.
const REVIEWS: u64 = 2000;

const SETTINGS: [(&str, &str); 5] = [
    ("sst.dictionary_min", "64KiB"),
    ("sst.file_size", "16KiB"),
    ("memtable.size", "256KiB"),
    ("compaction.l0_trigger", "8"),
    ("compaction.base_level", "64MiB"),
];

fn open(world: &SimWorld, compression: &str) -> Db {
    let mut builder = Db::builder("/db").env(world.env());
    for (name, text) in SETTINGS.iter().chain(&[("compression", compression)]) {
        builder = builder.set(name, text).unwrap();
    }
    builder.open().unwrap()
}

/// Words that are nobody's, the same for the same number: a fifth of them is said by all.
fn review(number: u64) -> String {
    let mut random = Random::new(number);
    let mut text = String::new();
    for _ in 0..80 {
        let word = random.below(400).min(random.below(400));
        text.push_str(&format!("w{:x} ", word * word * 7919));
    }
    text
}

fn key(number: u64) -> String {
    format!("product{number:05}")
}

// Every `step`-th review from the first on.
fn fill(db: &Db, first: u64, step: usize) {
    for number in (first..REVIEWS).step_by(step) {
        db.put(key(number), review(number)).unwrap();
    }
}

fn assert_whole(db: &Db) {
    assert_eq!(db.iter().unwrap().count() as u64, REVIEWS);
    for number in 0..REVIEWS {
        let found = db.get(key(number)).unwrap().unwrap();
        assert!(found == review(number).as_bytes(), "{number}");
    }
    let report = db.verify().unwrap();
    assert!(report.damages.is_empty(), "{:?}", report.damages);
}

fn counter(db: &Db, name: &str) -> u64 {
    let counters = db.stats().counters;
    let found = counters.iter().find(|(tick, ..)| *tick == name);
    found.unwrap().2
}

/// What lies in files of blocks and in others, in bytes of keys and values, and which the latter
/// are.
struct State {
    blocks_bytes: u64,
    searchable_bytes: u64,
    searchable: BTreeSet<u64>,
}

fn state(db: &Db) -> State {
    let files = db.files();
    let bytes = |is_searchable: bool| {
        let files = files.iter();
        let meant = files.filter(|file| file.is_searchable == is_searchable);
        meant.map(|file| file.raw_bytes).sum()
    };
    let searchable = files.iter().filter(|file| file.is_searchable);
    State {
        blocks_bytes: bytes(false),
        searchable_bytes: bytes(true),
        searchable: searchable.map(|file| file.number).collect(),
    }
}

// Has the background work until something more is compressed; says how much. Where it has nothing
// to do, it may be waiting until less is written.
fn step(world: &SimWorld, db: &Db) -> u64 {
    let before = state(db).searchable_bytes;
    let mut waits_left = 3;
    loop {
        let is_work_left = world.pool.run_one();
        let more_bytes = state(db).searchable_bytes - before;
        if more_bytes > 0 || (!is_work_left && waits_left == 0) {
            return more_bytes;
        }
        if !is_work_left {
            waits_left -= 1;
            world.clock.advance(Duration::from_secs(2));
        }
    }
}

// Kills a database each time that something more was compressed, until nothing is left in blocks:
// the last of its lives, and how many there were. What was compressed stays, and so does the
// dictionary.
fn lives(mut world: SimWorld, mut db: Db) -> (SimWorld, Db, u32) {
    let mut life_count = 1;
    loop {
        let before = state(&db);
        if before.blocks_bytes == 0 {
            return (world, db, life_count);
        }
        let more_bytes = step(&world, &db);
        let after = state(&db);
        assert!(after.searchable.is_superset(&before.searchable));
        let trained_count = counter(&db, "esker_dictionaries_trained_total");
        assert_eq!(trained_count, u64::from(before.searchable.is_empty()));
        // Twice the bytes of a file, or one file: no block has more than five for one.
        let piece_max = FILE_BYTES * 5;
        let is_piece = (1..=piece_max).contains(&more_bytes);
        assert!(is_piece, "{more_bytes} bytes at once");
        let killed = world.after_kill();
        world.fs.power_off();
        drop(db);
        world = killed;
        db = open(&world, "searchable");
        let reopened = state(&db);
        assert!(reopened.searchable.is_superset(&after.searchable));
        assert_eq!(reopened.blocks_bytes, after.blocks_bytes);
        life_count += 1;
    }
}

// Bytes of its files, once the background has nothing left to do.
fn bytes_at_rest(world: &SimWorld, db: &Db) -> u64 {
    world.pool.run_all();
    let state = state(db);
    assert_eq!(
        (state.blocks_bytes, state.searchable.is_empty()),
        (0, false)
    );
    db.files().iter().map(|file| file.size_bytes).sum()
}

#[test]
fn a_bottom_of_blocks_is_compressed_by_the_piece() {
    // The setting is changed behind the load, as a user may. In the end small files are joined, and
    // what had a copy of the dictionary for each of them takes less.
    let world = SimWorld::new(1);
    let db = open(&world, or_plain("zstd"));
    fill(&db, 0, 1);
    db.compact::<&[u8]>(..).unwrap();
    assert!(state(&db).blocks_bytes > FILE_BYTES * 30);
    db.set("compression", "searchable").unwrap();
    let (world, db, life_count) = lives(world, db);
    assert!(life_count > 8);
    let stored_bytes = |db: &Db| db.files().iter().map(|file| file.size_bytes).sum::<u64>();
    let (by_piece, at_rest) = (stored_bytes(&db), bytes_at_rest(&world, &db));
    assert!(at_rest < by_piece * 9 / 10, "{at_rest} of {by_piece}");
    assert!(db.files().len() as u64 * FILE_BYTES < at_rest);
    assert_whole(&db);
}

#[test]
fn level_0_is_compressed_by_the_piece() {
    // Runs that overlap, too few to call for a merge: they are merged when there is time, in
    // blocks, and that is not lost either.
    let world = SimWorld::new(2);
    let db = open(&world, or_plain("zstd"));
    for first in 0..3 {
        fill(&db, first, 3);
        db.flush().unwrap();
    }
    assert!(db.files().iter().all(|file| file.depth == 0));
    db.set("compression", "searchable").unwrap();
    let (world, db, life_count) = lives(world, db);
    assert!(life_count > 8);
    bytes_at_rest(&world, &db);
    assert_whole(&db);
}

#[test]
fn who_compacts_by_hand_gets_it_by_the_piece_too() {
    // Over runs that overlap: a merge, and then one piece after the other, each adopted by itself.
    let world = SimWorld::new(4);
    let db = open(&world, "searchable");
    db.set("compaction.automatic", "false").unwrap();
    for first in 0..3 {
        fill(&db, first, 3);
        db.flush().unwrap();
    }
    let before = counter(&db, "esker_compactions_total");
    db.compact::<&[u8]>(..).unwrap();
    assert!(counter(&db, "esker_compactions_total") > before + 8);
    let state = state(&db);
    assert_eq!((state.blocks_bytes, state.searchable.len() > 8), (0, true));
    assert_whole(&db);
    // There is nothing left to do.
    let before = counter(&db, "esker_compactions_total");
    db.compact::<&[u8]>(..).unwrap();
    assert_eq!(counter(&db, "esker_compactions_total"), before);
}

// Has that done between two jobs of the background, as soon as it is time.
fn meanwhile(
    world: &SimWorld,
    is_time: impl Fn() -> bool + Send + 'static,
    act: impl FnOnce() + Send + 'static,
) {
    let own = world.clone();
    let job = move || match is_time() {
        true => act(),
        false => meanwhile(&own, is_time, act),
    };
    world
        .pool
        .spawn_after(Duration::ZERO, Priority::Low, "test", Box::new(job));
}

#[test]
fn who_compacts_by_hand_gets_all_of_it_where_compression_is_changed_meanwhile() {
    // Half of what the files hold only a snapshot held. When the first pieces are without that,
    // the keyspace goes without a dictionary: nothing obsolete stays all the same.
    let world = SimWorld::new(5);
    let db = open(&world, "searchable");
    db.set("compaction.automatic", "false").unwrap();
    fill(&db, 0, 1);
    let snapshot = db.snapshot();
    for number in (0..REVIEWS).step_by(2) {
        db.delete(key(number)).unwrap();
    }
    db.compact::<&[u8]>(..).unwrap();
    drop(snapshot);
    let before = state(&db).searchable;
    assert!(before.len() > 8);
    let (eye, hand) = (db.clone(), db.clone());
    let is_time = move || state(&eye).searchable.difference(&before).count() >= 2;
    meanwhile(&world, is_time, move || {
        hand.set("compression", "none").unwrap();
    });
    db.compact::<&[u8]>(..).unwrap();
    assert!(state(&db).blocks_bytes > 0, "it was changed in time");
    let stored_count: u64 = db.files().iter().map(|file| file.entry_count).sum();
    assert_eq!(stored_count, REVIEWS / 2);
    assert_eq!(db.iter().unwrap().count() as u64, REVIEWS / 2);
}

#[test]
fn what_is_left_of_a_dropped_keyspace_is_not_compressed() {
    let world = SimWorld::new(6);
    let db = open(&world, or_plain("zstd"));
    let reviews = db.keyspace("reviews").unwrap();
    reviews.set("compaction.automatic", "false").unwrap();
    for number in 0..REVIEWS {
        reviews.put(key(number), review(number)).unwrap();
    }
    reviews.compact::<&[u8]>(..).unwrap();
    let file_count = reviews.files().len() as u64;
    assert!(file_count > 30);
    reviews.set("compression", "searchable").unwrap();
    let (eye, hand) = (reviews.clone(), db.clone());
    let is_time = move || eye.files().iter().any(|file| file.is_searchable);
    meanwhile(&world, is_time, move || {
        hand.drop_keyspace("reviews").unwrap();
    });
    let before = counter(&db, "esker_compactions_total");
    let error = reviews.compact::<&[u8]>(..).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid, "{error}");
    let done = counter(&db, "esker_compactions_total") - before;
    assert!((1..file_count / 4).contains(&done), "{done} pieces");
}
