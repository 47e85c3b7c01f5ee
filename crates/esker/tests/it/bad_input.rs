//! Wrong arguments, wrong settings, wrong directories: each with its exact error.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use esker::internals::base::types::ids::FileNumber;
use esker::internals::env::bundle::Env;
use esker::internals::env::sim::fault::FaultFs;
use esker::internals::env::sim::fault_plan::{Calls, Fault, Plan};
use esker::internals::env::sim::world::SimWorld;
use esker::internals::store::version::encode::encode_snapshot;
use esker::internals::store::version::format::{SnapshotHead, encode_current};
use esker::internals::store::wal::writer::WalWriter;
use esker::{
    Builder, Bytes, Db, Error, ErrorKind, KeyspaceOptions, MergeOperator, MergeRule, Result,
};

use crate::stored_bytes::{read, write};

/// One wrong input: what is done in a fresh world, and the error that must come of it.
struct Row {
    name: &'static str,
    act: fn(&Env) -> Result<()>,
    kind: ErrorKind,
    message: &'static str,
}

fn builder(env: &Env) -> Builder {
    Db::builder("db").env(env.clone())
}

fn open(env: &Env) -> Db {
    builder(env).open().unwrap()
}

fn open_error(builder: Builder) -> Result<()> {
    builder.open().map(drop)
}

// A database with one sorted file, closed.
fn made(env: &Env) {
    let db = open(env);
    db.put("key", "value").unwrap();
    db.close().unwrap();
}

fn find(env: &Env, part: &str) -> std::path::PathBuf {
    let names = env.fs.list(Path::new("db")).unwrap();
    let name = names.into_iter().filter(|name| name.contains(part)).max();
    Path::new("db").join(name.unwrap())
}

/// A merge operator that only some programs have.
struct Foreign;

impl MergeOperator for Foreign {
    fn name(&self) -> &str {
        "foreign"
    }

    fn fold(
        &self,
        _key: &[u8],
        _base: Option<&[u8]>,
        _operands: &[&[u8]],
    ) -> std::result::Result<Vec<u8>, String> {
        Err("never asked".into())
    }

    fn combine(&self, _key: &[u8], _older: &[u8], _newer: &[u8]) -> Option<Vec<u8>> {
        None
    }
}

fn foreign() -> MergeRule {
    MergeRule(Arc::new(Foreign))
}

const ROWS: &[Row] = &[
    Row {
        name: "a key that is too long",
        act: |env| open(env).put([7; 65_536], "value"),
        kind: ErrorKind::TooLarge,
        message: "too large: a key of 65536 bytes; the limit is 65535",
    },
    Row {
        name: "a value that is too long",
        act: |env| open(env).put("key", vec![0; (1 << 30) + 1]),
        kind: ErrorKind::TooLarge,
        message: "too large: a value of 1073741825 bytes; the limit is 1073741824",
    },
    Row {
        name: "a range whose end is too long",
        act: |env| open(env).delete_range(..=[7u8; 65_536].as_slice()),
        kind: ErrorKind::TooLarge,
        message: "too large: a key of 65536 bytes; the limit is 65535",
    },
    Row {
        name: "an unknown setting",
        act: |env| builder(env).set("memory_limt", "1GiB").map(drop),
        kind: ErrorKind::Invalid,
        message: "invalid: there is no setting `memory_limt`; `memory_limit` exists",
    },
    Row {
        name: "a value that the setting does not take",
        act: |env| builder(env).set("durability", "maybe").map(drop),
        kind: ErrorKind::Invalid,
        message: "invalid: `durability` cannot be `maybe`: give one of `memory`, \
                  `buffered`, `sync`, as in `sync`",
    },
    Row {
        name: "settings that contradict each other",
        act: |env| {
            let builder = builder(env).set("memory_limit", "64MiB").unwrap();
            open_error(builder.set("memtable.size", "32MiB").unwrap())
        },
        kind: ErrorKind::Invalid,
        message: "invalid: `memtable.size` (32MiB) must not exceed a quarter of \
                  `memory_limit` (64MiB): one live and two sealed memtables must leave room \
                  for reads; lower `memtable.size` to 16MiB or raise `memory_limit` to \
                  128MiB",
    },
    Row {
        name: "settings of a keyspace that contradict those of the database",
        act: |env| {
            let options = KeyspaceOptions {
                memtable_bytes: 1 << 30,
                ..KeyspaceOptions::default()
            };
            let db = builder(env)
                .set("memory_limit", "64MiB")
                .unwrap()
                .open()
                .unwrap();
            let refused = db.keyspace_with("large", options).map(drop);
            assert_eq!(db.keyspaces(), ["default"]);
            refused
        },
        kind: ErrorKind::Invalid,
        message: "invalid: `memtable.size` (1GiB) must not exceed a quarter of \
                  `memory_limit` (64MiB): one live and two sealed memtables must leave room \
                  for reads; lower `memtable.size` to 16MiB or raise `memory_limit` to 4GiB",
    },
    Row {
        name: "read-only and must be new",
        act: |env| open_error(builder(env).read_only(true).error_if_exists(true)),
        kind: ErrorKind::Invalid,
        message: "invalid: `read_only` and `error_if_exists` contradict each other; drop \
                  one of them",
    },
    Row {
        name: "a merge without an operator",
        act: |env| open(env).merge("key", "operand"),
        kind: ErrorKind::Invalid,
        message: "invalid: keyspace \"default\" has no merge operator; give it one when \
                  opening the database, such as merge_operator=uint64add, or by \
                  `Db::keyspace_with` (`esker keyspaces operator`)",
    },
    Row {
        name: "an operator that this program does not have",
        act: |env| {
            let db = builder(env).merge_operator(foreign()).open().unwrap();
            db.close().unwrap();
            open_error(builder(env))
        },
        kind: ErrorKind::Unsupported,
        message: "unsupported: keyspace \"default\" was written with merge operator \
                  \"foreign\", which this program does not have; give it when opening the \
                  database",
    },
    Row {
        name: "another operator than before",
        act: |env| {
            let first = builder(env).set("merge_operator", "uint64add").unwrap();
            first.open().unwrap().close().unwrap();
            open_error(builder(env).merge_operator(foreign()))
        },
        kind: ErrorKind::Invalid,
        message: "invalid: keyspace \"default\" was written with merge operator \
                  \"uint64add\"; \"foreign\" would read its operands as something else; \
                  open it with \"uint64add\"",
    },
    Row {
        name: "a directory that is in use",
        act: |env| {
            let _first = open(env);
            open_error(builder(env))
        },
        kind: ErrorKind::Locked,
        message: "locked: the database is open in process PID, by another handle; close it \
                  there, or open it for reading only (open_read_only), which works \
                  meanwhile (file db/LOCK)",
    },
    Row {
        name: "a database of a newer format",
        act: |env| {
            env.fs.create_dir_all(Path::new("db")).unwrap();
            let number = FileNumber(7);
            let head = SnapshotHead {
                format_version: 99,
                manifest: number,
                database_id: [1; 16],
                created_unix_s: 0,
            };
            let log = env
                .fs
                .open_log(Path::new("db/MANIFEST-000007"), 4096)
                .unwrap();
            let mut log = WalWriter::new(log, number);
            log.append(&encode_snapshot(&head, &[])).unwrap();
            let current = encode_current(number);
            write(&*env.fs, Path::new("db/CURRENT"), current.as_bytes());
            open_error(builder(env))
        },
        kind: ErrorKind::Unsupported,
        message: "unsupported: written by a newer Esker: format version 99, and this \
                  program knows up to 4; open the database with a newer program (file \
                  MANIFEST-000007, offset 0)",
    },
    Row {
        name: "a sorted file that is gone",
        act: |env| {
            made(env);
            env.fs.remove_file(&find(env, ".sst")).unwrap();
            open(env).get("key").map(drop)
        },
        kind: ErrorKind::Corruption,
        message: "corruption: a sorted file of the database is missing (file 000005.sst): \
                  io: open (file db/000005.sst): entity not found",
    },
    Row {
        name: "a sorted file that is gone, read-only",
        act: |env| {
            made(env);
            env.fs.remove_file(&find(env, ".sst")).unwrap();
            open_error(builder(env).read_only(true))
        },
        kind: ErrorKind::Corruption,
        message: "corruption: a sorted file of the database is missing (file 000005.sst): \
                  io: open (file db/000005.sst): entity not found",
    },
    Row {
        name: "a sorted file under another name",
        act: |env| {
            made(env);
            let path = find(env, ".sst");
            let db = Db::builder("other").env(env.clone()).open().unwrap();
            for round in 0..3 {
                db.put(format!("key{round}"), "value").unwrap();
                db.flush().unwrap();
            }
            let names = env.fs.list(Path::new("other")).unwrap();
            let last = names
                .into_iter()
                .filter(|name| name.ends_with(".sst"))
                .max();
            let bytes = read(&*env.fs, &Path::new("other").join(last.unwrap()));
            write(&*env.fs, &path, &bytes);
            let read = open(env).get("key");
            // Where the footer lies is not the point.
            read.map(drop)
                .map_err(|error| Error::new(error.kind(), error.message()))
        },
        kind: ErrorKind::Corruption,
        message: "corruption: is file 000006 under the name of 000005",
    },
    Row {
        name: "a manifest that is cut short",
        act: |env| {
            made(env);
            let path = find(env, "MANIFEST");
            let bytes = read(&*env.fs, &path);
            write(&*env.fs, &path, &bytes[..40]);
            open_error(builder(env))
        },
        kind: ErrorKind::Corruption,
        message: "corruption: the manifest does not begin with a snapshot; `esker repair \
                  --dry-run` tells what can be saved (file MANIFEST-000001, offset 0)",
    },
    Row {
        name: "a CURRENT that names nothing",
        act: |env| {
            made(env);
            let current = encode_current(FileNumber(99));
            write(&*env.fs, Path::new("db/CURRENT"), current.as_bytes());
            open_error(builder(env))
        },
        kind: ErrorKind::Corruption,
        message: "corruption: CURRENT names MANIFEST-000099, which is not there; `esker \
                  repair --dry-run` tells what can be saved (file MANIFEST-000099)",
    },
    Row {
        name: "a CURRENT that is damaged",
        act: |env| {
            made(env);
            write(&*env.fs, Path::new("db/CURRENT"), b"nonsense");
            open_error(builder(env))
        },
        kind: ErrorKind::Corruption,
        message: "corruption: CURRENT does not name a manifest; `esker repair --dry-run` \
                  tells what can be saved (file CURRENT)",
    },
    Row {
        name: "a CURRENT that is gone",
        act: |env| {
            made(env);
            env.fs.remove_file(Path::new("db/CURRENT")).unwrap();
            open_error(builder(env))
        },
        kind: ErrorKind::Corruption,
        message: "corruption: CURRENT is missing but 000004.wal is there; `esker repair \
                  --dry-run` tells what can be saved (file db/CURRENT)",
    },
    Row {
        name: "a database of RocksDB",
        act: |env| {
            env.fs.create_dir_all(Path::new("db")).unwrap();
            write(&*env.fs, Path::new("db/CURRENT"), b"MANIFEST-000001\n");
            open_error(builder(env))
        },
        kind: ErrorKind::Unsupported,
        message: "unsupported: this is a database of LevelDB or RocksDB, or CURRENT has lost its \
                  checksum and no manifest is whole; if it is one of Esker, move CURRENT away and \
                  run `esker repair` (file CURRENT)",
    },
    Row {
        name: "an empty path",
        act: |env| open_error(Db::builder("").env(env.clone())),
        kind: ErrorKind::Invalid,
        message: "invalid: the path of a database is empty; name a directory",
    },
    Row {
        name: "a file in the place of the directory",
        act: |env| {
            write(&*env.fs, Path::new("db"), b"a file");
            open_error(builder(env))
        },
        kind: ErrorKind::Invalid,
        message: "invalid: db is no directory; a database is one",
    },
    Row {
        name: "a database that shall not be created",
        act: |env| open_error(builder(env).create_if_missing(false)),
        kind: ErrorKind::Invalid,
        message: "invalid: there is no database in db; create one by opening it for writing \
                  with create_if_missing",
    },
    Row {
        name: "a database that is not there, read-only",
        act: |env| open_error(builder(env).read_only(true)),
        kind: ErrorKind::Invalid,
        message: "invalid: there is no database in db; create one by opening it for writing \
                  with create_if_missing",
    },
    Row {
        name: "a database that shall be new",
        act: |env| {
            made(env);
            open_error(builder(env).error_if_exists(true))
        },
        kind: ErrorKind::Invalid,
        message: "invalid: there is a database in db already, and error_if_exists is set",
    },
    Row {
        name: "a write to a read-only handle",
        act: |env| {
            made(env);
            let db = builder(env).read_only(true).open().unwrap();
            assert_eq!(db.get("key").unwrap().unwrap(), "value");
            db.put("key", "other")
        },
        kind: ErrorKind::Invalid,
        message: "invalid: the database was opened read-only; open it for writing",
    },
    Row {
        name: "a keyspace created by a read-only handle",
        act: |env| {
            made(env);
            let db = builder(env).read_only(true).open().unwrap();
            db.keyspace("new").map(drop)
        },
        kind: ErrorKind::Invalid,
        message: "invalid: the database was opened read-only; open it for writing",
    },
    Row {
        name: "a keyspace without a name",
        act: |env| open(env).keyspace("").map(drop),
        kind: ErrorKind::Invalid,
        message: "invalid: a keyspace's name has 1 to 255 bytes",
    },
    Row {
        name: "a keyspace with too long a name",
        act: |env| open(env).keyspace(&"n".repeat(256)).map(drop),
        kind: ErrorKind::Invalid,
        message: "invalid: a keyspace's name has 1 to 255 bytes",
    },
    Row {
        name: "a drop of a keyspace that is not there",
        act: |env| open(env).drop_keyspace("nobody"),
        kind: ErrorKind::Invalid,
        message: "invalid: there is no keyspace \"nobody\"",
    },
    Row {
        name: "a drop of the keyspace default",
        act: |env| open(env).drop_keyspace("default"),
        kind: ErrorKind::Invalid,
        message: "invalid: the keyspace `default` cannot be dropped",
    },
    Row {
        name: "a write to a dropped keyspace",
        act: |env| {
            let db = open(env);
            let dropped = db.keyspace("short").unwrap();
            db.drop_keyspace("short").unwrap();
            dropped.put("key", "value")
        },
        kind: ErrorKind::Invalid,
        message: "invalid: the keyspace was dropped",
    },
    Row {
        name: "a batch with a dropped keyspace",
        act: |env| {
            let db = open(env);
            let dropped = db.keyspace("short").unwrap();
            let mut batch = db.batch();
            batch.put(&db, "key", "value");
            batch.put(&dropped, "key", "value");
            db.drop_keyspace("short").unwrap();
            let committed = batch.commit();
            assert!(db.get("key").unwrap().is_none());
            assert_eq!(batch.len(), 2);
            committed
        },
        kind: ErrorKind::Invalid,
        message: "invalid: the keyspace was dropped",
    },
    Row {
        name: "a flush of a dropped keyspace",
        act: |env| {
            let db = open(env);
            let dropped = db.keyspace("short").unwrap();
            dropped.put("key", "value").unwrap();
            db.drop_keyspace("short").unwrap();
            dropped.flush()
        },
        kind: ErrorKind::Invalid,
        message: "invalid: the keyspace was dropped",
    },
    Row {
        name: "a flush of a keyspace that is dropped while a full memtable waits",
        act: |env| {
            let db = builder(env)
                .set("memtable.size", "64KiB")
                .unwrap()
                .open()
                .unwrap();
            let dropped = db.keyspace("short").unwrap();
            for number in 0..40 {
                dropped.put(format!("key{number}"), [7; 4000]).unwrap();
            }
            db.drop_keyspace("short").unwrap();
            dropped.flush()
        },
        kind: ErrorKind::Invalid,
        message: "invalid: the keyspace was dropped",
    },
    Row {
        name: "a batch with a keyspace of another database",
        act: |env| {
            let db = open(env);
            let other = Db::builder("other").env(env.clone()).open().unwrap();
            db.batch().put(&other, "key", "value").commit()
        },
        kind: ErrorKind::Invalid,
        message: "invalid: keyspace \"default\" belongs to another database",
    },
    Row {
        name: "a read after close",
        act: |env| {
            let db = open(env);
            db.close().unwrap();
            db.get("key").map(drop)
        },
        kind: ErrorKind::Closed,
        message: "closed: the database was closed",
    },
    Row {
        name: "a write after close",
        act: |env| {
            let db = open(env);
            db.close().unwrap();
            db.put("key", "value")
        },
        kind: ErrorKind::Closed,
        message: "closed: the database was closed",
    },
    Row {
        name: "a flush after close",
        act: |env| {
            let db = open(env);
            db.close().unwrap();
            db.flush()
        },
        kind: ErrorKind::Closed,
        message: "closed: the database was closed",
    },
    Row {
        name: "a verification after close",
        act: |env| {
            let db = open(env);
            db.close().unwrap();
            db.verify().map(drop)
        },
        kind: ErrorKind::Closed,
        message: "closed: the database was closed",
    },
    Row {
        name: "an iterator after close",
        act: |env| {
            let db = open(env);
            db.put("a", "1").unwrap();
            db.put("b", "2").unwrap();
            let mut entries = db.iter().unwrap();
            entries.next().unwrap().unwrap();
            db.close().unwrap();
            let after = entries.next().unwrap();
            assert!(entries.next().is_none() && entries.next_back().is_none());
            after.map(drop)
        },
        kind: ErrorKind::Closed,
        message: "closed: the database was closed",
    },
    Row {
        name: "a cursor after close",
        act: |env| {
            let db = open(env);
            db.put("a", "1").unwrap();
            let mut cursor = db.cursor().unwrap();
            assert!(cursor.seek_to_first().unwrap());
            db.close().unwrap();
            // What it lends stays as long as it stands.
            assert_eq!(cursor.key(), Some(&b"a"[..]));
            cursor.next().map(drop)
        },
        kind: ErrorKind::Closed,
        message: "closed: the database was closed",
    },
    Row {
        name: "a directory that cannot be written",
        act: |env| {
            made(env);
            let fault = FaultFs::new(Arc::clone(&env.fs), 1);
            fault.set_plans(vec![Plan::sticky(Fault::Io, Calls::Mutating, 0)]);
            let env = Env {
                fs: Arc::new(fault),
                ..env.clone()
            };
            let db = builder(&env).read_only(true).open().unwrap();
            assert_eq!(db.get("key").unwrap().unwrap(), "value");
            open_error(builder(&env))
        },
        kind: ErrorKind::Io,
        message: "io: create the directory (file db): simulated failure of the medium",
    },
];

#[test]
fn every_wrong_input_has_its_error() {
    // Each row in a world of its own; all that differ are told at once.
    let mut wrong = Vec::new();
    for row in ROWS {
        let world = SimWorld::new(1);
        let found = match (row.act)(&world.env()) {
            Ok(()) => "no error".to_string(),
            Err(error) if error.kind() == row.kind => error
                .to_string()
                .replace(&std::process::id().to_string(), "PID"),
            Err(error) => format!("another kind: {error}"),
        };
        if found != row.message {
            wrong.push(format!(
                "{}\n  found  {found}\n  wanted {}",
                row.name, row.message
            ));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn a_reader_sees_what_was_there_when_it_opened() {
    // Read-only beside an open writer, on the real file system; the writer then rewrites and
    // removes every file that the reader knows.
    let dir = tempfile::tempdir().unwrap();
    let writer = Db::open(dir.path().join("db")).unwrap();
    for number in 0..500 {
        writer.put(format!("key{number:03}"), "old").unwrap();
    }
    writer.flush().unwrap();
    writer.put("in the log", "old").unwrap();
    let reader = Db::open_read_only(dir.path().join("db")).unwrap();
    for number in 0..500 {
        writer.put(format!("key{number:03}"), "new").unwrap();
    }
    writer.delete("in the log").unwrap();
    writer.compact::<&[u8]>(..).unwrap();
    let old = |entry: Result<(Bytes, Bytes)>| assert_eq!(entry.unwrap().1, "old");
    assert_eq!(reader.iter().unwrap().map(old).count(), 501);
    assert_eq!(reader.get("in the log").unwrap().unwrap(), "old");
    assert!(reader.verify().is_ok());
    reader.close().unwrap();
    assert_eq!(writer.get("key007").unwrap().unwrap(), "new");
}

#[test]
fn a_reader_that_is_overtaken_begins_again() {
    // Readers open again and again while a writer flushes and compacts all the time: each sees a
    // prefix of the writes, or says that the writer is too busy.
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("db");
    let small = Db::builder(&path).set("memtable.size", "64KiB").unwrap();
    let writer = small.set("wal.segment_size", "256KiB").unwrap();
    let writer = writer
        .set("wal.total_size", "1MiB")
        .unwrap()
        .open()
        .unwrap();
    let is_done = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let thread = std::thread::spawn({
        let (writer, is_done) = (writer.clone(), Arc::clone(&is_done));
        move || {
            let mut number = 0u32;
            while !is_done.load(std::sync::atomic::Ordering::Relaxed) {
                writer.put(number.to_be_bytes(), [1; 200]).unwrap();
                number += 1;
            }
            number
        }
    });
    let mut seen = 0;
    for _ in 0..10 {
        match Db::open_read_only(&path) {
            Ok(reader) => {
                let count = reader.iter().unwrap().filter(Result::is_ok).count();
                let last = reader.iter().unwrap().next_back();
                let last = last.map(|entry| entry.unwrap().0.to_vec());
                let expected = count.checked_sub(1).map(|last| (last as u32).to_be_bytes());
                assert_eq!(last, expected.map(|bytes| bytes.to_vec()));
                assert!(count >= seen);
                seen = count;
            }
            Err(error) => assert_eq!(error.kind(), ErrorKind::Busy, "{error}"),
        }
    }
    is_done.store(true, std::sync::atomic::Ordering::Relaxed);
    let written = thread.join().unwrap();
    let reader = Db::open_read_only(&path).unwrap();
    assert_eq!(reader.iter().unwrap().count(), written as usize);
}

#[test]
fn a_locked_directory_names_its_holder() {
    // On the real file system the holder is a process with a number: this one.
    let dir = tempfile::tempdir().unwrap();
    let _first = Db::open(dir.path()).unwrap();
    let error: Error = Db::open(dir.path()).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Locked);
    let expected = format!(
        "the database is open in this process ({}), by another handle; close it there, or open \
         it for reading only (open_read_only), which works meanwhile",
        std::process::id()
    );
    assert_eq!(error.message(), expected);
}

#[test]
fn a_file_in_the_place_of_the_directory_is_told_on_a_real_disk_too() {
    // The operating system has other words for it than the simulated disk.
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("db");
    std::fs::write(&path, "a file").unwrap();
    for read_only in [false, true] {
        let error = Db::builder(&path)
            .read_only(read_only)
            .open()
            .err()
            .unwrap();
        assert_eq!(error.kind(), ErrorKind::Invalid, "{error}");
        let expected = format!("{} is no directory; a database is one", path.display());
        assert_eq!(error.message(), expected);
    }
}

#[test]
fn inputs_at_the_limit_are_taken() {
    // The empty key, the longest key, the longest time, empty ranges, closing twice.
    let world = SimWorld::new(2);
    let env = world.env();
    let db = open(&env);
    let longest = [255; 65_535];
    db.put("", "empty").unwrap();
    db.put(longest, "longest").unwrap();
    db.put_with_ttl("ttl", "for ever", Duration::MAX).unwrap();
    db.put_with_ttl("gone", "at once", Duration::ZERO).unwrap();
    assert!(db.existing_keyspace("nobody").is_none());
    for _ in 0..2 {
        assert_eq!(db.get("").unwrap().unwrap(), "empty");
        assert_eq!(db.get(longest).unwrap().unwrap(), "longest");
        assert_eq!(db.get("ttl").unwrap().unwrap(), "for ever");
        assert!(db.get("gone").unwrap().is_none());
        assert_eq!(db.iter().unwrap().count(), 3);
        assert_eq!(db.get([7; 70_000]).unwrap(), None);
        assert_eq!(db.range("z".."a").unwrap().count(), 0);
        assert_eq!(db.range("z".."a").unwrap().rev().count(), 0);
        assert_eq!(db.range("ttl"..="ttl").unwrap().count(), 1);
        db.delete_range("z".."a").unwrap();
        db.delete_range("a".."a").unwrap();
        db.delete_range("z"..="a").unwrap();
        assert_eq!(db.iter().unwrap().count(), 3);
        db.flush().unwrap();
    }
    use std::ops::Bound::{Excluded, Included, Unbounded};
    db.delete_range::<&[u8]>((Excluded(&longest[..]), Unbounded))
        .unwrap();
    assert!(db.contains_key(longest).unwrap());
    db.delete_range::<&[u8]>((Included(&b"ttl"[..]), Included(&longest[..])))
        .unwrap();
    assert_eq!(db.iter().unwrap().count(), 1);
    db.delete_range::<&[u8]>((Included(&b""[..]), Included(&b""[..])))
        .unwrap();
    assert_eq!(db.iter().unwrap().count(), 0);
    db.close().unwrap();
    db.close().unwrap();
    drop(db);
    assert_eq!(open(&env).iter().unwrap().count(), 0);
}
