//! Databases whose bottom level is compressed value by value.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use esker::Db;
use esker::internals::env::bundle::Env;
use esker::internals::env::random::Random;
use esker::internals::env::sim::SimWorld;
use esker::internals::env::sim::pool::{JobOrder, SimPool};

use crate::compressions::or_plain;

const SETTINGS: [(&str, &str); 6] = [
    ("compression", "searchable"),
    ("sst.dictionary_min", "64KiB"),
    ("memtable.size", "64KiB"),
    ("sst.file_size", "32KiB"),
    ("compaction.base_level", "256KiB"),
    ("compaction.l0_trigger", "2"),
];

fn open_with(world: &SimWorld, more: &[(&str, &str)]) -> Db {
    let mut builder = Db::builder("/db").env(world.env());
    let others = SETTINGS
        .iter()
        .filter(|(name, _)| more.iter().all(|(other, _)| other != name));
    for (name, text) in others.chain(more) {
        builder = builder.set(name, text).unwrap();
    }
    builder.open().unwrap()
}

fn open(world: &SimWorld) -> Db {
    open_with(world, &[])
}

const WORDS: [&str; 24] = [
    "the ",
    "of ",
    "and ",
    "a ",
    "film ",
    "was ",
    "that ",
    "I ",
    "it ",
    "book ",
    "is ",
    "story ",
    "wonderful ",
    "disappointed ",
    "character ",
    "never ",
    "music ",
    "through ",
    "people ",
    "recommend ",
    "really ",
    "great, ",
    "don't ",
    "read. ",
];

/// A review, the same for the same number.
fn review(number: u64) -> String {
    let mut random = Random::new(number);
    let count = 20 + random.below(80);
    (0..count)
        .map(|_| WORDS[usize::try_from(random.below(24)).unwrap()])
        .collect()
}

fn key(number: u64) -> String {
    format!("product{:05}/user{:03}", number / 7, number % 7)
}

type Model = BTreeMap<String, String>;

fn fill(db: &Db, numbers: impl Iterator<Item = u64>, model: &mut Model) {
    for number in numbers {
        db.put(key(number), review(number)).unwrap();
        model.insert(key(number), review(number));
    }
}

/// Everything as it should be: by key, forwards, backwards, by seeking, and a check of every byte.
fn assert_equal(db: &Db, model: &Model) {
    for (key, value) in model {
        assert!(
            db.get(key)
                .unwrap()
                .is_some_and(|found| found == value.as_bytes()),
            "{key}"
        );
        assert!(db.get(format!("{key}+")).unwrap().is_none());
    }
    let pairs = |entry: esker::Result<(esker::Bytes, esker::Bytes)>| {
        let (key, value) = entry.unwrap();
        (key.to_vec(), value.to_vec())
    };
    let expected: Vec<_> = model
        .iter()
        .map(|(key, value)| (key.clone().into_bytes(), value.clone().into_bytes()))
        .collect();
    assert!(db.iter().unwrap().map(pairs).eq(expected.iter().cloned()));
    assert!(
        db.iter()
            .unwrap()
            .rev()
            .map(pairs)
            .eq(expected.iter().rev().cloned())
    );
    for number in (0..1200).step_by(91) {
        let from = key(number);
        let found = db.range(from.clone()..).unwrap().map(pairs).next();
        let next = model.range(from..).next();
        let next = next.map(|(key, value)| (key.clone().into_bytes(), value.clone().into_bytes()));
        assert_eq!(found, next);
    }
    let report = db.verify().unwrap();
    assert!(report.damages.is_empty(), "{:?}", report.damages);
}

fn counter(db: &Db, name: &str) -> u64 {
    let counters = db.stats().counters;
    let found = counters.iter().find(|(tick, ..)| *tick == name);
    found.unwrap().2
}

fn is_all_searchable(db: &Db) -> bool {
    db.files().iter().all(|file| file.is_searchable)
}

fn is_all_blocks(db: &Db) -> bool {
    db.files().iter().all(|file| !file.is_searchable)
}

fn stored_bytes(db: &Db) -> u64 {
    db.files().iter().map(|file| file.size_bytes).sum()
}

#[test]
fn text_becomes_searchable_when_it_is_compacted() {
    // A third of the size, everything where it was, and so it stays when the database is opened
    // again; what is written then is compressed by the same dictionary, and what is there is
    // copied.
    let world = SimWorld::new(1);
    let mut model = Model::new();
    let mut db = open(&world);
    fill(&db, 0..1000, &mut model);
    db.compact::<&[u8]>(..).unwrap();
    assert!(is_all_searchable(&db));
    let raw: usize = model
        .iter()
        .map(|(key, value)| key.len() + value.len())
        .sum();
    let stored = stored_bytes(&db);
    assert_eq!(
        db.files().iter().map(|file| file.raw_bytes).sum::<u64>(),
        raw as u64
    );
    assert!(stored * 5 < raw as u64 * 2, "{stored} of {raw}");
    assert_equal(&db, &model);
    let told = db.stats().keyspaces[0].levels[0].clone();
    assert_eq!(told.searchable_count, told.file_count);
    assert!(told.ratio() > 2.5);
    db.close().unwrap();
    db = open(&world);
    assert_equal(&db, &model);
    fill(&db, (0..1200).step_by(9), &mut model);
    db.delete(key(700)).unwrap();
    model.remove(&key(700));
    db.compact::<&[u8]>(..).unwrap();
    assert!(is_all_searchable(&db));
    assert_equal(&db, &model);
    assert_eq!(counter(&db, "esker_dictionaries_trained_total"), 0);
    assert!(counter(&db, "esker_compaction_verbatim_values_total") > 800);
}

#[test]
fn the_background_compresses_what_is_there_when_it_has_time() {
    // Nobody asks for a compaction: blocks first, for want of a dictionary, and in the end none.
    let world = SimWorld::new(2);
    let mut model = Model::new();
    let db = open(&world);
    for part in 0..5 {
        fill(
            &db,
            (0..1500).filter(|number| number % 5 == part),
            &mut model,
        );
        db.flush().unwrap();
        world.pool.run_all();
    }
    let bottom = db.files().iter().map(|file| file.depth).max().unwrap();
    let files = db.files();
    assert!(files.iter().any(|file| file.is_searchable));
    assert!(
        files
            .iter()
            .all(|file| file.is_searchable == (file.depth == bottom))
    );
    assert_equal(&db, &model);
    assert_eq!(counter(&db, "esker_dictionaries_trained_total"), 1);
}

/// Fills three memtables, which lie in level 0 then and call for no merge.
fn load(world: &SimWorld) -> Db {
    let db = open_with(world, &[("compaction.l0_trigger", "8")]);
    fill(&db, 0..700, &mut Model::new());
    world.pool.run_all();
    assert!(db.files().len() >= 3 && is_all_blocks(&db));
    db
}

/// Has time pass, and the background work.
fn pass(world: &SimWorld) {
    world.clock.advance(Duration::from_secs(2));
    world.pool.run_all();
}

fn trained_count(db: &Db) -> u64 {
    counter(db, "esker_dictionaries_trained_total")
}

#[test]
fn what_is_loaded_is_compressed_once_the_load_has_ended() {
    // Memtables become full one after the other: no dictionary is trained for them meanwhile, and
    // none of them is compressed alone. Whoever waits until nothing is left to do is told to wait.
    let world = SimWorld::new(9);
    let db = load(&world);
    assert_eq!((trained_count(&db), db.stats().job_count), (0, 1));
    pass(&world);
    assert!(is_all_blocks(&db));
    pass(&world);
    assert!(is_all_searchable(&db));
    assert_eq!((trained_count(&db), db.stats().job_count), (1, 0));
}

#[test]
fn what_is_loaded_is_compressed_though_a_little_is_always_written() {
    let world = SimWorld::new(10);
    let db = load(&world);
    for turn in 0..3 {
        assert!(is_all_blocks(&db), "turn {turn}");
        db.put("a little", turn.to_string()).unwrap();
        pass(&world);
    }
    assert!(is_all_searchable(&db));
    assert_eq!((trained_count(&db), db.stats().job_count), (1, 0));
}

#[test]
fn what_is_loaded_is_compressed_where_compaction_waits_to_be_asked() {
    // Nothing is due by itself but the dictionary, which waits for the same moment.
    let world = SimWorld::new(11);
    let db = load(&world);
    db.set("compaction.automatic", "false").unwrap();
    pass(&world);
    pass(&world);
    assert!(is_all_blocks(&db));
    assert_eq!((trained_count(&db), db.stats().job_count), (1, 0));
}

#[test]
fn the_setting_can_be_changed_both_ways() {
    // A store of blocks becomes searchable at the next compaction, and blocks again after.
    let world = SimWorld::new(3);
    let mut model = Model::new();
    let db = open_with(&world, &[("compression", or_plain("zstd"))]);
    fill(&db, 0..1000, &mut model);
    db.compact::<&[u8]>(..).unwrap();
    assert!(is_all_blocks(&db));
    let blocks = stored_bytes(&db);
    db.set("compression", "searchable").unwrap();
    db.compact::<&[u8]>(..).unwrap();
    assert!(is_all_searchable(&db));
    let searchable = stored_bytes(&db);
    assert!(searchable < blocks, "{searchable} of {blocks}");
    assert_equal(&db, &model);
    db.set("compression", or_plain("lz4")).unwrap();
    db.compact::<&[u8]>(..).unwrap();
    assert!(is_all_blocks(&db));
    assert_equal(&db, &model);
}

#[test]
fn what_phrases_do_not_shorten_stays_in_blocks() {
    // Random bytes: tried once, and not again each time somebody compacts.
    let world = SimWorld::new(4);
    let db = open(&world);
    let mut random = Random::new(5);
    let mut raw = 0;
    for number in 0..600 {
        let value: Vec<u8> = (0..300).map(|_| random.below(256) as u8).collect();
        raw += value.len() as u64 + 16;
        db.put(format!("{number:016}"), value).unwrap();
    }
    for _ in 0..3 {
        db.compact::<&[u8]>(..).unwrap();
        world.pool.run_all();
    }
    assert!(is_all_blocks(&db));
    let stored = stored_bytes(&db);
    assert!(stored * 100 < raw * 102 + 300_000, "{stored} of {raw}");
    assert_eq!(counter(&db, "esker_dictionaries_trained_total"), 1);
}

#[test]
fn a_small_keyspace_is_not_worth_a_dictionary() {
    // Below the size that was set nothing is trained, and everything is in blocks.
    let world = SimWorld::new(6);
    let db = open_with(&world, &[("sst.dictionary_min", "10MiB")]);
    let mut model = Model::new();
    fill(&db, 0..300, &mut model);
    db.compact::<&[u8]>(..).unwrap();
    assert!(is_all_blocks(&db));
    assert_eq!(counter(&db, "esker_dictionaries_trained_total"), 0);
    db.set("sst.dictionary_min", "1KiB").unwrap();
    db.compact::<&[u8]>(..).unwrap();
    assert!(is_all_searchable(&db));
    assert_equal(&db, &model);
}

#[test]
fn every_kind_of_entry_lives_in_searchable_files() {
    // Snapshots keep older versions, operands and range deletes there; expiring values too.
    let world = SimWorld::new(7);
    let db = open_with(&world, &[("merge_operator", "append:,")]);
    let mut model = Model::new();
    fill(&db, 0..800, &mut model);
    db.compact::<&[u8]>(..).unwrap();
    let before = db.snapshot();
    for number in (0..800).step_by(3) {
        db.merge(key(number), "again").unwrap();
        model.get_mut(&key(number)).unwrap().push_str(",again");
    }
    db.delete_range(key(100)..key(140)).unwrap();
    model.retain(|name, _| !(key(100)..key(140)).contains(name));
    db.put_with_ttl("z", review(1), std::time::Duration::from_secs(1000))
        .unwrap();
    model.insert("z".into(), review(1));
    db.compact::<&[u8]>(..).unwrap();
    assert!(is_all_searchable(&db));
    assert_equal(&db, &model);
    for number in 0..800 {
        assert_eq!(
            before.get(key(number)).unwrap().unwrap(),
            review(number).as_bytes()
        );
    }
    drop(before);
    db.compact::<&[u8]>(..).unwrap();
    assert_equal(&db, &model);
}

#[test]
fn a_keyspace_without_values_has_nothing_to_learn_from() {
    // Deletes, operands, pointers to large values: looked at once, and not for ever.
    let world = SimWorld::new(8);
    let more = [("sst.dictionary_min", "0"), ("value_log.threshold", "100")];
    let db = open_with(&world, &more);
    for number in 0..200 {
        db.delete(key(number)).unwrap();
        db.put(format!("large{number}"), review(number).repeat(2))
            .unwrap();
    }
    db.flush().unwrap();
    world.pool.run_all();
    db.compact::<&[u8]>(..).unwrap();
    assert!(counter(&db, "esker_dictionaries_trained_total") <= 2);
    assert!(db.get("large7").unwrap().is_some());
}

#[test]
fn two_readers_and_compactions_share_a_map() {
    // Files of the operating system, mapped, and a cache that holds little. While two threads read
    // single keys, and a cursor is half way through, compactions read the same files, and remove
    // them: the texts stay what they were, though every file is another one in the end.
    let dir = tempfile::tempdir().unwrap();
    let mut builder = Db::builder(dir.path().join("db")).env(Env::real(2));
    let more = [("mapped_reads", "on"), ("memory_limit", "1MiB")];
    for (name, text) in SETTINGS.iter().chain(&more) {
        builder = builder.set(name, text).unwrap();
    }
    let db = builder.open().unwrap();
    let mut model = Model::new();
    fill(&db, 0..1500, &mut model);
    db.compact::<&[u8]>(..).unwrap();
    assert!(is_all_searchable(&db));
    let first: Vec<_> = db.files().iter().map(|file| file.number).collect();
    let mut cursor = db.cursor().unwrap();
    cursor.seek(key(400)).unwrap();
    let (is_over, count) = (AtomicBool::new(false), AtomicU64::new(0));
    std::thread::scope(|scope| {
        for seed in 1..=2 {
            let (db, is_over, count) = (&db, &is_over, &count);
            scope.spawn(move || {
                let mut random = Random::new(seed);
                while !is_over.load(Ordering::Relaxed) {
                    let number = random.below(1500);
                    let found = db.get(key(number)).unwrap().unwrap();
                    assert!(found == review(number).as_bytes());
                    count.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        for round in 0..4 {
            let before = count.load(Ordering::Relaxed);
            while count.load(Ordering::Relaxed) < before + 200 {
                std::thread::yield_now();
            }
            // The same texts once more, so that there is something to merge.
            fill(&db, (round..1500).step_by(9), &mut model);
            db.compact::<&[u8]>(..).unwrap();
        }
        is_over.store(true, Ordering::Relaxed);
    });
    assert!(db.files().iter().all(|file| !first.contains(&file.number)));
    for (key, value) in model.range(key(400)..) {
        assert_eq!(cursor.key(), Some(key.as_bytes()));
        assert!(cursor.value().unwrap().unwrap() == value.as_bytes());
        cursor.next().unwrap();
    }
    assert!(cursor.key().is_none());
    assert_equal(&db, &model);
}

#[test]
fn what_moves_between_files_that_are_compressed_anew_is_not_in_their_way() {
    // Two files of blocks at the bottom, far apart, are to become one searchable file. Before that
    // has begun, what was written between them meanwhile comes down.
    let mut met_count = 0;
    for seed in 0..20 {
        let world = SimWorld::new(seed);
        let clock = Arc::clone(&world.clock);
        let pool = Arc::new(SimPool::new(clock, seed, JobOrder::ByPriority, 2));
        let env = Env {
            pool: Arc::clone(&pool) as _,
            ..world.env()
        };
        let mut builder = Db::builder("/db").env(env);
        let more = [
            ("compression", or_plain("zstd")),
            ("sst.dictionary_min", "1KiB"),
        ];
        for (name, text) in SETTINGS[2..].iter().chain(&more) {
            builder = builder.set(name, text).unwrap();
        }
        let db = builder.open().unwrap();
        let mut model = Model::new();
        let mut write = |prefix: &str, count: u64| {
            for number in 0..count {
                let key = format!("{prefix}{number:04}");
                db.put(&key, review(number)).unwrap();
                model.insert(key, review(number));
            }
        };
        for prefix in ["a", "z"] {
            write(prefix, 60);
            db.compact(prefix..).unwrap();
        }
        pool.run_all();
        db.set("compression", "searchable").unwrap();
        while !pool.pending_names().contains(&"esker-compact") && pool.run_one() {}
        met_count += u32::from(pool.pending_names().contains(&"esker-compact"));
        for prefix in ["m", "n", "o", "p"] {
            write(prefix, 10);
            db.flush().unwrap();
        }
        pool.run_all();
        assert!(db.stats().failures.is_empty(), "{:?}", db.stats().failures);
        db.put("q", "still taken").unwrap();
        model.insert("q".into(), "still taken".into());
        assert_eq!(db.iter().unwrap().count(), model.len());
    }
    assert!(met_count > 0);
}
