//! What a closed database leaves in its directory; and no crash while it closes costs anything.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use esker::internals::env::fs::Fs;
use esker::internals::env::sim::{CrashMode, SimFs, SimWorld};
use esker::{Db, Durability, WriteOptions};

use crate::watched_fs::{Eye, Lie, WatchedFs};

const DIR: &str = "/db";

/// The manifest is allocated ahead, in bytes.
const MANIFEST_BYTES: usize = 1 << 20;

/// The log of a closed database takes at most this, in bytes: the head of one segment.
const LOG_BYTES_MAX: u64 = 64;

// The files of a directory by name, with their bytes.
fn files(dir: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = std::fs::read_dir(dir).unwrap().map(Result::unwrap);
    let named = entries.map(|entry| {
        let name = entry.file_name().into_string().unwrap();
        (name, std::fs::read(entry.path()).unwrap())
    });
    named.collect()
}

fn log_bytes(files: &BTreeMap<String, Vec<u8>>) -> u64 {
    let logs = files.iter().filter(|(name, _)| name.ends_with(".wal"));
    logs.map(|(_, bytes)| bytes.len() as u64).sum()
}

#[test]
fn a_closed_database_leaves_what_it_needs_and_no_more() {
    // Three writes: while the database is open, the log takes little and there is nearly as much
    // ahead of it; closed, next to nothing. Opening and closing without a write changes nothing.
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("db");
    let db = Db::open(&path).unwrap();
    for key in ["ship:anna", "ship:bela", "ship:cleo"] {
        db.put(key, "at sea").unwrap();
    }
    db.flush().unwrap();
    assert!(log_bytes(&files(&path)) <= 4 << 20);
    db.close().unwrap();
    let closed = files(&path);
    assert!(log_bytes(&closed) <= LOG_BYTES_MAX);
    let whole: usize = closed.values().map(Vec::len).sum();
    assert!(
        whole < MANIFEST_BYTES + (16 << 10),
        "{whole} bytes for three entries"
    );

    let db = Db::open(&path).unwrap();
    assert_eq!(db.get("ship:bela").unwrap().unwrap(), "at sea");
    db.close().unwrap();
    let names = |files: &BTreeMap<String, Vec<u8>>| -> Vec<String> {
        let logs = files.keys().filter(|name| name.ends_with(".wal"));
        logs.cloned().collect()
    };
    assert_eq!(names(&files(&path)), names(&closed));
    let before = files(&path);
    let reader = Db::open_read_only(&path).unwrap();
    assert_eq!(reader.iter().unwrap().count(), 3);
    reader.close().unwrap();
    assert_eq!(files(&path), before);
}

#[test]
fn writes_of_a_session_of_any_kind_are_in_sorted_files_when_it_is_closed() {
    // Not logged at all, logged, and synced, each in a session of its own, over two keyspaces.
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("db");
    let levels = [Durability::Memory, Durability::Buffered, Durability::Sync];
    for (count, durability) in (1..).zip(levels) {
        let db = Db::open(&path).unwrap();
        let visits = db.keyspace("visits").unwrap();
        let key = format!("{durability:?}");
        let options = WriteOptions {
            durability: Some(durability),
            ..WriteOptions::default()
        };
        let mut batch = db.batch();
        batch.put(&db, &key, "one");
        batch.commit_with(options).unwrap();
        let mut batch = db.batch();
        batch.put(&visits, &key, "other");
        batch.commit_with(options).unwrap();
        db.close().unwrap();
        assert!(log_bytes(&files(&path)) <= LOG_BYTES_MAX);
        let reader = Db::open_read_only(&path).unwrap();
        let visits = reader.keyspace("visits").unwrap();
        assert_eq!(reader.iter().unwrap().count(), count);
        assert_eq!(visits.iter().unwrap().count(), count);
        reader.close().unwrap();
    }
}

// A database that was killed with several segments of log, on a disk of its own.
fn killed(seed: u64) -> SimWorld {
    let world = SimWorld::new(seed);
    let db = open(&world, Arc::clone(&world.fs) as Arc<dyn Fs>);
    let visits = db.keyspace("visits").unwrap();
    for number in 0..40_u32 {
        db.put(format!("key{number:02}"), vec![b'v'; 5000]).unwrap();
        visits.put(format!("key{number:02}"), "visit").unwrap();
    }
    let killed = world.after_kill();
    // Closing it is nothing that the killed process did.
    world.fs.power_off();
    drop((db, visits));
    killed
}

fn open(world: &SimWorld, fs: Arc<dyn Fs>) -> Db {
    let builder = Db::builder(DIR).env(world.env_with(fs));
    let settings = [
        ("wal.segment_size", "64KiB"),
        ("wal.total_size", "1MiB"),
        ("value_log.threshold", "none"),
    ];
    let set = |builder: esker::Builder, (name, text)| builder.set(name, text).unwrap();
    settings.into_iter().fold(builder, set).open().unwrap()
}

fn check_all(db: &Db) {
    assert_eq!(db.iter().unwrap().map(Result::unwrap).count(), 40);
    let visits = db.keyspace("visits").unwrap();
    assert_eq!(visits.iter().unwrap().map(Result::unwrap).count(), 40);
}

fn sim_log_bytes(fs: &SimFs) -> u64 {
    let names = fs.list(Path::new(DIR)).unwrap();
    let logs = names.iter().filter(|name| name.ends_with(".wal"));
    logs.map(|name| fs.file_size(&Path::new(DIR).join(name)).unwrap())
        .sum()
}

#[test]
fn the_log_of_a_killed_process_is_gone_when_the_database_is_closed() {
    // Nothing is written between, so nothing but closing can give back what recovery read; and
    // when background work flushed it all before, there is nothing left to flush either.
    for has_flushed in [false, true] {
        let world = killed(7);
        assert!(sim_log_bytes(&world.fs) > 3 * (64 << 10));
        let db = open(&world, Arc::clone(&world.fs) as Arc<dyn Fs>);
        if has_flushed {
            world.pool.run_all();
        }
        check_all(&db);
        db.close().unwrap();
        assert!(sim_log_bytes(&world.fs) <= LOG_BYTES_MAX);
        let db = open(&world, Arc::clone(&world.fs) as Arc<dyn Fs>);
        check_all(&db);
        db.close().unwrap();
    }
}

#[test]
fn nothing_is_lost_when_the_power_fails_while_a_database_is_closed() {
    // Everything is durable; then the database is closed, and the power fails before each call of
    // that, in each way. Opened, closed and opened again, all of it is there.
    let crash_count = Arc::new(AtomicU64::new(0));
    for mode in CrashMode::ALL {
        for has_flushed in [false, true] {
            let world = killed(11);
            let armed: Arc<Mutex<bool>> = Arc::default();
            let (is_armed, count) = (Arc::clone(&armed), Arc::clone(&crash_count));
            let eye: Eye = Arc::new(move |sim, _| {
                if *is_armed.lock().unwrap() {
                    let seed = count.fetch_add(1, Ordering::Relaxed);
                    survive(&sim.crash_image(mode, seed), seed);
                }
            });
            let watched = WatchedFs::new(&world.fs, Some(eye), Lie::None);
            let db = open(&world, Arc::new(watched));
            if has_flushed {
                world.pool.run_all();
            }
            db.sync().unwrap();
            *armed.lock().unwrap() = true;
            db.close().unwrap();
        }
    }
    assert!(crash_count.load(Ordering::Relaxed) > 100);
}

fn survive(image: &SimFs, seed: u64) {
    let clock = Arc::new(esker::internals::env::sim::clock::SimClock::new());
    let world = SimWorld::with_disk(image.clone(), clock, seed);
    for _ in 0..2 {
        let db = open(&world, Arc::clone(&world.fs) as Arc<dyn Fs>);
        check_all(&db);
        db.put("key00", "again").unwrap();
        db.close().unwrap();
    }
}

#[test]
fn a_sync_makes_durable_what_was_not_logged() {
    // `Memory` writes to two keyspaces, a large value among them, a range delete, and a logged
    // write behind: after `sync` a power cut takes none of them.
    for mode in [CrashMode::LoseUnsynced, CrashMode::Sectors] {
        let world = SimWorld::new(21);
        let open = |world: &SimWorld| Db::builder(DIR).env(world.env()).open().unwrap();
        let db = open(&world);
        let memory = WriteOptions {
            durability: Some(Durability::Memory),
            ..WriteOptions::default()
        };
        let (first, other) = (db.with_write(memory), db.keyspace("other").unwrap());
        first.put("gone", "x").unwrap();
        first.put("small", "1").unwrap();
        first.put("large", vec![7; 100_000]).unwrap();
        first.delete_range("g".."h").unwrap();
        other.with_write(memory).put("small", "2").unwrap();
        db.put("logged", "3").unwrap();
        db.sync().unwrap();
        let world = world.after_crash(mode, 1);
        drop((db, first, other));
        let db = open(&world);
        let other = db.existing_keyspace("other").unwrap();
        assert_eq!(db.get("gone").unwrap(), None);
        assert_eq!(db.get("small").unwrap().unwrap(), "1");
        assert_eq!(db.get("large").unwrap().unwrap(), vec![7; 100_000]);
        assert_eq!(db.get("logged").unwrap().unwrap(), "3");
        assert_eq!(other.get("small").unwrap().unwrap(), "2");
        db.close().unwrap();
    }
}
