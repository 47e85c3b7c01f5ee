//! Records of the log by their kinds: what is not known is refused by its number, or passed over.
//!
//! By everybody who reads a log; and never is it taken for damage.

use std::path::{Path, PathBuf};

use esker::internals::db::inspect::wal::{WalItem, wal_in};
use esker::internals::env::bundle::Env;
use esker::internals::env::sim::world::SimWorld;
use esker::internals::store::names::FileName;
use esker::internals::store::wal::WalReader;
use esker::internals::store::wal::writer::WalWriter;
use esker::{Db, Error, ErrorKind, RepairOptions, checkpoint_beside_in, repair_in};

use crate::stored_bytes::read;

const DIR: &str = "db";

/// The newest segment of the log, and its number.
fn newest_segment(env: &Env) -> (PathBuf, FileName) {
    let names = env.fs.list(Path::new(DIR)).unwrap();
    let wals = names.iter().filter_map(|name| FileName::parse(name));
    let newest = wals.filter(|name| matches!(name, FileName::Wal(_))).max();
    let newest = newest.unwrap();
    (Path::new(DIR).join(newest.to_string()), newest)
}

/// A database whose process was killed, with a record of that kind between two writes in its log.
fn with_a_record_of_kind(kind: u8) -> SimWorld {
    let world = SimWorld::new(u64::from(kind));
    let env = world.env();
    let db = Db::builder(DIR).env(env.clone()).open().unwrap();
    db.put("a", "1").unwrap();
    db.put("b", "2").unwrap();
    db.sync().unwrap();
    std::mem::forget(db);
    let world = world.after_kill();
    let env = world.env();
    let (path, name) = newest_segment(&env);
    let size = env.fs.file_size(&path).unwrap();
    let mut records = Vec::new();
    let mut reader = WalReader::named(env.fs.open_read(&path).unwrap(), name);
    while let Some(record) = reader.next().unwrap() {
        records.push(record.to_vec());
    }
    let mut foreign = vec![0; 40];
    foreign[7] = kind;
    records.insert(2, foreign);
    env.fs.remove_file(&path).unwrap();
    let file = env.fs.open_log(&path, size).unwrap();
    let mut log = WalWriter::new(file, name.number().unwrap());
    for record in records {
        log.append(&record).unwrap();
    }
    log.syncer().sync().unwrap();
    world
}

fn open(env: &Env, is_read_only: bool) -> esker::Result<Db> {
    let builder = Db::builder(DIR).env(env.clone());
    builder.read_only(is_read_only).open()
}

fn bytes_of_log(env: &Env) -> Vec<u8> {
    read(&*env.fs, &newest_segment(env).0)
}

#[test]
fn a_kind_that_must_be_known_is_refused_by_everybody() {
    // A reader that passed over it would answer with a state that never was, and a repair that
    // took it for damage would throw away what a newer program can read.
    let world = with_a_record_of_kind(99);
    let env = world.env();
    let before = bytes_of_log(&env);
    let refused = |error: Error| {
        assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
        let text = error.to_string();
        assert!(text.contains("a record of kind 99"), "{text}");
        assert!(text.contains("open the database with a newer program"));
    };
    refused(open(&env, false).err().unwrap());
    refused(open(&env, true).err().unwrap());
    for dry_run in [true, false] {
        let options = RepairOptions { dry_run };
        refused(repair_in(&env, Path::new(DIR), options, &[]).unwrap_err());
    }
    let beside = checkpoint_beside_in(&env, Path::new(DIR), Path::new("copy"), &[]);
    refused(beside.unwrap_err());
    assert!(bytes_of_log(&env) == before, "somebody wrote to the log");
    let items: Vec<WalItem> = wal_in(&env, &newest_segment(&env).0)
        .unwrap()
        .map(|item| item.unwrap())
        .collect();
    let unknown = WalItem::Unknown {
        offset: match items[2] {
            WalItem::Unknown { offset, .. } => offset,
            _ => panic!("{items:?}"),
        },
        len_bytes: 40,
        kind: 99,
        is_optional: false,
    };
    assert_eq!(items[2], unknown);
    assert!(matches!(items[3], WalItem::Batch(_)));
}

#[test]
fn an_optional_kind_is_passed_over_by_everybody() {
    // What stands behind it counts, and nobody calls it damage.
    let world = with_a_record_of_kind(200);
    let env = world.env();
    let items: Vec<WalItem> = wal_in(&env, &newest_segment(&env).0)
        .unwrap()
        .map(|item| item.unwrap())
        .collect();
    assert!(matches!(
        items[2],
        WalItem::Unknown {
            kind: 200,
            is_optional: true,
            ..
        }
    ));
    let options = RepairOptions { dry_run: true };
    let report = repair_in(&env, Path::new(DIR), options, &[]).unwrap();
    assert!(report.is_whole(), "{report}");
    checkpoint_beside_in(&env, Path::new(DIR), Path::new("copy"), &[]).unwrap();
    for (dir, is_read_only) in [(DIR, true), ("copy", false), (DIR, false)] {
        let builder = Db::builder(dir).env(env.clone()).read_only(is_read_only);
        let db = builder.open().unwrap();
        assert_eq!(db.get("a").unwrap().as_deref(), Some(&b"1"[..]));
        assert_eq!(db.get("b").unwrap().as_deref(), Some(&b"2"[..]));
        assert!(db.verify().unwrap().is_whole());
        db.close().unwrap();
    }
}
