//! Damage to a database that was killed in the middle of its work, to every kind of file.
//!
//! After each damage every read gives the right value or an error that says so; after a repair the
//! database verifies, and whatever is not as it was is listed in the report.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use esker::internals::env::bundle::Env;
use esker::internals::env::fs::Fs;
use esker::internals::env::random::Random;
use esker::internals::env::sim::world::SimWorld;
use esker::internals::env::sim::{CrashMode, SimFs};
use esker::{
    Bytes, Db, Durability, ErrorKind, RepairOptions, RepairReport, WriteOptions, repair_in,
};

use crate::seeds;

const DIR: &str = "db";

/// Damages of each kind of file in the test that always runs; ESKER_SEEDS multiplies them.
const ROUNDS: u64 = 250;

/// What a key may have: its value when the log was last synced, and those written since.
type Allowed = BTreeMap<(String, Vec<u8>), Vec<Option<Vec<u8>>>>;

fn open(env: &Env) -> esker::Result<Db> {
    let settings = [
        ("merge_operator", "append:,"),
        ("memory_limit", "8MiB"),
        ("wal.segment_size", "64KiB"),
        ("wal.total_size", "256KiB"),
        ("value_log.threshold", "300B"),
        ("value_log.segment_size", "64KiB"),
        ("sst.block_size", "512B"),
        ("sst.dictionary_min", "4KiB"),
        ("compaction.automatic", "false"),
    ];
    let mut builder = Db::builder(DIR).env(env.clone());
    for (name, text) in settings {
        builder = builder.set(name, text)?;
    }
    builder.open()
}

/// A killed database, and what may be in it.
struct Victim {
    world: SimWorld,
    allowed: Allowed,
    /// Keys that were written since the last flush.
    in_log: Vec<(String, Vec<u8>)>,
    /// The kind of each file.
    files: BTreeMap<&'static str, Vec<PathBuf>>,
}

fn text(number: u64, round: u64) -> String {
    format!("the {round}th time that entry number {number} came into the book of entries")
}

/// Writes and remembers.
struct Writer<'a> {
    db: &'a Db,
    now: BTreeMap<(String, Vec<u8>), Option<Vec<u8>>>,
    allowed: Allowed,
    in_log: Vec<(String, Vec<u8>)>,
}

impl Writer<'_> {
    fn put(&mut self, keyspace: &str, key: String, value: Option<Vec<u8>>) {
        let options = WriteOptions {
            durability: Some(Durability::Buffered),
            ..WriteOptions::default()
        };
        let handle = self.db.keyspace(keyspace).unwrap().with_write(options);
        match &value {
            Some(value) => handle.put(&key, value).unwrap(),
            None => handle.delete(&key).unwrap(),
        }
        let place = (keyspace.to_owned(), key.into_bytes());
        self.now.insert(place.clone(), value.clone());
        self.allowed.entry(place.clone()).or_default().push(value);
        self.in_log.push(place);
    }

    fn merge(&mut self, key: &str, operand: &str) {
        self.db.merge(key, operand).unwrap();
        let place = ("default".to_owned(), key.as_bytes().to_vec());
        let value = self.db.get(key).unwrap().map(|value| value.to_vec());
        self.now.insert(place.clone(), value.clone());
        self.allowed.entry(place.clone()).or_default().push(value);
        self.in_log.push(place);
    }

    // From here on nothing older may be seen.
    fn sync(&mut self) {
        self.db.sync().unwrap();
        let now = self.now.iter();
        self.allowed = now
            .map(|(place, value)| (place.clone(), vec![value.clone()]))
            .collect();
    }
}

impl Victim {
    // Blocks and searchable files in two keyspaces, with large values, merges and deletes; some of
    // it overwritten; and a log with synced writes and, behind them, some that were not.
    fn make(seed: u64) -> Victim {
        let world = SimWorld::new(seed);
        let env = world.env();
        let db = open(&env).unwrap();
        db.keyspace("texts")
            .unwrap()
            .set("compression", "searchable")
            .unwrap();
        let mut writer = Writer {
            db: &db,
            now: BTreeMap::new(),
            allowed: Allowed::new(),
            in_log: Vec::new(),
        };
        for round in 0..2 {
            for number in (0..60).skip(usize::try_from(round).unwrap() * 25) {
                writer.put(
                    "default",
                    format!("key{number:03}"),
                    Some(text(number, round).into()),
                );
                writer.put(
                    "texts",
                    format!("t{number:03}"),
                    Some(text(number, round).into()),
                );
                if number % 6 == 0 {
                    let large = vec![b'a' + (number % 20) as u8; 400 + 7 * number as usize];
                    writer.put("default", format!("large{number:03}"), Some(large.clone()));
                    writer.put("texts", format!("z{number:03}"), Some(large));
                }
            }
            writer.merge("sum", "x");
            writer.put("default", format!("key{:03}", 3 + round), None);
            writer.db.flush_all().unwrap();
            writer.in_log.clear();
            if round == 0 {
                writer
                    .db
                    .keyspace("texts")
                    .unwrap()
                    .compact::<&[u8]>(..)
                    .unwrap();
                writer.db.compact::<&[u8]>(..).unwrap();
            }
        }
        for number in 0..12u64 {
            writer.put(
                "default",
                format!("key{number:03}"),
                Some(text(number, 9).into()),
            );
            writer.put(
                "texts",
                format!("late{number:03}"),
                Some(vec![b'l'; 350 + 9 * number as usize]),
            );
            writer.merge("sum", "y");
            writer.sync();
        }
        for number in 0..4u64 {
            writer.put(
                "default",
                format!("key{number:03}"),
                Some(text(number, 10).into()),
            );
        }
        let (allowed, in_log) = (writer.allowed, writer.in_log);
        // Killed, not closed.
        std::mem::forget(db);
        let world = world.after_kill();
        let mut files: BTreeMap<&'static str, Vec<PathBuf>> = BTreeMap::new();
        for name in world.fs.list(Path::new(DIR)).unwrap() {
            let kinds = ["sst", "wal", "vlog", "MANIFEST", "CURRENT", "LOCK"];
            let kind = kinds.into_iter().find(|kind| name.contains(kind)).unwrap();
            files
                .entry(kind)
                .or_default()
                .push(Path::new(DIR).join(name));
        }
        files.values_mut().for_each(|paths| paths.sort());
        Victim {
            world,
            allowed,
            in_log,
            files,
        }
    }

    fn image(&self) -> SimWorld {
        let disk = self.world.fs.crash_image(CrashMode::KeepAll, 0);
        SimWorld::with_disk(disk, Arc::clone(&self.world.clock), 0)
    }

    // Opens, reads, repairs, verifies; `what` was done to the disk.
    // Where damage cannot be told from what a crash leaves, `is_telling` is false.
    fn judge(&self, world: SimWorld, what: &str, is_telling: bool) -> Outcome {
        let disk = SimWorld::with_disk(
            world.fs.crash_image(CrashMode::KeepAll, 0),
            Arc::clone(&world.clock),
            0,
        );
        let opened = match open(&disk.env()) {
            Ok(db) => {
                if is_telling {
                    self.check_reads(&db, what);
                }
                std::mem::forget(db);
                true
            }
            Err(error) => {
                let kinds = [
                    ErrorKind::Corruption,
                    ErrorKind::Invalid,
                    ErrorKind::Unsupported,
                ];
                let is_told = kinds.contains(&error.kind()) || error.is_missing_file();
                assert!(is_told, "{what}: {error}");
                false
            }
        };
        let env = world.env();
        let wet = RepairOptions { dry_run: false };
        let report = repair_in(&env, Path::new(DIR), wet, &[]);
        let report = report.unwrap_or_else(|error| panic!("{what}: repair failed: {error}"));
        let db = open(&env).unwrap_or_else(|error| panic!("{what}: {error}\nafter {report}"));
        let verified = db.verify().unwrap();
        assert!(verified.is_whole(), "{what}: {verified}\nafter {report}");
        let differences = match is_telling {
            true => self.check_repaired(&db, &report, what),
            false => 0,
        };
        db.close().unwrap();
        Outcome {
            opened,
            is_lossy: report.is_lossy(),
            differences,
        }
    }

    fn check_reads(&self, db: &Db, what: &str) {
        for ((keyspace, key), allowed) in &self.allowed {
            let handle = match db.keyspace(keyspace) {
                Ok(handle) => handle,
                Err(error) => panic!("{what}: {error}"),
            };
            match handle.get(key) {
                Ok(value) => {
                    let value = value.map(|value| value.to_vec());
                    let key = key.escape_ascii();
                    assert!(
                        allowed.contains(&value),
                        "{what}: {keyspace} {key} is {value:?}"
                    );
                }
                // A wrong version looks like one to come.
                Err(error) => assert!(
                    matches!(error.kind(), ErrorKind::Corruption | ErrorKind::Unsupported),
                    "{what}: {error}"
                ),
            }
        }
    }

    // Every difference must be listed; gives how many there are.
    fn check_repaired(&self, db: &Db, report: &RepairReport, what: &str) -> usize {
        let mut differences = 0;
        let names: Vec<String> = db.keyspaces();
        for ((keyspace, key), allowed) in &self.allowed {
            let renamed = match names.contains(keyspace) {
                true => keyspace.clone(),
                false => "recovered-1".to_owned(),
            };
            let value = match names.contains(&renamed) {
                true => db.keyspace(&renamed).unwrap().get(key).unwrap(),
                false => None,
            };
            let value = value.map(|value: Bytes| value.to_vec());
            if allowed.contains(&value) {
                continue;
            }
            differences += 1;
            let shown = key.escape_ascii();
            assert!(
                self.is_listed(report, keyspace, key),
                "{what}: {keyspace} {shown} is {value:?}, and nobody says so: {report}"
            );
        }
        differences
    }

    fn is_listed(&self, report: &RepairReport, keyspace: &str, key: &[u8]) -> bool {
        let is_own = |name: &str| name == keyspace || name.starts_with("recovered");
        let in_files = report.lost_files.iter().any(|lost| {
            let is_own = lost.keyspace.as_deref().is_none_or(is_own);
            let is_between = |from: Option<&Bytes>, to: Option<&Bytes>| {
                from.is_none_or(|from| &**from <= key) && to.is_none_or(|to| key <= &**to)
            };
            let keys = lost.keys.as_ref();
            let all = keys.map(|keys| &keys.0);
            is_own
                && match lost.gaps.is_empty() {
                    true => lost.is_lossy() && is_between(all, keys.map(|keys| &keys.1)),
                    false => lost
                        .gaps
                        .iter()
                        .any(|gap| is_between(gap.after.as_ref(), gap.before.as_ref())),
                }
        });
        let in_values = report
            .lost_values
            .iter()
            .any(|lost| is_own(&lost.keyspace) && &*lost.keys.0 <= key && key <= &*lost.keys.1);
        let is_late = self
            .in_log
            .iter()
            .any(|(own, late)| own == keyspace && late == key);
        in_files || in_values || (is_late && !report.log.gaps.is_empty())
    }
}

/// How a damage ended.
#[derive(Clone, Copy, Debug)]
struct Outcome {
    opened: bool,
    is_lossy: bool,
    differences: usize,
}

fn bytes_of(fs: &SimFs, path: &Path) -> Vec<u8> {
    let file = fs.open_read(path).unwrap();
    let mut bytes = vec![0; usize::try_from(file.size_bytes()).unwrap()];
    file.read_at(0, &mut bytes).unwrap();
    bytes
}

fn write(fs: &SimFs, path: &Path, bytes: &[u8]) {
    let mut file = fs.create(path).unwrap();
    file.append(bytes).unwrap();
    file.sync().unwrap();
}

/// What happens to a disk, in `rounds` ways by turns.
#[derive(Clone, Copy, Debug)]
enum Harm {
    Flip,
    Bytes,
    Sector,
    Cut,
    Empty,
    Missing,
    Stray,
}

const HARMS: [Harm; 10] = [
    Harm::Flip,
    Harm::Flip,
    Harm::Flip,
    Harm::Bytes,
    Harm::Flip,
    Harm::Sector,
    Harm::Cut,
    Harm::Missing,
    Harm::Stray,
    Harm::Empty,
];

// Gives what was done.
fn harm(fs: &SimFs, path: &Path, harm: Harm, random: &mut Random) -> String {
    let mut bytes = bytes_of(fs, path);
    let len = bytes.len() as u64;
    // Segments are mostly room that was never written.
    let used = bytes
        .iter()
        .rposition(|byte| *byte != 0)
        .map_or(1, |last| last as u64 + 1);
    let at = usize::try_from(random.below(used)).unwrap();
    let name = path.display();
    match harm {
        Harm::Flip => bytes[at] ^= 1 << random.below(8),
        Harm::Bytes => {
            let end = bytes.len().min(at + 4);
            bytes[at..end].fill(0xa5);
        }
        Harm::Sector => {
            let start = at / 512 * 512;
            let end = bytes.len().min(start + 512);
            bytes[start..end].fill(0);
        }
        Harm::Cut => bytes.truncate(at),
        Harm::Empty => bytes.clear(),
        Harm::Missing => {
            fs.remove_file(path).unwrap();
            return format!("{name} removed");
        }
        Harm::Stray => {
            let number = 500 + random.below(500);
            let ending = ["sst", "wal", "vlog", "tmp"][usize::try_from(random.below(4)).unwrap()];
            let stray = Path::new(DIR).join(format!("{number:06}.{ending}"));
            let copied = if random.one_in(2) {
                bytes
            } else {
                random.bytes(3000)
            };
            write(fs, &stray, &copied);
            return format!("{} is there, {} bytes", stray.display(), copied.len());
        }
    }
    write(fs, path, &bytes);
    format!("{harm:?} at {at} of {name}, which had {len}")
}

// Damages to a kind of file, and how they ended.
fn damage_kind(kind: &str, rounds: u64, first_seed: u64) {
    let victim = Victim::make(first_seed);
    let paths = &victim.files[kind];
    let (mut refused, mut lossy, mut differing) = (0, 0, 0);
    for round in 0..rounds {
        let mut random = Random::new(first_seed * 100_000 + round);
        let path = &paths[usize::try_from(random.below(paths.len() as u64)).unwrap()];
        let way = HARMS[usize::try_from(random.below(HARMS.len() as u64)).unwrap()];
        let world = victim.image();
        if bytes_of(&world.fs, path).is_empty() {
            continue;
        }
        let what = harm(&world.fs, path, way, &mut random);
        let what = format!("seed {first_seed}, round {round}: {what}");
        // A log that lost its end is what a power cut leaves, and so is one that ends in zeros.
        let is_end_lost = matches!(way, Harm::Cut | Harm::Sector | Harm::Empty | Harm::Missing);
        let outcome = victim.judge(world, &what, kind != "wal" || !is_end_lost);
        refused += u64::from(!outcome.opened);
        lossy += u64::from(outcome.is_lossy);
        differing += u64::from(outcome.differences > 0);
    }
    println!("{kind}: {rounds} damages, {refused} refused, {lossy} lossy, {differing} differ");
    assert!(differing <= lossy);
}

#[test]
fn a_damaged_sorted_file_is_told_and_repaired() {
    for seed in seeds::from(1) {
        damage_kind("sst", 2 * ROUNDS, seed);
    }
}

#[test]
fn a_damaged_value_log_is_told_and_repaired() {
    for seed in seeds::from(2) {
        damage_kind("vlog", 2 * ROUNDS, seed);
    }
}

#[test]
fn a_damaged_manifest_is_told_and_repaired() {
    for seed in seeds::from(3) {
        damage_kind("MANIFEST", ROUNDS, seed);
        damage_kind("CURRENT", ROUNDS / 8, seed);
        damage_kind("LOCK", ROUNDS / 16, seed);
    }
}

#[test]
fn a_damaged_live_log_is_told_and_repaired() {
    for seed in seeds::from(4) {
        damage_kind("wal", 3 * ROUNDS, seed);
    }
}

#[test]
#[ignore = "every bit of every file: hours"]
fn soak_every_bit_of_a_killed_database() {
    for seed in seeds::from(5) {
        let victim = Victim::make(seed);
        for (kind, paths) in &victim.files {
            for path in paths {
                let bytes = bytes_of(&victim.world.fs, path);
                let used = bytes.iter().rposition(|byte| *byte != 0);
                for bit in 0..used.map_or(0, |last| 8 * (last + 1)) {
                    let world = victim.image();
                    let mut damaged = bytes.clone();
                    damaged[bit / 8] ^= 1 << (bit % 8);
                    write(&world.fs, path, &damaged);
                    let what = format!("seed {seed}: bit {bit} of {kind} {}", path.display());
                    victim.judge(world, &what, true);
                }
            }
        }
    }
}
