//! A database of format 1 with values in the value log: read whole, and written on.
//!
//! `tests/fixtures/format-1-values` is written as the other fixture is, by
//! `cargo test -p esker --test it write_the_fixture_of_values -- --ignored`. Its segment holds
//! values that files point to, values that only the log does, and some that nobody does.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use esker::internals::env::random::Random;
use esker::internals::env::real::fs::RealFs;
use esker::internals::env::sim::SimWorld;
use esker::{Db, ErrorKind};

use crate::fixture::{check_size, copy, keep};

/// A fixture lies in every clone for ever: kept small.
const FIXTURE_BYTES_MAX: u64 = 120 << 10;

/// Keys 0 to 9 are in files, 10 to 14 in the log, and 3 is overwritten there.
const KEYS: usize = 15;

fn fixture() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/format-1-values")
}

fn key(number: usize) -> String {
    format!("key {number:02}")
}

fn value(number: usize) -> Vec<u8> {
    let seed = if number == 3 { 33 } else { number };
    Random::new(seed as u64).bytes(1_000 + 600 * (number % 7))
}

#[track_caller]
fn check(db: &Db) {
    for number in 0..KEYS {
        assert!(
            db.get(key(number)).unwrap().unwrap() == value(number),
            "{number}"
        );
    }
    assert_eq!(db.get("small").unwrap().unwrap(), "in the tree");
    assert!(db.get("gone").unwrap().is_none());
    let entries = db.iter().unwrap().map(|entry| entry.unwrap());
    assert_eq!(entries.count(), KEYS + 1);
    let report = db.verify().unwrap();
    assert!(report.is_whole(), "{report:?}");
}

#[test]
#[ignore = "writes the fixture anew; only for a format that is not released"]
fn write_the_fixture_of_values() {
    // A database is filled and copied as a killed process would leave it, with its log.
    let dir = tempfile::tempdir().unwrap();
    let world = SimWorld::new(1);
    let path = dir.path().join("db");
    let mut builder = Db::builder(&path).env(world.env_with(Arc::new(RealFs)));
    for (name, text) in [
        ("wal.segment_size", "64KiB"),
        ("wal.total_size", "256KiB"),
        ("memory_limit", "4MiB"),
        ("value_log.threshold", "1000B"),
        ("value_log.segment_size", "64KiB"),
        ("compaction.automatic", "false"),
    ] {
        builder = builder.set(name, text).unwrap();
    }
    let db = builder.open().unwrap();
    for number in 0..10 {
        let old = Random::new(number as u64).bytes(1_000 + 600 * (number % 7));
        db.put(key(number), old).unwrap();
    }
    db.put("small", "in the tree").unwrap();
    db.put("gone", value(1)).unwrap();
    db.flush().unwrap();
    db.put(key(3), value(3)).unwrap();
    db.delete("gone").unwrap();
    for number in 10..KEYS {
        db.put_with_ttl(key(number), value(number), Duration::from_secs(1 << 40))
            .unwrap();
    }
    db.sync().unwrap();
    check(&db);
    keep(&path, &fixture());
}

#[test]
fn values_of_format_1_are_read_as_they_were_written() {
    // The fixture itself is opened, read-only.
    check_size(&fixture(), FIXTURE_BYTES_MAX);
    let db = Db::open_read_only(fixture()).unwrap();
    check(&db);
    let values = db.stats().values;
    assert!(
        values.segment_count >= 1 && values.live_bytes > 0,
        "{values}"
    );
    assert!(
        values.recent_bytes > 0,
        "some are named by the log alone: {values}"
    );
}

#[test]
fn values_of_format_1_are_written_on() {
    // A copy is opened for writing, compacted, and opened again; a segment less is an error.
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("db");
    copy(&fixture(), &path);
    let db = Db::open(&path).unwrap();
    check(&db);
    db.compact::<&[u8]>(..).unwrap();
    check(&db);
    db.close().unwrap();
    let db = Db::open(&path).unwrap();
    check(&db);
    db.close().unwrap();
    for entry in fs::read_dir(&path).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|end| end == "vlog") {
            fs::remove_file(path).unwrap();
        }
    }
    let db = Db::open(&path).unwrap();
    let error = db.get(key(0)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corruption);
    assert!(error.file().unwrap().ends_with(".vlog"));
}
