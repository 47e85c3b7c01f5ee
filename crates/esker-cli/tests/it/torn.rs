//! A log that is torn before intact records: whoever opens the database is told.

use std::fs;
use std::path::Path;

use esker::Db;

use crate::tool::Bench;

/// A database as a killed process leaves it: three writes in its log and nowhere else, each with so
/// many bytes behind its word.
fn killed(bench: &Bench, more_bytes: usize) {
    let builder = Db::builder(bench.path("live"));
    let builder = builder.set("value_log.threshold", "4KiB").unwrap();
    let db = builder.open().unwrap();
    for (key, value) in [("a", "first"), ("b", "second"), ("c", "third")] {
        let value = [value.as_bytes(), &vec![b'.'; more_bytes]].concat();
        db.put(key, value).unwrap();
    }
    copy(&bench.path("live"), &bench.path("db"));
    db.close().unwrap();
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    for file in fs::read_dir(from).unwrap() {
        let file = file.unwrap();
        if file.path().is_file() {
            fs::copy(file.path(), to.join(file.file_name())).unwrap();
        }
    }
}

/// Changes a byte of the log or of its values, in the first place where they have these.
fn flip(bench: &Bench, ending: &str, bytes: &[u8]) {
    let logs = fs::read_dir(bench.path("db")).unwrap();
    let logs = logs.map(|file| file.unwrap().path());
    let mut flipped = 0;
    for log in logs.filter(|path| path.extension().is_some_and(|end| end == ending)) {
        let mut all = fs::read(&log).unwrap();
        if let Some(at) = all.windows(bytes.len()).position(|part| part == bytes) {
            all[at] ^= 1;
            fs::write(&log, all).unwrap();
            flipped += 1;
        }
    }
    assert_eq!(flipped, 1);
}

#[test]
fn a_log_torn_before_intact_records_is_told_once_by_whoever_opens() {
    // A byte of the second of three writes: it and the third are out of reach. Who reads says so
    // each time, who writes cuts it off and says that, and then nobody says anything any more.
    let bench = Bench::new();
    killed(&bench, 0);
    flip(&bench, "wal", b"second");
    let reads = [
        &["get", "a"][..],
        &["get", "a", "--json"],
        &["scan"],
        &["count"],
        &["dump"],
        &["dump", "--all"],
        &["keyspaces"],
        &["stats"],
    ];
    for words in reads {
        let ran = bench.ok(words);
        let told = ran.err.matches("intact records in them").count();
        assert_eq!(told, 1, "{words:?}: {ran:?}");
        assert!(ran.err.contains("esker repair"), "{ran:?}");
    }
    assert_eq!(bench.ok(&["count"]).text(), "1\n");
    let ran = bench.ok(&["put", "d", "fourth"]);
    assert_eq!(ran.err.matches("were cut off").count(), 1, "{ran:?}");
    assert!(bench.path("db/lost").is_dir());
    assert_eq!(bench.ok(&["scan"]).err, "");
    assert_eq!(bench.ok(&["put", "d", "fifth"]).err, "");
}

#[test]
fn the_torn_tail_of_a_crash_is_nothing_to_tell() {
    // A byte of the last write: nothing intact lies behind it.
    let bench = Bench::new();
    killed(&bench, 0);
    flip(&bench, "wal", b"third");
    let ran = bench.ok(&["scan", "--keys-only"]);
    assert_eq!((ran.text(), &*ran.err), ("a\nb\n", ""));
    assert_eq!(bench.ok(&["put", "d", "fourth"]).err, "");
    assert_eq!(bench.ok(&["count"]).text(), "3\n");
}

#[test]
fn a_large_value_that_was_not_synced_tears_the_log_too() {
    // The record of the second write is whole, and its value in the value log is not.
    let bench = Bench::new();
    killed(&bench, 10_000);
    flip(&bench, "vlog", b"second");
    let ran = bench.ok(&["count"]);
    assert_eq!(ran.text(), "1\n");
    assert!(ran.err.contains("2 intact records"), "{ran:?}");
    let ran = bench.ok(&["put", "d", "fourth"]);
    assert!(ran.err.contains("2 intact records"), "{ran:?}");
    assert_eq!(bench.ok(&["count"]).err, "");
}
