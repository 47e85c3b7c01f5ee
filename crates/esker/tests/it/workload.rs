//! A workload of every kind of write, flush, compaction and reopening, played from a seed.

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{self, AtomicU64};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use esker::internals::env::bundle::Env;
use esker::internals::env::clock::Clock;
use esker::internals::env::fs::Fs;
use esker::internals::env::pool::{Job, Pool, Priority};
use esker::internals::env::random::Random;
use esker::internals::env::signal::Signal;
use esker::internals::env::sim::clock::SimClock;
use esker::internals::env::sim::pool::SimPool;
use esker::internals::env::sim::{CrashMode, SimFs, SimWorld};
use esker::{
    Builder, Comparator, CustomComparator, Db, Durability, Error, ErrorKind, IngestOptions,
    Isolation, Keyspace, KeyspaceOptions, SstWriter, TransactionMode, TransactionOptions, Transfer,
    Update, WriteOptions,
};

use crate::balance::Balance;
use crate::held::Held;
use crate::journal::{Action, Answer, Entry, Journal, Life, Loss, Presence};
use crate::journal::{chaff, marker_key, marker_value, retain_rule, rule};
use crate::watched_fs::{Eye, Lie, WatchedFs};

mod file_sets;
mod replica;

/// Where the database lies.
pub const DIR: &str = "/db";

/// Waits after which a run counts as an endless loop: a whole workload needs a few hundred.
const WAITS_MAX: u64 = 20_000;

// Small segments, memtables and files, so that a few hundred writes meet rotation, recycling,
// flushes and compactions of several levels; and searchable files at the bottom.
const SETTINGS: [(&str, &str); 17] = [
    ("wal.segment_size", "64KiB"),
    ("wal.total_size", "256KiB"),
    ("value_log.threshold", "400B"),
    ("value_log.segment_size", "64KiB"),
    ("value_buffer_size", "128KiB"),
    ("value_flush_bytes", "64KiB"),
    ("value_flush_interval", "1s"),
    ("max_space_amp", "1.1"),
    ("memory_limit", "4MiB"),
    ("memtable.size", "16KiB"),
    ("sst.file_size", "16KiB"),
    ("compaction.l0_trigger", "2"),
    ("compaction.base_level", "64KiB"),
    ("compaction.level_growth", "2"),
    ("merge_operator", "append:,"),
    ("compression", "searchable"),
    ("sst.dictionary_min", "8KiB"),
];
// Transactions that lock what they touch; nobody is there to be waited for.
const LOCKING: TransactionOptions = TransactionOptions {
    isolation: Isolation::Snapshot,
    mode: TransactionMode::Locking,
    lock_timeout: Duration::ZERO,
};

// What is added at a reopening.
const CHANGED: [(&str, &str); 2] = [("sst.block_size", "1KiB"), ("compression", "none")];
// What is changed while the database is open.
const LIVE: [(&str, [&str; 2]); 5] = [
    ("memtable.size", ["16KiB", "32KiB"]),
    ("value_log.threshold", ["400B", "1KiB"]),
    ("sst.block_size", ["1KiB", "4KiB"]),
    ("sst.file_size", ["16KiB", "64KiB"]),
    ("compression", ["none", "searchable"]),
];

/// The name of the keyspace whose keys are in an order of the user's.
pub const ORDERED: &str = "ordered";

/// The name of the keyspace that is kept out of the log, each batch of which has a mark.
pub const REPLICA: &str = "replica";

/// Bytewise, for who does not know that.
struct AsBytes;

impl CustomComparator for AsBytes {
    fn name(&self) -> &str {
        "as bytes"
    }

    fn compare(&self, left: &[u8], right: &[u8]) -> Ordering {
        left.cmp(right)
    }
}

/// An order of the user's, in which keys come as the journal has them.
pub fn own_comparator() -> Comparator {
    Comparator::Custom(Arc::new(AsBytes))
}

/// Opens the database of the workload; `is_changed` with some other settings.
pub fn open(env: Env, is_changed: bool) -> esker::Result<Db> {
    open_with(Db::builder(DIR).env(env), is_changed)
}

// As `open`, of a builder that has more.
fn open_with(builder: Builder, is_changed: bool) -> esker::Result<Db> {
    let mut builder = builder.known_comparator(own_comparator());
    let changed = CHANGED.iter().filter(|_| is_changed);
    let kept = SETTINGS.iter().filter(|(name, _)| {
        let mut others = CHANGED.iter();
        !(is_changed && others.any(|(other, _)| other == name))
    });
    for (name, text) in kept.chain(changed) {
        builder = builder.set(name, text)?;
    }
    for keyspace in ["default", "b", "c", ORDERED] {
        builder = builder.retain_rule(keyspace, retain_rule());
    }
    let db = builder.open()?;
    end_prepared(&db)?;
    Ok(db)
}

// What was prepared and not committed: who did is gone, or was told of an error.
fn end_prepared(db: &Db) -> esker::Result<()> {
    let mut prepared = db.prepared().into_iter();
    prepared.try_for_each(|one| db.rollback_prepared(&one.id))
}

/// Opens the database of the workload for reading only.
pub fn open_read_only(dir: &Path, env: Env) -> esker::Result<Db> {
    let builder = Db::builder(dir).env(env).read_only(true);
    let builder = builder.known_comparator(own_comparator());
    builder.set("merge_operator", "append:,")?.open()
}

/// A clock that shows what `clock` shows now and then goes its own way.
pub fn copy_of(clock: &SimClock) -> Arc<SimClock> {
    let copy = SimClock::new();
    copy.advance(clock.monotonic());
    copy.set_unix_time(clock.unix_time());
    Arc::new(copy)
}

/// The environment of `world` over another file system, with an end to waiting.
pub fn patient_env(world: &SimWorld, fs: Arc<dyn Fs>) -> Env {
    let mut env = world.env_with(fs);
    env.pool = Arc::new(Patient {
        inner: Arc::clone(&world.pool),
        waits: AtomicU64::new(0),
    });
    env
}

// Background work whose waiting threads lose patience some day.
struct Patient {
    inner: Arc<SimPool>,
    waits: AtomicU64,
}

impl Pool for Patient {
    fn spawn(&self, priority: Priority, name: &'static str, job: Job) {
        self.inner.spawn(priority, name, job);
    }

    fn spawn_after(&self, delay: Duration, priority: Priority, name: &'static str, job: Job) {
        self.inner.spawn_after(delay, priority, name, job);
    }

    fn wait(&self, signal: &Signal, seen: u64, timeout: Duration) -> bool {
        let waits = self.waits.fetch_add(1, atomic::Ordering::Relaxed);
        assert!(waits < WAITS_MAX, "an endless loop");
        self.inner.wait(signal, seen, timeout)
    }

    fn thread_count(&self) -> usize {
        self.inner.thread_count()
    }
}

impl fmt::Debug for Patient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Patient({:?})", self.inner)
    }
}

/// A database at work, and the journal of it.
pub struct Stage {
    pub journal: Arc<Mutex<Journal>>,
    pub sim: SimFs,
    pub clock: Arc<SimClock>,
    pub db: Option<Db>,
    /// Kinds of the errors that calls ended with.
    pub errors: Vec<ErrorKind>,
    /// Whether an error ends the test.
    pub is_strict: bool,
    /// Whether it is opened with other settings.
    pub is_changed: bool,
    /// Who listens to the database in its present life.
    pub balance: Arc<Balance>,
    world: SimWorld,
    watched: WatchedFs,
    eye: Option<Eye>,
    lie: Lie,
    random: Random,
    /// For sets of files, so that the rest goes as it would without them.
    set_random: Random,
    /// The same for the unlogged keyspace.
    replica_random: Random,
    number: u32,
}

impl Stage {
    /// An empty disk; nothing is open yet.
    pub fn new(seed: u64) -> Stage {
        let (sim, clock) = (SimFs::new(seed), Arc::new(SimClock::new()));
        let journal = Arc::new(Mutex::new(Journal::default()));
        Stage::over(sim, clock, journal, seed)
    }

    /// The stage over a disk with the database of `journal` in it.
    pub fn over(
        sim: SimFs,
        clock: Arc<SimClock>,
        journal: Arc<Mutex<Journal>>,
        seed: u64,
    ) -> Stage {
        let world = SimWorld::with_disk(sim.clone(), Arc::clone(&clock), seed);
        let last = journal
            .lock()
            .unwrap()
            .entries
            .last()
            .map(|entry| entry.number);
        Stage {
            journal,
            watched: WatchedFs::new(&sim, None, Lie::None),
            sim,
            clock,
            db: None,
            errors: Vec::new(),
            is_strict: true,
            world,
            eye: None,
            lie: Lie::None,
            random: Random::new(seed),
            set_random: Random::new(!seed),
            replica_random: Random::new(seed ^ 0x7ab1e),
            number: last.map_or(0, |last| last + 1),
            is_changed: false,
            balance: Arc::default(),
        }
    }

    /// The same with an eye on the disk, and a disk that lies.
    pub fn watched(mut self, eye: Option<Eye>, lie: Lie) -> Stage {
        self.watched = WatchedFs::new(&self.sim, eye.clone(), lie);
        self.eye = eye;
        self.lie = lie;
        self
    }

    /// The environment for the present life of the machine.
    pub fn env(&self) -> Env {
        patient_env(&self.world, Arc::new(self.watched.clone()))
    }

    /// The machine of the present life.
    pub fn world(&self) -> SimWorld {
        self.world.clone()
    }

    /// Opens the database.
    pub fn open(&mut self) -> esker::Result<()> {
        let env = self.env();
        self.open_in(env)
    }

    /// Opens the database in that environment.
    pub fn open_in(&mut self, env: Env) -> esker::Result<()> {
        {
            let mut journal = self.journal.lock().unwrap();
            if journal.lives.is_empty() {
                let rule = rule("append:,");
                let name = "default".into();
                let presence = Presence::Alive;
                let flushed = 0;
                journal.lives.push(Life {
                    name,
                    rule,
                    presence,
                    flushed,
                });
            }
        }
        self.balance = Arc::new(Balance::over(&self.sim, Path::new(DIR)));
        let listener = Arc::<Balance>::clone(&self.balance);
        let builder = Db::builder(DIR).env(env).event_listener(listener);
        self.db = Some(open_with(builder, self.is_changed)?);
        Ok(())
    }

    /// Plays `count` writes with what belongs between them.
    pub fn play(&mut self, count: usize) {
        for turn in 0..count {
            match turn {
                8 => self.create("b", "uint64add"),
                12 | 200 => self.create(REPLICA, "append:,"),
                170 => self.drop_keyspace(REPLICA),
                40 | 190 => self.create("c", "append:,"),
                120 | 260 => self.drop_keyspace("c"),
                _ => {}
            }
            if turn == 150 {
                self.reopen();
            } else if turn == 230 {
                self.kill();
            }
            let len_max = if turn == 90 { 70_000 } else { 0 };
            self.write(len_max);
            self.between();
        }
    }

    /// Background work, time, and what a user asks for now and then.
    pub fn between(&mut self) {
        if self.random.one_in(2) {
            self.world.pool.run_one();
        }
        if self.random.one_in(12) {
            self.world.pool.run_all();
        }
        if self.random.one_in(10) {
            let seconds = 1 + self.random.below(15);
            self.clock.advance(Duration::from_secs(seconds));
        }
        if self.random.one_in(25) {
            self.sync();
        }
        if self.random.one_in(25) {
            self.flush();
        }
        if self.random.one_in(20) {
            self.move_an_end();
        }
        if self.set_random.one_in(30) {
            self.ingest();
        }
        if self.replica_random.one_in(3) {
            self.write_replica();
        }
        if self.random.one_in(60) {
            let keyspace = self.any_keyspace();
            let compacted = keyspace.1.compact::<&[u8]>(..);
            self.hear("compact", compacted);
        }
    }

    // Has some chaff end in a far future, or never: it stays what was written last. In memory
    // alone, so that it does not outlive what it was made of.
    fn move_an_end(&mut self) {
        let (key, _) = chaff(3 * u32::try_from(self.random.below(4)).unwrap()).expect("each third");
        let end = self.random.one_in(2).then_some(esker::Expiry::from_unix_ms(
            4_000_000_000_000 + self.random.below(2),
        ));
        let (_, keyspace) = self.any_keyspace();
        let unlogged = WriteOptions {
            durability: Some(Durability::Memory),
            no_wait: false,
        };
        let keyspace = keyspace.with_write(unlogged);
        let moved = match self.random.below(3) {
            0 => keyspace.set_expiry(key, end).map(drop),
            1 => {
                let mut batch = self.db().batch();
                batch.set_expiry(&keyspace, key, end).commit_with(unlogged)
            }
            _ => {
                let mut tx = self.db().begin();
                let moved = tx.set_expiry(&keyspace, key, end);
                moved.and_then(|_| tx.commit_with(unlogged))
            }
        };
        self.hear("set_expiry", moved);
    }

    fn db(&self) -> &Db {
        self.db.as_ref().expect("the database is open")
    }

    // What a call returned: an error is an answer too, where faults are expected.
    fn hear<T>(&mut self, doing: &str, result: esker::Result<T>) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(error) => {
                assert!(!self.is_strict, "{doing} failed: {error}");
                self.errors.push(error.kind());
                None
            }
        }
    }

    /// Writes one random batch.
    pub fn write(&mut self, len_min: usize) {
        let durability = match self.random.below(10) {
            0 => Durability::Sync,
            1 | 2 => Durability::Memory,
            _ => Durability::Buffered,
        };
        self.write_as(durability, len_min);
    }

    /// Writes one random batch with that durability; one value has at least `len_min` bytes.
    pub fn write_as(&mut self, durability: Durability, len_min: usize) {
        let number = self.number;
        let alive = self.logged_lives();
        let mut targets = BTreeSet::from([alive[self.below(alive.len())]]);
        if self.random.one_in(5) {
            targets.insert(alive[self.below(alive.len())]);
        }
        if len_min > 0 {
            targets.insert(alive[0]);
        }
        let mut actions = Vec::new();
        for &life in &targets {
            actions.push((life, Action::Put(marker_key(number), marker_value(number))));
            for _ in 0..self.random.below(3) + 1 {
                actions.push((life, self.action(number)));
            }
        }
        if let Some((key, value)) = chaff(number) {
            actions.push((actions[0].0, Action::Put(key, value)));
        }
        if len_min > 0 {
            let value = self.value(number, len_min);
            actions.push((
                alive[0],
                Action::Put(format!("large{number}").into_bytes(), value),
            ));
        }
        self.play_actions(actions, durability, |stage, actions| {
            stage.commit(actions, durability)
        });
    }

    // Notes what is about to be done, does it, and notes the answer.
    fn play_actions(
        &mut self,
        actions: Vec<(usize, Action)>,
        durability: Durability,
        act: impl FnOnce(&Stage, &[(usize, Action)]) -> esker::Result<()>,
    ) {
        let index = self.ask(actions.clone(), durability);
        let ended = end_prepared(self.db());
        let result = ended.and_then(|()| act(self, &actions));
        self.answer(index, result);
    }

    // Notes what is about to be done; returns its place in the journal.
    fn ask(&mut self, actions: Vec<(usize, Action)>, durability: Durability) -> usize {
        let number = self.number;
        self.number += 1;
        let mut journal = self.journal.lock().unwrap();
        journal.entries.push(Entry {
            number,
            durability,
            actions,
            answer: Answer::Pending,
        });
        journal.entries.len() - 1
    }

    // Notes what came of what was asked.
    fn answer(&mut self, index: usize, result: esker::Result<()>) {
        let mut journal = self.journal.lock().unwrap();
        journal.entries[index].answer = match &result {
            Ok(()) => Answer::Done,
            Err(error) => answer_of(error),
        };
        if result.is_ok() && journal.entries[index].durability == Durability::Sync {
            journal.note_synced(index + 1);
        }
        drop(journal);
        self.hear("write", result);
    }

    /// Puts a marker where none is, as a compare-and-swap does.
    pub fn swap_in(&mut self, durability: Durability) {
        let number = self.number;
        let actions = vec![(0, Action::Put(marker_key(number), marker_value(number)))];
        self.play_actions(actions, durability, |stage, _| {
            let keyspace = stage.db().with_write(WriteOptions {
                durability: Some(durability),
                no_wait: false,
            });
            let (key, value) = (marker_key(number), marker_value(number));
            let is_new = keyspace.compare_and_swap(key, None, Some(&value[..]))?;
            assert!(is_new, "nobody else writes markers");
            Ok(())
        });
    }

    /// Puts a marker by an update, in the middle of which another write comes to the same key.
    pub fn swap_against_another(&mut self, durability: Durability) {
        let (key, value) = {
            let number = self.number + 1;
            (marker_key(number), marker_value(number))
        };
        let keyspace = self.keyspace_of(0).with_write(WriteOptions {
            durability: Some(durability),
            no_wait: false,
        });
        let (mut tries, mut asked) = (0, None);
        let updated = keyspace.update(&key, |current| {
            assert_eq!(current, None, "nobody else writes markers");
            tries += 1;
            let index = *asked.get_or_insert_with(|| {
                self.come_between(&key, durability);
                let put = Action::Put(key.clone(), value.clone());
                self.ask(vec![(0, put)], durability)
            });
            assert!(index < self.entry_count());
            Update::Set(value.clone())
        });
        assert!(
            tries > 1 || updated.is_err(),
            "the other write was not seen"
        );
        self.answer(asked.expect("asked once"), updated.map(drop));
    }

    // A batch that writes to a key and leaves nothing there.
    fn come_between(&mut self, key: &[u8], durability: Durability) {
        let number = self.number;
        let actions = vec![
            (0, Action::Put(marker_key(number), marker_value(number))),
            (0, Action::Put(key.to_vec(), b"another's".to_vec())),
            (0, Action::Delete(key.to_vec())),
        ];
        self.play_actions(actions, durability, |stage, actions| {
            stage.commit(actions, durability)
        });
    }

    /// Changes a setting while the database is open, of a keyspace or of the whole.
    pub fn change_setting(&mut self) {
        let at = self.below(LIVE.len());
        let (name, texts) = LIVE[at];
        let text = texts[self.below(texts.len())];
        let set = match self.random.one_in(2) {
            true => self.db().set(name, text),
            false => self.any_keyspace().1.set(name, text),
        };
        self.hear("change a setting", set);
    }

    /// Takes a snapshot, to be held.
    pub fn hold(&self) -> Held {
        Held::take(self.db(), &self.journal.lock().unwrap())
    }

    /// Whether a snapshot shows what it must.
    pub fn check_held(&self, held: &Held) -> Result<(), String> {
        held.check(&self.journal.lock().unwrap(), self.clock.unix_millis())
    }

    /// Writes a batch of so many small values, to fill a segment of the log.
    pub fn write_many(&mut self, durability: Durability, count: usize) {
        let number = self.number;
        let mut actions = vec![(0, Action::Put(marker_key(number), marker_value(number)))];
        for _ in 0..count {
            let (key, value) = (self.key(), self.random.bytes(350));
            actions.push((0, Action::Put(key, value)));
        }
        self.play_actions(actions, durability, |stage, actions| {
            stage.commit(actions, durability)
        });
    }

    fn commit(&self, actions: &[(usize, Action)], durability: Durability) -> esker::Result<()> {
        // One in three as a transaction, in which nobody is met; half of those lock what they
        // touch.
        if self.number.is_multiple_of(3) {
            return self.commit_transaction(actions, durability);
        }
        // Beside one that holds locks, a batch takes some for itself.
        let mut beside = self
            .number
            .is_multiple_of(5)
            .then(|| self.db().begin_with(LOCKING));
        let has_ranges = actions
            .iter()
            .any(|it| matches!(it.1, Action::DeleteRange(..)));
        if let Some(beside) = beside.as_mut().filter(|_| !has_ranges) {
            beside.put(self.db(), "nobody's key", "never committed")?;
        }
        let now_ms = self.clock.unix_millis();
        let mut batch = self.db().batch();
        for (life, action) in actions {
            let keyspace = &self.keyspace_of(*life);
            match action {
                Action::Put(key, value) => batch.put(keyspace, key, value),
                // The end as another write of the same batch: neither is there without the other.
                Action::PutUntil(key, value, until) if self.number % 4 == 1 => batch
                    .put(keyspace, key, value)
                    .set_expiry(keyspace, key, Some(end_of(*until))),
                Action::PutUntil(key, value, until) => match ttl_of(now_ms, *until) {
                    Some(ttl) => batch.put_with_ttl(keyspace, key, value, ttl),
                    None => batch.put_until(keyspace, key, value, Some(end_of(*until))),
                },
                Action::Delete(key) => batch.delete(keyspace, key),
                Action::DeleteRange(start, end) => batch.delete_range(keyspace, start, end),
                Action::Merge(key, operand) => batch.merge(keyspace, key, operand),
            };
        }
        batch.commit_with(WriteOptions {
            durability: Some(durability),
            no_wait: false,
        })
    }

    fn commit_transaction(
        &self,
        actions: &[(usize, Action)],
        durability: Durability,
    ) -> esker::Result<()> {
        let now_ms = self.clock.unix_millis();
        let mut tx = match self.number.is_multiple_of(2) {
            true => self.db().begin_with(LOCKING),
            false => self.db().begin(),
        };
        for (life, action) in actions {
            let keyspace = &self.keyspace_of(*life);
            match action {
                Action::Put(key, value) => tx.put(keyspace, key, value)?,
                Action::PutUntil(key, value, until) => match ttl_of(now_ms, *until) {
                    Some(ttl) => tx.put_with_ttl(keyspace, key, value, ttl)?,
                    None => tx.put_until(keyspace, key, value, Some(end_of(*until)))?,
                },
                Action::Delete(key) => tx.delete(keyspace, key)?,
                Action::DeleteRange(start, end) => tx.delete_range(keyspace, start, end)?,
                Action::Merge(key, operand) => tx.merge(keyspace, key, operand)?,
            }
        }
        let options = WriteOptions {
            durability: Some(durability),
            no_wait: false,
        };
        // Every other one in two phases, which need a log, and of these every other one in order.
        if durability == Durability::Memory || !self.number.is_multiple_of(2) {
            return tx.commit_with(options);
        }
        let prepared = tx.prepare(self.number.to_be_bytes())?;
        match self.number.is_multiple_of(4) {
            true => prepared.commit_ordered()?.finish_with(options),
            false => prepared.commit_with(options),
        }
    }

    fn keyspace_of(&self, life: usize) -> Keyspace {
        let name = self.journal.lock().unwrap().lives[life].name.clone();
        let found = self.db().existing_keyspace(&name);
        found.expect("a keyspace that was created is there")
    }

    fn action(&mut self, number: u32) -> Action {
        let key = self.key();
        match self.random.below(10) {
            0 => Action::Delete(key),
            1 => {
                let end = format!("k{:03}", self.random.below(60)).into_bytes();
                let (start, end) = if key < end { (key, end) } else { (end, key) };
                Action::DeleteRange(start, end)
            }
            2 => {
                let until = self.an_end();
                Action::PutUntil(key, self.value(number, 0), until)
            }
            3 | 4 => Action::Merge(key, u64::from(number).to_le_bytes().to_vec()),
            _ => Action::Put(key, self.value(number, 0)),
        }
    }

    // Within 40 seconds, in unix milliseconds; half of them are whole seconds.
    fn an_end(&mut self) -> u64 {
        let now = self.clock.unix_seconds();
        match self.random.one_in(2) {
            true => 1000 * (now + 1 + self.random.below(40)),
            false => 1000 * (now + 1) + self.random.below(40_000),
        }
    }

    fn key(&mut self) -> Vec<u8> {
        format!("k{:03}", self.random.below(60)).into_bytes()
    }

    fn value(&mut self, number: u32, len_min: usize) -> Vec<u8> {
        let len = match self.random.below(12) {
            0 => 2_000,
            1..=3 => 700,
            _ => 60,
        };
        let len = len_min + 1 + self.below(len);
        if len_min > 0 {
            // Nothing that could be compressed: these are to fill logs and disks.
            return self.random.bytes(len);
        }
        let noise = self.random.next_u64();
        let text = format!("{number}:{noise:x}:");
        text.bytes().cycle().take(len).collect()
    }

    fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.random.below(bound as u64)).expect("below a usize")
    }

    fn any_keyspace(&mut self) -> (usize, Keyspace) {
        let names = self.db().keyspaces();
        let name = &names[self.below(names.len())];
        let life = self.journal.lock().unwrap().life_of(name);
        let keyspace = self.db().existing_keyspace(name);
        (life.expect("known"), keyspace.expect("listed just now"))
    }

    fn entry_count(&self) -> usize {
        self.journal.lock().unwrap().entries.len()
    }

    /// Makes everything logged so far durable.
    pub fn sync(&mut self) {
        let synced = self.db().sync();
        let count = self.entry_count();
        if self.hear("sync", synced).is_some() {
            self.journal.lock().unwrap().note_synced(count);
        }
    }

    /// Flushes a keyspace.
    pub fn flush(&mut self) {
        let (life, keyspace) = self.any_keyspace();
        let flushed = keyspace.flush();
        let count = self.entry_count();
        if self.hear("flush", flushed).is_some() {
            self.journal.lock().unwrap().lives[life].flushed = count;
        }
    }

    /// Creates a keyspace, unless it is there.
    pub fn create(&mut self, name: &str, operator: &str) {
        if self.journal.lock().unwrap().life_of(name).is_some() {
            return;
        }
        let mut options = KeyspaceOptions {
            merge: Some(rule(operator)),
            memtable_bytes: 20 << 10,
            value_threshold_bytes: 400,
            ..KeyspaceOptions::default()
        };
        if name == ORDERED {
            options.comparator = own_comparator();
        }
        options.is_unlogged = name == REPLICA;
        options.sst.file_size_bytes = 16 << 10;
        options.compaction.l0_trigger = 2;
        options.compaction.base_level_bytes = 64 << 10;
        self.journal.lock().unwrap().lives.push(Life {
            name: name.into(),
            rule: rule(operator),
            presence: Presence::Creating,
            flushed: 0,
        });
        let created = self.db().keyspace_with(name, options);
        let presence = match &created {
            Ok(_) => Presence::Alive,
            Err(error) if answer_of(error) == Answer::Refused => Presence::Dropped,
            Err(_) => Presence::Creating,
        };
        self.journal
            .lock()
            .unwrap()
            .lives
            .last_mut()
            .unwrap()
            .presence = presence;
        self.hear("create a keyspace", created);
    }

    /// Drops a keyspace, if it is there.
    pub fn drop_keyspace(&mut self, name: &str) {
        let Some(life) = self.journal.lock().unwrap().life_of(name) else {
            return;
        };
        if self.db().existing_keyspace(name).is_none() {
            return;
        }
        self.journal.lock().unwrap().lives[life].presence = Presence::Dropping;
        let dropped = self.db().drop_keyspace(name);
        let presence = match &dropped {
            Ok(()) => Presence::Dropped,
            Err(error) if answer_of(error) == Answer::Refused => Presence::Alive,
            Err(_) => Presence::Dropping,
        };
        self.journal.lock().unwrap().lives[life].presence = presence;
        self.hear("drop a keyspace", dropped);
    }

    /// Closes the database.
    pub fn close(&mut self) {
        let Some(db) = self.db.take() else {
            return;
        };
        let closed = db.close();
        let mut journal = self.journal.lock().unwrap();
        let count = journal.entries.len();
        if closed.is_ok() && self.errors.is_empty() {
            journal.note_synced(count);
            for life in &mut journal.lives {
                life.flushed = count;
            }
        }
        drop(journal);
        self.hear("close", closed);
    }

    // Closes and opens, with other settings.
    fn reopen(&mut self) {
        self.close();
        self.is_changed = true;
        let opened = self.open();
        if self.hear("reopen", opened).is_some() {
            self.compare(Loss::Kill).unwrap();
        }
    }

    /// Kills the process and opens anew.
    pub fn kill(&mut self) {
        self.die();
        self.open().unwrap();
        let present = self.compare(Loss::Kill).unwrap();
        self.settle_killed(&present);
    }

    /// Kills the process: the disk goes on, its handles do not.
    pub fn die(&mut self) {
        self.watched.shut();
        let sim = self.sim.kill();
        self.db = None;
        self.move_to(sim);
    }

    /// Cuts the power, and goes on with what is left on the disk.
    pub fn cut_power(&mut self, mode: CrashMode, seed: u64) {
        self.watched.shut();
        let sim = self.sim.crash(mode, seed);
        self.db = None;
        self.move_to(sim);
    }

    /// Shows the disk of the present life to another eye.
    pub fn watch(&mut self, eye: Option<Eye>, lie: Lie) {
        self.watched = WatchedFs::new(&self.sim, eye.clone(), lie);
        self.eye = eye;
        self.lie = lie;
    }

    /// Makes a checkpoint, holds it against the journal, and removes it.
    pub fn check_copy(&mut self, dir: &Path) {
        let made = self.db().checkpoint(dir);
        if self.hear("checkpoint", made).is_none() {
            return;
        }
        let copy = open_read_only(dir, self.env());
        self.compare_with(&copy.unwrap(), Loss::Kill).unwrap();
        for name in self.sim.list(dir).unwrap() {
            self.sim.remove_file(&dir.join(name)).unwrap();
        }
        self.sim.remove_dir(dir).unwrap();
    }

    /// Goes on with another disk.
    pub fn move_to(&mut self, sim: SimFs) {
        self.watched.shut();
        self.sim = sim;
        self.watched = WatchedFs::new(&self.sim, self.eye.clone(), self.lie);
        let clock = Arc::clone(&self.clock);
        self.world = SimWorld::with_disk(self.sim.clone(), clock, self.world.seed);
    }

    /// Compares the open database with the journal.
    pub fn compare(&self, loss: Loss) -> Result<BTreeSet<u32>, String> {
        self.compare_with(self.db(), loss)
    }

    /// Compares another opening of it, or a copy, with the journal.
    pub fn compare_with(&self, db: &Db, loss: Loss) -> Result<BTreeSet<u32>, String> {
        let present = self.compare_contents(db, loss)?;
        self.compare_mark(db, &present)?;
        Ok(present)
    }

    /// The same, but for the mark.
    pub fn compare_contents(&self, db: &Db, loss: Loss) -> Result<BTreeSet<u32>, String> {
        let now = self.clock.unix_millis();
        let journal = self.journal.lock().unwrap();
        journal.check(db, now, loss)
    }

    /// Takes note that what the open database holds now is all there is, for good.
    pub fn settle(&mut self, present: &BTreeSet<u32>) {
        let names = self.db().keyspaces();
        self.journal.lock().unwrap().settle(present, &names, true);
    }

    /// As [`Stage::settle`] behind a kill: a power cut may still take what was not synced.
    pub fn settle_killed(&mut self, present: &BTreeSet<u32>) {
        let names = self.db().keyspaces();
        self.journal.lock().unwrap().settle(present, &names, false);
    }

    /// Leaves the database without closing it, at no cost: the machine is switched off.
    pub fn leave(mut self) {
        self.watched.shut();
        self.sim.power_off();
        self.db = None;
    }
}

/// The end at that unix millisecond.
fn end_of(until: u64) -> esker::Expiry {
    esker::Expiry::from_unix_ms(until)
}

// How long something lives that is put at `now_ms` and ends at a whole second, as time to live says
// it; `None` where none says it.
fn ttl_of(now_ms: u64, until: u64) -> Option<Duration> {
    let ttl_s = (until / 1000).checked_sub(now_ms.div_ceil(1000))?;
    (until.is_multiple_of(1000) && ttl_s > 0).then(|| Duration::from_secs(ttl_s))
}

// Whether an error says that nothing was done.
fn answer_of(error: &Error) -> Answer {
    match error.kind() {
        ErrorKind::Faulted => Answer::Unknown,
        _ => Answer::Refused,
    }
}
