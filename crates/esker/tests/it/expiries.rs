//! Expiries that are changed, and the values that stay where they are for it.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use esker::internals::env::fs::Fs;
use esker::internals::env::pool::{Pool, Priority};
use esker::internals::env::random::Random;
use esker::internals::env::sim::{CrashMode, SimWorld};
use esker::{
    Db, Durability, ErrorKind, Expiry, Isolation, Keyspace, TransactionMode, TransactionOptions,
    WriteOptions,
};

const DIR: &str = "/db";

/// Lives of the random test, each with its own seed.
const LIVES: u64 = 60;

fn open(world: &SimWorld) -> Db {
    let settings = [
        ("value_log.threshold", "1KiB"),
        ("value_log.segment_size", "64KiB"),
        ("memtable.size", "32KiB"),
        ("wal.segment_size", "64KiB"),
        ("compaction.l0_trigger", "2"),
        ("max_space_amp", "1.1"),
    ];
    let builder = Db::builder(DIR).env(world.env());
    let builder = settings.iter().fold(builder, |builder, (name, text)| {
        builder.set(name, text).unwrap()
    });
    builder.open().unwrap()
}

fn at(db: &Db, durability: Durability) -> Keyspace {
    db.with_write(WriteOptions {
        durability: Some(durability),
        ..WriteOptions::default()
    })
}

fn counter(db: &Db, wanted: &str) -> u64 {
    let counters = db.stats().counters;
    let mut counters = counters.iter();
    counters.find(|(name, ..)| *name == wanted).unwrap().2
}

// Segments of values that are there when nothing points to any.
fn left_over(world: &SimWorld, db: Db) -> usize {
    db.compact::<&[u8]>(..).unwrap();
    db.close().unwrap();
    drop(db);
    open(world).stats().values.segment_count
}

#[test]
fn a_large_value_is_not_written_again() {
    // Wherever it lies: in a memtable, a sorted file, or a segment that is emptied meanwhile.
    let world = SimWorld::new(1);
    let db = open(&world);
    let large = vec![7; 20_000];
    db.put("a", &large).unwrap();
    let written = counter(&db, "esker_value_log_bytes_total");
    let check = |expiry| {
        assert!(db.set_expiry("a", expiry).unwrap());
        assert_eq!(db.expiry("a").unwrap(), Some(expiry));
        assert_eq!(db.get("a").unwrap().as_deref(), Some(&large[..]));
    };
    check(Some(Expiry::from_unix_s(4_000_000_000)));
    check(None);
    db.flush().unwrap();
    check(Some(Expiry::from_unix_s(4_000_000_001)));
    db.compact::<&[u8]>(..).unwrap();
    check(None);
    check(None);
    assert_eq!(counter(&db, "esker_value_log_bytes_total"), written);
    // What is there no more is not brought back, and what ends now is gone.
    assert!(!db.set_expiry("b", None).unwrap());
    assert!(db.set_expiry("a", Some(Expiry::from_unix_s(1))).unwrap());
    assert!(!db.contains_key("a").unwrap());
    assert!(!db.set_expiry("a", None).unwrap());
    assert_eq!(left_over(&world, db), 0);
}

#[test]
fn a_value_that_waits_in_memory_is_kept() {
    // It is in no segment yet, and in no log: with its new expiry it survives what that asks for.
    let world = SimWorld::new(2);
    let db = open(&world);
    at(&db, Durability::Memory)
        .put("a", vec![7; 20_000])
        .unwrap();
    assert!(
        at(&db, Durability::Sync)
            .set_expiry("a", Some(Expiry::from_unix_s(4_000_000_000)))
            .unwrap()
    );
    let after = world.after_crash(CrashMode::ALL[0], 1);
    drop(db);
    let db = open(&after);
    assert_eq!(db.get("a").unwrap().unwrap().len(), 20_000);
    assert_eq!(
        db.expiry("a").unwrap(),
        Some(Some(Expiry::from_unix_s(4_000_000_000)))
    );
}

#[test]
fn what_operands_make_stays_or_ends_as_a_whole() {
    // The value below the operands would end by itself: once told to stay, all of it does.
    let world = SimWorld::new(3);
    let merge = esker::merge::append(",");
    let db = Db::builder(DIR)
        .env(world.env())
        .merge_operator(merge)
        .open()
        .unwrap();
    db.put_with_ttl("a", "base", Duration::from_secs(10))
        .unwrap();
    db.merge("a", "more").unwrap();
    assert!(db.set_expiry("a", None).unwrap());
    world.clock.advance(Duration::from_secs(20));
    assert_eq!(db.get("a").unwrap().as_deref(), Some(&b"base,more"[..]));
}

#[test]
fn a_damaged_value_with_a_new_end_costs_itself_alone() {
    // The end is given without a look at the value, and what is written behind that is no less
    // there after a kill.
    let world = SimWorld::new(9);
    let db = open(&world);
    db.put("a", vec![7; 20_000]).unwrap();
    db.close().unwrap();
    let names = world.fs.list(Path::new(DIR)).unwrap();
    let name = names.iter().find(|name| name.ends_with(".vlog")).unwrap();
    crate::stored_bytes::flip(&*world.fs, &Path::new(DIR).join(name), 5_000);
    let db = open(&world);
    assert!(
        db.set_expiry("a", Some(Expiry::from_unix_s(4_000_000_000)))
            .unwrap()
    );
    assert!(
        db.set_expiry("a", Some(Expiry::from_unix_s(4_000_000_001)))
            .unwrap()
    );
    db.put("b", "1").unwrap();
    let (after, _killed) = (world.after_kill(), db);
    let db = open(&after);
    assert_eq!(db.get("b").unwrap().as_deref(), Some(&b"1"[..]));
    assert_eq!(
        db.expiry("a").unwrap(),
        Some(Some(Expiry::from_unix_s(4_000_000_001)))
    );
    assert_eq!(db.get("a").unwrap_err().kind(), ErrorKind::Corruption);
}

/// Every way to be kept apart from others.
fn all_ways() -> impl Iterator<Item = TransactionOptions> {
    let levels = [
        Isolation::ReadCommitted,
        Isolation::Snapshot,
        Isolation::Serializable,
    ];
    levels.into_iter().flat_map(|isolation| {
        [TransactionMode::Optimistic, TransactionMode::Locking].map(|mode| TransactionOptions {
            isolation,
            mode,
            lock_timeout: Duration::ZERO,
        })
    })
}

#[test]
fn a_transaction_gives_values_other_ends() {
    // A small value and a large one, one that it wrote itself, and one that is not there: it sees
    // the new ends, and nobody else does before the commit. The large one is not written again.
    for (number, options) in (0..).zip(all_ways()) {
        let world = SimWorld::new(number);
        let db = open(&world);
        let large = vec![7; 20_000];
        db.put("large", &large).unwrap();
        db.put("small", "1").unwrap();
        if number % 2 == 0 {
            db.flush().unwrap();
        }
        let written = counter(&db, "esker_value_log_bytes_total");
        let end = Some(Expiry::from_unix_s(4_000_000_000));
        let mut tx = db.begin_with(options);
        tx.put(&db, "before", vec![5; 2_000]).unwrap();
        assert!(tx.set_expiry(&db, "large", end).unwrap());
        assert!(tx.set_expiry(&db, "small", end).unwrap());
        assert!(tx.set_expiry(&db, "before", end).unwrap());
        tx.put(&db, "behind", vec![6; 3_000]).unwrap();
        assert!(!tx.set_expiry(&db, "nothing", end).unwrap());
        let len = tx.len();
        assert!(tx.set_expiry(&db, "large", end).unwrap());
        assert_eq!(tx.len(), len, "it ends then already");
        for (key, len) in [("before", 2_000), ("large", 20_000), ("small", 1)] {
            assert_eq!(tx.expiry(key).unwrap(), Some(end), "{key}");
            assert_eq!(tx.get(key).unwrap().unwrap().len(), len, "{key}");
        }
        assert_eq!(tx.get("behind").unwrap().unwrap(), vec![6; 3_000]);
        assert_eq!(db.expiry("large").unwrap(), Some(None));
        tx.set_savepoint();
        assert!(tx.set_expiry(&db, "large", None).unwrap());
        assert_eq!(tx.expiry("large").unwrap(), Some(None));
        tx.rollback_to_savepoint().unwrap();
        assert_eq!(tx.expiry("large").unwrap(), Some(end));
        tx.commit().unwrap();
        let own = counter(&db, "esker_value_log_bytes_total") - written;
        assert_eq!(own, 2 * 2_000 + 3_000, "{options:?}");
        let (after, _killed) = (world.after_kill(), db);
        let db = open(&after);
        assert_eq!(db.expiry("large").unwrap(), Some(end));
        assert_eq!(db.get("large").unwrap().unwrap(), large);
        assert_eq!(db.get("before").unwrap().unwrap(), vec![5; 2_000]);
        db.delete_range::<&[u8]>(..).unwrap();
        assert_eq!(left_over(&after, db), 0);
    }
}

#[test]
fn a_transaction_that_moves_an_end_depends_on_the_value() {
    // Also where nothing else that is read counts; and where the value ends meanwhile, it is not
    // brought back.
    for options in all_ways() {
        let world = SimWorld::new(20);
        let db = open(&world);
        db.put("a", "1").unwrap();
        let mut tx = db.begin_with(options);
        assert!(
            tx.set_expiry(&db, "a", Some(Expiry::from_unix_s(4_000_000_000)))
                .unwrap()
        );
        let no_wait = WriteOptions {
            no_wait: true,
            ..WriteOptions::default()
        };
        let between = db.with_write(no_wait).put("a", "2");
        match options.mode {
            TransactionMode::Locking => {
                assert_eq!(between.unwrap_err().kind(), ErrorKind::Busy);
                tx.commit().unwrap();
            }
            TransactionMode::Optimistic => {
                between.unwrap();
                assert_eq!(tx.commit().unwrap_err().kind(), ErrorKind::Conflict);
                assert_eq!(db.expiry("a").unwrap(), Some(None));
            }
        }
        for is_prepared in [false, true] {
            db.put_with_ttl("b", "1", Duration::from_secs(10)).unwrap();
            db.put("c", "1").unwrap();
            let mut tx = db.begin_with(options);
            assert!(tx.set_expiry(&db, "b", None).unwrap());
            tx.set_savepoint();
            assert!(tx.set_expiry(&db, "c", None).unwrap());
            tx.rollback_to_savepoint().unwrap();
            world.clock.advance(Duration::from_secs(11));
            let ended = match is_prepared {
                false => tx.commit(),
                true => tx.prepare("id").map(drop),
            };
            assert_eq!(ended.unwrap_err().kind(), ErrorKind::Conflict);
            assert!(!db.contains_key("b").unwrap());
        }
        // Taken back, it does not matter.
        db.put_with_ttl("b", "1", Duration::from_secs(10)).unwrap();
        let mut tx = db.begin_with(options);
        tx.put(&db, "d", "1").unwrap();
        tx.set_savepoint();
        assert!(tx.set_expiry(&db, "b", None).unwrap());
        tx.rollback_to_savepoint().unwrap();
        world.clock.advance(Duration::from_secs(11));
        tx.commit().unwrap();
    }
}

#[test]
fn an_end_that_waits_for_a_lock_brings_nothing_back() {
    // The value is there when it begins to wait, and gone when the lock is given back.
    let world = SimWorld::new(21);
    let db = open(&world);
    db.put_with_ttl("a", "1", Duration::from_secs(10)).unwrap();
    let tx = db.begin_with(TransactionOptions {
        mode: TransactionMode::Locking,
        ..TransactionOptions::default()
    });
    tx.get_for_update(&db, "a").unwrap();
    let clock = world.clock.clone();
    let job = move || {
        clock.advance(Duration::from_secs(11));
        tx.rollback();
    };
    world.pool.spawn(Priority::Low, "holder", Box::new(job));
    assert!(!db.set_expiry("a", None).unwrap());
    assert!(!db.contains_key("a").unwrap());
}

#[test]
fn a_segment_stays_for_who_points_into_it_once_more() {
    // Values lie beside others that die, so that all are moved to other segments while a
    // transaction has one go on where it was; also when it is prepared, and the power is cut then.
    let values = || (0..12_u8).map(|n| (format!("a{n}"), vec![n; 20_000]));
    for (is_prepared, is_cut) in [(false, false), (true, false), (true, true)] {
        let mut world = SimWorld::new(22);
        let mut db = open(&world);
        for (key, value) in values() {
            db.put(key, value).unwrap();
            db.put("b", vec![8; 40_000]).unwrap();
        }
        db.flush().unwrap();
        let mut tx = db.begin_with(TransactionOptions {
            isolation: Isolation::ReadCommitted,
            ..TransactionOptions::default()
        });
        assert!(
            tx.set_expiry(&db, "a3", Some(Expiry::from_unix_s(4_000_000_000)))
                .unwrap()
        );
        let mut tx = Some(tx);
        if is_prepared {
            drop(tx.take().unwrap().prepare("id").unwrap());
        }
        if is_cut {
            let after = world.after_crash(CrashMode::ALL[0], 1);
            drop(db);
            world = after;
            db = open(&world);
        }
        db.delete("b").unwrap();
        db.compact::<&[u8]>(..).unwrap();
        world.pool.run_all();
        db.compact::<&[u8]>(..).unwrap();
        world.pool.run_all();
        match tx {
            Some(tx) => tx.commit().unwrap(),
            None => db.commit_prepared("id").unwrap(),
        }
        db.compact::<&[u8]>(..).unwrap();
        world.pool.run_all();
        assert_eq!(
            db.expiry("a3").unwrap(),
            Some(Some(Expiry::from_unix_s(4_000_000_000)))
        );
        for (key, value) in values() {
            assert_eq!(db.get(&key).unwrap().unwrap(), value, "{key}");
        }
        assert!(db.verify().unwrap().damages.is_empty());
        db.delete_range::<&[u8]>(..).unwrap();
        assert_eq!(left_over(&world, db), 0);
    }
}

/// Values and when they end, by key.
type Model = BTreeMap<Vec<u8>, (Vec<u8>, Option<Expiry>)>;

#[test]
fn values_outlive_every_change_of_their_ends() {
    // Random writes, ends, flushes, merges, collections of values and kills: whatever was moved or
    // removed meanwhile, every key has its value and its end, and nothing lies about afterwards.
    for seed in 0..LIVES {
        let mut random = Random::new(seed);
        let mut world = SimWorld::new(seed);
        let mut db = open(&world);
        let mut model = Model::new();
        for _ in 0..120 {
            let key = format!("key {}", random.below(8)).into_bytes();
            match random.below(12) {
                0..3 => {
                    let len = [10, 900, 1_500, 9_000, 30_000][random.below(5) as usize];
                    let value = random.bytes(len);
                    db.put(&key, &value).unwrap();
                    model.insert(key, (value, None));
                }
                3..8 => {
                    let second = 4_000_000_000 + u32::try_from(random.below(3)).unwrap();
                    let end = Expiry::from_unix_s(second);
                    let end = (!random.one_in(3)).then_some(end);
                    let is_there = match random.below(3) {
                        0 => db.set_expiry(&key, end).unwrap(),
                        1 => {
                            db.batch().set_expiry(&db, &key, end).commit().unwrap();
                            db.contains_key(&key).unwrap()
                        }
                        _ => in_a_transaction(&db, &key, end, &mut random),
                    };
                    assert_eq!(is_there, model.contains_key(&key));
                    if let Some((_, ends)) = model.get_mut(&key) {
                        *ends = end;
                    }
                }
                8 => {
                    db.delete(&key).unwrap();
                    model.remove(&key);
                }
                9 => db.flush().unwrap(),
                10 if random.one_in(2) => db.compact::<&[u8]>(..).unwrap(),
                10 => world.pool.run_all(),
                _ if random.one_in(4) => {
                    let after = world.after_kill();
                    drop(db);
                    world = after;
                    db = open(&world);
                }
                _ => {
                    let _has_run: bool = world.pool.run_one();
                }
            }
            if random.one_in(6) {
                check(&db, &model, seed);
            }
        }
        check(&db, &model, seed);
        assert!(db.verify().unwrap().damages.is_empty(), "seed {seed}");
        for key in model.keys() {
            db.delete(key).unwrap();
        }
        assert_eq!(left_over(&world, db), 0, "seed {seed}");
    }
}

// With work of the background between the read and the commit, in one phase or two.
fn in_a_transaction(db: &Db, key: &[u8], end: Option<Expiry>, random: &mut Random) -> bool {
    let mut tx = db.begin();
    let is_there = tx.set_expiry(db, key, end).unwrap();
    match random.below(4) {
        0 => db.flush().unwrap(),
        1 => db.compact::<&[u8]>(..).unwrap(),
        _ => {}
    }
    match random.one_in(3) {
        true => tx.prepare("id").unwrap().commit().unwrap(),
        false => tx.commit().unwrap(),
    }
    is_there
}

fn check(db: &Db, model: &Model, seed: u64) {
    let mut there = Model::new();
    for entry in db.iter().unwrap() {
        let (key, value) = entry.unwrap();
        let end = db.expiry(&key).unwrap().unwrap();
        there.insert(key.to_vec(), (value.to_vec(), end));
    }
    assert!(there == *model, "seed {seed}");
}
