//! Files of a database that are gone, and files in its directory that are not its own.

use std::path::{Path, PathBuf};

use esker::internals::env::fs::Fs;
use esker::internals::env::sim::world::SimWorld;
use esker::{Db, Durability, ErrorKind, WriteOptions};

const DIR: &str = "/db";

/// Bytes of a value that goes to the value log.
const LARGE_BYTES: usize = 100_000;

fn builder(world: &SimWorld) -> esker::Builder {
    let builder = Db::builder(DIR).env(world.env());
    builder.set("value_log.threshold", "1KiB").unwrap()
}

fn put_synced(db: &Db, key: &str, value: &[u8]) {
    let sync = WriteOptions {
        durability: Some(Durability::Sync),
        no_wait: false,
    };
    db.with_write(sync).put(key, value).unwrap();
}

fn files(world: &SimWorld, ending: &str) -> Vec<PathBuf> {
    let mut names = world.fs.list(Path::new(DIR)).unwrap();
    names.retain(|name| name.ends_with(ending));
    names.iter().map(|name| Path::new(DIR).join(name)).collect()
}

// Everything is readable but the value that is gone, of which it is said where it was.
fn assert_one_lost(db: &Db) {
    assert_eq!(db.get("small").unwrap().as_deref(), Some(&b"value"[..]));
    let error = db.get("large").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corruption);
    let text = error.to_string();
    assert!(text.contains(".vlog") && text.contains("missing"), "{text}");
}

#[test]
fn a_lost_segment_of_the_value_log_costs_its_values_alone() {
    // Only the log names the segment, the process was killed, and the file is gone.
    let world = SimWorld::new(3);
    let db = builder(&world).open().unwrap();
    put_synced(&db, "small", b"value");
    put_synced(&db, "large", &[7; LARGE_BYTES]);
    let world = {
        let next = world.after_kill();
        drop(db);
        next
    };
    for path in files(&world, ".vlog") {
        world.fs.remove_file(&path).unwrap();
    }
    assert_one_lost(&builder(&world).read_only(true).open().unwrap());
    let db = builder(&world).open().unwrap();
    assert_one_lost(&db);
    // Life goes on, also where a sorted file names the segment.
    put_synced(&db, "more", &[8; LARGE_BYTES]);
    db.flush().unwrap();
    assert_one_lost(&db);
    db.close().unwrap();
    assert_one_lost(&builder(&world).read_only(true).open().unwrap());
    let db = builder(&world).open().unwrap();
    assert_one_lost(&db);
    assert_eq!(db.get("more").unwrap().unwrap().len(), LARGE_BYTES);
    // Written anew, it is whole.
    db.put("large", b"anew").unwrap();
    assert_eq!(db.get("large").unwrap().as_deref(), Some(&b"anew"[..]));
}

#[test]
fn numbers_of_strange_files_are_not_believed() {
    // As large as numbers can be, in names such as the database gives its own files.
    let largest = [u64::MAX, u64::MAX - 1, 1 << 63, (1 << 63) - 1, 1 << 40];
    for ending in ["wal", "vlog", "sst", "tmp"] {
        for number in largest {
            let world = SimWorld::new(3);
            let db = builder(&world).open().unwrap();
            put_synced(&db, "small", b"value");
            db.close().unwrap();
            drop(db);
            let stray = Path::new(DIR).join(format!("{number}.{ending}"));
            world.fs.create(&stray).unwrap().append(b"mine").unwrap();
            let db = builder(&world).open().unwrap();
            put_synced(&db, "large", &[7; LARGE_BYTES]);
            let world = {
                let next = world.after_kill();
                drop(db);
                next
            };
            let db = builder(&world).open().unwrap();
            let value = db.get("large").unwrap();
            assert_eq!(value.as_deref(), Some(&[7; LARGE_BYTES][..]), "{stray:?}");
            db.close().unwrap();
            assert!(world.fs.exists(&stray).unwrap(), "{stray:?} was not ours");
        }
    }
}

#[test]
fn the_segment_of_a_giant_batch_goes_with_its_flush() {
    // A batch far larger than a segment is written and flushed, and then nothing more happens.
    let world = SimWorld::new(3);
    let builder = Db::builder(DIR).env(world.env());
    let builder = builder.set("wal.segment_size", "64KiB").unwrap();
    let db = builder.open().unwrap();
    let mut batch = db.batch();
    for number in 0..3_000u32 {
        let key = number.to_be_bytes();
        batch.put(db.default_keyspace(), key, [9; 1_000]);
    }
    batch.commit().unwrap();
    let log_bytes = || -> u64 {
        let sizes = files(&world, ".wal");
        sizes
            .iter()
            .map(|path| world.fs.file_size(path).unwrap())
            .sum()
    };
    assert!(log_bytes() > 3_000_000);
    db.flush().unwrap();
    world.pool.run_all();
    assert!(
        log_bytes() < 500_000,
        "{} bytes of log are left",
        log_bytes()
    );
    put_synced(&db, "more", b"value");
    drop(db);
}
