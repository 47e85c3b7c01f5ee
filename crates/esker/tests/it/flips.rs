//! Bit flips at rest in every kind of file: detected, or harmless.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};

use esker::internals::env::fs::Fs;
use esker::internals::env::random::Random;
use esker::internals::env::sim::clock::SimClock;
use esker::internals::env::sim::{CrashMode, SimFs};

use crate::journal::{Journal, Loss};
use crate::seeds;
use crate::workload::{DIR, Stage, copy_of};

/// Flips in each kind of file, for each of the two ways to end.
const FLIPS: u64 = 250;

/// How a flip ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Outcome {
    /// Everything was read as if nothing had happened.
    Harmless,
    /// Opening was refused.
    Refused,
    /// Some reads failed; every value that was read was right.
    Detected,
    /// The last records of a killed process were dropped, and that was said.
    Torn,
}

/// A database at rest.
struct Victim {
    disk: SimFs,
    clock: Arc<SimClock>,
    journal: Journal,
    is_killed: bool,
}

impl Victim {
    fn make(seed: u64, is_killed: bool) -> Victim {
        let mut stage = Stage::new(seed);
        stage.open().unwrap();
        stage.play(150);
        stage.sync();
        for _ in 0..12 {
            stage.write(0);
        }
        if is_killed {
            stage.die();
        } else {
            stage.close();
        }
        let disk = stage.sim.crash_image(CrashMode::KeepAll, 0);
        let journal = Arc::new(Mutex::new(stage.journal.lock().unwrap().clone()));
        let copy = disk.crash_image(CrashMode::KeepAll, 0);
        let mut whole = Stage::over(copy, copy_of(&stage.clock), journal, seed);
        whole.open().unwrap();
        let present = whole.compare(Loss::Kill).unwrap();
        whole.settle(&present);
        let journal = whole.journal.lock().unwrap().clone();
        whole.leave();
        Victim {
            disk,
            clock: Arc::clone(&stage.clock),
            journal,
            is_killed,
        }
    }

    fn files(&self) -> BTreeMap<&'static str, Vec<String>> {
        let mut kinds: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for name in self.disk.list(Path::new(DIR)).unwrap() {
            let kind = ["sst", "wal", "vlog", "MANIFEST", "CURRENT", "LOCK"];
            let kind = kind.into_iter().find(|kind| name.contains(kind));
            let kind = kind.unwrap_or_else(|| panic!("a file of a new kind: {name}"));
            kinds.entry(kind).or_default().push(name);
        }
        kinds
    }

    // One bit of a file is turned over; `None` when the file is empty.
    fn flip(&self, name: &str, random: &mut Random) -> Option<(Outcome, u64)> {
        let disk = self.disk.crash_image(CrashMode::KeepAll, 0);
        let path = Path::new(DIR).join(name);
        let file = disk.open_read(&path).unwrap();
        let size = file.size_bytes();
        if size == 0 {
            return None;
        }
        // Segments are mostly room that was never written: what is at the front counts.
        let span = if random.one_in(4) {
            size
        } else {
            size.min(24 << 10)
        };
        let offset = random.below(span);
        let mut byte = [0];
        file.read_at(offset, &mut byte).unwrap();
        byte[0] ^= 1 << random.below(8);
        let mut log = disk.open_log(&path, size).unwrap();
        log.write_at(offset, &byte).unwrap();
        drop((log, file));
        let disk = disk.crash_image(CrashMode::KeepAll, 0);
        match self.judge(disk) {
            Ok(outcome) => Some((outcome, offset)),
            Err(error) => {
                let killed = self.is_killed;
                panic!("{error}; byte {offset} of {name}, which has {size}; killed: {killed}")
            }
        }
    }

    fn judge(&self, disk: SimFs) -> Result<Outcome, String> {
        let journal = Arc::new(Mutex::new(self.journal.clone()));
        let mut stage = Stage::over(disk, copy_of(&self.clock), journal, 0);
        if stage.open().is_err() {
            return Ok(Outcome::Refused);
        }
        let torn_bytes = stage.db.as_ref().unwrap().stats().torn_bytes;
        if torn_bytes > 0 && self.is_killed {
            stage.journal.lock().unwrap().unsettle();
        }
        let now = esker::internals::env::clock::Clock::unix_millis(&*stage.clock);
        let checked = {
            let journal = stage.journal.lock().unwrap();
            journal.check_damaged(stage.db.as_ref().unwrap(), now)
        };
        stage.leave();
        match checked? {
            true if torn_bytes > 0 && self.is_killed => Ok(Outcome::Torn),
            true => Ok(Outcome::Harmless),
            false => Ok(Outcome::Detected),
        }
    }
}

#[test]
fn a_flipped_bit_is_detected_or_harmless() {
    // Any kind of file, at random places, of a closed and of a killed database.
    let mut table: BTreeMap<(&str, &str, Outcome), u64> = BTreeMap::new();
    for seed in seeds::from(5) {
        for is_killed in [false, true] {
            let victim = Victim::make(seed, is_killed);
            let ended = if is_killed { "killed" } else { "closed" };
            for (kind, names) in victim.files() {
                let mut random = Random::new(seed);
                // The small files have no 500 places.
                let is_small = matches!(kind, "CURRENT" | "LOCK");
                for _ in 0..if is_small { FLIPS / 5 } else { FLIPS } {
                    let index = random.below(names.len() as u64);
                    let name = &names[usize::try_from(index).unwrap()];
                    if let Some((outcome, _)) = victim.flip(name, &mut random) {
                        *table.entry((ended, kind, outcome)).or_default() += 1;
                    }
                }
            }
        }
    }
    for ((ended, kind, outcome), count) in table {
        println!("{ended:8} {kind:10} {outcome:10?} {count:6}");
    }
}
