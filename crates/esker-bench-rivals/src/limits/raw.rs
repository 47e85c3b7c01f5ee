//! The raw limits: plain loops over one file and two pieces of memory.

use std::fs::{self, File};
use std::hint::black_box;
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::path::Path;

use esker_bench::fail::{Failure, Outcome};
use esker_bench::make::random::Random;
use esker_bench::report::record::Measurement;
use esker_bench::run::course::Course;
use esker_bench::run::execute::execute;
use esker_bench::run::lane::Lane;

use crate::limits::forget::forget_file;

/// One limit.
#[derive(Clone, Copy, Debug)]
pub struct Limit {
    /// Its name.
    pub name: &'static str,
    /// What is done.
    pub doc: &'static str,
    work: Work,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Work {
    Write { is_synced: bool },
    Sync,
    Read { bytes: usize },
    Copy,
}

/// All of them.
pub const LIMITS: [Limit; 6] = [
    limit(
        "raw-write",
        "append 100 KB pieces to a file",
        Work::Write { is_synced: false },
    ),
    limit(
        "raw-write-sync",
        "the same, and one fdatasync at the end",
        Work::Write { is_synced: true },
    ),
    limit(
        "raw-fdatasync",
        "write 128 bytes to a preallocated file and fdatasync, again and again",
        Work::Sync,
    ),
    limit(
        "raw-read-4k",
        "read 4 KiB anywhere in a cold file",
        Work::Read { bytes: 4 << 10 },
    ),
    limit(
        "raw-read-100k",
        "read 100 KB anywhere in a cold file",
        Work::Read { bytes: PIECE_BYTES },
    ),
    limit("raw-memcpy", "copy 64 MiB in memory", Work::Copy),
];

const fn limit(name: &'static str, doc: &'static str, work: Work) -> Limit {
    Limit { name, doc, work }
}

/// Bytes of a large value.
const PIECE_BYTES: usize = 100_000;

/// Bytes of the file: written in a second or two, and much larger than the disk's own cache.
const FILE_BYTES: usize = 256 << 20;

/// Bytes of the file that is synced again and again.
const LOG_BYTES: usize = 8 << 20;

/// Bytes of a log record: a key of 16 bytes, a value of 100, and what a log adds.
const RECORD_BYTES: usize = 128;

/// Bytes copied at once: larger than any cache of the processor.
const COPY_BYTES: usize = 64 << 20;

/// Times that they are copied.
const COPIES: u64 = 16;

/// Cold reads: enough for a median, few enough that the file stays cold.
const READS: u64 = 2000;

/// Runs one limit in `dir`; `sync_ops` bounds the loop of syncs.
pub fn run(limit: &Limit, dir: &Path, sync_ops: u64) -> Outcome<Measurement> {
    let path = dir.join("raw.bytes");
    let measured = match limit.work {
        Work::Write { is_synced } => write(&path, is_synced),
        Work::Sync => sync(&path, sync_ops),
        Work::Read { bytes } => read(&path, bytes),
        Work::Copy => copy(),
    };
    if path.exists() {
        let doing = format!("cannot remove {}", path.display());
        fs::remove_file(&path).map_err(|error| Failure::system(doing, &error))?;
    }
    Ok(Measurement {
        name: limit.name.into(),
        engine: "limit".into(),
        workload: vec![("does".into(), limit.doc.into())],
        ..measured?
    })
}

fn told(path: &Path) -> impl Fn(std::io::Error) -> Failure + Copy {
    move |error| Failure::system(format!("cannot use {}", path.display()), &error)
}

fn measure(body: impl Fn(&mut Lane<'_>) -> Outcome + Sync) -> Outcome<Measurement> {
    let finished = execute(&Course::plain(), &mut |_| {}, &body)?;
    Ok(Measurement::of(&finished, &["operation"]))
}

/// Bytes that no disk and no file system can pack.
fn noise(count: usize) -> Vec<u8> {
    let mut bytes = vec![0; count];
    Random::new(1).fill(&mut bytes);
    bytes
}

fn write(path: &Path, is_synced: bool) -> Outcome<Measurement> {
    let piece = noise(PIECE_BYTES);
    measure(|lane| {
        let mut file = File::create(path).map_err(told(path))?;
        for _ in 0..FILE_BYTES / PIECE_BYTES {
            file.write_all(&piece).map_err(told(path))?;
            lane.add_bytes(PIECE_BYTES as u64);
            lane.finish(0, 1);
        }
        match is_synced {
            true => file.sync_data().map_err(told(path)),
            false => Ok(()),
        }
    })
}

fn sync(path: &Path, sync_ops: u64) -> Outcome<Measurement> {
    let record = noise(RECORD_BYTES);
    let file = File::create(path).map_err(told(path))?;
    file.write_all_at(&vec![0; LOG_BYTES], 0)
        .map_err(told(path))?;
    file.sync_all().map_err(told(path))?;
    measure(|lane| {
        for number in 0..sync_ops {
            let at = number * RECORD_BYTES as u64 % (LOG_BYTES - RECORD_BYTES) as u64;
            file.write_all_at(&record, at).map_err(told(path))?;
            file.sync_data().map_err(told(path))?;
            lane.add_bytes(RECORD_BYTES as u64);
            lane.finish(0, 1);
        }
        Ok(())
    })
}

fn read(path: &Path, bytes: usize) -> Outcome<Measurement> {
    let made = File::create(path).map_err(told(path))?;
    let piece = noise(1 << 20);
    for number in 0..FILE_BYTES / piece.len() {
        let at = (number * piece.len()) as u64;
        made.write_all_at(&piece, at).map_err(told(path))?;
    }
    drop(made);
    forget_file(path)?;
    let file = File::open(path).map_err(told(path))?;
    let random = rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::Random);
    random.map_err(|error| told(path)(error.into()))?;
    measure(|lane| {
        let (mut random, mut buffer) = (Random::new(2), vec![0; bytes]);
        let places = (FILE_BYTES / bytes) as u64;
        for _ in 0..READS.min(places) {
            let at = random.below(places) * bytes as u64;
            file.read_exact_at(&mut buffer, at).map_err(told(path))?;
            lane.add_bytes(bytes as u64);
            lane.finish(0, 1);
        }
        Ok(())
    })
}

fn copy() -> Outcome<Measurement> {
    let source = noise(COPY_BYTES);
    measure(|lane| {
        let mut target = vec![1; COPY_BYTES];
        // The first touch of each page is the system's work, not a copy's.
        lane.restart();
        for _ in 0..COPIES {
            target.copy_from_slice(black_box(&source));
            black_box(&target);
            lane.add_bytes(COPY_BYTES as u64);
            lane.finish(0, 1);
        }
        Ok(())
    })
}
