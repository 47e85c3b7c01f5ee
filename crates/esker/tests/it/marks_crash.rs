//! Marks against a model: at whatever call the power fails, what came up to the mark is there.
//!
//! It fails at every call of the disk, and behind that at every call of each recovery.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use esker::internals::env::random::Random;
use esker::internals::env::sim::clock::SimClock;
use esker::internals::env::sim::{CrashMode, SimFs, SimWorld};
use esker::{Db, Expiry, Keyspace, OwnLog, WriteBatch, merge};

use crate::marks::{builder_in, unlogged};
use crate::seeds;
use crate::watched_fs::{Eye, Lie, WatchedFs};
use crate::workload::copy_of;

/// Steps of one sweep: each call of the disk that they make is crashed at, and each call of each
/// recovery.
const STEPS: u32 = 40;

/// The unlogged keyspaces.
const NAMES: [&str; 2] = ["one", "two"];

/// That of them which has a clock of its own, half a century behind the machine's.
const TIMED: &str = "two";

type State = BTreeMap<Vec<u8>, Vec<u8>>;

/// Values, and when they end.
type Ending = BTreeMap<Vec<u8>, (Vec<u8>, u64)>;

// What time it is from the batch with that mark on.
fn time_of(mark: u32) -> u64 {
    1_000 * u64::from(mark)
}

// What has not ended.
fn alive(ending: &Ending, now: u64) -> State {
    let alive = ending.iter().filter(|(_, (_, end))| *end > now);
    alive
        .map(|(key, (value, _))| (key.clone(), value.clone()))
        .collect()
}

/// One write to an unlogged keyspace.
#[derive(Clone, Debug)]
enum Write {
    Put(Vec<u8>, Vec<u8>),
    Delete(Vec<u8>),
    DeleteRange(Vec<u8>, Vec<u8>),
    Append(Vec<u8>, Vec<u8>),
    PutUntil(Vec<u8>, Vec<u8>, u64),
}

impl Write {
    fn random(random: &mut Random, number: u32, is_timed: bool) -> Write {
        let key = |random: &mut Random| format!("k{:02}", random.below(30)).into_bytes();
        let (key, other) = (key(random), key(random));
        // Some are large enough to lie apart; some fill a memtable.
        let len = [40, 700, 5_000][random.below(3) as usize];
        let value = format!("{number}.").bytes().cycle().take(len).collect();
        match random.below(8) {
            0 => Write::Delete(key),
            1 => Write::DeleteRange(key.clone().min(other.clone()), key.max(other)),
            // What ends has keys of its own, since what operands make of it is another test's.
            2 | 3 if is_timed => {
                let end = time_of(number) + random.below(9_000);
                Write::PutUntil([b"k-", &key[..]].concat(), value, end)
            }
            2 => Write::Append(key, format!("{number}").into_bytes()),
            _ => Write::Put(key, value),
        }
    }

    fn add(&self, batch: &mut WriteBatch, keyspace: &Keyspace) {
        match self {
            Write::Put(key, value) => batch.put(keyspace, key, value),
            Write::Delete(key) => batch.delete(keyspace, key),
            Write::DeleteRange(start, end) => batch.delete_range(keyspace, start, end),
            Write::Append(key, operand) => batch.merge(keyspace, key, operand),
            Write::PutUntil(key, value, end) => {
                batch.put_until(keyspace, key, value, Some(Expiry::from_unix_ms(*end)))
            }
        };
    }

    fn apply(&self, state: &mut Ending) {
        match self {
            Write::Put(key, value) => {
                drop(state.insert(key.clone(), (value.clone(), u64::MAX)));
            }
            Write::PutUntil(key, value, end) => {
                drop(state.insert(key.clone(), (value.clone(), *end)));
            }
            Write::Delete(key) => drop(state.remove(key)),
            Write::DeleteRange(start, end) => state.retain(|key, _| key < start || key >= end),
            Write::Append(key, operand) => match state.get_mut(key) {
                Some((value, _)) => {
                    value.push(b',');
                    value.extend_from_slice(operand);
                }
                None => drop(state.insert(key.clone(), (operand.clone(), u64::MAX))),
            },
        }
    }
}

/// One batch of one unlogged keyspace.
#[derive(Clone, Debug)]
struct Batch {
    mark: Option<u32>,
    writes: Vec<Write>,
}

/// What was written to one unlogged keyspace.
#[derive(Clone, Debug, Default)]
struct History {
    batches: Vec<Batch>,
    /// How many of them were there when the last flush began that has returned.
    flushed: usize,
}

impl History {
    // The batches that are there, as the mark and the content tell: a prefix of all, with that mark
    // as the last one in it. Without a batch that has none it is the only one.
    fn survivors(&self, mark: Option<u32>, found: &State) -> Option<usize> {
        let (mut state, mut last) = (Ending::new(), None);
        let mut survivors = (mark.is_none() && found.is_empty()).then_some(0);
        for (place, batch) in self.batches.iter().enumerate() {
            batch
                .writes
                .iter()
                .for_each(|write| write.apply(&mut state));
            last = batch.mark.or(last);
            // What ends is in one keyspace alone, and nothing of the other ever does.
            let now = last.map_or(0, time_of);
            if last == mark && alive(&state, now) == *found {
                survivors = Some(place + 1);
            }
        }
        survivors
    }
}

/// Histories by the names of their keyspaces.
type Histories = BTreeMap<&'static str, History>;

fn check_one(db: &Db, name: &str, history: &History) -> Result<(), String> {
    let Some(keyspace) = db.existing_keyspace(name) else {
        return match history.flushed {
            0 => Ok(()),
            _ => Err(format!("{name} is gone")),
        };
    };
    let mark = keyspace.mark().map_err(|error| error.to_string())?;
    if mark != keyspace.flushed_mark().map_err(|error| error.to_string())? {
        return Err(format!("{name}: behind an opening memory has another mark"));
    }
    let mark = mark.map(|mark| u32::from_be_bytes((*mark).try_into().unwrap()));
    let clock = keyspace
        .clock_unix_ms()
        .map_err(|error| error.to_string())?;
    let told = (name == TIMED).then(|| mark.map_or(0, time_of));
    if clock != told {
        return Err(format!("{name}: it is {clock:?}, and not {told:?}"));
    }
    let rows = keyspace.iter().map_err(|error| error.to_string())?;
    let rows = rows.map(|row| row.map(|(key, value)| (key.to_vec(), value.to_vec())));
    let found = rows.collect::<Result<State, _>>();
    let found = found.map_err(|error| error.to_string())?;
    let survivors = history.survivors(mark, &found);
    let survivors = survivors.ok_or_else(|| format!("{name}: not what came up to {mark:?}"))?;
    match survivors >= history.flushed {
        true => Ok(()),
        false => Err(format!(
            "{name}: {} were flushed, and {survivors} are there",
            history.flushed
        )),
    }
}

fn check(db: &Db, histories: &Histories) -> Result<(), String> {
    let mut all = histories.iter();
    all.try_for_each(|(name, history)| check_one(db, name, history))
}

// No keyspace has more than the log was durable up to, nor all of them less than was told of.
fn check_bounds(db: &Db, (told, durable): (u32, u32)) -> Result<(), String> {
    let found = NAMES.iter().filter_map(|name| db.existing_keyspace(name));
    let marks = found.filter_map(|keyspace| keyspace.flushed_mark().unwrap());
    let marks = marks.map(|mark| u32::from_be_bytes((*mark).try_into().unwrap()));
    let newest = marks.max().unwrap_or(0);
    match told <= newest && newest <= durable {
        true => Ok(()),
        false => Err(format!("{newest} is flushed, of {told} to {durable}")),
    }
}

struct Sweep {
    seed: u64,
    disk: SimFs,
    world: SimWorld,
    histories: Arc<Mutex<Histories>>,
    /// The log that the batches come from, if it is asked.
    log: Arc<OwnIndex>,
    has_log: bool,
}

/// A log that is durable up to a batch, by its number.
#[derive(Default)]
struct OwnIndex {
    durable: AtomicU32,
    told: AtomicU32,
}

impl OwnLog for OwnIndex {
    fn is_durable(&self, _: &str, mark: &[u8]) -> bool {
        u32::from_be_bytes(mark.try_into().unwrap()) <= self.durable.load(Ordering::SeqCst)
    }

    fn flushed(&self, _: &str, mark: &[u8]) {
        let mark = u32::from_be_bytes(mark.try_into().unwrap());
        self.told.fetch_max(mark, Ordering::SeqCst);
    }
}

impl Sweep {
    // How many crashes and second crashes were survived.
    fn run(seed: u64, has_log: bool) -> (u64, u64) {
        let disk = SimFs::new(seed);
        let sweep = Sweep {
            seed,
            world: SimWorld::with_disk(disk.clone(), Arc::new(SimClock::new()), seed),
            disk,
            histories: Arc::default(),
            log: Arc::default(),
            has_log,
        };
        let counts: Arc<(AtomicU64, AtomicU64)> = Arc::default();
        let failed: Arc<Mutex<Option<String>>> = Arc::default();
        let eye = sweep.eye(&counts, &failed);
        let fs = WatchedFs::new(&sweep.disk, Some(eye), Lie::None);
        let env = sweep.world.env_with(Arc::new(fs.clone()));
        let mut builder = builder_in(env);
        if has_log {
            builder = builder.own_log(Arc::<OwnIndex>::clone(&sweep.log));
        }
        sweep.play(&builder.open().unwrap());
        fs.shut();
        let failed = failed.lock().unwrap().take();
        assert_eq!(failed, None, "seed {seed}");
        let (first, second) = &*counts;
        (
            first.load(Ordering::Relaxed),
            second.load(Ordering::Relaxed),
        )
    }

    fn play(&self, db: &Db) {
        let mut random = Random::new(self.seed);
        for number in 1..=STEPS {
            let name = NAMES[random.below(2) as usize];
            let mut options = unlogged();
            options.merge = Some(merge::append(","));
            options.has_own_clock = name == TIMED;
            let keyspace = db.keyspace_with(name, options).unwrap();
            let batch = Batch {
                mark: (!random.one_in(4)).then_some(number),
                writes: (0..random.below(4))
                    .map(|_| Write::random(&mut random, number, name == TIMED))
                    .collect(),
            };
            let mut asked = db.batch();
            if let Some(mark) = batch.mark {
                let bytes = mark.to_be_bytes();
                match name {
                    TIMED => asked.mark_at(&keyspace, bytes, time_of(mark)),
                    _ => asked.mark(&keyspace, bytes),
                };
            }
            let writes = batch.writes.iter();
            writes.for_each(|write| write.add(&mut asked, &keyspace));
            self.told(name, |history| history.batches.push(batch.clone()));
            asked.commit().unwrap();
            if self.has_log && !random.one_in(3) {
                // What is sealed waits, or goes as far as the log does.
                keyspace.flush_soon().unwrap();
                self.world.pool.run_one();
            } else {
                self.sync_log(db, number);
                self.go_on(db, &mut random, name, &keyspace);
            }
            if number == STEPS / 2 {
                self.sync_log(db, number);
                self.check_copy(db);
            }
        }
        self.sync_log(db, STEPS);
        db.close().unwrap();
        self.all_are_flushed();
    }

    // The log becomes durable, as it must before anybody waits for a flush.
    fn sync_log(&self, db: &Db, number: u32) {
        self.log.durable.store(number, Ordering::SeqCst);
        for name in NAMES {
            if let Some(keyspace) = db.existing_keyspace(name) {
                keyspace.own_log_is_durable();
            }
        }
    }

    // What else goes on.
    fn go_on(&self, db: &Db, random: &mut Random, name: &'static str, keyspace: &Keyspace) {
        match random.below(10) {
            0 | 1 => {
                keyspace.flush().unwrap();
                self.told(name, |history| history.flushed = history.batches.len());
            }
            2 => db.put("logged", vec![b'x'; 3_000]).unwrap(),
            3 => keyspace.compact::<&[u8]>(..).unwrap(),
            4 => drop(self.world.pool.run_one()),
            5 => {
                db.sync().unwrap();
                self.all_are_flushed();
            }
            6 => db.keyspace("logged").unwrap().put("a", "1").unwrap(),
            7 => {
                // One job, and one edit, for those that are logged and those that are not.
                db.put("logged", "2").unwrap();
                db.flush_all().unwrap();
                self.all_are_flushed();
            }
            _ => {}
        }
    }

    // A copy holds what the database does now.
    fn check_copy(&self, db: &Db) {
        db.checkpoint("/copy").unwrap();
        self.all_are_flushed();
        let builder = Db::builder("/copy").env(self.world.env());
        let copy = builder.read_only(true).open().unwrap();
        check(&copy, &self.histories.lock().unwrap()).unwrap();
    }

    fn told(&self, name: &'static str, change: impl FnOnce(&mut History)) {
        change(self.histories.lock().unwrap().entry(name).or_default());
    }

    fn all_are_flushed(&self) {
        for history in self.histories.lock().unwrap().values_mut() {
            history.flushed = history.batches.len();
        }
    }

    fn eye(
        &self,
        counts: &Arc<(AtomicU64, AtomicU64)>,
        failed: &Arc<Mutex<Option<String>>>,
    ) -> Eye {
        let (histories, clock) = (Arc::clone(&self.histories), Arc::clone(&self.world.clock));
        let (counts, failed, seed) = (Arc::clone(counts), Arc::clone(failed), self.seed);
        let log = self.has_log.then(|| Arc::clone(&self.log));
        Arc::new(move |sim, doing| {
            if failed.lock().unwrap().is_some() {
                return;
            }
            let call = counts.0.fetch_add(1, Ordering::Relaxed);
            let mode = CrashMode::ALL[((call + seed) % 5) as usize];
            let image = sim.crash_image(mode, seed ^ (call << 20));
            let Ok(histories) = histories.try_lock() else {
                // While they are compared with a copy nothing changes.
                return;
            };
            let histories = histories.clone();
            let bounds = log.as_ref().map_or((0, u32::MAX), |log| {
                let of = |index: &AtomicU32| index.load(Ordering::SeqCst);
                (of(&log.told), of(&log.durable))
            });
            let survived = survive(
                &image,
                &copy_of(&clock),
                (&histories, bounds),
                (call, &counts.1),
            );
            if let Err(error) = survived {
                let text = format!("{error}; {mode:?} before call {call} ({doing})");
                *failed.lock().unwrap() = Some(text);
            }
        })
    }
}

// What a crash has left is opened, and the power fails once more at each call of that.
fn survive(
    image: &SimFs,
    clock: &Arc<SimClock>,
    (histories, bounds): (&Histories, (u32, u32)),
    (call, second_count): (u64, &AtomicU64),
) -> Result<(), String> {
    let disk = image.crash_image(CrashMode::KeepAll, 0);
    let failed: Arc<Mutex<Option<String>>> = Arc::default();
    let (told, kept, clock_seen) = (Arc::clone(&failed), histories.clone(), Arc::clone(clock));
    let second = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&second);
    let eye: Eye = Arc::new(move |sim, doing| {
        let at = counted.fetch_add(1, Ordering::Relaxed);
        if told.lock().unwrap().is_some() {
            return;
        }
        let mode = CrashMode::ALL[((at + call) % 5) as usize];
        let disk = sim.crash_image(mode, at);
        let world = SimWorld::with_disk(disk.clone(), copy_of(&clock_seen), at);
        let opened = builder_in(world.env())
            .open()
            .map_err(|error| format!("open: {error}"));
        let checked = opened.and_then(|db| {
            check(&db, &kept)?;
            disk.power_off();
            Ok(())
        });
        if let Err(error) = checked {
            *told.lock().unwrap() = Some(format!("{error}; again {mode:?} before {doing}"));
        }
    });
    let world = SimWorld::with_disk(disk.clone(), copy_of(clock), call);
    let fs = WatchedFs::new(&disk, Some(eye), Lie::None);
    let db = builder_in(world.env_with(Arc::new(fs.clone())))
        .open()
        .map_err(|error| error.to_string())?;
    fs.shut();
    check(&db, histories)?;
    check_bounds(&db, bounds)?;
    second_count.fetch_add(second.load(Ordering::Relaxed), Ordering::Relaxed);
    disk.power_off();
    drop(db);
    let failed = failed.lock().unwrap().take();
    failed.map_or(Ok(()), Err)
}

#[test]
fn content_is_what_came_up_to_the_mark_at_whatever_call_the_power_fails() {
    sweep(false);
}

#[test]
fn files_never_have_what_the_own_log_may_lose() {
    // Flushes wait for it, and go on when told; it is told of nothing that a crash could take.
    sweep(true);
}

fn sweep(has_log: bool) {
    let (mut first, mut second) = (0, 0);
    for seed in seeds::from(1) {
        let (crashes, again) = Sweep::run(seed, has_log);
        first += crashes;
        second += again;
    }
    println!("{first} crashes, {second} in recoveries");
    assert!(first > 200 && second > 5 * first, "{first} and {second}");
}
