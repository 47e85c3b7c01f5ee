//! Locking transactions: what they forbid, who waits for whom, and what the others meet.

use std::cmp::Ordering;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use esker::internals::env::clock::Clock;
use esker::internals::env::pool::{Pool, Priority};
use esker::internals::env::sim::SimWorld;
use esker::{
    Comparator, CustomComparator, Db, Durability, ErrorKind, Isolation, Keyspace, Result,
    Transaction, TransactionMode, TransactionOptions, Update, WriteOptions, merge,
};
use tempfile::TempDir;

use crate::watched_fs::{Eye, Lie, WatchedFs};

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

fn simulated() -> (SimWorld, Db) {
    let world = SimWorld::new(1);
    let db = Db::builder("db")
        .env(world.env())
        .merge_operator(merge::append(","))
        .open()
        .unwrap();
    (world, db)
}

fn options(isolation: Isolation, lock_timeout: Duration) -> TransactionOptions {
    TransactionOptions {
        isolation,
        lock_timeout,
        mode: TransactionMode::Locking,
    }
}

/// One that waits for nobody.
fn begin(db: &Db, isolation: Isolation) -> Transaction {
    db.begin_with(options(isolation, Duration::ZERO))
}

fn waiting(db: &Db, isolation: Isolation) -> Transaction {
    db.begin_with(options(isolation, Duration::from_secs(1)))
}

fn number(found: Option<esker::Bytes>) -> u64 {
    found.map_or(0, |text| {
        std::str::from_utf8(&text).unwrap().parse().unwrap()
    })
}

fn kind<T>(done: Result<T>) -> Option<ErrorKind> {
    done.err().map(|error| error.kind())
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
        let mut writer = begin(db, isolation);
        let reader = begin(db, Isolation::Snapshot);
        writer.put(db, "a", "1").unwrap();
        let seen = reader.get("a").unwrap().is_some() || db.get("a").unwrap().is_some();
        // A serializable reader does not get to see anything.
        let serializable = begin(db, Isolation::Serializable);
        assert_eq!(kind(serializable.get("a")), Some(ErrorKind::LockTimeout));
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
        let no_wait = WriteOptions {
            no_wait: true,
            ..WriteOptions::default()
        };
        let written = db.with_write(no_wait).put("a", "2");
        let is_kept_out = kind(written) == Some(ErrorKind::Busy);
        assert_eq!(is_kept_out, isolation == Isolation::Serializable);
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
        let mut writer = begin(db, Isolation::ReadCommitted);
        let written = writer.put(db, "b", "2");
        let is_kept_out = kind(written) == Some(ErrorKind::LockTimeout);
        assert_eq!(is_kept_out, isolation == Isolation::Serializable);
        writer.commit().unwrap();
        first != reader.iter().unwrap().count()
    });
    assert_eq!(phantom, [true, false, false]);
}

#[test]
fn updates_are_lost_under_read_committed_alone() {
    let lost_update = happens(|db, isolation| {
        let [mut first, mut second] = [begin(db, isolation), begin(db, isolation)];
        let counts = [&first, &second].map(|tx| number(tx.get("count").unwrap()));
        let update =
            |tx: &mut Transaction, count: u64| tx.put(db, "count", (count + 1).to_string());
        if update(&mut first, counts[0]).is_err() {
            return false;
        }
        first.commit().unwrap();
        update(&mut second, counts[1]).is_ok() && second.commit().is_ok()
    });
    assert_eq!(lost_update, [true, false, false]);
    // Not where the key is read to be written.
    let lost_update = happens(|db, isolation| {
        let [mut first, second] = [begin(db, isolation), begin(db, isolation)];
        let count = number(first.get_for_update(db, "count").unwrap());
        let refused = second.get_for_update(db, "count");
        assert_eq!(kind(refused), Some(ErrorKind::LockTimeout));
        first.put(db, "count", (count + 1).to_string()).unwrap();
        first.commit().unwrap();
        number(second.get_for_update(db, "count").unwrap()) == 0 && second.commit().is_ok()
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
        let deleted = first.delete(db, "a").is_ok() && second.delete(db, "b").is_ok();
        deleted && first.commit().is_ok() && second.commit().is_ok()
    });
    assert_eq!(write_skew, [true, true, false]);
    let by_range = happens(|db, isolation| {
        let (mut first, mut second) = (begin(db, isolation), begin(db, isolation));
        assert_eq!(first.range("a".."m").unwrap().count(), 0);
        assert_eq!(second.range("a".."m").unwrap().count(), 0);
        let put = first.put(db, "b", "1").is_ok() && second.put(db, "c", "1").is_ok();
        put && first.commit().is_ok() && second.commit().is_ok()
    });
    assert_eq!(by_range, [true, true, false]);
}

#[test]
fn each_way_to_write_heeds_a_lock() {
    // Of a key, then of a keyspace. Each waits a second of the simulated clock, and is refused.
    for is_range in [false, true] {
        let (world, db) = simulated();
        db.put("a", "old").unwrap();
        let mut tx = begin(&db, Isolation::Snapshot);
        match is_range {
            true => tx.delete_range(&db, "b", "c").unwrap(),
            false => tx.put(&db, "a", "mine").unwrap(),
        }
        let other = db.keyspace("other").unwrap();
        let ways: [(&str, &dyn Fn() -> Result<()>); 9] = [
            ("put", &|| db.put("a", "x")),
            ("merge", &|| db.merge("a", "x")),
            ("delete", &|| db.delete("a")),
            ("delete_range", &|| db.delete_range("x".."y")),
            ("batch", &|| {
                db.batch().put(&other, "a", "x").put(&db, "a", "x").commit()
            }),
            ("swap", &|| {
                db.compare_and_swap("a", Some(b"old"), None).map(drop)
            }),
            ("update", &|| db.update("a", |_| Update::Remove).map(drop)),
            ("absent", &|| db.put_if_absent("a2", "x").map(drop)),
            ("present", &|| db.delete_if_present("a").map(drop)),
        ];
        for (name, write) in ways {
            // Another key of the keyspace is free, unless the whole is locked.
            if name == "absent" && !is_range {
                write().unwrap();
                continue;
            }
            let before = world.clock.monotonic();
            let error = write().unwrap_err();
            assert_eq!(error.kind(), ErrorKind::LockTimeout, "{name}: {error}");
            assert!(error.is_retryable());
            let waited = world.clock.monotonic() - before;
            assert_eq!(waited, Duration::from_secs(1), "{name}");
        }
        // What was to be written beside it was not.
        assert_eq!(other.get("a").unwrap(), None);
        let no_wait = WriteOptions {
            no_wait: true,
            ..WriteOptions::default()
        };
        let before = world.clock.monotonic();
        let error = db.with_write(no_wait).put("a", "x").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Busy, "{error}");
        assert_eq!(world.clock.monotonic(), before);
        other.put("a", "free").unwrap();
        tx.commit().unwrap();
        db.put("a", "x").unwrap();
        assert_eq!(db.stats().locks.held_count, 0);
    }
}

#[test]
fn errors_name_key_keyspace_and_holder() {
    let (world, db) = simulated();
    let ships = db.keyspace("ships").unwrap();
    let first = waiting(&db, Isolation::Snapshot);
    first.get_for_update(&ships, "anna\n").unwrap();
    world.clock.advance(Duration::from_millis(2500));
    let mut second = waiting(&db, Isolation::Snapshot);
    let error = second.put(&ships, "anna\n", "1").unwrap_err();
    assert_eq!(
        error.to_string(),
        "lock timeout: key b\"anna\\n\" of keyspace \"ships\" is locked by transaction 0, 3.5 s \
         old; it was waited for 1.000 s. The transaction has what it had: try again, or roll it \
         back"
    );
    let error = second.delete_range(&ships, "a", "b").unwrap_err();
    let text = error.to_string();
    assert!(
        text.starts_with("lock timeout: keyspace \"ships\" is locked by transaction 0"),
        "{text}"
    );
    // What waited for nobody is told by the other errors.
    let mut optimistic = db.begin();
    optimistic.put(&ships, "anna\n", "2").unwrap();
    let error = optimistic.commit().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Conflict);
    let text = error.to_string();
    assert!(
        text.contains("key b\"anna\\n\" of keyspace \"ships\" is locked by transaction 0, 4."),
        "{text}"
    );
}

#[test]
fn a_transaction_goes_on_without_what_it_did_not_get() {
    let (_world, db) = simulated();
    let mut first = begin(&db, Isolation::Snapshot);
    first.put(&db, "a", "1").unwrap();
    let mut second = begin(&db, Isolation::Snapshot);
    second.put(&db, "b", "2").unwrap();
    second.set_savepoint();
    second.put(&db, "c", "2").unwrap();
    assert_eq!(
        kind(second.put(&db, "a", "2")),
        Some(ErrorKind::LockTimeout)
    );
    assert_eq!(second.get("a").unwrap(), None);
    assert_eq!(second.len(), 2);
    // Locks that were taken since are given back, those from before are not.
    assert_eq!(kind(first.put(&db, "c", "1")), Some(ErrorKind::LockTimeout));
    second.rollback_to_savepoint().unwrap();
    first.put(&db, "c", "1").unwrap();
    assert_eq!(kind(first.put(&db, "b", "1")), Some(ErrorKind::LockTimeout));
    first.commit().unwrap();
    // Tried once more, it gets the lock; but its snapshot is from before.
    second.put(&db, "a", "2").unwrap();
    assert_eq!(kind(second.commit()), Some(ErrorKind::Conflict));
    assert_eq!(db.get("b").unwrap(), None);
    assert_eq!(db.get("a").unwrap().unwrap(), "1");
}

#[test]
fn who_is_refused_its_only_lock_holds_none() {
    let (_world, db) = simulated();
    let mut first = begin(&db, Isolation::ReadCommitted);
    first.put(&db, "a", "1").unwrap();
    let mut second = begin(&db, Isolation::ReadCommitted);
    assert_eq!(
        kind(second.put(&db, "a", "2")),
        Some(ErrorKind::LockTimeout)
    );
    assert_eq!(db.stats().transactions[1].lock_count, 0);
    first.commit().unwrap();
    // Nobody is inside the keyspace any more.
    db.delete_range("x".."y").unwrap();
}

#[test]
fn a_savepoint_lets_go_of_what_was_read_to_be_written() {
    let (_world, db) = simulated();
    let mut tx = begin(&db, Isolation::ReadCommitted);
    tx.put(&db, "a", "1").unwrap();
    tx.set_savepoint();
    tx.get_for_update(&db, "b").unwrap();
    tx.rollback_to_savepoint().unwrap();
    db.put("b", "other").unwrap();
    tx.commit().unwrap();
    // Under the others it counts all the same.
    let mut tx = begin(&db, Isolation::Snapshot);
    tx.put(&db, "a", "1").unwrap();
    tx.set_savepoint();
    tx.get_for_update(&db, "b").unwrap();
    tx.rollback_to_savepoint().unwrap();
    db.put("b", "again").unwrap();
    assert_eq!(kind(tx.commit()), Some(ErrorKind::Conflict));
}

#[test]
fn the_snapshot_comes_after_the_first_lock() {
    let (world, db) = simulated();
    db.put("a", "1").unwrap();
    db.put("b", "1").unwrap();
    for isolation in LEVELS {
        let mut holder = begin(&db, isolation);
        holder.put(&db, "a", "2").unwrap();
        let mut tx = waiting(&db, isolation);
        // While it waits, nothing is kept for it.
        let (seen, there) = (Arc::new(AtomicU64::new(99)), db.clone());
        let kept = Arc::clone(&seen);
        let job = move || {
            let own = there.stats().transactions;
            let waits = own.iter().filter(|it| it.waits_for.is_some());
            assert_eq!(waits.count(), 1);
            holder.commit().unwrap();
            there.put("b", "2").unwrap();
            kept.store(there.stats().snapshots.len() as u64, SeqCst);
        };
        world.pool.spawn(Priority::Low, "holder", Box::new(job));
        let found = tx.get_for_update(&db, "a").unwrap().unwrap();
        assert_eq!(found, "2", "{isolation:?}");
        assert_eq!(tx.get("b").unwrap().unwrap(), "2", "{isolation:?}");
        assert_eq!(seen.load(SeqCst), 0);
        tx.put(&db, "a", "3").unwrap();
        tx.commit().unwrap();
        db.put("a", "1").unwrap();
        db.put("b", "1").unwrap();
    }
    assert!(db.stats().snapshots.is_empty());
}

/// A transaction that jobs may use, too.
type Shared = Arc<Mutex<Option<Transaction>>>;

fn shared(tx: Transaction) -> Shared {
    Arc::new(Mutex::new(Some(tx)))
}

fn put(shared: &Shared, db: &Db, key: &str) -> Result<()> {
    let mut tx = shared.lock().unwrap();
    tx.as_mut().unwrap().put(db, key, "1")
}

#[test]
fn who_closes_a_circle_is_told() {
    for count in [2_usize, 3] {
        let (world, db) = simulated();
        let all: Vec<Shared> = (0..count)
            .map(|_| shared(waiting(&db, Isolation::ReadCommitted)))
            .collect();
        for (index, tx) in all.iter().enumerate() {
            put(tx, &db, &format!("key {index}")).unwrap();
        }
        // Each wants what the next has; the last begins to wait in the middle of all other waits.
        let told = Arc::new(Mutex::new(None));
        let last = Arc::clone(&all[count - 1]);
        let (there, error) = (db.clone(), Arc::clone(&told));
        let mut job: Box<dyn FnOnce() + Send> = Box::new(move || {
            let refused = put(&last, &there, "key 0").unwrap_err();
            *error.lock().unwrap() = Some(refused);
            // What it has is still kept from the others, until it goes.
            let stats = there.stats();
            assert_eq!(stats.locks.waiting_count, count - 1);
            assert_eq!(stats.locks.deadlock_count, 1);
            let text = stats.to_string();
            assert!(text.contains("held up by"), "{text}");
            last.lock().unwrap().take().unwrap().rollback();
        });
        for index in (1..count - 1).rev() {
            let (tx, there, pool) = (Arc::clone(&all[index]), db.clone(), world.pool.clone());
            job = Box::new(move || {
                pool.spawn(Priority::Low, "next", job);
                put(&tx, &there, &format!("key {}", index + 1)).unwrap();
                tx.lock().unwrap().take().unwrap().commit().unwrap();
            });
        }
        world.pool.spawn(Priority::Low, "next", job);
        put(&all[0], &db, "key 1").unwrap();
        all[0].lock().unwrap().take().unwrap().commit().unwrap();
        let error = told.lock().unwrap().take().unwrap();
        assert_eq!(error.kind(), ErrorKind::Deadlock);
        assert!(error.is_retryable());
        let text = error.to_string();
        for index in 0..count {
            let want = format!("transaction {index}, 0.0 s old wants key b\"key");
            assert!(text.contains(&want), "{text}");
        }
        assert_eq!(db.stats().locks.held_count, 0);
        assert_eq!(db.iter().unwrap().count(), count);
    }
}

#[test]
fn a_savepoint_opens_a_circle() {
    let (world, db) = simulated();
    let (first, second) = (
        shared(waiting(&db, Isolation::ReadCommitted)),
        shared(waiting(&db, Isolation::ReadCommitted)),
    );
    put(&first, &db, "a").unwrap();
    put(&second, &db, "mine").unwrap();
    second.lock().unwrap().as_mut().unwrap().set_savepoint();
    put(&second, &db, "b").unwrap();
    let there = db.clone();
    let job = move || {
        assert_eq!(kind(put(&second, &there, "a")), Some(ErrorKind::Deadlock));
        // To try again is of no use, to go back is.
        assert_eq!(kind(put(&second, &there, "a")), Some(ErrorKind::Deadlock));
        let mut second = second.lock().unwrap();
        second.as_mut().unwrap().rollback_to_savepoint().unwrap();
        second.take().unwrap().commit().unwrap();
    };
    world.pool.spawn(Priority::Low, "second", Box::new(job));
    put(&first, &db, "b").unwrap();
    first.lock().unwrap().take().unwrap().commit().unwrap();
    let keys: Result<Vec<_>> = db.iter().unwrap().keys().collect();
    assert_eq!(keys.unwrap(), ["a", "b", "mine"]);
}

/// Returns once so many wait for locks.
fn until_waiting(db: &Db, count: usize) {
    while db.stats().locks.waiting_count != count {
        thread::yield_now();
    }
}

#[test]
fn a_plain_write_that_waits_ends_no_transaction() {
    // It has announced itself in the keyspace, which the transaction then wants as a whole.
    let (_dir, db) = open();
    let mut tx = db.begin_with(patient(Isolation::Serializable));
    tx.put(&db, "a", "1").unwrap();
    let there = db.clone();
    let writer = thread::spawn(move || there.put("a", "2"));
    until_waiting(&db, 1);
    let seen = tx.iter().map(Iterator::count);
    assert_eq!(seen.map_err(|error| error.kind()), Ok(1));
    tx.delete_range(&db, "x", "y").unwrap();
    tx.commit().unwrap();
    writer.join().unwrap().unwrap();
    assert_eq!(db.get("a").unwrap().unwrap(), "2");
    assert_eq!(db.stats().locks.held_count, 0);
}

#[test]
fn a_batch_that_waits_gives_way_to_who_comes_for_what_it_has() {
    // The batch has `a` and waits for `b`; whoever has `b` comes for `a`.
    let (_dir, db) = open();
    let mut tx = db.begin_with(patient(Isolation::ReadCommitted));
    tx.put(&db, "b", "1").unwrap();
    let there = db.clone();
    let batch = thread::spawn(move || {
        let mut batch = there.batch();
        batch.put(&there, "b", "2").put(&there, "a", "2").commit()
    });
    until_waiting(&db, 1);
    tx.put(&db, "a", "1").unwrap();
    tx.commit().unwrap();
    batch.join().unwrap().unwrap();
    for row in db.iter().unwrap() {
        assert_eq!(row.unwrap().1, "2");
    }
    let stats = db.stats().locks;
    assert_eq!((stats.deadlock_count, stats.held_count), (1, 0));
}

#[test]
fn a_batch_that_closes_a_circle_lets_go_of_all() {
    let (_dir, db) = open();
    let mut first = db.begin_with(patient(Isolation::ReadCommitted));
    first.put(&db, "b", "first").unwrap();
    let mut second = db.begin_with(patient(Isolation::ReadCommitted));
    second.put(&db, "c", "second").unwrap();
    let batch = thread::spawn({
        let db = db.clone();
        move || {
            let mut batch = db.batch();
            for key in ["a", "b", "c"] {
                batch.put(&db, key, "batch");
            }
            // A second is long enough for threads that wait for nothing else.
            batch.commit()
        }
    });
    until_waiting(&db, 1);
    let second = thread::spawn({
        let db = db.clone();
        move || {
            second.put(&db, "a", "second")?;
            second.commit()
        }
    });
    until_waiting(&db, 2);
    // The batch gets `b` and wants `c` of one who waits for `a`.
    first.commit().unwrap();
    second.join().unwrap().unwrap();
    batch.join().unwrap().unwrap();
    let stats = db.stats().locks;
    assert_eq!((stats.deadlock_count, stats.held_count), (1, 0));
    for row in db.iter().unwrap() {
        assert_eq!(row.unwrap().1, "batch");
    }
}

/// What a transaction does before its commit.
type Way<'a> = &'a dyn Fn(&mut Transaction) -> Result<()>;

#[test]
fn an_optimistic_commit_does_not_overtake_a_lock() {
    let (world, db) = simulated();
    db.put("a", "1").unwrap();
    for isolation in LEVELS {
        let ways: [(&str, Way<'_>); 3] = [
            ("put", &|tx| tx.put(&db, "a", "x")),
            ("merge", &|tx| tx.merge(&db, "a", "x")),
            ("range", &|tx| tx.delete_range(&db, "b", "c")),
        ];
        for (name, write) in ways {
            let locking = begin(&db, Isolation::ReadCommitted);
            locking.get_for_update(&db, "a").unwrap();
            let mut optimistic = db.begin_with(TransactionOptions {
                isolation,
                ..TransactionOptions::default()
            });
            optimistic.put(&db, "free", "1").unwrap();
            write(&mut optimistic).unwrap();
            let before = world.clock.monotonic();
            let ended = kind(optimistic.commit());
            assert_eq!(ended, Some(ErrorKind::Conflict), "{name}");
            assert_eq!(world.clock.monotonic(), before);
            // Where they do not meet, nobody is refused.
            let mut optimistic = db.begin();
            optimistic.put(&db, "other", "1").unwrap();
            optimistic.commit().unwrap();
            locking.commit().unwrap();
        }
    }
    assert_eq!(db.get("free").unwrap(), None);
    assert_eq!(db.get("a").unwrap().unwrap(), "1");
}

#[test]
fn merges_do_not_meet_because_something_else_is_locked() {
    let (_dir, db) = open();
    let other = db.keyspace("other").unwrap();
    let holder = begin(&db, Isolation::ReadCommitted);
    holder.get_for_update(&other, "x").unwrap();
    let synced = WriteOptions {
        durability: Some(Durability::Sync),
        ..WriteOptions::default()
    };
    let merge = move |db: Db| {
        for _ in 0..100 {
            let mut tx = db.begin();
            tx.merge(&db, "n", "1").unwrap();
            tx.commit_with(synced).unwrap();
        }
    };
    let workers: Vec<_> = (0..4)
        .map(|_| {
            let db = db.clone();
            thread::spawn(move || merge(db))
        })
        .collect();
    workers.into_iter().for_each(|it| it.join().unwrap());
    let merged = db.get("n").unwrap().unwrap();
    assert_eq!(merged.iter().filter(|byte| **byte == b'1').count(), 400);
}

#[test]
fn who_runs_again_outlasts_a_lock_of_half_a_second() {
    let (world, db) = simulated();
    let holder = begin(&db, Isolation::ReadCommitted);
    holder.get_for_update(&db, "a").unwrap();
    let job = move || holder.rollback();
    world.pool.spawn_after(
        Duration::from_millis(500),
        Priority::Low,
        "holder",
        Box::new(job),
    );
    db.transaction(|tx| tx.put(&db, "a", "1")).unwrap();
    assert!(world.clock.monotonic() >= Duration::from_millis(500));
}

#[test]
fn who_runs_again_gives_up_once_the_time_is_over() {
    let (world, db) = simulated();
    let holder = begin(&db, Isolation::ReadCommitted);
    holder.get_for_update(&db, "a").unwrap();
    let before = world.clock.monotonic();
    let ended = db.transaction(|tx| tx.put(&db, "a", "1"));
    assert_eq!(kind(ended), Some(ErrorKind::Conflict));
    let waited = world.clock.monotonic() - before;
    assert!(waited >= TransactionOptions::LOCK_TIMEOUT && waited < Duration::from_secs(2));
}

#[test]
fn who_waits_for_itself_is_told_soon() {
    let (world, db) = simulated();
    let once = options(Isolation::ReadCommitted, Duration::from_secs(1));
    let mut runs = 0;
    let ended = db.transaction_with(once, |tx| {
        runs += 1;
        tx.put(&db, "a", "1")?;
        db.put("a", "2")
    });
    assert_eq!(kind(ended), Some(ErrorKind::LockTimeout));
    assert_eq!(runs, 5);
    assert!(world.clock.monotonic() < Duration::from_secs(10));
}

#[test]
fn a_write_on_its_way_heeds_a_lock_that_came_meanwhile() {
    // Its value is being written to the value log when a transaction locks its key and reads it.
    let world = SimWorld::new(1);
    let held: Arc<Mutex<Option<Transaction>>> = Arc::default();
    let opened: Arc<Mutex<Option<Db>>> = Arc::default();
    let (own, there) = (Arc::clone(&held), Arc::clone(&opened));
    let eye: Eye = Arc::new(move |_, doing| {
        if !doing.ends_with(".vlog") {
            return;
        }
        let Some(db) = there.lock().unwrap().take() else {
            return;
        };
        let mut tx = begin(&db, Isolation::ReadCommitted);
        assert_eq!(tx.get_for_update(&db, "a").unwrap(), None);
        tx.put(&db, "a", "mine").unwrap();
        *own.lock().unwrap() = Some(tx);
    });
    let watched = WatchedFs::new(&world.fs, Some(eye), Lie::None);
    let env = world.env_with(Arc::new(watched));
    let db = Db::builder("db").env(env).open().unwrap();
    db.put("large", vec![7; 1 << 20]).unwrap();
    *opened.lock().unwrap() = Some(db.clone());
    let written = db.put("a", vec![8; 1 << 20]);
    assert_eq!(kind(written), Some(ErrorKind::LockTimeout));
    let tx = held.lock().unwrap().take();
    tx.expect("a large value is written to the value log")
        .commit()
        .unwrap();
    assert_eq!(db.get("a").unwrap().unwrap(), "mine");
}

#[test]
fn closing_ends_each_wait() {
    let (world, db) = simulated();
    let mut holder = waiting(&db, Isolation::Snapshot);
    holder.put(&db, "a", "1").unwrap();
    let there = db.clone();
    let job = move || there.close().unwrap();
    world.pool.spawn(Priority::Low, "close", Box::new(job));
    let before = world.clock.monotonic();
    assert_eq!(kind(db.put("a", "2")), Some(ErrorKind::Closed));
    assert!(world.clock.monotonic() - before < Duration::from_secs(1));
    let mut late = waiting(&db, Isolation::Snapshot);
    assert_eq!(kind(late.put(&db, "b", "1")), Some(ErrorKind::Closed));
    assert_eq!(kind(holder.get("a")), Some(ErrorKind::Closed));
    assert_eq!(kind(holder.commit()), Some(ErrorKind::Closed));
}

#[test]
fn a_keyspace_is_dropped_while_it_is_locked() {
    let (world, db) = simulated();
    let gone = db.keyspace("gone").unwrap();
    let mut tx = waiting(&db, Isolation::Snapshot);
    tx.put(&gone, "a", "1").unwrap();
    tx.put(&db, "a", "1").unwrap();
    let there = db.clone();
    let job = move || there.drop_keyspace("gone").unwrap();
    world.pool.spawn(Priority::Low, "drop", Box::new(job));
    // Who waits waits for the lock all the same, and is told of what it is.
    let error = gone.put("a", "2").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::LockTimeout);
    let text = error.to_string();
    assert!(
        text.contains("key b\"a\" of a keyspace that was dropped"),
        "{text}"
    );
    assert_eq!(kind(tx.commit()), Some(ErrorKind::Invalid));
    assert_eq!(db.get("a").unwrap(), None);
    assert_eq!(kind(gone.put("a", "2")), Some(ErrorKind::Invalid));
    // Its like has a number of its own.
    let again = db.keyspace("gone").unwrap();
    let mut first = begin(&db, Isolation::Snapshot);
    assert_eq!(kind(first.put(&gone, "a", "1")), None);
    again.put("a", "3").unwrap();
    assert_eq!(kind(first.commit()), Some(ErrorKind::Invalid));
}

#[test]
fn a_reader_of_a_database_locks_and_writes_nothing() {
    let (dir, db) = open();
    db.put("a", "1").unwrap();
    db.close().unwrap();
    let reader = Db::open_read_only(dir.path().join("db")).unwrap();
    let (mut first, mut second) = (
        begin(&reader, Isolation::Serializable),
        begin(&reader, Isolation::Serializable),
    );
    assert_eq!(first.get("a").unwrap().unwrap(), "1");
    assert_eq!(second.get("a").unwrap().unwrap(), "1");
    first.put(&reader, "b", "1").unwrap();
    assert_eq!(
        kind(second.put(&reader, "b", "1")),
        Some(ErrorKind::LockTimeout)
    );
    assert_eq!(kind(first.commit()), Some(ErrorKind::Invalid));
    second.commit().unwrap();
    assert_eq!(reader.stats().locks.held_count, 0);
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
fn a_panic_of_an_order_gives_back_what_was_locked_for_it() {
    let dir = tempfile::tempdir().unwrap();
    let builder = Db::builder(dir.path().join("db"));
    let db = builder
        .comparator(Comparator::Custom(Arc::new(Touchy)))
        .open()
        .unwrap();
    let mut tx = begin(&db, Isolation::Serializable);
    tx.put(&db, "a", "1").unwrap();
    // A plain write that has locks for a moment, because there is a transaction.
    assert_eq!(kind(db.put("b?", "2")), Some(ErrorKind::Invalid));
    assert_eq!(
        kind(db.batch().put(&db, "c", "1").put(&db, "d?", "1").commit()),
        Some(ErrorKind::Invalid)
    );
    db.put("c", "2").unwrap();
    // In a transaction it is told, and the lock stays until a savepoint or the end.
    tx.set_savepoint();
    tx.put(&db, "e?", "1").unwrap();
    assert_eq!(kind(tx.get("a")), Some(ErrorKind::Invalid));
    tx.rollback_to_savepoint().unwrap();
    let held = db.stats().transactions[0].lock_count;
    // The key and its keyspace.
    assert_eq!(held, 2);
    tx.commit().unwrap();
    assert_eq!(db.iter().unwrap().count(), 2);
    // A panic of its user's own code while it holds locks: it is dropped as any other is.
    let there = db.clone();
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(move || {
        let mut tx = begin(&there, Isolation::Snapshot);
        tx.put(&there, "a", "1").unwrap();
        panic!("of its user");
    }));
    assert!(panicked.is_err());
    assert_eq!(db.stats().locks.held_count, 0);
    db.put("a", "2").unwrap();
}

#[test]
fn statistics_tell_who_holds_and_who_waits() {
    let (world, db) = simulated();
    let mut holder = begin(&db, Isolation::Snapshot);
    holder.put(&db, "a", "1").unwrap();
    holder.put(&db, "b", "1").unwrap();
    world.clock.advance(Duration::from_secs(3));
    let there = db.clone();
    let job = move || {
        let stats = there.stats();
        let [first, second] = &stats.transactions[..] else {
            panic!("{stats}")
        };
        assert_eq!(
            (first.mode, first.lock_count),
            (TransactionMode::Locking, 3)
        );
        assert_eq!(first.age, Duration::from_secs(3));
        assert!(first.waits_for.is_none());
        let wait = second.waits_for.as_ref().unwrap();
        assert_eq!(wait.keyspace.as_deref(), Some("default"));
        assert_eq!(wait.key.as_deref(), Some(&b"a"[..]));
        assert_eq!(wait.transactions, [0]);
        // The second has announced itself in the keyspace.
        assert_eq!((stats.locks.held_count, stats.locks.holder_count), (4, 2));
        assert_eq!(stats.locks.waiting_count, 1);
        let page = stats.to_string();
        assert!(
            page.contains(
                "1, 0.0 s old, serializable, locking, holds 1 locks, waits 0.0 s for key b\"a\" \
                 of keyspace \"default\", held up by 0"
            ),
            "{page}"
        );
        let page = stats.to_prometheus();
        assert!(page.contains("\nesker_locks 4\n"), "{page}");
        assert!(page.contains("\nesker_lock_waiting 1\n"), "{page}");
    };
    world.pool.spawn(Priority::Low, "look", Box::new(job));
    let second = waiting(&db, Isolation::Serializable);
    assert_eq!(kind(second.get("a")), Some(ErrorKind::LockTimeout));
    drop((holder, second));
    let locks = db.stats().locks;
    assert_eq!((locks.held_count, locks.holder_count), (0, 0));
    assert_eq!((locks.wait_count, locks.timeout_count), (1, 1));
    assert_eq!(locks.waited, Duration::from_secs(1));
    let page = db.stats().to_prometheus();
    assert!(
        page.contains("\nesker_lock_wait_seconds_total 1\n"),
        "{page}"
    );
}

#[test]
fn synced_commits_hold_their_locks_until_they_are_acknowledged() {
    let (_world, db) = simulated();
    let mut tx = begin(&db, Isolation::Serializable);
    tx.put(&db, "a", "1").unwrap();
    let synced = WriteOptions {
        durability: Some(Durability::Sync),
        ..WriteOptions::default()
    };
    tx.commit_with(synced).unwrap();
    assert_eq!(db.stats().locks.held_count, 0);
}

/// Runs `work` on four threads.
fn threads(db: &Db, work: impl Fn(&Db, u64) + Send + Sync + 'static) {
    let work = Arc::new(work);
    let workers: Vec<_> = (0..4)
        .map(|seed| {
            let (db, work) = (db.clone(), Arc::clone(&work));
            thread::spawn(move || work(&db, seed))
        })
        .collect();
    workers.into_iter().for_each(|it| it.join().unwrap());
    let stats = db.stats();
    assert!(stats.snapshots.is_empty() && stats.failures.is_empty());
    assert_eq!((stats.locks.held_count, stats.locks.holder_count), (0, 0));
}

/// For as long as others are in the way.
fn patient(isolation: Isolation) -> TransactionOptions {
    options(isolation, Duration::from_secs(600))
}

fn bump(space: &Keyspace, key: &str) -> Result<()> {
    let next = |found: Option<&[u8]>| {
        let count = found.map_or(0, |text| {
            std::str::from_utf8(text).unwrap().parse::<u64>().unwrap()
        });
        Update::Set((count + 1).to_string().into_bytes())
    };
    space.update(key, next).map(drop)
}

#[test]
fn no_update_is_lost_between_plain_writes_and_transactions() {
    const ROUNDS: u64 = 300;
    for isolation in LEVELS {
        let (_dir, db) = open();
        threads(&db, move |db, seed| {
            for round in 0..ROUNDS {
                let key = ["a", "b"][(round % 2) as usize];
                match seed {
                    // Those who lock, in turns with nobody who does, so that plain writes begin
                    // when there is no lock yet.
                    0 | 1 => db
                        .transaction_with(patient(isolation), |tx| {
                            let count = number(tx.get_for_update(db, key)?);
                            tx.put(db, key, (count + 1).to_string())
                        })
                        .unwrap(),
                    2 => while bump(db, key).is_err() {},
                    _ => {
                        while db
                            .transaction(|tx| {
                                let count = number(tx.get(key)?);
                                tx.put(db, key, (count + 1).to_string())
                            })
                            .is_err()
                        {}
                    }
                }
            }
        });
        let sum = number(db.get("a").unwrap()) + number(db.get("b").unwrap());
        assert_eq!(sum, 4 * ROUNDS, "{isolation:?}");
    }
}

#[test]
fn what_is_read_under_a_lock_stays_until_the_commit() {
    // Plain puts, to a key that a transaction holds, are seen by it before its first read or not at
    // all.
    const ROUNDS: u64 = 400;
    let (_dir, db) = open();
    threads(&db, |db, seed| {
        for round in 0..ROUNDS {
            if seed > 0 {
                while db.put("a", format!("{seed}{round:04}")).is_err() {}
                continue;
            }
            let mut tx = db.begin_with(patient(Isolation::ReadCommitted));
            let first = tx.get_for_update(db, "a").unwrap();
            thread::yield_now();
            assert_eq!(db.get("a").unwrap(), first);
            assert_eq!(tx.get("a").unwrap(), first);
            tx.put(db, "a", "0").unwrap();
            tx.commit().unwrap();
        }
    });
}

#[test]
fn circles_are_opened_again_and_again() {
    const ROUNDS: u64 = 200;
    let (_dir, db) = open();
    threads(&db, |db, seed| {
        for round in 0..ROUNDS {
            // Two of three keys, in whatever order.
            let keys = [(seed + round) % 3, (seed * round + 1 + seed) % 3];
            let bumped = |tx: &mut Transaction| {
                for key in keys {
                    let key = key.to_string();
                    let count = number(match round % 2 {
                        0 => tx.get_for_update(db, &key)?,
                        _ => tx.get_for_share(db, &key)?,
                    });
                    tx.put(db, &key, (count + 1).to_string())?;
                }
                Ok(())
            };
            let locking = patient(Isolation::ReadCommitted);
            while db.transaction_with(locking, bumped).is_err() {}
        }
    });
    let sum: u64 = (0..3)
        .map(|key| number(db.get(key.to_string()).unwrap()))
        .sum();
    assert_eq!(sum, 4 * ROUNDS * 2);
}

#[test]
fn who_keeps_a_transaction_is_told_by_name() {
    let (_world, db) = simulated();
    let mut tx = begin(&db, Isolation::Snapshot);
    tx.set_owner("harbour 7");
    tx.put(&db, "a", "1").unwrap();
    let error = begin(&db, Isolation::Snapshot).put(&db, "a", "2");
    let told = error.unwrap_err().to_string();
    assert!(told.contains("of \"harbour 7\""), "{told}");
    let page = db.stats().to_string();
    assert!(
        page.contains("snapshot, locking, of \"harbour 7\""),
        "{page}"
    );
}
