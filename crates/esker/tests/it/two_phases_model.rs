//! Two phases against a model: what each may write, prepare and see is foretold exactly.
//!
//! Transactions are prepared, decided, and met by plain writes and by one another, in turns with
//! flushes, compactions, checkpoints, closing, killing and cutting the power.

use std::collections::BTreeMap;
use std::path::PathBuf;

use esker::internals::env::random::Random;
use esker::internals::env::sim::{CrashMode, SimWorld};
use esker::{Db, Durability, ErrorKind, PreparedTransaction, WriteOptions};

use crate::seeds;

/// Few enough for writers to meet.
const KEYS: u64 = 12;

/// What is done in one program.
const STEPS: u64 = 120;

type State = BTreeMap<Vec<u8>, Vec<u8>>;

/// A write: a value, none, or none for all keys up to the second.
#[derive(Clone, Debug)]
enum Write {
    Put(Vec<u8>, Vec<u8>),
    Delete(Vec<u8>),
    DeleteRange(Vec<u8>, Vec<u8>),
}

impl Write {
    fn random(random: &mut Random, number: u64) -> Write {
        // Some are large enough to lie apart.
        let pad = if random.one_in(4) { 600 } else { 0 };
        let value = format!("{number}{}", "x".repeat(pad)).into_bytes();
        match random.below(8) {
            0 => Write::Delete(key(random)),
            1 => {
                let (start, end) = (key(random), key(random));
                Write::DeleteRange(start.clone().min(end.clone()), start.max(end))
            }
            _ => Write::Put(key(random), value),
        }
    }

    fn apply(&self, state: &mut State) {
        match self {
            Write::Put(key, value) => drop(state.insert(key.clone(), value.clone())),
            Write::Delete(key) => drop(state.remove(key)),
            Write::DeleteRange(start, end) => state.retain(|key, _| key < start || key >= end),
        }
    }

    // First key, and the first one behind.
    fn range(&self) -> (Vec<u8>, Vec<u8>) {
        match self {
            Write::Put(key, _) | Write::Delete(key) => (key.clone(), [&key[..], b"\0"].concat()),
            Write::DeleteRange(start, end) => (start.clone(), end.clone()),
        }
    }

    fn meets(&self, other: &Write) -> bool {
        let ((start, end), (from, to)) = (self.range(), other.range());
        start < end && from < to && start < to && from < end
    }
}

fn key(random: &mut Random) -> Vec<u8> {
    format!("key {:02}", random.below(KEYS)).into_bytes()
}

/// The engine, and what it must hold.
struct World {
    sim: SimWorld,
    db: Db,
    state: State,
    prepared: BTreeMap<Vec<u8>, Vec<Write>>,
    /// Those that were prepared since the opening, and whose handles are held.
    held: BTreeMap<Vec<u8>, PreparedTransaction>,
}

fn open(sim: &SimWorld) -> Db {
    let settings = [
        ("memtable.size", "16KiB"),
        ("wal.segment_size", "64KiB"),
        ("value_log.threshold", "300B"),
        ("compaction.l0_trigger", "2"),
        ("memory_limit", "4MiB"),
    ];
    let mut builder = Db::builder("db").env(sim.env());
    for (name, text) in settings {
        builder = builder.set(name, text).unwrap();
    }
    builder.open().unwrap()
}

impl World {
    fn is_claimed(&self, writes: &[Write]) -> bool {
        let mut claims = self.prepared.values().flatten();
        claims.any(|claim| writes.iter().any(|write| write.meets(claim)))
    }

    // What is written, or prepared; and whether it must be refused.
    fn write(&mut self, random: &mut Random, number: u64) -> (bool, bool) {
        let count = 1 + random.below(3);
        let writes: Vec<Write> = (0..count).map(|_| Write::random(random, number)).collect();
        let is_claimed = self.is_claimed(&writes);
        let mut tx = self.db.begin();
        for write in &writes {
            match write {
                Write::Put(key, value) => tx.put(&self.db, key, value).unwrap(),
                Write::Delete(key) => tx.delete(&self.db, key).unwrap(),
                Write::DeleteRange(start, end) => {
                    tx.delete_range(&self.db, start, end).unwrap();
                }
            }
        }
        let is_prepared = random.one_in(3);
        let id = number.to_be_bytes().to_vec();
        let done = match is_prepared {
            true => tx.prepare(&id).map(|prepared| {
                if random.one_in(2) {
                    self.held.insert(id.clone(), prepared);
                }
            }),
            false => tx.commit(),
        };
        match (done, is_prepared) {
            (Ok(()), true) => drop(self.prepared.insert(id, writes)),
            (Ok(()), false) => writes.iter().for_each(|write| write.apply(&mut self.state)),
            (Err(error), _) => {
                assert_eq!(error.kind(), ErrorKind::Conflict);
                return (is_claimed, true);
            }
        }
        (is_claimed, false)
    }

    fn write_plainly(&mut self, random: &mut Random, number: u64) -> (bool, bool) {
        let write = Write::random(random, number);
        let is_claimed = self.is_claimed(std::slice::from_ref(&write));
        let done = match &write {
            Write::Put(key, value) => self.db.put(key, value),
            Write::Delete(key) => self.db.delete(key),
            Write::DeleteRange(start, end) => self.db.delete_range(&start[..]..&end[..]),
        };
        match done {
            Ok(()) => write.apply(&mut self.state),
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::LockTimeout);
                return (is_claimed, true);
            }
        }
        (is_claimed, false)
    }

    // One of them ends; nothing can hinder it.
    fn decide(&mut self, random: &mut Random) {
        let count = self.prepared.len() as u64;
        if count == 0 {
            return;
        }
        let place = usize::try_from(random.below(count)).unwrap();
        let id = self.prepared.keys().nth(place).unwrap().clone();
        let writes = self.prepared.remove(&id).unwrap();
        let held = self.held.remove(&id);
        if random.one_in(3) {
            self.db.rollback_prepared(&id).unwrap();
        } else {
            match held {
                Some(held) => {
                    let committed = held.commit_ordered().unwrap();
                    if random.one_in(2) {
                        committed.finish().unwrap();
                    }
                }
                None => self.db.commit_prepared(&id).unwrap(),
            }
            writes.iter().for_each(|write| write.apply(&mut self.state));
        }
    }

    // As whatever ends a process leaves it, all that was written being durable.
    fn reopen(&mut self, random: &mut Random) {
        match random.below(3) {
            0 => self.db.close().unwrap(),
            1 => self.sim = self.sim.after_kill(),
            _ => {
                self.db.sync().unwrap();
                self.sim = self
                    .sim
                    .after_crash(CrashMode::LoseUnsynced, random.below(1 << 20));
            }
        }
        self.held.clear();
        self.db = open(&self.sim);
        self.check(&self.db);
    }

    fn check(&self, db: &Db) {
        let rows = db.iter().unwrap().map(|row| row.unwrap());
        let found: State = rows
            .map(|(key, value)| (key.to_vec(), value.to_vec()))
            .collect();
        assert_eq!(found, self.state);
        let listed = db.prepared().into_iter().map(|one| one.id.to_vec());
        assert!(listed.eq(self.prepared.keys().cloned()));
    }

    // A copy has the same, and can decide for itself.
    fn copy(&self, number: u64) {
        let target = PathBuf::from(format!("copy{number}"));
        self.db.checkpoint(&target).unwrap();
        let copy = Db::builder(&target).env(self.sim.env()).open().unwrap();
        self.check(&copy);
        for id in self.prepared.keys() {
            copy.commit_prepared(id).unwrap();
        }
        assert!(copy.verify().unwrap().is_whole());
        copy.close().unwrap();
    }
}

// How many were refused, and how many written or prepared.
fn run(seed: u64) -> (u64, u64) {
    let mut random = Random::new(seed);
    let sim = SimWorld::new(seed);
    let mut world = World {
        db: open(&sim),
        sim,
        state: State::new(),
        prepared: BTreeMap::new(),
        held: BTreeMap::new(),
    };
    let (mut refused, mut done) = (0, 0);
    for number in 0..STEPS {
        let told = match random.below(40) {
            0 => {
                world.db.flush().unwrap();
                continue;
            }
            1 => {
                world.db.compact::<&[u8]>(..).unwrap();
                continue;
            }
            2 => {
                world.reopen(&mut random);
                continue;
            }
            3 if random.one_in(3) => {
                world.copy(number);
                continue;
            }
            4..=9 => {
                world.decide(&mut random);
                continue;
            }
            10 => {
                // A segment of the log and more.
                let options = WriteOptions {
                    durability: Some(Durability::Buffered),
                    ..WriteOptions::default()
                };
                let plain = world.db.with_write(options);
                for row in 0..40 {
                    plain.put(format!("zzz {row}"), vec![b'z'; 290]).unwrap();
                    world
                        .state
                        .insert(format!("zzz {row}").into_bytes(), vec![b'z'; 290]);
                }
                continue;
            }
            11..=24 => world.write_plainly(&mut random, number),
            _ => world.write(&mut random, number),
        };
        let (is_claimed, is_refused) = told;
        assert_eq!(is_refused, is_claimed, "in step {number}");
        match is_refused {
            true => refused += 1,
            false => done += 1,
        }
    }
    world.check(&world.db);
    (refused, done)
}

#[test]
fn each_write_and_each_end_is_as_foretold() {
    let (mut refused, mut done) = (0, 0);
    for seed in 0..150 * seeds::count() {
        let attempt = std::panic::catch_unwind(|| run(seed));
        let (more_refused, more_done) = attempt.unwrap_or_else(|_| panic!("seed {seed} fails"));
        refused += more_refused;
        done += more_done;
    }
    // Both are met often.
    assert!(refused > 1_000 && done > 1_000, "{refused} and {done}");
}
