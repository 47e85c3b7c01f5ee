//! A database of format 1 with files that are searched while compressed: read whole, written on.
//!
//! `tests/fixtures/format-1-searchable` is written as the other fixtures are, by
//! `cargo test -p esker --test it write_the_fixture_of_searchable_files -- --ignored`. At the
//! bottom it has files of version 3 with a dictionary; above, files made of blocks; and a log. All
//! its files tell the name of their keyspace and what they were made of (properties 21 and 22),
//! which those of the other fixtures do not, and CURRENT says how far the manifest was durable.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use esker::Db;
use esker::internals::env::real::fs::RealFs;
use esker::internals::env::sim::SimWorld;

use crate::fixture::{check_size, copy, keep};
use crate::formats::{Contents, decode, large, review, sorted};

/// A fixture lies in every clone for ever: kept small.
const FIXTURE_BYTES_MAX: u64 = 150 << 10;

/// The first second of 2026.
const WRITTEN_UNIX_S: u64 = 1_767_225_600;

const REVIEWS: u64 = 700;

const APART: usize = 8;

const SETTINGS: [(&str, &str); 9] = [
    ("wal.segment_size", "64KiB"),
    ("wal.total_size", "256KiB"),
    ("memory_limit", "4MiB"),
    ("compression", "searchable"),
    ("sst.dictionary_min", "16KiB"),
    ("sst.file_size", "32KiB"),
    ("value_log.threshold", "1000B"),
    ("value_log.segment_size", "64KiB"),
    ("compaction.automatic", "false"),
];

fn fixture() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/format-1-searchable")
}

fn key(number: u64) -> String {
    format!("product{:04}/user{number:05}", number / 7)
}

fn expected() -> Contents {
    let mut contents = Contents::new();
    for number in (0..REVIEWS).filter(|number| number % 11 != 1) {
        let value = match (number % 50, number % 9) {
            (2, _) => b"log".to_vec(),
            (_, 0) => b"level 0".to_vec(),
            _ => review(number),
        };
        contents.insert(key(number).into_bytes(), value);
    }
    for number in 0..APART {
        contents.insert(format!("apart{number}").into_bytes(), large(number));
    }
    contents
}

#[track_caller]
fn check(db: &Db) {
    let expected = expected();
    let pair = |entry: esker::Result<(esker::Bytes, esker::Bytes)>| {
        let (key, value) = entry.unwrap();
        (key.to_vec(), value.to_vec())
    };
    assert!(db.iter().unwrap().map(pair).eq(expected.clone()));
    for (key, value) in &expected {
        assert_eq!(db.get(key).unwrap().unwrap(), value[..]);
    }
    assert!(db.get(key(1)).unwrap().is_none());
    let report = db.verify().unwrap();
    assert!(report.is_whole(), "{report:?}");
}

#[test]
#[ignore = "writes the fixture anew; only for a format that is not released"]
fn write_the_fixture_of_searchable_files() {
    // A database is filled and copied as a killed process would leave it, with its log.
    let dir = tempfile::tempdir().unwrap();
    let world = SimWorld::new(1);
    world
        .clock
        .set_unix_time(Duration::from_secs(WRITTEN_UNIX_S));
    let path = dir.path().join("db");
    let open = || {
        let mut builder = Db::builder(&path).env(world.env_with(Arc::new(RealFs)));
        for (name, text) in SETTINGS {
            builder = builder.set(name, text).unwrap();
        }
        builder.open().unwrap()
    };
    let db = open();
    for number in 0..REVIEWS {
        db.put(key(number), review(number)).unwrap();
    }
    for number in 0..APART {
        db.put(format!("apart{number}"), large(number)).unwrap();
    }
    db.compact::<&[u8]>(..).unwrap();
    for number in (0..REVIEWS).step_by(9) {
        db.put(key(number), "level 0").unwrap();
    }
    // Closed, so that no log lies there that was used and is kept to be used again.
    db.close().unwrap();
    let db = open();
    for number in 0..REVIEWS {
        if number % 50 == 2 {
            db.put(key(number), "log").unwrap();
        }
        if number % 11 == 1 {
            db.delete(key(number)).unwrap();
        }
    }
    db.sync().unwrap();
    check(&db);
    keep(&path, &fixture());
}

#[test]
fn searchable_files_of_format_1_are_read_as_they_were_written() {
    // The fixture itself is opened, read-only, and read by the tables of docs/formats.md.
    check_size(&fixture(), FIXTURE_BYTES_MAX);
    check(&Db::open_read_only(fixture()).unwrap());
    let found = decode(&fixture(), WRITTEN_UNIX_S);
    let contents = BTreeMap::from([("default".to_owned(), expected())]);
    assert!(found.contents == contents);
}

#[test]
fn the_fixture_has_what_the_others_have_not() {
    // What is not in it is not proved to be readable by later versions.
    let found = decode(&fixture(), WRITTEN_UNIX_S);
    let (searchable, blocks): (Vec<_>, Vec<_>) =
        found.files.values().partition(|file| file.version == 3);
    assert!(searchable.len() > 1 && !blocks.is_empty());
    for file in &searchable {
        assert!(file.met.contains("method 1") && file.met.contains("2 classes"));
        let (_, _, sources) = sorted::lineage(&file.props[&22]);
        assert!(!sources.is_empty());
    }
    assert!(
        found
            .files
            .values()
            .all(|file| file.props[&21] == b"default")
    );
    assert!(blocks.iter().all(|file| !file.props.contains_key(&22)));
    assert!(searchable.iter().any(|file| file.props.contains_key(&20)));
    assert!(found.logged.contains(&0) && found.logged.contains(&1));
}

#[test]
fn searchable_files_of_format_1_are_written_on() {
    // A copy is opened for writing, compacted, and opened again.
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("db");
    copy(&fixture(), &path);
    let db = Db::open(&path).unwrap();
    check(&db);
    db.compact::<&[u8]>(..).unwrap();
    check(&db);
    assert!(db.files().iter().all(|file| file.is_searchable));
    db.close().unwrap();
    check(&Db::open(&path).unwrap());
}
