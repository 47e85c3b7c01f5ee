//! An idle database gives back the space that its limit promises, and then does nothing.

use std::fmt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use esker::internals::env::bundle::Env;
use esker::internals::env::fs::Fs;
use esker::internals::env::pool::{Job, Pool, Priority};
use esker::internals::env::random::Random;
use esker::internals::env::signal::Signal;
use esker::internals::env::sim::{SimFs, SimWorld};
use esker::{Db, Durability, Keyspace, WriteOptions};

const DIR: &str = "/db";

/// Large values, as many times overwritten: what lives is a twentieth of what was written.
const KEYS: u32 = 30;
const VALUE_BYTES: usize = 128 << 10;
const ROUNDS: u8 = 20;
const LIVE_BYTES: u64 = KEYS as u64 * VALUE_BYTES as u64;

/// `max_space_amp` of 1.3, and what every value log may have dead.
const BOUND_BYTES: u64 = LIVE_BYTES + (LIVE_BYTES * 3 / 10) + (1 << 20);

fn open(world: &SimWorld) -> Db {
    open_in(world.env())
}

fn open_in(env: Env) -> Db {
    let mut builder = Db::builder(DIR).env(env);
    for (name, text) in [
        ("max_space_amp", "1.3"),
        ("value_log.threshold", "16KiB"),
        ("value_log.segment_size", "16MiB"),
        ("memory_limit", "16MiB"),
    ] {
        builder = builder.set(name, text).unwrap();
    }
    builder.open().unwrap()
}

fn bytes_of(fs: &SimFs, ending: &str) -> u64 {
    let names = fs.list(Path::new(DIR)).unwrap();
    let names = names.iter().filter(|name| name.ends_with(ending));
    names
        .map(|name| fs.file_size(&Path::new(DIR).join(name)).unwrap())
        .sum()
}

fn overwrite(db: &Keyspace, rounds: u8) {
    for round in 0..rounds {
        for key in 0..KEYS {
            db.put(key.to_be_bytes(), vec![round; VALUE_BYTES]).unwrap();
        }
    }
}

// No two are alike, so nothing compresses them.
fn small(round: u8, key: u32) -> Vec<u8> {
    Random::new(u64::from(key) << 8 | u64::from(round)).bytes(1_000)
}

fn check(db: &Db, round: u8) {
    for key in 0..KEYS {
        let value = db.get(key.to_be_bytes()).unwrap().unwrap();
        assert!(value == vec![round; VALUE_BYTES]);
    }
}

fn pass(world: &SimWorld, seconds: u64) {
    for _ in 0..seconds {
        world.clock.advance(Duration::from_secs(1));
        world.pool.run_all();
    }
}

#[test]
fn an_idle_database_settles_and_sleeps() {
    // After ten seconds without a write the bound holds, nothing is lost, no job waits and no
    // timer; an hour later nothing has run.
    for seed in 0..3 {
        let world = SimWorld::new(seed);
        let db = open(&world);
        overwrite(&db, ROUNDS);
        world.pool.run_all();
        assert!(bytes_of(&world.fs, ".vlog") > BOUND_BYTES);
        pass(&world, 10);
        let left = bytes_of(&world.fs, ".vlog");
        assert!(left <= BOUND_BYTES, "{left} of {BOUND_BYTES} bytes");
        check(&db, ROUNDS - 1);
        let run_count = world.pool.run_count();
        pass(&world, 1);
        world.clock.advance(Duration::from_secs(3600));
        world.pool.run_all();
        assert_eq!(world.pool.run_count(), run_count);
        assert_eq!(world.pool.drop_all(), 0);
        assert!(db.verify().unwrap().is_whole());
        // A new write is looked after again.
        overwrite(&db, ROUNDS / 2);
        pass(&world, 10);
        assert!(bytes_of(&world.fs, ".vlog") <= BOUND_BYTES);
        check(&db, ROUNDS / 2 - 1);
        assert_eq!(world.pool.drop_all(), 0);
    }
}

#[test]
fn the_bound_holds_after_close() {
    // Closed in the middle of writing, without a moment of rest.
    let world = SimWorld::new(7);
    let db = open(&world);
    overwrite(&db, ROUNDS);
    assert!(bytes_of(&world.fs, ".vlog") > BOUND_BYTES);
    db.close().unwrap();
    let left = bytes_of(&world.fs, ".vlog");
    assert!(left <= BOUND_BYTES, "{left} of {BOUND_BYTES} bytes");
    let db = open(&world);
    check(&db, ROUNDS - 1);
    assert!(db.verify().unwrap().is_whole());
}

#[test]
fn what_a_killed_process_left_settles_after_opening() {
    let world = SimWorld::new(8);
    let db = open(&world);
    overwrite(&db, ROUNDS);
    let killed = world.after_kill();
    drop(db);
    let db = open(&killed);
    assert!(bytes_of(&killed.fs, ".vlog") > BOUND_BYTES);
    pass(&killed, 10);
    assert!(bytes_of(&killed.fs, ".vlog") <= BOUND_BYTES);
    check(&db, ROUNDS - 1);
    assert_eq!(killed.pool.drop_all(), 0);
}

#[test]
fn who_writes_is_not_held_up() {
    // A write every second keeps the database from settling: no memtable is flushed and no value
    // is moved for it. Two seconds after the last one it settles.
    let world = SimWorld::new(9);
    let db = open(&world);
    overwrite(&db, ROUNDS);
    world.pool.run_all();
    let (tables, values) = (bytes_of(&world.fs, ".sst"), bytes_of(&world.fs, ".vlog"));
    for second in 0..30_u32 {
        db.put("small", second.to_be_bytes()).unwrap();
        pass(&world, 1);
        assert_eq!(bytes_of(&world.fs, ".sst"), tables);
        assert_eq!(bytes_of(&world.fs, ".vlog"), values);
    }
    pass(&world, 10);
    assert!(bytes_of(&world.fs, ".vlog") <= BOUND_BYTES);
}

#[test]
fn small_values_settle_too() {
    // Overwritten run by run, in too few runs to call for a merge, and the last of them in a
    // memtable and the log: at rest the files hold no more than the limit beside what lives.
    let world = SimWorld::new(10);
    let db = open(&world);
    for round in 0..3_u8 {
        for key in 0..4_000_u32 {
            db.put(key.to_be_bytes(), small(round, key)).unwrap();
        }
        if round < 2 {
            db.flush().unwrap();
        }
        world.pool.run_all();
    }
    let live_bytes = 4_000 * (4 + 8 + 1_000);
    let bound_bytes = live_bytes * 13 / 10 + (1 << 20);
    let held_bytes = || {
        let tables = bytes_of(&world.fs, ".sst");
        tables + db.stats().keyspaces[0].memtable_bytes
    };
    assert!(held_bytes() > bound_bytes);
    pass(&world, 10);
    let left = held_bytes();
    assert!(left <= bound_bytes, "{left} of {bound_bytes} bytes");
    assert_eq!(world.pool.drop_all(), 0);
    for key in 0..4_000_u32 {
        assert!(db.get(key.to_be_bytes()).unwrap().unwrap() == small(2, key));
    }
}

/// A pool that writes, once, when the first job is spawned after it was told to.
struct Interrupting {
    inner: Arc<dyn Pool>,
    is_armed: AtomicBool,
    db: OnceLock<Keyspace>,
}

impl fmt::Debug for Interrupting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Interrupting").finish_non_exhaustive()
    }
}

impl Pool for Interrupting {
    fn spawn(&self, priority: Priority, name: &'static str, job: Job) {
        if self.is_armed.swap(false, Ordering::Relaxed) {
            overwrite(self.db.get().unwrap(), ROUNDS);
        }
        self.inner.spawn(priority, name, job);
    }

    fn spawn_after(&self, delay: Duration, priority: Priority, name: &'static str, job: Job) {
        self.inner.spawn_after(delay, priority, name, job);
    }

    fn wait(&self, signal: &Signal, seen: u64, timeout: Duration) -> bool {
        self.inner.wait(signal, seen, timeout)
    }

    fn thread_count(&self) -> usize {
        self.inner.thread_count()
    }
}

#[test]
fn what_is_written_while_somebody_looks_settles_too() {
    // The look finds nothing but level 0 to merge. While it spawns that, much is overwritten, and
    // nothing after it.
    let world = SimWorld::new(11);
    let pool = Arc::new(Interrupting {
        inner: world.env().pool,
        is_armed: AtomicBool::new(false),
        db: OnceLock::new(),
    });
    let mut env = world.env();
    env.pool = Arc::clone(&pool) as Arc<dyn Pool>;
    let db = open_in(env);
    let unlogged = db.with_write(WriteOptions {
        durability: Some(Durability::Memory),
        ..WriteOptions::default()
    });
    for round in 0..2_u8 {
        for key in 0..4_000_u32 {
            unlogged.put(key.to_be_bytes(), small(round, key)).unwrap();
        }
        db.flush().unwrap();
        if round == 0 {
            db.compact::<&str>(..).unwrap();
        }
    }
    world.pool.run_all();
    assert!(pool.db.set(Keyspace::clone(&db)).is_ok());
    pool.is_armed.store(true, Ordering::Relaxed);
    pass(&world, 20);
    assert!(!pool.is_armed.load(Ordering::Relaxed));
    let left = bytes_of(&world.fs, ".vlog");
    assert!(left <= BOUND_BYTES, "{left} of {BOUND_BYTES} bytes");
    check(&db, ROUNDS - 1);
    assert_eq!(world.pool.drop_all(), 0);
    db.close().unwrap();
}
