//! One round: every line of work on one engine, timed.

use std::fs;
use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

use crate::Fault;
use crate::engine::{Engine, Kind, Met, Setup};
use crate::keys::{Random, key};
use crate::process::thread_ns;
use crate::values::Values;

/// The lines in the order in which they run.
pub const LINES: [&str; 13] = [
    "fillseq",
    "fillrandom",
    "overwrite",
    "readrandom, reopened",
    "readrandom, warm",
    "readmissing",
    "readseq",
    "readreverse",
    "compact",
    "readrandom, compacted",
    "readseq, compacted",
    "readreverse, compacted",
    "open and close",
];

/// Nanoseconds for each operation; of `compact` and `open and close`, in all.
#[derive(Clone, Copy, Debug)]
pub struct Times {
    /// On the wall's clock.
    pub wall_ns: f64,
    /// For which the calling thread had a processor: no waiting, nothing in the background.
    pub own_ns: f64,
}

/// What one round gave.
pub struct Round {
    /// By line.
    pub times: Vec<Times>,
    /// Keys found by the last random reads: the same for every engine.
    pub found_count: u64,
    /// Entries met by the last scan: the same for every engine.
    pub met: Met,
    /// Bytes of the directory at the end.
    pub disk_bytes: u64,
}

/// Runs every line once in the empty directory `dir`, which is removed afterwards.
pub fn run(kind: Kind, dir: &Path, setup: &Setup, key_count: u64) -> Result<Round, Fault> {
    let mut clock = Clock(Vec::new());
    let count = key_count;
    let open = || (kind.open)(dir, setup);
    fs::create_dir_all(dir)?;

    let mut engine = open()?;
    clock.each(count, || fill(&mut *engine, (0..count).map(key)))?;
    drop(engine);
    fs::remove_dir_all(dir)?;

    let mut engine = open()?;
    clock.each(count, || fill(&mut *engine, random_keys(1, count)))?;
    clock.each(count, || fill(&mut *engine, random_keys(2, count)))?;
    drop(engine);

    let mut engine = open()?;
    clock.each(count, || read(&mut *engine, random_keys(3, count)))?;
    clock.each(count, || read(&mut *engine, random_keys(4, count)))?;
    // One byte less than a key: between two keys that exist, so only filters can help.
    let missing = random_keys(5, count).map(|key| key[..15].to_vec());
    let found = clock.each(count, || read(&mut *engine, missing))?;
    assert!(found == 0);
    let met = clock.each_met(|| engine.scan_forward())?;
    assert!(clock.each_met(|| engine.scan_backward())? == met);
    clock.each(1, || engine.compact())?;
    let found_count = clock.each(count, || read(&mut *engine, random_keys(3, count)))?;
    assert!(clock.each_met(|| engine.scan_forward())? == met);
    assert!(clock.each_met(|| engine.scan_backward())? == met);
    drop(engine);
    clock.each(1, || open().map(drop))?;
    let disk_bytes = directory_bytes(dir)?;
    fs::remove_dir_all(dir)?;
    assert!(clock.0.len() == LINES.len());
    Ok(Round {
        times: clock.0,
        found_count,
        met,
        disk_bytes,
    })
}

/// The keys of a seed.
pub fn random_keys(seed: u64, count: u64) -> impl Iterator<Item = [u8; 16]> {
    let mut random = Random::new(seed);
    (0..count).map(move |_| key(random.below(count)))
}

/// Puts every key with the next value.
pub fn fill(
    engine: &mut dyn Engine,
    keys: impl Iterator<Item = impl AsRef<[u8]>>,
) -> Result<(), Fault> {
    let mut values = Values::new();
    for key in keys {
        engine.put(key.as_ref(), values.next())?;
    }
    Ok(())
}

/// Asks for every key; says how many there are.
pub fn read(
    engine: &mut dyn Engine,
    keys: impl Iterator<Item = impl AsRef<[u8]>>,
) -> Result<u64, Fault> {
    let mut found_count = 0;
    for key in keys {
        found_count += u64::from(black_box(engine.get(key.as_ref())?).is_some());
    }
    Ok(found_count)
}

struct Clock(Vec<Times>);

impl Clock {
    fn each<T>(&mut self, count: u64, work: impl FnOnce() -> Result<T, Fault>) -> Result<T, Fault> {
        self.time(work, |_| count)
    }

    fn each_met(&mut self, scan: impl FnOnce() -> Result<Met, Fault>) -> Result<Met, Fault> {
        self.time(scan, |met| met.count)
    }

    fn time<T>(
        &mut self,
        work: impl FnOnce() -> Result<T, Fault>,
        count_of: impl FnOnce(&T) -> u64,
    ) -> Result<T, Fault> {
        let (begun, begun_ns) = (Instant::now(), thread_ns()?);
        let result = work()?;
        let (wall, own_ns) = (begun.elapsed(), thread_ns()? - begun_ns);
        let count = count_of(&result) as f64;
        self.0.push(Times {
            wall_ns: wall.as_nanos() as f64 / count,
            own_ns: own_ns as f64 / count,
        });
        Ok(result)
    }
}

/// Bytes of the files in a directory.
pub fn directory_bytes(dir: &Path) -> Result<u64, Fault> {
    let mut bytes = 0;
    for file in fs::read_dir(dir)? {
        bytes += file?.metadata()?.len();
    }
    Ok(bytes)
}
