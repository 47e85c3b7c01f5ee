//! Writers, readers, iterators, snapshots and background work together, on the real file system.
//!
//! Each test holds a law that no interleaving may break. `ESKER_STRESS` multiplies how much is
//! done; the tests are bounded by counts, never by time.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};

use esker::internals::env::bundle::Env;
use esker::internals::env::random::Random;
use esker::{Bytes, Db, Durability, ErrorKind, Keyspace, Readable, Update, WriteOptions};
use tempfile::TempDir;

/// Accounts among which transfers move amounts: few, so that threads meet.
const ACCOUNTS: u64 = 64;

/// How much is done, as a multiple of what takes a second or so.
fn stress() -> u64 {
    let asked = std::env::var("ESKER_STRESS").ok();
    asked.map_or(1, |text| text.parse().unwrap())
}

/// A database whose memtables and files are so small that all background work happens often.
fn tiny(dir: &TempDir) -> Db {
    tiny_with(dir, &[])
}

fn tiny_with(dir: &TempDir, more: &[(&str, &str)]) -> Db {
    let settings = [
        ("memory_limit", "4MiB"),
        ("memtable.size", "64KiB"),
        ("wal.segment_size", "128KiB"),
        ("sst.file_size", "32KiB"),
        ("sst.block_size", "1KiB"),
        ("compaction.base_level", "128KiB"),
        ("compaction.l0_trigger", "2"),
        ("merge_operator", "uint64add"),
    ];
    let mut builder = Db::builder(dir.path().join("db")).env(Env::real(2));
    for (name, text) in settings.iter().chain(more) {
        builder = builder.set(name, text).unwrap();
    }
    builder.open().unwrap()
}

/// Runs `step` with its own dice on another thread until `is_over`; says how often it ran.
fn until(
    is_over: &Arc<AtomicBool>,
    seed: u64,
    mut step: impl FnMut(&mut Random) + Send + 'static,
) -> JoinHandle<u64> {
    let is_over = Arc::clone(is_over);
    thread::spawn(move || {
        let mut random = Random::new(seed);
        let mut count = 0;
        while !is_over.load(Ordering::Relaxed) || count == 0 {
            step(&mut random);
            count += 1;
        }
        count
    })
}

/// Runs `step` with its own dice on another thread, so many times.
fn times(
    count: u64,
    seed: u64,
    mut step: impl FnMut(u64, &mut Random) + Send + 'static,
) -> JoinHandle<()> {
    thread::spawn(move || {
        let mut random = Random::new(seed);
        (0..count).for_each(|round| step(round, &mut random));
    })
}

/// Flushes and compacts at random until told to stop.
fn stir(db: &Db, is_over: &Arc<AtomicBool>) -> JoinHandle<u64> {
    let db = db.clone();
    until(is_over, 1, move |random| {
        if random.one_in(3) {
            db.compact::<&[u8]>(..).unwrap();
        } else {
            db.flush().unwrap();
        }
    })
}

/// Ends a test: waits for those who do so much and no more, then tells the others that it is
/// over. All of them got something done, and nothing failed in the background.
fn end(
    db: &Db,
    writers: Vec<JoinHandle<()>>,
    is_over: &AtomicBool,
    others: impl IntoIterator<Item = JoinHandle<u64>>,
) {
    writers
        .into_iter()
        .for_each(|writer| writer.join().unwrap());
    is_over.store(true, Ordering::Relaxed);
    for other in others {
        assert!(other.join().unwrap() > 0);
    }
    let failures = db.stats().failures;
    assert!(failures.is_empty(), "{failures:?}");
}

fn account(number: u64) -> String {
    format!("account {number:04}")
}

fn number(value: &[u8]) -> u64 {
    u64::from_le_bytes(value.try_into().unwrap())
}

/// The sum of all accounts, read in order from both ends.
fn total(readable: &impl Readable) -> u64 {
    let read = |entry: esker::Result<(esker::Bytes, esker::Bytes)>| {
        let (key, value) = entry.unwrap();
        (key.to_vec(), number(&value))
    };
    let forward: Vec<_> = readable.prefix("account").unwrap().map(read).collect();
    assert!(forward.is_sorted_by(|left, right| left.0 < right.0));
    forward
        .iter()
        .fold(0, |sum, (_, amount)| sum.wrapping_add(*amount))
}

#[test]
fn transfers_sum_to_zero_at_every_moment() {
    // Batches move amounts between accounts by merges, puts and deletes mixed in beside them,
    // while flushes and compactions fold. Whoever reads at one moment finds nothing lost.
    let dir = tempfile::tempdir().unwrap();
    let db = tiny(&dir);
    let is_over = Arc::new(AtomicBool::new(false));
    let writers = (0..3).map(|seed| {
        let db = db.clone();
        times(3000 * stress(), seed, move |round, random| {
            let amount = random.below(1000);
            let mut batch = db.batch();
            let (from, to) = (random.below(ACCOUNTS), random.below(ACCOUNTS));
            let minus = 0u64.wrapping_sub(amount).to_le_bytes();
            batch.merge(&db, account(from), minus);
            batch.merge(&db, account(to), amount.to_le_bytes());
            batch.put(&db, format!("log {seed} {round:08}"), random.bytes(40));
            batch.commit().unwrap();
        })
    });
    let writers: Vec<_> = writers.collect();
    let reader = db.clone();
    let by_snapshot = until(&is_over, 7, move |_| {
        let snapshot = reader.snapshot();
        assert_eq!(total(&snapshot), 0);
        // What a snapshot shows does not change, whichever way it is read.
        let entries = |rev: bool| -> Vec<_> {
            let all = snapshot.prefix("account").unwrap();
            let mut all: Vec<_> = if rev {
                all.rev().collect()
            } else {
                all.collect()
            };
            if rev {
                all.reverse();
            }
            all.into_iter().map(Result::unwrap).collect()
        };
        let forward = entries(false);
        assert_eq!(forward, entries(true));
        for (key, value) in forward {
            assert_eq!(snapshot.get(key).unwrap().unwrap(), value);
        }
    });
    let reader = db.clone();
    let by_iterator = until(&is_over, 8, move |_| assert_eq!(total(&*reader), 0));
    let stirrer = stir(&db, &is_over);
    end(&db, writers, &is_over, [by_snapshot, by_iterator, stirrer]);
    assert_eq!(total(&*db), 0);
    let log_count = db.prefix("log").unwrap().count() as u64;
    assert_eq!(log_count, 3 * 3000 * stress());
    db.close().unwrap();
    assert_eq!(total(&*tiny(&dir)), 0);
}

#[test]
fn no_increment_is_lost() {
    // The same few counters are raised by merges, by updates and by compare-and-swap loops; at
    // the end each holds as much as was added to it, and a reader never saw one go down.
    const COUNTERS: u64 = 4;
    let dir = tempfile::tempdir().unwrap();
    let db = tiny(&dir);
    let is_over = Arc::new(AtomicBool::new(false));
    let added: Arc<Vec<AtomicU64>> = Arc::new((0..3 * COUNTERS).map(|_| 0.into()).collect());
    let name = |kind: u64, counter: u64| format!("counter {kind} {counter}");
    let writers = (0..4).map(|seed| {
        let (db, added) = (db.clone(), Arc::clone(&added));
        times(2000 * stress(), seed, move |_, random| {
            let (kind, counter) = (random.below(3), random.below(COUNTERS));
            let (key, amount) = (name(kind, counter), 1 + random.below(9));
            let plus = |present: Option<&[u8]>| {
                (present.map_or(0, number) + amount).to_le_bytes().to_vec()
            };
            match kind {
                0 => db.merge(&key, amount.to_le_bytes()).unwrap(),
                1 => drop(
                    db.update(&key, |present| Update::Set(plus(present)))
                        .unwrap(),
                ),
                _ => loop {
                    let present = db.get(&key).unwrap();
                    let new = plus(present.as_deref());
                    if db
                        .compare_and_swap(&key, present.as_deref(), Some(&new))
                        .unwrap()
                    {
                        break;
                    }
                },
            }
            let slot = usize::try_from(kind * COUNTERS + counter).unwrap();
            added[slot].fetch_add(amount, Ordering::Relaxed);
        })
    });
    let writers: Vec<_> = writers.collect();
    let reader = db.clone();
    let mut seen: BTreeMap<String, u64> = BTreeMap::new();
    let watcher = until(&is_over, 9, move |random| {
        let key = name(random.below(3), random.below(COUNTERS));
        let now = reader.get(&key).unwrap().map_or(0, |value| number(&value));
        let before = seen.insert(key, now).unwrap_or(0);
        assert!(before <= now, "a counter went from {before} to {now}");
    });
    let stirrer = stir(&db, &is_over);
    end(&db, writers, &is_over, [watcher, stirrer]);
    for kind in 0..3 {
        for counter in 0..COUNTERS {
            let slot = usize::try_from(kind * COUNTERS + counter).unwrap();
            let value = db.get(name(kind, counter)).unwrap().unwrap();
            assert_eq!(number(&value), added[slot].load(Ordering::Relaxed));
        }
    }
}

#[test]
fn each_writer_finds_what_it_wrote() {
    // Every writer owns a part of the keys and a map of what must be in it; it puts, deletes,
    // removes ranges and reads back at once, while others do the same beside it.
    let dir = tempfile::tempdir().unwrap();
    let db = tiny(&dir);
    let is_over = Arc::new(AtomicBool::new(false));
    let writers = (0..4).map(|seed| {
        let db = db.clone();
        let mut model: BTreeMap<String, Vec<u8>> = BTreeMap::new();
        let key = move |number: u64| format!("part {seed} {number:04}");
        let levels = [Durability::Memory, Durability::Buffered, Durability::Sync];
        let write = WriteOptions {
            durability: Some(levels[usize::try_from(seed % 3).unwrap()]),
            no_wait: false,
        };
        let own = db.with_write(write);
        times(
            if seed % 3 == 2 { 300 } else { 2500 } * stress(),
            seed,
            move |_, random| {
                let one = random.below(400);
                match random.below(20) {
                    0..12 => {
                        let len = usize::try_from(random.below(200)).unwrap();
                        let value = random.bytes(len);
                        own.put(key(one), &value).unwrap();
                        model.insert(key(one), value);
                    }
                    12..16 => {
                        own.delete(key(one)).unwrap();
                        model.remove(&key(one));
                    }
                    16 => {
                        let end = one + random.below(60);
                        own.delete_range(key(one)..key(end)).unwrap();
                        model.retain(|here, _| *here < key(one) || *here >= key(end));
                    }
                    17 => {
                        let entries = db
                            .prefix(format!("part {seed} "))
                            .unwrap()
                            .map(Result::unwrap);
                        let found: BTreeMap<String, Vec<u8>> = entries
                            .map(|(key, value)| {
                                (String::from_utf8(key.to_vec()).unwrap(), value.to_vec())
                            })
                            .collect();
                        assert_eq!(found, model);
                    }
                    _ => {
                        let found = db.get(key(one)).unwrap().map(|value| value.to_vec());
                        assert_eq!(found, model.get(&key(one)).cloned());
                    }
                }
            },
        )
    });
    let writers: Vec<_> = writers.collect();
    let stirrer = stir(&db, &is_over);
    end(&db, writers, &is_over, [stirrer]);
}

#[test]
fn large_values_are_what_was_written_wherever_they_wait() {
    // Values that lie apart, at every durability, through a pool that holds a dozen of them: the
    // writers wait for room, the flush and the collection of dead ones come all the time. What
    // was read is kept, and is still the same when its value is long overwritten.
    let dir = tempfile::tempdir().unwrap();
    let db = tiny_with(
        &dir,
        &[
            ("value_log.threshold", "400B"),
            ("value_log.segment_size", "256KiB"),
            ("value_buffer_size", "128KiB"),
            ("value_flush_bytes", "64KiB"),
            ("value_flush_interval", "1s"),
            ("max_space_amp", "1.2"),
        ],
    );
    let is_over = Arc::new(AtomicBool::new(false));
    let writers = (0..4).map(|seed| {
        let levels = [Durability::Memory, Durability::Buffered, Durability::Sync];
        let durability = levels[usize::try_from(seed % 3).unwrap()];
        let write = WriteOptions {
            durability: Some(durability),
            no_wait: false,
        };
        let own = db.with_write(write);
        let key = move |number: u64| format!("large {seed} {number:02}");
        let mut model: BTreeMap<String, Vec<u8>> = BTreeMap::new();
        let mut kept: Vec<(Bytes, Vec<u8>)> = Vec::new();
        let count = if durability == Durability::Sync {
            150
        } else {
            700
        };
        times(count * stress(), seed, move |_, random| {
            let one = random.below(40);
            match random.below(8) {
                0..4 => {
                    let len = usize::try_from(300 + random.below(12_000)).unwrap();
                    let value = random.bytes(len);
                    own.put(key(one), &value).unwrap();
                    model.insert(key(one), value);
                }
                4 => {
                    own.delete(key(one)).unwrap();
                    model.remove(&key(one));
                }
                _ => {
                    let found = own.get(key(one)).unwrap();
                    assert_eq!(
                        found.as_deref(),
                        model.get(&key(one)).map(|value| &value[..])
                    );
                    if let Some(found) = found {
                        let copy = found.to_vec();
                        kept.push((found, copy));
                    }
                }
            }
            if kept.len() == 20 {
                for (held, copy) in kept.drain(..) {
                    assert_eq!(held, copy);
                }
            }
        })
    });
    let writers: Vec<_> = writers.collect();
    let reader = {
        let db = db.clone();
        until(&is_over, 9, move |_| {
            let mut entries = db.prefix("large ").unwrap().map(Result::unwrap);
            let is_long = |(_, value): (Bytes, Bytes)| value.len() >= 300;
            assert!(entries.all(is_long));
        })
    };
    let stirrer = stir(&db, &is_over);
    end(&db, writers, &is_over, [reader, stirrer]);
    assert!(db.verify().is_ok());
}

#[test]
fn a_close_while_others_work_only_says_closed() {
    // Handles, iterators, cursors and snapshots are in full use on several threads when one
    // closes. Every call then works or says `Closed`; what was acknowledged is there afterwards.
    for round in 0..8 * stress() {
        let dir = tempfile::tempdir().unwrap();
        let db = tiny(&dir);
        let acknowledged = Arc::new(AtomicU64::new(0));
        let writer = {
            let (db, acknowledged) = (db.clone(), Arc::clone(&acknowledged));
            until_closed(move |count| {
                db.put(format!("key {count:08}"), [7; 100])?;
                acknowledged.store(count + 1, Ordering::Release);
                Ok(())
            })
        };
        let others: Vec<_> = (0..5)
            .map(|kind| {
                let db = db.clone();
                until_closed(move |count| use_once(&db, kind, count))
            })
            .collect();
        while acknowledged.load(Ordering::Acquire) < 300 * (1 + round % 4) {
            thread::yield_now();
        }
        db.close().unwrap();
        writer.join().unwrap();
        others.into_iter().for_each(|other| other.join().unwrap());
        drop(db);
        let db = tiny(&dir);
        let count = db.prefix("key").unwrap().map(Result::unwrap).count() as u64;
        assert_eq!(count, acknowledged.load(Ordering::Acquire));
    }
}

/// Repeats a step on another thread until it says `Closed`.
fn until_closed(mut step: impl FnMut(u64) -> esker::Result<()> + Send + 'static) -> JoinHandle<()> {
    thread::spawn(move || {
        for count in 0.. {
            if let Err(error) = step(count) {
                assert_eq!(error.kind(), ErrorKind::Closed, "{error}");
                return;
            }
        }
    })
}

/// Uses a database in one of several ways.
fn use_once(db: &Db, kind: u64, count: u64) -> esker::Result<()> {
    match kind {
        0 => db.iter()?.take(100).try_for_each(|entry| entry.map(drop)),
        1 => {
            let snapshot = db.snapshot();
            let mut cursor = snapshot.cursor()?;
            cursor.seek_to_last()?;
            while cursor.is_valid() && cursor.key() > Some(b"key 00000200".as_slice()) {
                cursor.prev()?;
            }
            Ok(())
        }
        2 => db.flush(),
        3 => db.compact::<&[u8]>(..),
        _ => {
            let keyspace = db.keyspace(&format!("short-lived {}", count % 3))?;
            keyspace.put("key", "value")?;
            db.drop_keyspace(keyspace.name())
        }
    }
}

#[test]
fn keyspaces_come_and_go_under_load() {
    // A few names are created, filled, read and dropped by several threads at once. A handle of
    // a dropped keyspace refuses writes and still reads; nothing else ever fails.
    let dir = tempfile::tempdir().unwrap();
    let db = tiny(&dir);
    let is_over = Arc::new(AtomicBool::new(false));
    let workers = (0..4).map(|seed| {
        let db = db.clone();
        times(150 * stress(), seed, move |round, random| {
            let name = format!("keyspace {}", random.below(3));
            let keyspace = db.keyspace(&name).unwrap();
            let outcome = fill(&keyspace, seed, round, random);
            if let Err(error) = outcome {
                assert_eq!(error.kind(), ErrorKind::Invalid, "{error}");
            }
            let entries: Vec<_> = keyspace.iter().unwrap().map(Result::unwrap).collect();
            assert!(entries.is_sorted_by(|left, right| left.0 < right.0));
            if random.one_in(3)
                && let Err(error) = db.drop_keyspace(&name)
            {
                assert_eq!(error.kind(), ErrorKind::Invalid, "{error}");
            }
        })
    });
    let workers: Vec<_> = workers.collect();
    let stirrer = stir(&db, &is_over);
    end(&db, workers, &is_over, [stirrer]);
    for name in db.keyspaces() {
        if name != "default" {
            db.drop_keyspace(&name).unwrap();
        }
    }
    db.compact::<&[u8]>(..).unwrap();
    db.close().unwrap();
    let names = std::fs::read_dir(dir.path().join("db")).unwrap();
    let names: Vec<_> = names.map(|entry| entry.unwrap().file_name()).collect();
    let is_sst = |name: &&std::ffi::OsString| name.to_string_lossy().ends_with(".sst");
    assert_eq!(names.iter().filter(is_sst).count(), 0, "{names:?}");
}

fn fill(keyspace: &Keyspace, seed: u64, round: u64, random: &mut Random) -> esker::Result<()> {
    for number in 0..40 {
        keyspace.put(format!("{seed} {round:04} {number:02}"), random.bytes(200))?;
    }
    keyspace.delete_range(format!("{seed} {round:04} 10")..format!("{seed} {round:04} 20"))?;
    if random.one_in(4) {
        keyspace.flush()?;
    }
    if random.one_in(8) {
        keyspace.compact::<&[u8]>(..)?;
    }
    Ok(())
}
