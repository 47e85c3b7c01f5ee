//! What thousands of keyspaces cost: time, memory, descriptors, manifest.
//!
//! Creates so many keyspaces in a new database, puts a few entries into each, flushes all of them,
//! then writes to and flushes some once more, opens the database again and writes to one of them;
//! prints a line for each number with what each step took.
//!
//!     cargo run --release -p esker --example keyspaces -- 100 1000 10000
#![allow(
    clippy::disallowed_methods,
    reason = "a measuring program stands in the real world"
)]

use std::fs;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use esker::{Db, Keyspace, Result};

/// Entries put into each keyspace.
const ENTRY_COUNT: u32 = 10;

/// Writes that are timed one by one once all is open.
const WRITE_COUNT: u32 = 10_000;

fn main() -> ExitCode {
    let counts: Option<Vec<u32>> = std::env::args()
        .skip(1)
        .map(|word| word.parse().ok())
        .collect();
    let Some(counts) = counts.filter(|counts| !counts.is_empty()) else {
        eprintln!("usage: keyspaces COUNT...");
        return ExitCode::from(2);
    };
    println!("{}", HEAD.join("\t"));
    for count in counts {
        match measure(count) {
            Ok(cells) => println!("{}", cells.join("\t")),
            Err(error) => {
                eprintln!("{error}");
                return ExitCode::FAILURE;
            }
        }
    }
    ExitCode::SUCCESS
}

const HEAD: [&str; 15] = [
    "keyspaces",
    "create ms",
    "fill ms",
    "memory MiB",
    "flush ms",
    "flush own ms",
    "flush one us",
    "flush one own us",
    "manifest KiB",
    "descriptors",
    "close ms",
    "open ms",
    "open MiB",
    "put us",
    "stats ms",
];

fn measure(count: u32) -> Result<Vec<String>> {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let before_mib = resident_mib();
    let db = Db::open(dir.path())?;
    let (all, create) = timed(|| open_all(&db, count))?;
    let ((), fill) = timed(|| {
        all.iter()
            .try_for_each(|keyspace| put_some(keyspace, ENTRY_COUNT))
    })?;
    let filled_mib = resident_mib() - before_mib;
    let own_before = own_time();
    let ((), flush) = timed(|| db.flush_all())?;
    let flush_own = own_time() - own_before;
    // The flush of one, as a steady state has it: the others rest.
    let some_count = all.len().min(100);
    let own_before = own_time();
    let ((), flush_some) = timed(|| {
        all[..some_count].iter().try_for_each(|keyspace| {
            put_some(keyspace, 1)?;
            keyspace.flush()
        })
    })?;
    let flush_some_own = own_time() - own_before;
    let manifest = manifest_bytes(dir.path());
    let descriptors = descriptor_count();
    drop(all);
    let ((), close) = timed(|| db.close())?;
    drop(db);

    let rest_mib = resident_mib();
    let (db, open) = timed(|| Db::open(dir.path()))?;
    let open_mib = resident_mib() - rest_mib;
    let names = db.keyspaces();
    let one = db.keyspace(&names[names.len() / 2])?;
    let ((), put) = timed(|| put_some(&one, WRITE_COUNT))?;
    let (_, stats) = timed(|| Ok(db.stats()))?;
    db.close()?;
    Ok(vec![
        count.to_string(),
        ms(create),
        ms(fill),
        format!("{filled_mib:.1}"),
        ms(flush),
        ms(flush_own),
        us(flush_some, some_count),
        us(flush_some_own, some_count),
        format!("{:.1}", manifest as f64 / 1024.0),
        descriptors.to_string(),
        ms(close),
        ms(open),
        format!("{open_mib:.1}"),
        us(put, WRITE_COUNT as usize),
        ms(stats),
    ])
}

fn open_all(db: &Db, count: u32) -> Result<Vec<Keyspace>> {
    (0..count)
        .map(|number| db.keyspace(&format!("index {number:06}")))
        .collect()
}

fn put_some(keyspace: &Keyspace, count: u32) -> Result<()> {
    (0..count).try_for_each(|number| keyspace.put(number.to_be_bytes(), "value"))
}

fn timed<T>(work: impl FnOnce() -> Result<T>) -> Result<(T, Duration)> {
    let began = Instant::now();
    let result = work()?;
    Ok((result, began.elapsed()))
}

fn ms(time: Duration) -> String {
    format!("{:.1}", time.as_secs_f64() * 1e3)
}

fn us(time: Duration, count: usize) -> String {
    format!("{:.2}", time.as_secs_f64() * 1e6 / count as f64)
}

/// What the processors have spent on the threads of this process, also where others have them
/// meanwhile; 0 where the system does not tell.
fn own_time() -> Duration {
    let tasks = fs::read_dir("/proc/self/task")
        .into_iter()
        .flatten()
        .flatten();
    let texts = tasks.filter_map(|task| fs::read_to_string(task.path().join("schedstat")).ok());
    let first = |text: String| text.split_whitespace().next()?.parse::<u64>().ok();
    Duration::from_nanos(texts.filter_map(first).sum())
}

/// Resident memory of this process; 0 where the system does not tell.
fn resident_mib() -> f64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<f64>().ok());
    kib.unwrap_or(0.0) / 1024.0
}

/// Open descriptors of this process; 0 where the system does not tell.
fn descriptor_count() -> usize {
    fs::read_dir("/proc/self/fd").map_or(0, Iterator::count)
}

fn manifest_bytes(dir: &Path) -> u64 {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let manifests =
        entries.filter(|entry| entry.file_name().to_string_lossy().starts_with("MANIFEST"));
    manifests
        .filter_map(|entry| entry.metadata().ok())
        .map(|told| told.len())
        .sum()
}
