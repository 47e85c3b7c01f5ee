//! The raw limits: plain loops over one file and two pieces of memory.

use std::fs::{self, File};
use std::hint::black_box;
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use crate::disk::advice::expect_random;
use crate::disk::forget::forget_file;
use crate::fail::{Failure, Outcome};
use crate::make::random::Random;
use crate::make::slices::{Slices, noise};
use crate::report::record::Measurement;
use crate::run::course::Course;
use crate::run::execute::execute;
use crate::run::lane::Lane;

/// One limit.
#[derive(Clone, Copy, Debug)]
pub struct Limit {
    /// Its name.
    pub name: &'static str,
    /// What is done.
    pub doc: &'static str,
    work: Work,
}

/// When what a limit writes is synced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SyncWhen {
    /// Never, or when the system likes.
    Never,
    /// Once at the end, in its time.
    AtEnd,
    /// Each time that so many bytes more were written, by a second thread, as engines do it whose
    /// writes wait for no sync. The last one is not waited for.
    Behind {
        /// So many.
        bytes: u64,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Work {
    Write(SyncWhen),
    Sync,
    Read { bytes: usize },
    Copy,
}

/// All of them.
pub const LIMITS: [Limit; 6] = [
    limit(
        "raw-write",
        "append 100 KB pieces to a file",
        Work::Write(SyncWhen::Never),
    ),
    limit(
        "raw-write-sync",
        "the same, and one fdatasync at the end",
        Work::Write(SyncWhen::AtEnd),
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

/// Bytes of noise that pieces are cut from. One and the same piece would stay in the processor's
/// nearest cache, where no engine finds the values that it is given.
const NOISE_BYTES: usize = 8 << 20;

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
        Work::Write(when) => write(&path, Pieces::of(PIECE_BYTES), when),
        Work::Sync => sync(&path, sync_ops),
        Work::Read { bytes } => make(&path, Pieces::of(bytes))
            .and_then(|()| read(&path, Pieces::of(bytes), READS, false)),
        Work::Copy => copy(),
    };
    remove(&path)?;
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

/// A file as so many pieces of one size.
#[derive(Clone, Copy, Debug)]
pub struct Pieces {
    /// Bytes of a piece.
    pub bytes: usize,
    /// How many.
    pub count: u64,
}

impl Pieces {
    /// Pieces of `bytes` that fill the file of the limits.
    fn of(bytes: usize) -> Pieces {
        Pieces {
            bytes,
            count: (FILE_BYTES / bytes) as u64,
        }
    }

    /// What they are cut from: the piece of a number is its slice.
    fn noise(self) -> Slices {
        Slices::new(noise(1, NOISE_BYTES + self.bytes))
    }
}

/// Appends pieces to a new file at `path`, each an operation.
pub fn write(path: &Path, pieces: Pieces, when: SyncWhen) -> Outcome<Measurement> {
    let noise = pieces.noise();
    let file = &File::create(path).map_err(told(path))?;
    let (asked, asks) = channel();
    thread::scope(|scope| {
        let syncer = scope.spawn(move || sync_when_asked(file, &asks));
        let measured = measure(|lane| {
            let mut unsynced_bytes = 0;
            for number in 0..pieces.count {
                let mut file = file;
                file.write_all(noise.slice_of(number, pieces.bytes))
                    .map_err(told(path))?;
                unsynced_bytes += pieces.bytes as u64;
                if matches!(when, SyncWhen::Behind { bytes } if unsynced_bytes >= bytes) {
                    unsynced_bytes = 0;
                    // Whoever failed to sync has gone, and says why.
                    let _is_there = asked.send(()).is_ok();
                }
                lane.add_bytes(pieces.bytes as u64);
                lane.finish(0, 1);
            }
            match when {
                SyncWhen::AtEnd => file.sync_data().map_err(told(path)),
                SyncWhen::Never | SyncWhen::Behind { .. } => Ok(()),
            }
        });
        drop(asked);
        match syncer.join() {
            Ok(synced) => synced.map_err(told(path))?,
            Err(panic) => std::panic::resume_unwind(panic),
        }
        measured
    })
}

/// Syncs whenever it was asked since it began the last time, until nobody can ask any more.
fn sync_when_asked(file: &File, asks: &Receiver<()>) -> std::io::Result<()> {
    while asks.recv().is_ok() {
        while asks.try_recv().is_ok() {}
        file.sync_data()?;
    }
    Ok(())
}

/// Removes what a limit left behind, if it did.
pub fn remove(path: &Path) -> Outcome {
    if path.exists() {
        let doing = format!("cannot remove {}", path.display());
        fs::remove_file(path).map_err(|error| Failure::system(doing, &error))?;
    }
    Ok(())
}

fn sync(path: &Path, sync_ops: u64) -> Outcome<Measurement> {
    let record = noise(1, RECORD_BYTES);
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

/// Makes a file to be read.
fn make(path: &Path, pieces: Pieces) -> Outcome {
    let made = File::create(path).map_err(told(path))?;
    let piece = noise(1, 1 << 20);
    let bytes = pieces.bytes as u64 * pieces.count;
    for number in 0..bytes.div_ceil(piece.len() as u64) {
        let at = number * piece.len() as u64;
        made.write_all_at(&piece, at).map_err(told(path))?;
    }
    Ok(())
}

/// Reads `reads` pieces anywhere in the file at `path`, one after another; the file is cold when
/// this begins. With `is_checked` each is compared with what [`write()`] wrote there, in its time,
/// as what an engine finds is.
pub fn read(path: &Path, pieces: Pieces, reads: u64, is_checked: bool) -> Outcome<Measurement> {
    forget_file(path)?;
    let noise = is_checked.then(|| pieces.noise());
    let file = File::open(path).map_err(told(path))?;
    expect_random(&file).map_err(told(path))?;
    measure(|lane| {
        let (mut random, mut buffer) = (Random::new(2), vec![0; pieces.bytes]);
        for _ in 0..reads.min(pieces.count) {
            let number = random.below(pieces.count);
            let at = number * pieces.bytes as u64;
            file.read_exact_at(&mut buffer, at).map_err(told(path))?;
            if let Some(noise) = &noise
                && buffer != noise.slice_of(number, pieces.bytes)
            {
                return Err(Failure::failed(format!(
                    "piece {number} of {} is not what was written",
                    path.display()
                )));
            }
            lane.add_bytes(pieces.bytes as u64);
            lane.finish(0, 1);
        }
        Ok(())
    })
}

fn copy() -> Outcome<Measurement> {
    let source = noise(1, COPY_BYTES);
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

#[cfg(test)]
mod tests;
