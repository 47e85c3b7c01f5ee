//! Random programs under a retain rule, against maps of what each key may hold.
//!
//! What the rule drops may be seen or not, until `compact` has asked about all of it; once it was
//! not seen, it is gone. So the model keeps for each key every state that it may be in, and each
//! read that it checks leaves those that agree with it. A snapshot, and a transaction, may be in
//! any state that the keyspace was in when they began, and stay in it; but if a compaction was
//! under way then, they may lose what the rule drops.
//! `ESKER_SEEDS` says how many times 300 seeds run instead of 300.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use esker::internals::env::random::Random;
use esker::internals::env::sim::SimWorld;
use esker::{
    Bytes, Db, ErrorKind, Readable, Result, Retain, RetainRule, Snapshot, Transaction, merge,
    retain,
};

use crate::model::settings::Settings;
use crate::seeds;

/// Programs of the ordinary test.
const PROGRAMS: u64 = 300;

/// Steps of one program.
const STEPS: u64 = 120;

/// Different keys: few, so that each has a history.
const KEYS: u64 = 12;

/// Where the simulated clock begins.
const START_UNIX_S: u64 = 1_767_225_600;

/// Drops values with an odd sum of bytes, and whatever lies under some keys.
fn rule() -> Arc<dyn RetainRule> {
    retain::by("odd ones", |entry| {
        if is_chaff(entry.key) {
            return Ok(Retain::Drop);
        }
        Ok(match is_odd(entry.value()?) {
            true => Retain::Drop,
            false => Retain::Keep,
        })
    })
}

fn is_chaff(key: &[u8]) -> bool {
    key.ends_with(b"4") || key.ends_with(b"9")
}

fn is_odd(value: &[u8]) -> bool {
    value.iter().fold(0, |sum: u8, byte| sum ^ byte) % 2 == 1
}

fn is_dropped(key: &[u8], value: &[u8]) -> bool {
    is_chaff(key) || is_odd(value)
}

/// What a key may hold.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Cell {
    /// A value, and the second from which it is gone.
    base: Option<(Vec<u8>, Option<u64>)>,
    /// Merged since, oldest first.
    operands: Vec<Vec<u8>>,
}

impl Cell {
    fn base(&self, now: u64) -> Option<&[u8]> {
        let base = self.base.as_ref();
        let alive = base.filter(|(_, expiry)| expiry.is_none_or(|expiry| now < expiry));
        alive.map(|(value, _)| &value[..])
    }

    fn value(&self, key: &[u8], now: u64) -> Option<Vec<u8>> {
        self.value_of(key, self.operands.len(), now)
    }

    // With the oldest of its operands alone.
    fn value_of(&self, key: &[u8], count: usize, now: u64) -> Option<Vec<u8>> {
        let base = self.base(now);
        if count == 0 {
            return base.map(<[u8]>::to_vec);
        }
        let operands: Vec<&[u8]> = self.operands[..count].iter().map(|it| &it[..]).collect();
        Some(merge::append(",").0.fold(key, base, &operands).unwrap())
    }

    // What is left when the rule was asked at any moment, and by whoever.
    fn without(&self, key: &[u8], now: u64) -> Vec<Cell> {
        let mut all = vec![self.clone()];
        for count in 0..=self.operands.len() {
            let value = self.value_of(key, count, now);
            if value.is_some_and(|value| is_dropped(key, &value)) {
                all.push(Cell {
                    base: None,
                    operands: self.operands[count..].to_vec(),
                });
            }
        }
        all
    }

    // Whether `compact` asks the rule about the value that this makes.
    fn is_whole(&self, now: u64) -> bool {
        let has_expiry = self
            .base
            .as_ref()
            .is_some_and(|(_, expiry)| expiry.is_some());
        self.operands.is_empty() || !(has_expiry && self.base(now).is_some())
    }
}

type Cells = BTreeMap<Vec<u8>, Vec<Cell>>;

/// All keys with what they may hold, at one moment.
#[derive(Clone, Debug, Default)]
struct Map(Cells);

impl Map {
    fn set(&mut self, key: Vec<u8>, cell: Cell) {
        self.0.insert(key, vec![cell]);
    }

    fn merge(&mut self, key: Vec<u8>, operand: &[u8]) {
        let cells = self.0.entry(key).or_insert_with(|| vec![Cell::default()]);
        for cell in cells {
            cell.operands.push(operand.to_vec());
        }
    }

    // The rule may have been asked about anything.
    fn ask(&mut self, now: u64) {
        for (key, cells) in &mut self.0 {
            let mut all: Vec<Cell> = cells
                .iter()
                .flat_map(|cell| cell.without(key, now))
                .collect();
            all.sort();
            all.dedup();
            *cells = all;
        }
    }

    // And was asked about everything.
    fn compact(&mut self, now: u64) {
        self.ask(now);
        for (key, cells) in &mut self.0 {
            cells.retain(|cell| {
                let value = cell.value(key, now);
                let is_wrong = value.is_some_and(|value| is_dropped(key, &value));
                !(is_wrong && cell.is_whole(now))
            });
        }
    }

    // Leaves the states that agree with what was read.
    fn see(&mut self, key: &[u8], seen: Option<&[u8]>, now: u64) {
        let Some(cells) = self.0.get_mut(key) else {
            return assert_eq!(seen, None, "key {} was never written", key.escape_ascii());
        };
        let before = cells.clone();
        cells.retain(|cell| cell.value(key, now).as_deref() == seen);
        assert!(
            !cells.is_empty(),
            "key {} is {:?}, and may be {before:?}",
            key.escape_ascii(),
            seen.map(<[u8]>::escape_ascii).map(|text| text.to_string())
        );
    }

    fn check(&mut self, readable: &impl Readable, now: u64) {
        let found: BTreeMap<Vec<u8>, Bytes> = readable
            .iter()
            .unwrap()
            .map(Result::unwrap)
            .map(|(key, value)| (key.to_vec(), value))
            .collect();
        let known: Vec<Vec<u8>> = self.0.keys().cloned().collect();
        assert!(found.keys().all(|key| self.0.contains_key(key)));
        for key in known {
            self.see(&key, found.get(&key).map(|value| &value[..]), now);
        }
    }
}

/// What a snapshot or a transaction may see.
struct Sight {
    map: Map,
    /// Whether it began while a compaction was under way.
    may_lose: bool,
}

impl Sight {
    fn check(&mut self, readable: &impl Readable, now: u64) {
        if self.may_lose {
            self.map.ask(now);
        }
        self.map.check(readable, now);
    }
}

/// A transaction under way, what it may see, and how many writes there had been.
struct Open {
    transaction: Transaction,
    sight: Sight,
    write_count: u64,
}

struct Program {
    random: Random,
    world: SimWorld,
    settings: Settings,
    db: Option<Db>,
    map: Map,
    snapshots: Vec<(Snapshot, Sight)>,
    open: Vec<Open>,
    /// When each key was written last, by the count of writes.
    written: BTreeMap<Vec<u8>, u64>,
    write_count: u64,
    now: u64,
}

impl Program {
    fn new(seed: u64) -> Program {
        let mut random = Random::new(seed ^ 0x7e7a);
        let world = SimWorld::new(seed);
        let settings = Settings::random(&mut random);
        let mut program = Program {
            random,
            world,
            settings,
            db: None,
            map: Map::default(),
            snapshots: Vec::new(),
            open: Vec::new(),
            written: BTreeMap::new(),
            write_count: 0,
            now: START_UNIX_S,
        };
        program.open();
        program
    }

    fn open(&mut self) {
        self.set_clock();
        let mut builder = Db::builder("/db").env(self.world.env());
        for (name, text) in &self.settings.0 {
            builder = builder.set(name, text).unwrap();
        }
        let builder = builder.merge_operator(merge::append(","));
        self.db = Some(builder.retain_rule("default", rule()).open().unwrap());
    }

    fn set_clock(&self) {
        self.world
            .clock
            .set_unix_time(Duration::from_secs(self.now));
    }

    fn db(&self) -> Db {
        self.db.clone().unwrap()
    }

    fn key(&mut self) -> Vec<u8> {
        format!("key {}", self.random.below(KEYS)).into_bytes()
    }

    fn value(&mut self) -> Vec<u8> {
        let len = [1, 8, 40, 70, 800][usize::try_from(self.random.below(5)).unwrap()];
        self.random.bytes(len)
    }

    fn wrote(&mut self, key: &[u8]) {
        self.write_count += 1;
        self.written.insert(key.to_vec(), self.write_count);
    }

    fn write(&mut self) {
        let (db, key, value) = (self.db(), self.key(), self.value());
        self.map.ask(self.now);
        match self.random.below(10) {
            0..5 => {
                db.put(&key, &value).unwrap();
                let base = Some((value, None));
                self.map.set(
                    key.clone(),
                    Cell {
                        base,
                        ..Cell::default()
                    },
                );
            }
            5 => {
                // Half a step beside what the clock moves by, so that no answer hangs on a second.
                let ttl = 500 + 1000 * self.random.below(3);
                db.put_with_ttl(&key, &value, Duration::from_secs(ttl))
                    .unwrap();
                let base = Some((value, Some(self.now + ttl)));
                self.map.set(
                    key.clone(),
                    Cell {
                        base,
                        ..Cell::default()
                    },
                );
            }
            6 | 7 => {
                db.merge(&key, &value).unwrap();
                self.map.merge(key.clone(), &value);
            }
            8 => {
                db.delete(&key).unwrap();
                self.map.set(key.clone(), Cell::default());
            }
            _ => {
                let end = self.key();
                if key < end {
                    db.delete_range(&key[..]..&end[..]).unwrap();
                    let inside: Vec<_> = self.map.0.range(key.clone()..end.clone()).collect();
                    let inside: Vec<_> = inside.into_iter().map(|(key, _)| key.clone()).collect();
                    for key in inside {
                        self.map.set(key.clone(), Cell::default());
                        self.wrote(&key);
                    }
                    self.write_count += 1;
                }
                return;
            }
        }
        self.wrote(&key);
    }

    fn begin(&mut self) {
        if self.open.len() < 3 {
            let sight = self.sight();
            self.open.push(Open {
                transaction: self.db().begin(),
                sight,
                write_count: self.write_count,
            });
        }
    }

    fn sight(&mut self) -> Sight {
        self.map.ask(self.now);
        Sight {
            map: self.map.clone(),
            may_lose: self.db().stats().job_count > 0,
        }
    }

    // Commits a write of a key: refused if and only if somebody wrote it since.
    fn end(&mut self) {
        let Some(mut open) = self.open.pop() else {
            return;
        };
        let (db, key, value) = (self.db(), self.key(), self.value());
        open.sight.check(&open.transaction, self.now);
        open.transaction.put(&db, &key, &value).unwrap();
        let written = self.written.get(&key).copied().unwrap_or(0);
        let expects_conflict = written > open.write_count;
        match open.transaction.commit() {
            Ok(()) => {
                assert!(
                    !expects_conflict,
                    "{} was written since",
                    key.escape_ascii()
                );
                let base = Some((value, None));
                self.map.set(
                    key.clone(),
                    Cell {
                        base,
                        ..Cell::default()
                    },
                );
                self.wrote(&key);
            }
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::Conflict, "{error}");
                // A deleted range counts for keys that were not there as well.
                assert!(expects_conflict || self.write_count > open.write_count);
            }
        }
    }

    fn check(&mut self) {
        self.map.ask(self.now);
        let db = self.db();
        self.map.check(&db, self.now);
        for (snapshot, sight) in &mut self.snapshots {
            sight.check(snapshot, self.now);
        }
        for open in &mut self.open {
            open.sight.check(&open.transaction, self.now);
        }
    }

    fn step(&mut self) {
        match self.random.below(24) {
            0..10 => self.write(),
            10..12 => self.check(),
            12 => {
                let sight = self.sight();
                self.snapshots.push((self.db().snapshot(), sight));
                if self.snapshots.len() > 3 {
                    self.snapshots.remove(0);
                }
            }
            13 => {
                if !self.snapshots.is_empty() {
                    self.snapshots.remove(0);
                }
            }
            14 => self.begin(),
            15 => self.end(),
            16 => self.db().flush().unwrap(),
            17 => {
                self.db().compact::<&[u8]>(..).unwrap();
                if self.snapshots.is_empty() && self.open.is_empty() {
                    self.map.compact(self.now);
                }
            }
            18 => {
                self.map.ask(self.now);
                self.now += 1000 * self.random.below(3);
                self.set_clock();
            }
            19 if self.random.one_in(3) => {
                self.snapshots.clear();
                self.open.clear();
                self.db.take().unwrap().close().unwrap();
                self.settings = Settings::random(&mut self.random);
                self.open();
            }
            _ => {
                for _ in 0..=self.random.below(3) {
                    let _has_run: bool = self.world.pool.run_one();
                }
            }
        }
    }
}

#[test]
fn each_key_is_in_a_state_that_the_rule_allows() {
    for seed in 0..seeds::count() * PROGRAMS {
        let run = std::panic::AssertUnwindSafe(|| {
            let mut program = Program::new(seed);
            for _ in 0..STEPS {
                program.step();
            }
            program.check();
            program.snapshots.clear();
            program.open.clear();
            program.db().compact::<&[u8]>(..).unwrap();
            program.map.compact(program.now);
            program.check();
            let failures = program.db().stats().failures;
            assert!(failures.is_empty(), "{failures:?}");
        });
        if let Err(panic) = std::panic::catch_unwind(run) {
            eprintln!("the failing seed is {seed}");
            std::panic::resume_unwind(panic);
        }
    }
}
