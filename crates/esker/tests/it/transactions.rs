//! Transactions: what each isolation forbids, and what a user meets.

use std::cmp::Ordering;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

use esker::internals::env::bundle::Env;
use esker::internals::env::random::Random;
use esker::internals::env::sim::SimWorld;
use esker::{
    Comparator, CustomComparator, Db, ErrorKind, Isolation, Readable, Result, Transaction,
    TransactionOptions, merge,
};
use tempfile::TempDir;

const LEVELS: [Isolation; 3] = [
    Isolation::ReadCommitted,
    Isolation::Snapshot,
    Isolation::Serializable,
];

fn open() -> (TempDir, Db) {
    let dir = tempfile::tempdir().unwrap();
    let db = Db::builder(dir.path().join("db"))
        .merge_operator(merge::append(","))
        .open()
        .unwrap();
    (dir, db)
}

fn begin(db: &Db, isolation: Isolation) -> Transaction {
    db.begin_with(TransactionOptions {
        isolation,
        ..TransactionOptions::default()
    })
}

fn number(found: Option<esker::Bytes>) -> u64 {
    found.map_or(0, |text| {
        std::str::from_utf8(&text).unwrap().parse().unwrap()
    })
}

/// Under which levels something happens.
fn happens(mut happens_under: impl FnMut(&Db, Isolation) -> bool) -> [bool; 3] {
    LEVELS.map(|isolation| {
        let (_dir, db) = open();
        happens_under(&db, isolation)
    })
}

#[test]
fn nobody_sees_what_is_not_committed() {
    let dirty = happens(|db, isolation| {
        let (mut writer, reader) = (begin(db, isolation), begin(db, isolation));
        writer.put(db, "a", "1").unwrap();
        let seen = reader.get("a").unwrap().is_some() || db.get("a").unwrap().is_some();
        writer.rollback();
        seen || db.get("a").unwrap().is_some()
    });
    assert_eq!(dirty, [false, false, false]);
}

#[test]
fn a_second_read_differs_under_read_committed_alone() {
    let read_skew = happens(|db, isolation| {
        db.put("a", "1").unwrap();
        let reader = begin(db, isolation);
        let first = reader.get("a").unwrap();
        db.put("a", "2").unwrap();
        first != reader.get("a").unwrap()
    });
    assert_eq!(read_skew, [true, false, false]);
}

#[test]
fn phantoms_come_under_read_committed_alone() {
    let phantom = happens(|db, isolation| {
        db.put("a", "1").unwrap();
        let reader = begin(db, isolation);
        let first = reader.iter().unwrap().count();
        db.put("b", "2").unwrap();
        db.delete("a").unwrap();
        db.put("c", "2").unwrap();
        first != reader.iter().unwrap().count()
    });
    assert_eq!(phantom, [true, false, false]);
}

#[test]
fn updates_are_lost_under_read_committed_alone() {
    let lost_update = happens(|db, isolation| {
        db.put("count", "1").unwrap();
        let mut both = [begin(db, isolation), begin(db, isolation)];
        for tx in &mut both {
            let count = number(tx.get("count").unwrap());
            tx.put(db, "count", (count + 1).to_string()).unwrap();
        }
        let ended = both.map(|tx| tx.commit().is_ok());
        assert!(ended[0]);
        ended[1]
    });
    assert_eq!(lost_update, [true, false, false]);
    // Not where the key is read to be written.
    let lost_update = happens(|db, isolation| {
        let mut both = [begin(db, isolation), begin(db, isolation)];
        for tx in &mut both {
            let count = number(tx.get_for_update(db, "count").unwrap());
            tx.put(db, "count", (count + 1).to_string()).unwrap();
        }
        both.map(|tx| tx.commit().is_ok())[1]
    });
    assert_eq!(lost_update, [false, false, false]);
}

#[test]
fn writes_are_skewed_unless_serializable() {
    let write_skew = happens(|db, isolation| {
        db.put("a", "here").unwrap();
        db.put("b", "here").unwrap();
        let (mut first, mut second) = (begin(db, isolation), begin(db, isolation));
        assert!(first.contains_key("b").unwrap() && second.contains_key("a").unwrap());
        first.delete(db, "a").unwrap();
        second.delete(db, "b").unwrap();
        first.commit().unwrap();
        second.commit().is_ok()
    });
    assert_eq!(write_skew, [true, true, false]);
    let by_range = happens(|db, isolation| {
        let (mut first, mut second) = (begin(db, isolation), begin(db, isolation));
        // Each is the only one, as it sees it.
        assert_eq!(first.range("a".."m").unwrap().count(), 0);
        assert_eq!(second.range("a".."m").unwrap().count(), 0);
        first.put(db, "b", "1").unwrap();
        second.put(db, "c", "1").unwrap();
        first.commit().unwrap();
        second.commit().is_ok()
    });
    assert_eq!(by_range, [true, true, false]);
}

#[test]
fn what_was_not_come_through_does_not_count() {
    let (_dir, db) = open();
    for key in ["a", "c", "e"] {
        db.put(key, "1").unwrap();
    }
    let ends = |write: &str| {
        let mut tx = begin(&db, Isolation::Serializable);
        let first: Vec<_> = tx.iter().unwrap().take(2).map(Result::unwrap).collect();
        assert_eq!(first.len(), 2);
        db.put(write, "2").unwrap();
        tx.put(&db, "z", "1").unwrap();
        tx.commit().map_err(|error| error.kind())
    };
    assert_eq!(ends("d"), Ok(()));
    assert_eq!(ends("e"), Ok(()));
    assert_eq!(ends("c"), Err(ErrorKind::Conflict));
    assert_eq!(ends("b"), Err(ErrorKind::Conflict));
}

#[test]
fn merges_meet_without_a_conflict() {
    let (_dir, db) = open();
    db.put("list", "a").unwrap();
    let mut first = db.begin();
    first.merge(&db, "list", "b").unwrap();
    assert_eq!(first.get("list").unwrap().unwrap(), "a,b");
    db.merge("list", "c").unwrap();
    // What others commit meanwhile lies between its own operand and the base, and is not seen.
    assert_eq!(first.get("list").unwrap().unwrap(), "a,b");
    let (_, value) = first.iter().unwrap().next().unwrap().unwrap();
    assert_eq!(value, "a,b");
    let (_, value) = first.iter().unwrap().next_back().unwrap().unwrap();
    assert_eq!(value, "a,b");
    first.commit().unwrap();
    assert_eq!(db.get("list").unwrap().unwrap(), "a,c,b");
}

#[test]
fn a_conflict_names_the_key() {
    let (_dir, db) = open();
    let visits = db.keyspace("visits").unwrap();
    let mut tx = db.begin();
    tx.put(&visits, "anna\n", "1").unwrap();
    visits.delete("anna\n").unwrap();
    let error = tx.commit().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Conflict);
    assert!(error.is_retryable());
    let text = error.to_string();
    assert!(
        text.contains(r#"key b"anna\n" of keyspace "visits""#),
        "{text}"
    );
    assert!(visits.get("anna\n").unwrap().is_none());
}

#[test]
fn savepoints_nest() {
    let (_dir, db) = open();
    let visits = db.keyspace("visits").unwrap();
    let mut tx = db.begin();
    assert_eq!(
        tx.rollback_to_savepoint().unwrap_err().kind(),
        ErrorKind::Invalid
    );
    tx.put(&db, "a", "1").unwrap();
    tx.set_savepoint();
    tx.put(&visits, "b", "2").unwrap();
    tx.set_savepoint();
    tx.delete(&db, "a").unwrap();
    let (still, before) = (tx.iter().unwrap(), tx.get("a").unwrap());
    assert_eq!(before, None);
    tx.rollback_to_savepoint().unwrap();
    assert_eq!(tx.get("a").unwrap().unwrap(), "1");
    // An iterator shows what was there when it was made.
    assert_eq!(still.count(), 0);
    assert!(tx.of(&visits).contains_key("b").unwrap());
    tx.rollback_to_savepoint().unwrap();
    assert!(!tx.of(&visits).contains_key("b").unwrap());
    assert_eq!(tx.len(), 1);
    tx.put(&visits, "c", "3").unwrap();
    tx.commit().unwrap();
    assert_eq!(db.get("a").unwrap().unwrap(), "1");
    assert_eq!(visits.iter().unwrap().count(), 1);
}

#[test]
fn an_iterator_shows_own_writes_as_of_its_making() {
    let (_dir, db) = open();
    db.put("b", "0").unwrap();
    let mut tx = db.begin();
    tx.put(&db, "a", "1").unwrap();
    let before = tx.iter().unwrap();
    tx.put(&db, "c", "1").unwrap();
    tx.put(&db, "a", "2").unwrap();
    tx.delete(&db, "b").unwrap();
    let shown = |iter: esker::Iter| {
        let rows = iter.map(|row| row.unwrap());
        let rows = rows.map(|(key, value)| [&key[..], b"=", &value[..]].concat());
        String::from_utf8(rows.collect::<Vec<_>>().join(&b' ')).unwrap()
    };
    assert_eq!(shown(before), "a=1 b=0");
    assert_eq!(shown(tx.iter().unwrap()), "a=2 c=1");
}

#[test]
fn large_and_expiring_values_are_read_back() {
    let (_dir, db) = open();
    let large = vec![7; 1 << 20];
    let mut tx = db.begin();
    tx.put(&db, "large", &large).unwrap();
    tx.put_with_ttl(&db, "both", &large, Duration::from_secs(3600))
        .unwrap();
    tx.put_until(&db, "past", "x", Some(esker::Expiry::from_unix_s(1)))
        .unwrap();
    let check = |found: &dyn Fn(&str) -> Option<esker::Valued>| {
        assert_eq!(found("large").unwrap().value, &large[..]);
        assert_eq!(found("large").unwrap().expiry, None);
        assert_eq!(found("both").unwrap().value, &large[..]);
        assert!(found("both").unwrap().expiry.is_some());
        assert!(found("past").is_none());
    };
    check(&|key| tx.get_valued(key).unwrap());
    assert_eq!(tx.iter().unwrap().count(), 2);
    tx.commit().unwrap();
    check(&|key| db.get_valued(key).unwrap());
}

#[test]
fn contended_counters_lose_nothing() {
    let (_dir, db) = open();
    let threads: Vec<_> = (0..4)
        .map(|thread| {
            let db = db.clone();
            thread::spawn(move || {
                for round in 0..200 {
                    // Two counters of three, so that they meet in different ways.
                    let keys = [(thread + round) % 3, (thread + round + 1) % 3];
                    db.transaction(|tx| {
                        for key in keys {
                            let count = number(tx.get([key])?);
                            tx.put(&db, [key], (count + 1).to_string())?;
                        }
                        Ok(())
                    })
                    .unwrap();
                }
            })
        })
        .collect();
    threads
        .into_iter()
        .for_each(|thread| thread.join().unwrap());
    let sum: u64 = (0..3_u8).map(|key| number(db.get([key]).unwrap())).sum();
    assert_eq!(sum, 4 * 200 * 2);
    let stats = db.stats();
    let commits = stats
        .counters
        .iter()
        .find(|(name, ..)| name.contains("transaction_commits"));
    assert_eq!(commits.unwrap().2, 800);
}

#[test]
fn a_transaction_that_fails_is_not_run_again() {
    let (_dir, db) = open();
    let mut runs = 0;
    let ended: Result<()> = db.transaction(|tx| {
        runs += 1;
        tx.put(&db, "a", "1")?;
        tx.put(&db, vec![0; 70_000], "a key that is too long")
    });
    assert_eq!(ended.unwrap_err().kind(), ErrorKind::TooLarge);
    assert_eq!((runs, db.get("a").unwrap()), (1, None));
    // One that always meets somebody gives up, and one that waits for no lock does so by its runs.
    let mut runs = 0;
    let options = TransactionOptions {
        lock_timeout: Duration::ZERO,
        ..TransactionOptions::default()
    };
    let ended: Result<()> = db.transaction_with(options, |tx| {
        runs += 1;
        tx.put(&db, "a", "1")?;
        db.put("a", "2")
    });
    assert_eq!(ended.unwrap_err().kind(), ErrorKind::Conflict);
    assert_eq!(runs, 64);
}

#[test]
fn transactions_end_with_their_database() {
    let (dir, db) = open();
    let mut tx = db.begin();
    tx.put(&db, "a", "1").unwrap();
    db.close().unwrap();
    assert_eq!(tx.get("b").unwrap_err().kind(), ErrorKind::Closed);
    assert_eq!(tx.commit().unwrap_err().kind(), ErrorKind::Closed);
    drop(db);
    let reader = Db::open_read_only(dir.path().join("db")).unwrap();
    let mut tx = reader.begin();
    tx.put(&reader, "a", "1").unwrap();
    assert_eq!(tx.get("a").unwrap().unwrap(), "1");
    assert_eq!(tx.commit().unwrap_err().kind(), ErrorKind::Invalid);
}

#[test]
fn keyspaces_of_others_are_refused() {
    let ((_dir, db), (_other_dir, other)) = (open(), open());
    let mut tx = db.begin();
    assert_eq!(
        tx.put(&other, "a", "1").unwrap_err().kind(),
        ErrorKind::Invalid
    );
    assert_eq!(
        tx.get_for_update(&other, "a").unwrap_err().kind(),
        ErrorKind::Invalid
    );
    let dropped = db.keyspace("dropped").unwrap();
    tx.put(&dropped, "a", "1").unwrap();
    tx.put(&db, "a", "1").unwrap();
    db.drop_keyspace("dropped").unwrap();
    assert_eq!(tx.commit().unwrap_err().kind(), ErrorKind::Invalid);
    assert_eq!(db.get("a").unwrap(), None);
}

/// Panics over keys with a question mark.
struct Touchy;

impl CustomComparator for Touchy {
    fn name(&self) -> &str {
        "touchy"
    }

    fn compare(&self, left: &[u8], right: &[u8]) -> Ordering {
        assert!(
            !left.contains(&b'?') && !right.contains(&b'?'),
            "a question"
        );
        left.cmp(right)
    }
}

#[test]
fn a_comparator_that_panics_ends_only_what_it_was_asked_for() {
    let dir = tempfile::tempdir().unwrap();
    let builder = Db::builder(dir.path().join("db"));
    let db = builder
        .comparator(Comparator::Custom(Arc::new(Touchy)))
        .open()
        .unwrap();
    let mut tx = db.begin();
    tx.put(&db, "a", "1").unwrap();
    assert_eq!(tx.get("a").unwrap().unwrap(), "1");
    tx.set_savepoint();
    tx.put(&db, "b?", "2").unwrap();
    assert_eq!(tx.get("a").unwrap_err().kind(), ErrorKind::Invalid);
    tx.rollback_to_savepoint().unwrap();
    tx.put(&db, "c", "3").unwrap();
    assert_eq!(tx.iter().unwrap().count(), 2);
    tx.commit().unwrap();
    let mut tx = db.begin();
    tx.put(&db, "d", "4").unwrap();
    tx.put(&db, "e?", "5").unwrap();
    assert_eq!(tx.commit().unwrap_err().kind(), ErrorKind::Invalid);
    assert_eq!(db.iter().unwrap().count(), 2);
}

#[test]
fn a_cursor_of_a_transaction_is_not_refreshed() {
    let (_dir, db) = open();
    let tx = db.begin();
    let mut cursor = tx.cursor().unwrap();
    assert_eq!(cursor.refresh().unwrap_err().kind(), ErrorKind::Invalid);
    assert_eq!(db.stats().snapshots.len(), 1);
    tx.rollback();
    assert!(db.stats().snapshots.is_empty() && db.stats().transactions.is_empty());
}

#[test]
fn a_transaction_is_readable_like_a_snapshot() {
    fn count(place: &impl Readable) -> usize {
        place.prefix("a").unwrap().count()
    }
    let (_dir, db) = open();
    db.put("a1", "1").unwrap();
    let mut tx = db.begin();
    tx.put(&db, "a2", "2").unwrap();
    assert_eq!((count(&tx), count(&db), count(&tx.of(&db))), (2, 1, 2));
    let values = tx.multi_get(&["a2", "a1", "a0"]).unwrap();
    let values: Vec<_> = values.iter().map(Option::as_deref).collect();
    assert_eq!(values, [Some(&b"2"[..]), Some(&b"1"[..]), None]);
    let mut cursor = tx.cursor().unwrap();
    assert!(cursor.seek_to_last().unwrap());
    assert_eq!(cursor.key(), Some(&b"a2"[..]));
}

fn is_refused_after_expiry(is_flushed: bool) -> bool {
    let world = SimWorld::new(1);
    let db = Db::builder("db").env(world.env()).open().unwrap();
    let mut tx = begin(&db, Isolation::Serializable);
    assert!(tx.get("k").unwrap().is_none());
    db.put_with_ttl("k", "other", Duration::from_secs(5))
        .unwrap();
    if is_flushed {
        db.flush().unwrap();
    }
    world.clock.advance(Duration::from_secs(10));
    if is_flushed {
        db.compact::<&[u8]>(..).unwrap();
    }
    tx.put(&db, "x", "mine").unwrap();
    tx.commit()
        .is_err_and(|error| error.kind() == ErrorKind::Conflict)
}

#[test]
fn what_expired_is_a_write_all_the_same() {
    assert!(is_refused_after_expiry(false));
    assert!(is_refused_after_expiry(true));
}

#[test]
fn a_seek_before_the_range_reads_nothing_before_it() {
    let (_dir, db) = open();
    db.put("p", "1").unwrap();
    let mut tx = begin(&db, Isolation::Serializable);
    let mut cursor = tx.cursor_in("m".."z").unwrap();
    assert!(cursor.seek("a").unwrap());
    drop(cursor);
    tx.put(&db, "q", "mine").unwrap();
    db.put("b", "outside of what was read").unwrap();
    tx.commit().unwrap();
}

#[test]
fn a_transaction_that_ended_keeps_no_file() {
    let world = SimWorld::new(1);
    let db = Db::builder("db").env(world.env()).open().unwrap();
    db.put("a", "1").unwrap();
    db.flush().unwrap();
    let mut tx = db.begin();
    tx.put(&db, "b", "own").unwrap();
    tx.get("b").unwrap();
    db.put("a", "2").unwrap();
    db.compact::<&[u8]>(..).unwrap();
    tx.rollback();
    world.pool.run_all();
    assert_eq!(db.stats().pinned_file_count, 0);
}

fn tiny(dir: &TempDir) -> Db {
    let mut builder = Db::builder(dir.path().join("db")).env(Env::real(2));
    for (name, text) in [
        ("memory_limit", "4MiB"),
        ("memtable.size", "64KiB"),
        ("wal.segment_size", "128KiB"),
        ("sst.file_size", "32KiB"),
        ("compaction.base_level", "128KiB"),
        ("compaction.l0_trigger", "2"),
    ] {
        builder = builder.set(name, text).unwrap();
    }
    builder.open().unwrap()
}

/// Runs `work` on four threads beside flushes and compactions; nothing is left of it afterwards.
fn stirred(db: &Db, work: impl Fn(&Db, u64) + Send + Sync + 'static) {
    let (is_over, work) = (Arc::new(AtomicBool::new(false)), Arc::new(work));
    let stirrer = thread::spawn({
        let (db, is_over) = (db.clone(), Arc::clone(&is_over));
        move || {
            while !is_over.load(Relaxed) {
                db.flush().unwrap();
                db.compact::<&[u8]>(..).unwrap();
            }
        }
    });
    let workers: Vec<_> = (0..4)
        .map(|seed| {
            let (db, work) = (db.clone(), Arc::clone(&work));
            thread::spawn(move || work(&db, seed))
        })
        .collect();
    let ended: Vec<_> = workers.into_iter().map(|it| it.join()).collect();
    is_over.store(true, Relaxed);
    stirrer.join().unwrap();
    ended.into_iter().for_each(|it| it.unwrap());
    let stats = db.stats();
    assert!(stats.snapshots.is_empty() && stats.failures.is_empty());
}

/// Runs it again until it is through, however many are in the way.
fn through(db: &Db, isolation: Isolation, run: impl Fn(&mut Transaction) -> Result<()>) {
    loop {
        match db.transaction_with(
            TransactionOptions {
                isolation,
                ..TransactionOptions::default()
            },
            &run,
        ) {
            Err(error) if error.kind() == ErrorKind::Conflict => {}
            ended => return ended.unwrap(),
        }
    }
}

#[test]
fn transfers_keep_their_sum() {
    let dir = tempfile::tempdir().unwrap();
    let db = tiny(&dir);
    stirred(&db, |db, seed| {
        let mut random = Random::new(seed);
        for _ in 0..400 {
            let (from, to) = (random.below(16), 16 + random.below(16));
            let pad = "0".repeat(400);
            through(db, Isolation::Snapshot, |tx| {
                let sum: i64 = tx
                    .prefix("account")?
                    .map(|row| balance(row.ok().map(|it| it.1)))
                    .sum();
                assert_eq!(sum, 0);
                for (key, amount) in [(from, -1), (to, 1)] {
                    let key = format!("account {key:04}");
                    let had = balance(tx.get(&key)?);
                    let sign = if had + amount < 0 { "-" } else { "" };
                    let left = (had + amount).abs();
                    tx.put(db, key, format!("{sign}{pad}{left}"))?;
                }
                Ok(())
            });
        }
    });
    let rows = db.prefix("account").unwrap();
    let all: Vec<i64> = rows.map(|row| balance(Some(row.unwrap().1))).collect();
    assert_eq!(all.iter().sum::<i64>(), 0);
    assert_eq!(all.iter().filter(|it| **it > 0).sum::<i64>(), 1600);
}

#[test]
fn members_of_a_set_are_unique() {
    let dir = tempfile::tempdir().unwrap();
    let db = tiny(&dir);
    stirred(&db, |db, seed| {
        for round in 0..60 {
            through(db, Isolation::Serializable, |tx| {
                // The next number is one more than the members there are.
                let next = tx.prefix("member")?.count();
                tx.put(db, format!("member {seed} {round:04}"), next.to_string())
            });
        }
    });
    let rows = db.prefix("member").unwrap();
    let mut all: Vec<i64> = rows.map(|row| balance(Some(row.unwrap().1))).collect();
    all.sort_unstable();
    assert_eq!(all, (0..240).collect::<Vec<i64>>());
}

fn balance(found: Option<esker::Bytes>) -> i64 {
    found.map_or(0, |text| {
        std::str::from_utf8(&text).unwrap().parse().unwrap()
    })
}
