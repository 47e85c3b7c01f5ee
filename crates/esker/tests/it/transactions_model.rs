//! Transactions against an obvious model, and serializable histories searched for a cycle.
//!
//! Random ones of every isolation and both modes run in turns with plain writes, flushes and
//! compactions, each read, each lock that is refused and each end foretold. Nobody waits: those who
//! lock are told at once.
//! `ESKER_SEEDS` says how many thousand seeds run instead of one.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::time::Duration;

use esker::internals::base::types::comparator::Comparator;
use esker::internals::base::types::range::KeyRange;
use esker::internals::env::random::Random;
use esker::internals::env::sim::SimWorld;
use esker::{
    Bytes, Db, ErrorKind, Isolation, Iter, Keyspace, Result, Transaction, TransactionMode,
    TransactionOptions, WriteOptions, merge,
};

use crate::lock_model::Locks;
use crate::seeds;

/// Different keys: few, so that transactions meet.
const KEYS: u64 = 10;

/// Transactions under way at the same time.
const SLOTS: u64 = 4;

/// What is done in one program.
const STEPS: u64 = 150;

type State = BTreeMap<(usize, Vec<u8>), Vec<u8>>;

/// What a write or a read touched.
#[derive(Clone, Debug)]
enum Touch {
    Key(usize, Vec<u8>),
    Range(usize, KeyRange),
}

impl Touch {
    fn meets(&self, other: &Touch) -> bool {
        let contains = |range: &KeyRange, key: &[u8]| range.contains(&Comparator::Bytewise, key);
        match (self, other) {
            (Touch::Key(left, key), Touch::Key(right, other)) => left == right && key == other,
            (Touch::Key(left, key), Touch::Range(right, range))
            | (Touch::Range(right, range), Touch::Key(left, key)) => {
                left == right && contains(range, key)
            }
            (Touch::Range(left, range), Touch::Range(right, other)) => {
                // One of them is of deletes, and half open.
                let end = |range: &KeyRange| match &range.upper {
                    Bound::Excluded(end) => Some(end.clone()),
                    _ => None,
                };
                let start = |range: &KeyRange| match &range.lower {
                    Bound::Included(start) => start.clone(),
                    _ => panic!("ranges of this model begin with a key"),
                };
                let before_end = |range: &KeyRange, start: &[u8]| {
                    end(range).map_or(!range.is_above(&Comparator::Bytewise, start), |end| {
                        start < &end[..]
                    })
                };
                left == right
                    && before_end(range, &start(other))
                    && before_end(other, &start(range))
            }
        }
    }
}

/// A write of the model.
#[derive(Clone, Debug)]
enum Write {
    Put(usize, Vec<u8>, Vec<u8>),
    Delete(usize, Vec<u8>),
    DeleteRange(usize, Vec<u8>, Vec<u8>),
    Merge(usize, Vec<u8>, Vec<u8>),
}

impl Write {
    fn random(random: &mut Random, number: u64) -> Write {
        let keyspace = usize::try_from(random.below(2)).unwrap();
        // Some are large enough to lie apart.
        let pad = if random.one_in(6) {
            "x".repeat(300)
        } else {
            String::new()
        };
        let value = format!("{number}{pad}").into_bytes();
        match random.below(10) {
            0 | 1 => Write::Delete(keyspace, key(random)),
            2 => {
                let (start, end) = (key(random), key(random));
                Write::DeleteRange(keyspace, start.clone().min(end.clone()), start.max(end))
            }
            3 | 4 => Write::Merge(keyspace, key(random), value),
            _ => Write::Put(keyspace, key(random), value),
        }
    }

    fn apply(&self, state: &mut State) {
        match self {
            Write::Put(keyspace, key, value) => {
                state.insert((*keyspace, key.clone()), value.clone());
            }
            Write::Delete(keyspace, key) => {
                state.remove(&(*keyspace, key.clone()));
            }
            Write::DeleteRange(keyspace, start, end) => {
                state.retain(|(of, key), _| of != keyspace || key < start || key >= end);
            }
            Write::Merge(keyspace, key, operand) => {
                let value = state.entry((*keyspace, key.clone())).or_default();
                if !value.is_empty() {
                    value.push(b',');
                }
                value.extend_from_slice(operand);
            }
        }
    }

    /// What others may not depend on any more.
    fn touch(&self) -> Option<Touch> {
        Some(match self {
            Write::Put(keyspace, key, _)
            | Write::Delete(keyspace, key)
            | Write::Merge(keyspace, key, _) => Touch::Key(*keyspace, key.clone()),
            Write::DeleteRange(_, start, end) if start == end => return None,
            Write::DeleteRange(keyspace, start, end) => {
                Touch::Range(*keyspace, KeyRange::new(&start[..]..&end[..]))
            }
        })
    }

    /// Whether whoever writes it may, by the locks of others; takes them then.
    fn claim(&self, locks: &mut Locks, owner: u64) -> bool {
        match self.touch() {
            None => true,
            Some(Touch::Key(keyspace, key)) => locks.lock_key(owner, keyspace, &key, true),
            Some(Touch::Range(keyspace, _)) => locks.lock_keyspace(owner, keyspace, true),
        }
    }

    fn write(&self, world: &World, tx: &mut Transaction) -> Result<()> {
        match self {
            Write::Put(keyspace, key, value) => tx.put(&world.spaces[*keyspace], key, value),
            Write::Delete(keyspace, key) => tx.delete(&world.spaces[*keyspace], key),
            Write::DeleteRange(keyspace, start, end) => {
                tx.delete_range(&world.spaces[*keyspace], start, end)
            }
            Write::Merge(keyspace, key, operand) => {
                tx.merge(&world.spaces[*keyspace], key, operand)
            }
        }
    }

    fn write_plainly(&self, world: &World, options: WriteOptions) -> Result<()> {
        let space = |keyspace: &usize| world.spaces[*keyspace].with_write(options);
        match self {
            Write::Put(keyspace, key, value) => space(keyspace).put(key, value),
            Write::Delete(keyspace, key) => space(keyspace).delete(key),
            Write::DeleteRange(keyspace, start, end) => {
                space(keyspace).delete_range(&start[..]..&end[..])
            }
            Write::Merge(keyspace, key, operand) => space(keyspace).merge(key, operand),
        }
    }
}

fn key(random: &mut Random) -> Vec<u8> {
    format!("key {:02}", random.below(KEYS)).into_bytes()
}

/// The engine, and what it must hold.
struct World {
    sim: SimWorld,
    db: Db,
    spaces: [Keyspace; 2],
    /// What each commit touched and left, oldest first; the first is the empty database.
    commits: Vec<(Vec<Touch>, State)>,
    locks: Locks,
    owner_count: u64,
}

/// A transaction, and what it must do.
struct Running {
    tx: Transaction,
    owner: u64,
    isolation: Isolation,
    is_locking: bool,
    /// How many commits there were at its snapshot, once there is one.
    begun: Option<usize>,
    /// How many there were at the moment that it chose for its plain reads, if it did.
    chosen: Option<usize>,
    writes: Vec<Write>,
    /// How many writes there were, and what it had locked.
    savepoints: Vec<(usize, Locks)>,
    reads: Vec<Touch>,
    /// Each with how many commits there were when it was read.
    for_update: Vec<(usize, Touch)>,
}

impl World {
    fn new(seed: u64) -> World {
        let sim = SimWorld::new(seed);
        let db = Db::builder("db")
            .env(sim.env())
            .merge_operator(merge::append(","))
            .set("memtable.size", "16KiB")
            .and_then(|builder| builder.set("value_log.threshold", "200B"))
            .and_then(|builder| builder.set("compaction.l0_trigger", "2"))
            .unwrap()
            .open()
            .unwrap();
        let spaces = [
            db.keyspace("first").unwrap(),
            db.keyspace("second").unwrap(),
        ];
        World {
            sim,
            db,
            spaces,
            commits: vec![(Vec::new(), State::new())],
            locks: Locks::default(),
            owner_count: 0,
        }
    }

    fn latest(&self) -> State {
        self.commits.last().unwrap().1.clone()
    }

    /// Whether any commit from that one on has touched it.
    fn is_written(&self, since: usize, own: &Touch) -> bool {
        let later = self.commits[since..].iter();
        let mut touches = later.flat_map(|(touches, _)| touches);
        touches.any(|touch| touch.meets(own))
    }

    fn commit(&mut self, writes: &[Write]) {
        let mut state = self.latest();
        writes.iter().for_each(|write| write.apply(&mut state));
        let touches = writes.iter().filter_map(Write::touch).collect();
        self.commits.push((touches, state));
    }

    /// A write outside of transactions, which those who lock may hold up.
    fn write(&mut self, write: Write, random: &mut Random) {
        let owner = self.next_owner();
        let may_write = write.claim(&mut self.locks, owner);
        self.locks.release(owner);
        let no_wait = !may_write && random.one_in(2);
        let written = write.write_plainly(
            self,
            WriteOptions {
                no_wait,
                ..WriteOptions::default()
            },
        );
        let told = match (may_write, no_wait) {
            (true, _) => None,
            (false, true) => Some(ErrorKind::Busy),
            (false, false) => Some(ErrorKind::LockTimeout),
        };
        assert_eq!(written.err().map(|error| error.kind()), told, "{write:?}");
        if may_write {
            self.commit(&[write]);
        }
    }

    fn next_owner(&mut self) -> u64 {
        self.owner_count += 1;
        self.owner_count
    }

    fn begin(&mut self, isolation: Isolation, mode: TransactionMode) -> Running {
        let is_locking = mode == TransactionMode::Locking;
        Running {
            owner: self.next_owner(),
            is_locking,
            tx: self.db.begin_with(options(isolation, mode)),
            isolation,
            begun: (!is_locking).then_some(self.commits.len()),
            chosen: None,
            writes: Vec::new(),
            savepoints: Vec::new(),
            reads: Vec::new(),
            for_update: Vec::new(),
        }
    }

    fn check(&self) {
        let mut found = State::new();
        for (index, space) in self.spaces.iter().enumerate() {
            for row in space.iter().unwrap() {
                let (key, value) = row.unwrap();
                found.insert((index, key.to_vec()), value.to_vec());
            }
        }
        assert_eq!(found, self.latest());
    }
}

impl Running {
    /// What it must see.
    fn sees(&self, world: &World) -> State {
        let last = match self.isolation {
            Isolation::ReadCommitted => self.chosen.unwrap_or(world.commits.len()),
            _ => self.begun.unwrap_or(world.commits.len()),
        };
        self.sees_at(world, last)
    }

    /// What it must see of what is committed by now.
    fn sees_latest(&self, world: &World) -> State {
        self.sees_at(world, world.commits.len())
    }

    fn sees_at(&self, world: &World, last: usize) -> State {
        let mut state = world.commits[last - 1].1.clone();
        self.writes.iter().for_each(|write| write.apply(&mut state));
        state
    }

    /// Whether somebody has written to what it locks and reads, since its snapshot.
    fn is_overtaken(&self, world: &World, touch: &Touch) -> bool {
        let is_bound = self.is_locking && self.isolation != Isolation::ReadCommitted;
        let begun = self.begun.filter(|_| is_bound);
        begun.is_some_and(|begun| world.is_written(begun, touch))
    }

    fn is_broken(&self, world: &World) -> bool {
        let meets = |since: usize, own: &Touch| world.is_written(since, own);
        let mut own: Vec<Touch> = Vec::new();
        if self.isolation != Isolation::ReadCommitted {
            let plain = self
                .writes
                .iter()
                .filter(|write| !matches!(write, Write::Merge(..)));
            own.extend(plain.filter_map(Write::touch));
        }
        if self.isolation == Isolation::Serializable {
            own.extend(self.reads.iter().cloned());
        }
        let since = self.begun.unwrap_or(world.commits.len());
        own.iter().any(|touch| meets(since, touch))
            || self
                .for_update
                .iter()
                .any(|(since, touch)| meets(*since, touch))
    }

    /// Something is locked or read: from then on there is a snapshot.
    fn stands(&mut self, world: &World) {
        self.begun.get_or_insert(world.commits.len());
    }

    /// Whether a statement gets the lock of a key that it wants, by the model.
    fn locks_key(&mut self, world: &mut World, touch: (usize, &[u8]), is_exclusive: bool) -> bool {
        let is_locked = is_exclusive || self.isolation == Isolation::Serializable;
        if !self.is_locking || !is_locked {
            return true;
        }
        let (keyspace, key) = touch;
        let locks = &mut world.locks;
        locks.lock_key(self.owner, keyspace, key, is_exclusive)
    }

    fn step(&mut self, world: &mut World, random: &mut Random, number: u64) {
        let keyspace = usize::try_from(random.below(2)).unwrap();
        let own = key(random);
        let space = world.spaces[keyspace].clone();
        let state = self.sees(world);
        let expected = state.get(&(keyspace, own.clone())).cloned();
        match random.below(17) {
            what @ 0..=1 => {
                let may_read = self.locks_key(world, (keyspace, &own), false);
                let is_found = match what {
                    0 => {
                        let found = self.tx.of(&space).get(&own);
                        found.map(|found| assert_eq!(found.as_deref(), expected.as_deref()))
                    }
                    _ => {
                        let found = self.tx.of(&space).contains_key(&own);
                        found.map(|found| assert_eq!(found, expected.is_some()))
                    }
                };
                assert_eq!(refusal(is_found), timeout_unless(may_read));
                if may_read {
                    self.stands(world);
                    self.reads.push(Touch::Key(keyspace, own));
                }
            }
            2 => {
                let state = match self.isolation {
                    Isolation::ReadCommitted => self.sees_latest(world),
                    _ => state,
                };
                let expected = state.get(&(keyspace, own.clone())).cloned();
                let is_shared = random.one_in(2);
                let held = world.locks.of(self.owner);
                let may_read = !self.is_locking
                    || world.locks.lock_key(self.owner, keyspace, &own, !is_shared);
                let found = match (is_shared, random.one_in(2)) {
                    (true, _) => self.tx.get_for_share(&space, &own),
                    (false, true) => self.tx.get_for_update(&space, &own),
                    (false, false) => {
                        let found = self.tx.multi_get_for_update(&space, &[&own, &own]);
                        found.map(|mut found| {
                            assert_eq!(found[0], found[1]);
                            found.remove(0)
                        })
                    }
                };
                if !may_read {
                    assert_eq!(refusal(found), timeout_unless(false));
                    return;
                }
                let touch = Touch::Key(keyspace, own);
                if self.is_overtaken(world, &touch) {
                    assert_eq!(refusal(found), Some(ErrorKind::Conflict));
                    world.locks.put_back(self.owner, held);
                    return;
                }
                self.stands(world);
                assert_eq!(found.unwrap().as_deref(), expected.as_deref());
                match self.isolation {
                    // Nobody can write to it.
                    Isolation::ReadCommitted if self.is_locking => {}
                    Isolation::ReadCommitted => {
                        self.for_update.push((world.commits.len(), touch.clone()));
                    }
                    _ => self.for_update.push((self.begun.unwrap(), touch.clone())),
                }
                self.reads.push(touch);
            }
            3 | 4 => self.scan(world, random, keyspace, &state),
            5 => {
                self.tx.set_savepoint();
                let held = world.locks.of(self.owner);
                self.savepoints.push((self.writes.len(), held));
            }
            6 => match (random.one_in(2), self.savepoints.pop()) {
                (_, None) => assert!(self.tx.rollback_to_savepoint().is_err()),
                (true, Some(_)) => self.tx.pop_savepoint().unwrap(),
                (false, Some((len, held))) => {
                    self.tx.rollback_to_savepoint().unwrap();
                    self.writes.truncate(len);
                    world.locks.put_back(self.owner, held);
                }
            },
            7 => self.reads_latest(world, keyspace, &own),
            8 => self.chooses(world, random.one_in(3)),
            _ => {
                let write = Write::random(random, number);
                let may_write = !self.is_locking || write.claim(&mut world.locks, self.owner);
                let written = write.write(world, &mut self.tx);
                assert_eq!(refusal(written), timeout_unless(may_write), "{write:?}");
                if may_write {
                    if write.touch().is_some() {
                        self.stands(world);
                    }
                    self.writes.push(write);
                }
            }
        }
    }

    /// Whatever its snapshot: all that is committed, and its own writes.
    fn reads_latest(&mut self, world: &World, keyspace: usize, key: &[u8]) {
        let latest = self.tx.latest(&world.spaces[keyspace]);
        if self.isolation == Isolation::Serializable {
            let told = (refusal(latest.get(key)), refusal(latest.iter()));
            let invalid = Some(ErrorKind::Invalid);
            return assert_eq!(told, (invalid, invalid));
        }
        let state = self.sees_latest(world);
        let expected = state.get(&(keyspace, key.to_vec()));
        let found = latest.get(key).unwrap();
        assert_eq!(found.as_deref(), expected.map(|value| &value[..]));
        let rows = latest.iter().unwrap().map(|row| row.unwrap().1.to_vec());
        let expected = state.iter().filter(|((of, _), _)| *of == keyspace);
        let expected: Vec<_> = expected.map(|(_, value)| value.clone()).collect();
        assert_eq!(rows.collect::<Vec<_>>(), expected);
    }

    /// Another moment for its plain reads, or none.
    fn chooses(&mut self, world: &World, is_cleared: bool) {
        if is_cleared {
            self.tx.clear_snapshot().unwrap();
            self.chosen = None;
            return;
        }
        let told = refusal(self.tx.set_snapshot());
        if self.isolation == Isolation::ReadCommitted {
            assert_eq!(told, None);
            self.chosen = Some(world.commits.len());
        } else {
            let is_late = self.begun.is_some();
            assert_eq!(told, is_late.then_some(ErrorKind::Invalid));
            self.stands(world);
        }
    }

    /// A part of a range, from either end.
    fn scan(&mut self, world: &mut World, random: &mut Random, keyspace: usize, state: &State) {
        let (start, end) = (key(random), key(random));
        let (start, end) = (start.clone().min(end.clone()), start.max(end));
        let mut rows: Vec<(Vec<u8>, Vec<u8>)> = state
            .iter()
            .filter(|((of, key), _)| *of == keyspace && *key >= start && *key < end)
            .map(|((_, key), value)| (key.clone(), value.clone()))
            .collect();
        let is_back = random.one_in(2);
        if is_back {
            rows.reverse();
        }
        let count = usize::try_from(1 + random.below(KEYS)).unwrap();
        let range = self.tx.of(&world.spaces[keyspace]);
        let opened: Result<Iter> = range.range(&start[..]..&end[..]);
        let is_locked = self.is_locking && self.isolation == Isolation::Serializable;
        let may_read = !is_locked || world.locks.lock_keyspace(self.owner, keyspace, false);
        if !may_read {
            assert_eq!(refusal(opened), timeout_unless(false));
            return;
        }
        let iter = opened.unwrap();
        let pair = |row: esker::Result<(Bytes, Bytes)>| {
            let (key, value) = row.unwrap();
            (key.to_vec(), value.to_vec())
        };
        let found: Vec<_> = match is_back {
            true => iter.rev().take(count).map(pair).collect(),
            false => iter.take(count).map(pair).collect(),
        };
        assert_eq!(found, rows[..rows.len().min(count)]);
        // Who asked for no more than there is has not come to the end.
        let last = (found.len() == count).then(|| found[count - 1].0.clone());
        let range = match (last, is_back) {
            (None, _) => KeyRange::new(&start[..]..&end[..]),
            (Some(last), false) => KeyRange::new(&start[..]..=&last[..]),
            (Some(last), true) => KeyRange::new(&last[..]..&end[..]),
        };
        self.reads.push(Touch::Range(keyspace, range));
        self.stands(world);
    }

    fn end(self, world: &mut World) -> bool {
        // A range that has no keys is not written.
        let is_writing = self.writes.iter().any(|write| write.touch().is_some());
        let is_broken = is_writing && self.is_broken(world);
        let mut claims = self.writes.iter();
        let is_locked =
            !self.is_locking && !claims.all(|write| write.claim(&mut world.locks, self.owner));
        world.locks.release(self.owner);
        let is_broken = is_broken || is_locked;
        match self.tx.commit() {
            Ok(()) => {
                assert!(!is_broken, "a conflict was not seen: {:?}", self.writes);
                world.commit(&self.writes);
                true
            }
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::Conflict);
                assert!(is_broken, "{error}, and nobody wrote to it");
                false
            }
        }
    }
}

fn refusal<T>(done: Result<T>) -> Option<ErrorKind> {
    done.err().map(|error| error.kind())
}

fn timeout_unless(may: bool) -> Option<ErrorKind> {
    (!may).then_some(ErrorKind::LockTimeout)
}

/// One that waits for nobody.
fn options(isolation: Isolation, mode: TransactionMode) -> TransactionOptions {
    TransactionOptions {
        isolation,
        mode,
        lock_timeout: Duration::ZERO,
    }
}

fn mode(random: &mut Random) -> TransactionMode {
    match random.one_in(2) {
        true => TransactionMode::Locking,
        false => TransactionMode::Optimistic,
    }
}

fn run(seed: u64) -> (u64, u64) {
    let mut random = Random::new(seed);
    let mut world = World::new(seed);
    let mut running: BTreeMap<u64, Running> = BTreeMap::new();
    let (mut committed, mut refused) = (0, 0);
    for number in 0..STEPS {
        match random.below(40) {
            0 => world.db.flush().unwrap(),
            1 => world.db.compact::<&[u8]>(..).unwrap(),
            2..=4 => {
                world.sim.pool.run_one();
            }
            5..=9 => {
                let write = Write::random(&mut random, number);
                world.write(write, &mut random);
            }
            10..=13 => {
                let Some((_, ending)) = running.pop_first() else {
                    continue;
                };
                match ending.end(&mut world) {
                    true => committed += 1,
                    false => refused += 1,
                }
            }
            14 => {
                if let Some((_, gone)) = running.pop_last() {
                    world.locks.release(gone.owner);
                    gone.tx.rollback();
                }
            }
            _ => {
                let slot = random.below(SLOTS);
                let isolation = [
                    Isolation::ReadCommitted,
                    Isolation::Snapshot,
                    Isolation::Serializable,
                ];
                let isolation = isolation[usize::try_from(random.below(3)).unwrap()];
                let mode = mode(&mut random);
                let one = running
                    .entry(slot)
                    .or_insert_with(|| world.begin(isolation, mode));
                one.step(&mut world, &mut random, number);
            }
        }
    }
    drop(running);
    world.check();
    (committed, refused)
}

#[test]
fn each_read_and_each_end_is_as_foretold() {
    let (mut committed, mut refused) = (0, 0);
    for seed in 0..1_000 * seeds::count() {
        let attempt = std::panic::catch_unwind(|| run(seed));
        let (more_committed, more_refused) =
            attempt.unwrap_or_else(|_| panic!("seed {seed} fails"));
        committed += more_committed;
        refused += more_refused;
    }
    // Both ways of ending are met often.
    assert!(
        committed > 2_000 && refused > 2_000,
        "{committed} and {refused}"
    );
}

/// Serializable transactions of both modes that each read some keys and write others, as others may
/// have read them, among writes that are in none: who saw whose write.
#[test]
fn serializable_histories_have_no_cycle() {
    let (mut locking, mut refused) = (0, 0);
    for seed in 0..1_000 * seeds::count() {
        let mut random = Random::new(seed);
        let world = World::new(seed);
        // Values name the transaction that wrote them; commits in their order.
        let mut order: BTreeMap<Vec<u8>, Vec<u64>> = BTreeMap::new();
        let mut reads: BTreeMap<u64, Vec<(Vec<u8>, u64)>> = BTreeMap::new();
        let mut running: BTreeMap<u64, (u64, Transaction, BTreeSet<Vec<u8>>)> = BTreeMap::new();
        let mut next = 1;
        let mut is_told = |error: esker::Error| {
            assert_eq!(error.kind(), ErrorKind::LockTimeout);
            refused += 1;
        };
        for _ in 0..60 {
            let slot = random.below(SLOTS);
            if random.one_in(12) {
                let own = key(&mut random);
                next += 1;
                match world.db.put(&own, (next - 1).to_string()) {
                    Ok(()) => order.entry(own).or_default().push(next - 1),
                    Err(error) => is_told(error),
                }
                continue;
            }
            let mode = mode(&mut random);
            let (number, tx, written) = running.entry(slot).or_insert_with(|| {
                let tx = world.db.begin_with(options(Isolation::Serializable, mode));
                locking += u64::from(mode == TransactionMode::Locking);
                next += 1;
                (next - 1, tx, BTreeSet::new())
            });
            match random.below(5) {
                0 | 1 if written.is_empty() => {
                    let read = key(&mut random);
                    match tx.get(&read) {
                        Ok(found) => {
                            let writer = found.map_or(0, |text| {
                                std::str::from_utf8(&text).unwrap().parse().unwrap()
                            });
                            reads.entry(*number).or_default().push((read, writer));
                        }
                        Err(error) => is_told(error),
                    }
                }
                0..=2 => {
                    let own = key(&mut random);
                    match tx.put(&world.db, &own, number.to_string()) {
                        Ok(()) => drop(written.insert(own)),
                        Err(error) => is_told(error),
                    }
                }
                3 => {
                    let (number, tx, written) = running.remove(&slot).unwrap();
                    if tx.commit().is_err() {
                        reads.remove(&number);
                        continue;
                    }
                    for own in written {
                        order.entry(own).or_default().push(number);
                    }
                }
                _ => {
                    world.sim.pool.run_one();
                }
            }
        }
        for (number, ..) in running.values() {
            reads.remove(number);
        }
        assert!(!has_cycle(&order, &reads), "seed {seed}");
    }
    assert!(
        locking > 2_000 && refused > 2_000,
        "{locking} and {refused}"
    );
}

/// Whether the transactions cannot be put into one order: by who wrote over whom, who read from
/// whom, and who wrote over what another had read.
fn has_cycle(
    order: &BTreeMap<Vec<u8>, Vec<u64>>,
    reads: &BTreeMap<u64, Vec<(Vec<u8>, u64)>>,
) -> bool {
    let mut later: BTreeMap<u64, BTreeSet<u64>> = BTreeMap::new();
    let mut edge = |from: u64, to: u64| {
        if from != to && from != 0 {
            later.entry(from).or_default().insert(to);
        }
    };
    for writers in order.values() {
        writers.windows(2).for_each(|pair| edge(pair[0], pair[1]));
    }
    for (&reader, read) in reads {
        for (key, writer) in read {
            edge(*writer, reader);
            let writers = order.get(key).map_or(&[][..], |writers| writers);
            let next = writers.iter().position(|one| one == writer);
            if let Some(over) = writers.get(next.map_or(0, |place| place + 1)) {
                edge(reader, *over);
            }
        }
    }
    // Takes out those on whom nobody waits until none is left.
    while !later.is_empty() {
        let reached: BTreeSet<u64> = later.values().flatten().copied().collect();
        let before = later.len();
        later.retain(|from, _| reached.contains(from));
        if later.len() == before {
            return true;
        }
    }
    false
}

#[test]
fn the_search_finds_a_cycle() {
    // Two that read what the other then wrote over.
    let order = [(b"a".to_vec(), vec![2]), (b"b".to_vec(), vec![1])].into();
    let reads = [(1, vec![(b"a".to_vec(), 0)]), (2, vec![(b"b".to_vec(), 0)])].into();
    assert!(has_cycle(&order, &reads));
    let reads = [(1, vec![(b"a".to_vec(), 0)])].into();
    assert!(!has_cycle(&order, &reads));
}
