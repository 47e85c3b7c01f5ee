//! A real process is killed under load, and nothing that it acknowledged is lost.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use esker::Db;
use esker::internals::env::bundle::Env;
use esker::internals::env::random::Random;

/// Names the directory to the child; without it, the child's test does nothing.
const CHILD_DIR: &str = "ESKER_KILL_DIR";

/// Where the child begins to count.
const CHILD_FIRST: &str = "ESKER_KILL_FIRST";

/// How often the child is killed.
const KILLS: u64 = 50;

/// Keys that the child writes round and round: pairs, one batch each.
const KEYS: u64 = 1_000;

/// Acknowledgements after which the parent kills, at most.
const ACKS_MAX: u64 = 2_000;

fn open(dir: &Path) -> Db {
    let builder = Db::builder(dir)
        .env(Env::real(2))
        .set("memtable.size", "128KiB")
        .unwrap();
    let builder = builder.set("wal.segment_size", "256KiB").unwrap();
    let builder = builder.set("value_log.threshold", "100B").unwrap();
    let builder = builder.set("value_log.segment_size", "64KiB").unwrap();
    builder.set("memory_limit", "8MiB").unwrap().open().unwrap()
}

fn value(turn: u64) -> String {
    format!("{turn} {}", "x".repeat((turn * 7 % 200) as usize))
}

// Puts the turn's two keys, in two keyspaces, in one batch.
fn write(db: &Db, turn: u64) {
    let mirror = db.keyspace("mirror").unwrap();
    let key = format!("{:06}", turn % KEYS);
    let mut batch = db.batch();
    batch.put(db, &key, value(turn));
    batch.put(&mirror, &key, value(turn));
    batch.commit().unwrap();
}

#[test]
fn child_writes_until_it_is_killed() {
    // Only does something when started by the test below.
    let Some(dir) = std::env::var_os(CHILD_DIR) else {
        return;
    };
    let first: u64 = std::env::var(CHILD_FIRST).unwrap().parse().unwrap();
    let db = open(Path::new(&dir));
    let mut out = std::io::stdout().lock();
    for turn in first.. {
        write(&db, turn);
        // One system call for each, so that what was read was acknowledged.
        if writeln!(out, "ack {turn}").is_err() {
            return;
        }
    }
}

fn start(dir: &Path, first: u64) -> Child {
    let program = std::env::current_exe().unwrap();
    Command::new(program)
        .args([
            "--exact",
            "kill::child_writes_until_it_is_killed",
            "--nocapture",
        ])
        .env(CHILD_DIR, dir)
        .env(CHILD_FIRST, first.to_string())
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()
        .unwrap()
}

// Kills the child after `ack_count` acknowledgements; returns the last turn that it acknowledged,
// those included that were still in the pipe.
fn kill_after(mut child: Child, ack_count: u64) -> Option<u64> {
    let mut lines = BufReader::new(child.stdout.take().unwrap());
    let mut last = None;
    let mut seen = 0;
    let mut line = String::new();
    loop {
        line.clear();
        if lines.read_line(&mut line).unwrap() == 0 {
            break;
        }
        let is_whole = line.ends_with('\n');
        if let Some(turn) = line.trim_end().strip_prefix("ack ")
            && is_whole
        {
            last = Some(turn.parse().unwrap());
            seen += 1;
            if seen == ack_count {
                child.kill().unwrap();
            }
        }
    }
    child.wait().unwrap();
    last
}

// The newest turn that is there; everything older must be there as well, and nothing else.
fn newest(db: &Db) -> Option<u64> {
    let turn_of = |bytes: &[u8]| -> u64 {
        let text = std::str::from_utf8(bytes).unwrap();
        text.split(' ').next().unwrap().parse().unwrap()
    };
    let entries: Vec<_> = db.iter().unwrap().map(|entry| entry.unwrap()).collect();
    let newest = entries.iter().map(|(_, value)| turn_of(value)).max()?;
    let oldest = (newest + 1).saturating_sub(KEYS);
    let mut expected: Vec<(String, String)> = (oldest..=newest)
        .map(|turn| (format!("{:06}", turn % KEYS), value(turn)))
        .collect();
    expected.sort();
    let mirror = db.existing_keyspace("mirror").unwrap();
    let mirrored = mirror.iter().unwrap().map(|entry| entry.unwrap());
    let pairs = entries.iter().cloned().zip(mirrored);
    assert_eq!(entries.len(), expected.len());
    assert_eq!(mirror.iter().unwrap().count(), expected.len());
    for ((entry, mirrored), (key, value)) in pairs.zip(&expected) {
        assert!(
            entry.0 == *key.as_bytes() && entry.1 == *value.as_bytes(),
            "key {key}"
        );
        assert!(entry == mirrored, "half a batch at key {key}");
    }
    Some(newest)
}

#[test]
fn nothing_acknowledged_is_lost_when_the_process_is_killed() {
    // `Buffered` writes, killed after a random number of acknowledgements, fifty times over the
    // same directory.
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("db");
    let mut random = Random::new(50);
    let mut next = 0;
    for round in 0..KILLS {
        let child = start(&path, next);
        let ack_count = 1 + random.below(ACKS_MAX);
        let acked = kill_after(child, ack_count);
        let acked = acked.unwrap_or_else(|| panic!("round {round}: the child did not write"));
        let db = open(&path);
        let newest = newest(&db).expect("something was written");
        // The write under way may be there or not; no later one can.
        assert!(
            newest == acked || newest == acked + 1,
            "round {round}: {acked} was acknowledged, {newest} is there"
        );
        next = newest + 1;
        if round % 2 == 0 {
            db.close().unwrap();
        }
    }
    println!("{KILLS} kills, {next} writes");
}
