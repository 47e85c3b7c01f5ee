//! Without space: what helps is possible, and the messages say what helps.

use std::path::Path;
use std::sync::{Arc, Mutex, Once};
use std::time::Duration;

use esker::internals::base::codec::compress::CompressionType;
use esker::internals::env::bundle::Env;
use esker::internals::env::fs::Fs;
use esker::internals::env::signal::Signal;
use esker::internals::env::sim::SimWorld;
use esker::{Db, Durability, ErrorKind, Keyspace, KeyspaceOptions, WriteOptions};

use crate::watched_fs::{Eye, Lie, WatchedFs};

/// The smallest limit that can be set.
const LIMIT_BYTES: u64 = 16 << 20;

/// The reserve: small, so that a small disk can hold it.
const RESERVE_BYTES: u64 = 1 << 20;

fn open_with(world: &SimWorld, more: &[(&str, &str)]) -> Db {
    let mut builder = Db::builder("db").env(world.env());
    for (name, text) in [
        ("disk_limit", "16MiB"),
        ("disk.free_min", "1MiB"),
        ("wal.segment_size", "256KiB"),
        ("wal.total_size", "1MiB"),
    ]
    .iter()
    .chain(more)
    {
        builder = builder.set(name, text).unwrap();
    }
    builder.open().unwrap()
}

fn open(world: &SimWorld) -> Db {
    open_with(
        world,
        &[
            ("memory_limit", "8MiB"),
            ("memtable.size", "256KiB"),
            ("compression", "none"),
            ("sst.compression_upper", "none"),
            ("compaction.automatic", "false"),
        ],
    )
}

// Writes the same few keys over and over until that is refused; says how.
fn overwrite_until_refused(world: &SimWorld, keyspace: &Keyspace) -> esker::Error {
    for round in 0..10_000u32 {
        let key = format!("{:02}", round % 50);
        if let Err(error) = keyspace.put(key, vec![b'v'; 4_000]) {
            return error;
        }
        world.pool.run_all();
    }
    panic!("the space never ended");
}

fn check_readable(keyspace: &Keyspace) {
    let entries: Vec<_> = keyspace
        .iter()
        .unwrap()
        .map(|entry| entry.unwrap())
        .collect();
    assert_eq!(entries.len(), 50);
    assert!(entries.iter().all(|(_, value)| value.len() == 4_000));
}

#[test]
fn at_the_disk_limit_compacting_makes_room() {
    // Nothing but overwritten values fills the limit. Deletes are refused like all writes, so
    // the message must not advise them; compacting does help, at once and without reopening.
    let world = SimWorld::new(1);
    let db = open(&world);
    for _ in 0..3 {
        let error = overwrite_until_refused(&world, &db);
        assert_eq!(error.kind(), ErrorKind::OutOfSpace, "{error}");
        assert!(error.message().contains("disk_limit"), "{error}");
        assert!(error.message().contains("compact"), "{error}");
        assert_eq!(db.delete("00").unwrap_err().kind(), ErrorKind::OutOfSpace);
        assert_eq!(db.stats().state, "out of space");
        db.compact::<&[u8]>(..).unwrap();
        assert_eq!(db.stats().state, "open");
        check_readable(&db);
    }
    db.put("00", "again").unwrap();
    let names = world.fs.list(Path::new("db")).unwrap().into_iter();
    let size = |name: &String| world.fs.file_size(&Path::new("db").join(name)).unwrap();
    let sizes: Vec<_> = names.map(|name| (size(&name), name)).collect();
    let in_all: u64 = sizes.iter().map(|(size, _)| size).sum();
    assert!(in_all < LIMIT_BYTES, "{sizes:?}");
}

#[test]
fn at_the_disk_limit_compacting_makes_room_of_what_has_expired() {
    // It lies in one run already, and there is nothing to take out but that.
    let world = SimWorld::new(5);
    let db = open(&world);
    let minute = Duration::from_secs(60);
    let mut number = 0;
    let mut put = || {
        number += 1;
        world.pool.run_all();
        db.put_with_ttl(format!("{number:06}"), vec![b'v'; 4_000], minute)
    };
    let is_stuck = (0..10).any(|_| {
        let refused = (0..10_000).find_map(|_| put().err());
        assert_eq!(refused.unwrap().kind(), ErrorKind::OutOfSpace);
        db.compact::<&[u8]>(..).unwrap();
        put().is_err()
    });
    assert!(is_stuck, "compacting does not help yet");
    world.clock.advance(minute);
    db.compact::<&[u8]>(..).unwrap();
    put().unwrap();
    assert_eq!(db.iter().unwrap().count(), 1);
}

#[test]
fn at_the_disk_limit_dropping_a_keyspace_makes_room() {
    // A full keyspace goes, and writes to the others go on.
    let world = SimWorld::new(2);
    let db = open(&world);
    let mut options = KeyspaceOptions::default();
    options.compaction.is_automatic = false;
    options.memtable_bytes = 256 << 10;
    options.sst.compression_upper = CompressionType::None;
    let logs = db.keyspace_with("logs", options).unwrap();
    overwrite_until_refused(&world, &logs);
    db.put("key", "value").unwrap_err();
    db.drop_keyspace("logs").unwrap();
    assert_eq!(db.stats().state, "open");
    db.put("key", "value").unwrap();
}

#[test]
fn a_compaction_that_might_not_fit_is_refused_before_it_begins() {
    // The disk itself is full. A merge of everything might eat what flushes need, and is
    // refused with the reason; reads go on. With some space it runs, and writes go on.
    let world = SimWorld::new(3);
    let db = open(&world);
    for round in 0..600u32 {
        let key = format!("{:02}", round % 50);
        db.put(key, vec![b'v'; 4_000]).unwrap();
        world.pool.run_all();
    }
    world.fs.set_free_bytes(RESERVE_BYTES - 1);
    let error = overwrite_until_refused(&world, &db);
    assert_eq!(error.kind(), ErrorKind::OutOfSpace);
    assert!(error.message().contains("reserve"), "{error}");
    let error = db.compact::<&[u8]>(..).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::OutOfSpace);
    assert!(error.message().contains("smaller range"), "{error}");
    check_readable(&db);
    world.fs.set_free_bytes(8 << 20);
    db.compact::<&[u8]>(..).unwrap();
    db.put("00", vec![b'w'; 4_000]).unwrap();
    check_readable(&db);
}

#[test]
fn large_values_stop_at_the_disk_limit_while_the_background_is_stuck() {
    // A sync takes its time, and nothing else of the background runs either. A writer of large
    // values, whose own calls end in the page cache, is refused within a segment of the limit.
    let world = SimWorld::new(4);
    let db = open_with(&world, &[("value_log.segment_size", "1MiB")]);
    let options = WriteOptions {
        durability: Some(Durability::Buffered),
        no_wait: true,
    };
    let mut written = 0;
    let error = loop {
        match db.with_write(options).put("key", vec![b'v'; 64 << 10]) {
            Ok(()) => written += 64 << 10,
            Err(error) => break error,
        }
        assert!(written < 2 * LIMIT_BYTES, "never refused");
    };
    assert_eq!(error.kind(), ErrorKind::OutOfSpace, "{error}");
    assert!(error.message().contains("disk_limit"), "{error}");
    assert!(written > LIMIT_BYTES / 2, "{written}");
    assert!(written < LIMIT_BYTES + (1 << 20), "{written}");
    // Once it comes to run, what was overwritten is given back, and the writer goes on.
    world.pool.run_all();
    db.put("key", vec![b'w'; 64 << 10]).unwrap();
    assert_eq!(db.get("key").unwrap().unwrap(), vec![b'w'; 64 << 10]);
}

#[test]
fn what_a_compaction_replaced_is_gone_when_it_returns() {
    // Large files take their time to be removed. Meanwhile something else of the background ends,
    // at which every waiter looks: who compacts to make room has it when that returns.
    let world = SimWorld::new(5);
    let other: Arc<Mutex<Option<Keyspace>>> = Arc::default();
    let returned = Arc::new(Signal::default());
    let has_returned = Arc::clone(&returned);
    let (busy, has_met) = (Arc::clone(&other), Once::new());
    let eye: Eye = Arc::new(move |_, doing| {
        if doing.starts_with("remove") && doing.contains(".sst") {
            has_met.call_once(|| {
                let busy = busy.lock().unwrap().take().expect("it was opened first");
                for turn in 0..3u32 {
                    busy.put("key", turn.to_be_bytes()).unwrap();
                    busy.flush().unwrap();
                }
                // One who returned too early has been woken by now, and only has to run.
                has_returned.block(0, Duration::from_millis(50));
            });
        }
    });
    let env = Env {
        fs: Arc::new(WatchedFs::new(&world.fs, Some(eye), Lie::None)),
        ..Env::real(2)
    };
    let builder = Db::builder("db").env(env);
    let db = builder.set("compaction.automatic", "false").unwrap();
    let db = db.open().unwrap();
    for round in 0..2 {
        for number in 0..100u32 {
            db.put(number.to_be_bytes(), format!("{round}")).unwrap();
        }
        db.flush().unwrap();
    }
    let tables = || {
        let names = world.fs.list(Path::new("db")).unwrap();
        names.iter().filter(|name| name.ends_with(".sst")).count()
    };
    assert_eq!(tables(), 2);
    *other.lock().unwrap() = Some(db.keyspace("other").unwrap());
    db.compact::<&[u8]>(..).unwrap();
    // Beside the three of the other keyspace.
    assert_eq!(tables(), 4);
    returned.raise();
}
