//! Keyspaces with a clock of their own: what ends does so by it, on every machine alike.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use esker::internals::env::clock::Clock;
use esker::internals::env::random::Random;
use esker::internals::env::sim::{CrashMode, SimWorld};
use esker::{Db, ErrorKind, Expiry, Keyspace, KeyspaceOptions, Retain, RetainRule, retain};

use crate::marks::{builder_in, unlogged};
use crate::seeds;

const HOUR: Duration = Duration::from_secs(3600);

/// Entries of the log that all replicas apply.
const ENTRIES: usize = 250;

fn timed() -> KeyspaceOptions {
    KeyspaceOptions {
        has_own_clock: true,
        ..unlogged()
    }
}

fn open(world: &SimWorld) -> (Db, Keyspace) {
    let db = builder_in(world.env()).open().unwrap();
    let keyspace = db.keyspace_with("replica", timed()).unwrap();
    (db, keyspace)
}

fn tell(db: &Db, keyspace: &Keyspace, mark: &str, unix_ms: u64) {
    let mut batch = db.batch();
    batch.mark_at(keyspace, mark, unix_ms).commit().unwrap();
}

fn end(unix_ms: u64) -> Option<Expiry> {
    Some(Expiry::from_unix_ms(unix_ms))
}

fn entry_count(keyspace: &Keyspace) -> u64 {
    let files = keyspace.files();
    files.iter().map(|file| file.entry_count).sum()
}

#[test]
fn time_stands_still_until_a_mark_brings_a_later_one() {
    // The machine's clock is half a century ahead: whoever asked it would find everything ended.
    let world = SimWorld::new(1);
    let (db, replica) = open(&world);
    assert_eq!(replica.clock_unix_ms().unwrap(), Some(0));
    assert_eq!(db.clock_unix_ms().unwrap(), None);
    let mut batch = db.batch();
    batch.put_until(&replica, "a", "1", end(10_500));
    batch.put_until(&replica, "b", "1", end(20_000));
    batch.mark_at(&replica, "1", 10_000).commit().unwrap();
    let keys = |of: &Keyspace| of.iter().unwrap().count();
    assert_eq!(
        (keys(&replica), replica.expiry("a").unwrap()),
        (2, Some(end(10_500)))
    );
    tell(&db, &replica, "2", 10_499);
    // An earlier time changes nothing, though its mark counts.
    tell(&db, &replica, "3", 4);
    db.batch().mark(&replica, "4").commit().unwrap();
    assert_eq!(replica.clock_unix_ms().unwrap(), Some(10_499));
    assert_eq!(replica.mark().unwrap().as_deref(), Some(&b"4"[..]));
    let earlier = db.snapshot();
    assert_eq!(
        earlier.of(&replica).get("a").unwrap().as_deref(),
        Some(&b"1"[..])
    );
    tell(&db, &replica, "5", 10_500);
    assert!(!replica.contains_key("a").unwrap());
    assert_eq!(
        (keys(&replica), replica.iter().unwrap().rev().count()),
        (1, 1)
    );
    assert_eq!(
        replica
            .multi_get(&["a", "b"])
            .unwrap()
            .iter()
            .flatten()
            .count(),
        1
    );
    assert_eq!(
        earlier.of(&replica).get("a").unwrap(),
        None,
        "a snapshot is as of now in this"
    );
    world.clock.advance(100 * HOUR);
    assert!(replica.contains_key("b").unwrap());
}

#[test]
fn what_is_written_under_conditions_goes_by_that_clock() {
    let world = SimWorld::new(2);
    let (db, replica) = open(&world);
    tell(&db, &replica, "1", 10_300);
    // A time to live counts from it; one in whole seconds ends at one, and not too early.
    replica
        .put_with_ttl("ttl", "1", Duration::from_secs(5))
        .unwrap();
    assert_eq!(replica.expiry("ttl").unwrap(), Some(end(16_000)));
    replica
        .put_with_ttl("ms", "1", Duration::from_millis(5_250))
        .unwrap();
    assert_eq!(replica.expiry("ms").unwrap(), Some(end(15_550)));
    assert!(replica.set_expiry("ttl", end(12_000)).unwrap());
    let mut tx = db.begin();
    tx.put_with_ttl(&replica, "in a transaction", "1", Duration::from_secs(2))
        .unwrap();
    assert!(tx.set_expiry(&replica, "ms", end(12_000)).unwrap());
    tx.commit().unwrap();
    assert_eq!(
        replica.expiry("in a transaction").unwrap(),
        Some(end(13_000))
    );
    let old = Some(&b"1"[..]);
    assert!(replica.compare_and_swap("ttl", old, old).unwrap());
    replica
        .put_with_ttl("ttl", "1", Duration::from_secs(2))
        .unwrap();
    tell(&db, &replica, "2", 13_000);
    assert!(!replica.set_expiry("ttl", None).unwrap());
    assert!(!replica.compare_and_swap("ms", old, old).unwrap());
    assert!(replica.compare_and_swap("ms", None, old).unwrap());
}

#[test]
fn a_value_that_ended_meanwhile_does_not_go_on() {
    // Between the look of a transaction and its commit the keyspace is told a later time.
    let world = SimWorld::new(3);
    let (db, replica) = open(&world);
    replica
        .put_with_ttl("a", "1", Duration::from_secs(5))
        .unwrap();
    let mut tx = db.begin();
    assert!(tx.set_expiry(&replica, "a", None).unwrap());
    tell(&db, &replica, "1", 5_000);
    assert_eq!(tx.commit().unwrap_err().kind(), ErrorKind::Conflict);
    assert!(!replica.contains_key("a").unwrap());
}

#[test]
fn a_flush_drops_what_has_ended_by_its_mark_and_not_what_ends_behind_it() {
    // Sealed, and before it is flushed the clock goes on: a crash takes the keyspace back to where
    // the value was there, and whoever applies his log from there on must find it.
    let world = SimWorld::new(4);
    let (db, replica) = open(&world);
    let mut batch = db.batch();
    batch.put_until(&replica, "gone", "1", end(1_000));
    batch.put_until(&replica, "there", "1", end(1_001));
    batch.mark_at(&replica, "1", 1_000).commit().unwrap();
    replica.flush_soon().unwrap();
    tell(&db, &replica, "2", 9_000);
    while replica.flushed_mark().unwrap().is_none() {
        world.pool.run_one();
    }
    assert_eq!(entry_count(&replica), 2, "a delete, and what is there");
    let world = world.after_crash(CrashMode::LoseUnsynced, 1);
    let (_db, replica) = open(&world);
    assert_eq!(replica.clock_unix_ms().unwrap(), Some(1_000));
    assert!(replica.contains_key("there").unwrap() && !replica.contains_key("gone").unwrap());
}

#[test]
fn compactions_and_their_rule_have_the_time_that_is_on_the_medium() {
    // Told later, but not flushed: a compaction drops by the time of the files.
    let world = SimWorld::new(5);
    let seen: Arc<Mutex<Vec<u64>>> = Arc::default();
    let told = Arc::clone(&seen);
    let rule = retain::by("watching", move |entry| {
        told.lock().unwrap().push(entry.now_unix_ms);
        Ok(Retain::Keep)
    });
    let db = builder_in(world.env()).open().unwrap();
    let options = timed().retain_rule(rule);
    let replica = db.keyspace_with("replica", options).unwrap();
    for (mark, key) in [("1", "b"), ("2", "c")] {
        let mut batch = db.batch();
        batch
            .put(&replica, "a stays", mark)
            .put(&replica, "z stays", mark);
        batch.put_until(&replica, key, "1", end(2_000));
        batch.mark_at(&replica, mark, 1_000).commit().unwrap();
        match mark {
            "1" => replica.flush().unwrap(),
            _ => replica.flush_soon().unwrap(),
        }
    }
    tell(&db, &replica, "3", 5_000);
    assert_eq!(replica.iter().unwrap().count(), 2);
    world.pool.run_all();
    assert!(!seen.lock().unwrap().is_empty(), "level 0 was merged");
    assert_eq!(replica.flushed_mark().unwrap().as_deref(), Some(&b"2"[..]));
    assert_eq!(entry_count(&replica), 4, "as a crash would need it");
    assert!(seen.lock().unwrap().iter().all(|now| *now == 1_000));
    replica.flush().unwrap();
    seen.lock().unwrap().clear();
    replica.compact::<&[u8]>(..).unwrap();
    assert_eq!(entry_count(&replica), 2);
    assert!(seen.lock().unwrap().iter().all(|now| *now == 5_000));
}

#[test]
fn what_cannot_be_is_refused() {
    let world = SimWorld::new(6);
    let (db, replica) = open(&world);
    let refused = |result: esker::Result<()>, wanted: &str| {
        let error = result.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid);
        assert!(error.to_string().contains(wanted), "{error}");
    };
    let logged = KeyspaceOptions {
        is_unlogged: false,
        ..timed()
    };
    refused(
        db.keyspace_with("logged", logged).map(drop),
        "with `unlogged` too",
    );
    let plain = db.keyspace_with("plain", unlogged()).unwrap();
    let told = db.batch().mark_at(&plain, "1", 1).commit();
    refused(told, "goes by the machine's clock");
    refused(db.batch().mark_at(&db, "1", 1).commit(), "is logged");
    let other = db.keyspace_with("replica", unlogged());
    refused(
        other.map(drop),
        "a clock of its own, not by the machine's clock",
    );
    let other = db.keyspace_with("plain", timed());
    refused(
        other.map(drop),
        "the machine's clock, not by a clock of its own",
    );
    for value in ["true", "false"] {
        assert!(replica.set("own_clock", value).is_err());
    }
    let builder = builder_in(SimWorld::new(7).env());
    let opened = builder
        .set("own_clock", "true")
        .and_then(|builder| builder.open());
    assert_eq!(opened.map(drop).unwrap_err().kind(), ErrorKind::Invalid);
}

#[test]
fn copies_and_readers_beside_have_the_time_of_the_files() {
    let world = SimWorld::new(8);
    let (db, replica) = open(&world);
    let mut batch = db.batch();
    batch.put_until(&replica, "a", "1", end(2_000));
    batch.mark_at(&replica, "1", 1_500).commit().unwrap();
    db.checkpoint("/copy").unwrap();
    tell(&db, &replica, "2", 2_000);
    for dir in ["/copy", "/db"] {
        let builder = Db::builder(dir).env(world.env()).read_only(true);
        let read = builder.open().unwrap();
        let seen = read.existing_keyspace("replica").unwrap();
        assert_eq!(seen.clock_unix_ms().unwrap(), Some(1_500), "{dir}");
        assert!(seen.contains_key("a").unwrap());
    }
    db.close().unwrap();
    let (_db, replica) = open(&world);
    assert_eq!(replica.clock_unix_ms().unwrap(), Some(2_000));
}

/// One write that all replicas apply.
#[derive(Clone, Debug)]
enum Write {
    Put(Vec<u8>, Vec<u8>),
    PutUntil(Vec<u8>, Vec<u8>, u64),
    /// Only where no value is there.
    PutIfAbsent(Vec<u8>, Vec<u8>, u64),
    /// Ends by what its value begins with, as a user's own format may have it.
    PutEnding(Vec<u8>, u64),
    Delete(Vec<u8>),
}

/// One entry of their log, which is the batch with its place as the mark.
#[derive(Clone, Debug)]
struct Entry {
    unix_ms: u64,
    writes: Vec<Write>,
}

type Rows = BTreeMap<Vec<u8>, Vec<u8>>;

fn random_log(random: &mut Random, start_ms: u64) -> Vec<Entry> {
    let mut now = start_ms;
    let mut log = Vec::new();
    for number in 0..ENTRIES {
        now += random.below(120_000);
        // A new leader's clock may be behind that of the one before.
        let unix_ms = now - random.below(2) * random.below(60_000);
        let writes = 0..random.below(5);
        let writes = writes
            .map(|_| random_write(random, number, unix_ms))
            .collect();
        log.push(Entry { unix_ms, writes });
    }
    log
}

fn random_write(random: &mut Random, number: usize, now: u64) -> Write {
    let key = format!("k{:02}", random.below(60)).into_bytes();
    let len = [30, 700, 3_000][random.below(3) as usize];
    let value: Vec<u8> = format!("{number}.").bytes().cycle().take(len).collect();
    // From one that has ended already to one that ends in three hours.
    let end = now - 60_000 + random.below(10_800_000);
    match random.below(8) {
        0 => Write::Put(key, value),
        1 | 2 => Write::PutIfAbsent(key, value, end),
        3 | 4 => Write::PutEnding([b"ending ", &key[..]].concat(), end),
        5 => Write::Delete(key),
        _ => Write::PutUntil(key, value, end),
    }
}

/// What the log says, by itself.
#[derive(Default)]
struct Model {
    clock: u64,
    rows: BTreeMap<Vec<u8>, (Vec<u8>, u64)>,
}

impl Model {
    fn apply(&mut self, entry: &Entry) {
        let before = self.alive();
        self.clock = self.clock.max(entry.unix_ms);
        for write in &entry.writes {
            let (key, value, end) = match write {
                Write::Put(key, value) => (key, value.clone(), u64::MAX),
                Write::PutUntil(key, value, end) => (key, value.clone(), *end),
                Write::PutIfAbsent(key, _, _) if before.contains_key(key) => continue,
                Write::PutIfAbsent(key, value, end) => (key, value.clone(), *end),
                Write::PutEnding(key, end) => (key, end.to_be_bytes().to_vec(), *end),
                Write::Delete(key) => {
                    self.rows.remove(key);
                    continue;
                }
            };
            self.rows.insert(key.clone(), (value, end));
        }
    }

    fn alive(&self) -> Rows {
        let rows = self.rows.iter().filter(|(_, (_, end))| *end > self.clock);
        rows.map(|(key, (value, _))| (key.clone(), value.clone()))
            .collect()
    }
}

fn ends_in_value(key: &[u8], value: &[u8], now: u64) -> bool {
    let end = || u64::from_be_bytes(value.try_into().expect("eight bytes"));
    key.starts_with(b"ending ") && end() <= now
}

fn ending_rule() -> Arc<dyn RetainRule> {
    retain::by("ending", |entry| {
        let is_over = entry.key.starts_with(b"ending ")
            && ends_in_value(entry.key, entry.value()?, entry.now_unix_ms);
        Ok(if is_over { Retain::Drop } else { Retain::Keep })
    })
}

/// One of the machines, with what it has applied so far.
struct Replica {
    world: SimWorld,
    db: Db,
    keyspace: Keyspace,
    random: Random,
    lives: u64,
}

impl Replica {
    fn new(seed: u64, skew: Duration) -> Replica {
        let world = SimWorld::new(seed);
        world.clock.advance(skew);
        Replica::open(world, Random::new(seed), 0)
    }

    fn open(world: SimWorld, random: Random, lives: u64) -> Replica {
        let db = builder_in(world.env()).open().unwrap();
        let options = timed().retain_rule(ending_rule());
        let keyspace = db.keyspace_with("replica", options).unwrap();
        Replica {
            world,
            db,
            keyspace,
            random,
            lives,
        }
    }

    // How many entries of the log it has.
    fn applied(&self) -> usize {
        let mark = self.keyspace.mark().unwrap();
        mark.map_or(0, |mark| {
            u64::from_be_bytes((*mark).try_into().unwrap()) as usize
        })
    }

    fn apply(&self, log: &[Entry], until: usize) {
        for (place, entry) in log.iter().enumerate().take(until).skip(self.applied()) {
            let mut batch = self.db.batch();
            for write in &entry.writes {
                let is_there = |key: &[u8]| self.keyspace.contains_key(key).unwrap();
                match write {
                    Write::Put(key, value) => batch.put(&self.keyspace, key, value),
                    Write::PutIfAbsent(key, _, _) if is_there(key) => continue,
                    Write::PutUntil(key, value, at) | Write::PutIfAbsent(key, value, at) => {
                        batch.put_until(&self.keyspace, key, value, end(*at))
                    }
                    Write::PutEnding(key, at) => batch.put(&self.keyspace, key, at.to_be_bytes()),
                    Write::Delete(key) => batch.delete(&self.keyspace, key),
                };
            }
            let mark = (place as u64 + 1).to_be_bytes();
            batch.mark_at(&self.keyspace, mark, entry.unix_ms);
            batch.commit().unwrap();
        }
    }

    fn rows(&self) -> Rows {
        let now = self.keyspace.clock_unix_ms().unwrap().unwrap();
        let rows = self.keyspace.iter().unwrap().map(Result::unwrap);
        let rows = rows.map(|(key, value)| (key.to_vec(), value.to_vec()));
        rows.filter(|(key, value)| !ends_in_value(key, value, now))
            .collect()
    }

    // What else a machine does, in its own time.
    fn go_on(self) -> Replica {
        let Replica {
            world,
            db,
            keyspace,
            mut random,
            lives,
        } = self;
        match random.below(12) {
            0 => keyspace.flush().unwrap(),
            1 => keyspace.flush_soon().unwrap(),
            2 => keyspace.compact::<&[u8]>(..).unwrap(),
            3 => world
                .clock
                .advance(Duration::from_secs(random.below(4_000))),
            4 => {
                let back = Duration::from_secs(random.below(4_000));
                world.clock.set_unix_time(world.clock.unix_time() - back);
            }
            5 => {
                let mode = CrashMode::ALL[random.below(5) as usize];
                let next = world.after_crash(mode, random.below(1 << 30));
                drop((keyspace, db));
                return Replica::open(next, random, lives + 1);
            }
            6 => {
                drop(keyspace);
                db.close().unwrap();
                return Replica::open(world, random, lives + 1);
            }
            _ => drop(world.pool.run_one()),
        }
        Replica {
            world,
            db,
            keyspace,
            random,
            lives,
        }
    }
}

#[test]
fn replicas_whose_machines_are_an_hour_apart_keep_the_same_rows() {
    // The same log, and everything else as each machine likes: flushes, compactions, crashes behind
    // which it applies the log again from its mark on, and clocks that are set. At each moment the
    // rows are those of the log; in the end the same are in the files, and no others.
    for seed in seeds::from(1) {
        let mut random = Random::new(seed);
        let start = SimWorld::new(0).clock.unix_time() + HOUR;
        let log = random_log(&mut random, u64::try_from(start.as_millis()).unwrap());
        let skews = [Duration::ZERO, HOUR, 2 * HOUR, 10_000 * HOUR];
        let mut last: Option<u64> = None;
        for (index, skew) in skews.into_iter().enumerate() {
            let mut replica = Replica::new(seed * 10 + index as u64, skew);
            let (mut model, mut modelled) = (Model::default(), 0);
            while replica.applied() < log.len() {
                let until = replica.applied() + 1 + random.below(6) as usize;
                replica.apply(&log, until.min(log.len()));
                if replica.applied() < modelled {
                    (model, modelled) = (Model::default(), 0);
                }
                let news = &log[modelled..replica.applied()];
                news.iter().for_each(|entry| model.apply(entry));
                modelled = replica.applied();
                assert_eq!(replica.keyspace.clock_unix_ms().unwrap(), Some(model.clock));
                assert_eq!(
                    replica.rows(),
                    model.alive(),
                    "seed {seed}, machine {index}"
                );
                replica = replica.go_on();
            }
            assert!(replica.lives > 5, "{} lives", replica.lives);
            replica.keyspace.compact::<&[u8]>(..).unwrap();
            let count = entry_count(&replica.keyspace);
            assert_eq!(
                replica.rows(),
                model.alive(),
                "seed {seed}, machine {index}"
            );
            assert_eq!(
                count,
                model.alive().len() as u64,
                "seed {seed}, machine {index}"
            );
            assert_eq!(*last.get_or_insert(count), count);
        }
    }
}
