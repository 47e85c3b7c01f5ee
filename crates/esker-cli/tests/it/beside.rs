//! The tool beside a process that writes to the database: this one.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use esker::Db;

use crate::tool::{Bench, Ran};

/// Keys that are written round and round.
const KEYS: u64 = 500;

fn open(bench: &Bench) -> Db {
    let settings = [
        ("memtable.size", "128KiB"),
        ("wal.segment_size", "256KiB"),
        ("value_log.threshold", "2KiB"),
        ("value_log.segment_size", "256KiB"),
        ("sst.file_size", "16KiB"),
        ("compression", "none"),
        ("memory_limit", "32MiB"),
    ];
    let builder = settings
        .iter()
        .fold(Db::builder(bench.path("db")), |builder, (name, text)| {
            builder.set(name, text).unwrap()
        });
    builder.open().unwrap()
}

// In two keyspaces, in one batch; every fifth value lies apart.
fn write(db: &Db, turn: u64) {
    let mirror = db.keyspace("mirror").unwrap();
    let size = if turn.is_multiple_of(5) { 5_000 } else { 900 };
    let value = format!("{turn} {}", "x".repeat(size));
    let key = format!("{:06}", turn % KEYS);
    let mut batch = db.batch();
    batch.put(db, &key, &value);
    batch.put(&mirror, &key, &value);
    batch.commit().unwrap();
}

fn contents(db: &Db, keyspace: &str) -> BTreeMap<Vec<u8>, Vec<u8>> {
    let keyspace = db.existing_keyspace(keyspace).unwrap();
    let entries = keyspace.iter().unwrap().map(Result::unwrap);
    let entries = entries.map(|(key, value)| (key.to_vec(), value.to_vec()));
    entries.collect()
}

#[test]
fn a_dump_beside_a_busy_writer_is_of_one_moment() {
    // Five dumps of the whole database while flushes, compactions and segments come and go. Each
    // restores a database with both keyspaces alike, and with all that was acknowledged before.
    let bench = Bench::new();
    let db = open(&bench);
    let (turn, is_over) = (AtomicU64::new(0), AtomicBool::new(false));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for number in 0.. {
                write(&db, number);
                turn.store(number, Ordering::SeqCst);
                if is_over.load(Ordering::SeqCst) {
                    return;
                }
            }
        });
        let dumps = (0..5).map(|number| {
            while turn.load(Ordering::SeqCst) < 2 * KEYS {
                std::thread::yield_now();
            }
            let acked = turn.load(Ordering::SeqCst);
            (number, acked, bench.run(&["dump", "--all"]))
        });
        let dumps: Vec<(u64, u64, Ran)> = dumps.collect();
        is_over.store(true, Ordering::SeqCst);
        for (number, acked, dump) in dumps {
            let dump = dump.exits(0);
            let name = format!("copy{number}");
            bench
                .feed(&["load", "--db", &name, "-"], &dump.out)
                .exits(0);
            let copy = Db::open_read_only(bench.path(&name)).unwrap();
            let entries = contents(&copy, "default");
            assert!(entries == contents(&copy, "mirror"), "half a batch");
            let turns = entries.values().map(|value| {
                let text = std::str::from_utf8(value).unwrap();
                text.split(' ').next().unwrap().parse::<u64>().unwrap()
            });
            let newest = turns.clone().max().unwrap();
            assert!(newest >= acked, "{acked} was acknowledged, not {newest}");
            assert_eq!(turns.min().unwrap(), newest + 1 - KEYS);
        }
    });
    db.close().unwrap();
}

#[test]
fn a_dump_of_more_files_than_may_be_open_says_what_to_do() {
    // The process may open thirty files of some hundred. While the dump waits for its reader, who
    // writes replaces all of them. It says that a checkpoint would hold them, and so it does.
    let bench = Bench::new();
    let db = open(&bench);
    (0..3 * KEYS).for_each(|turn| write(&db, turn));
    db.compact::<&str>(..).unwrap();
    assert!(db.files().len() > 20, "{:?}", db.files());
    let few = |words: &str| {
        let mut command = Command::new("sh");
        let tool = env!("CARGO_BIN_EXE_esker");
        command.args(["-c", &format!("ulimit -n 20; exec {tool} {words}")]);
        command.env("ESKER_DB", bench.path("db"));
        command.current_dir(bench.path("."));
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    };
    let mut child = few("dump --all").spawn().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    // It has begun.
    out.read_line(&mut String::new()).unwrap();
    (0..2 * KEYS).for_each(|turn| write(&db, turn));
    db.compact::<&str>(..).unwrap();
    db.keyspace("mirror").unwrap().compact::<&str>(..).unwrap();
    let mut rest = Vec::new();
    out.read_to_end(&mut rest).unwrap();
    let ran = Ran::from(child.wait_with_output().unwrap());
    assert_ne!(ran.code, 0, "{}", ran.err);
    assert!(ran.err.contains("`esker checkpoint`"), "{}", ran.err);
    let ran = few("checkpoint copy --no-verify").output().unwrap();
    Ran::from(ran).exits(0);
    (0..2 * KEYS).for_each(|turn| write(&db, turn));
    db.compact::<&str>(..).unwrap();
    let ran = few("dump --all --db copy").output().unwrap();
    let dump = Ran::from(ran).exits(0);
    bench
        .feed(&["load", "--db", "loaded", "-"], &dump.out)
        .exits(0);
    let loaded = Db::open_read_only(bench.path("loaded")).unwrap();
    assert_eq!(contents(&loaded, "mirror").len() as u64, KEYS);
    db.close().unwrap();
}
