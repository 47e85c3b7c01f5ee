//! Tests of shared locks, of locks without a read, and of waits that somebody else ends.
#![allow(clippy::disallowed_methods, reason = "only real threads wait")]

use std::thread;
use std::time::{Duration, Instant};

use crate::base::options::call::{Isolation, TransactionMode, TransactionOptions};
use crate::base::stats::statistics::Ticker;
use crate::base::types::error::{ErrorKind, Result};
use crate::db::cursor::DbCursor;
use crate::db::handle::Db;
use crate::db::iterator::Iter;
use crate::db::ordered_commit::OrderedCommit;
use crate::db::prepared_transaction::PreparedTransaction;
use crate::db::snapshot::Snapshot;
use crate::db::transaction::Transaction;
use crate::db::transaction_locks::Interrupter;
use crate::db::txn::locks::lock_id::TxnId;
use crate::db::write_batch::WriteBatch;

const LONG: Duration = Duration::from_secs(600);

fn locking(isolation: Isolation, lock_timeout: Duration) -> TransactionOptions {
    TransactionOptions {
        isolation,
        mode: TransactionMode::Locking,
        lock_timeout,
    }
}

fn at_once(db: &Db) -> Transaction {
    db.begin_with(locking(Isolation::ReadCommitted, Duration::ZERO))
}

fn patient(db: &Db) -> Transaction {
    db.begin_with(locking(Isolation::ReadCommitted, LONG))
}

/// Returns once somebody waits for a lock.
fn until_somebody_waits(db: &Db) {
    let begun = Instant::now();
    while db.stats().locks.waiting_count == 0 {
        assert!(begun.elapsed() < LONG, "nobody waits");
        thread::yield_now();
    }
}

fn opened() -> (tempfile::TempDir, Db) {
    let dir = tempfile::tempdir().unwrap();
    let db = Db::open(dir.path()).unwrap();
    db.put("a", "1").unwrap();
    (dir, db)
}

#[test]
fn a_shared_key_is_read_by_all_and_written_by_nobody() {
    let (_dir, db) = opened();
    for isolation in [
        Isolation::ReadCommitted,
        Isolation::Snapshot,
        Isolation::Serializable,
    ] {
        let begin = || db.begin_with(locking(isolation, Duration::ZERO));
        let (first, second, mut third) = (begin(), begin(), begin());
        assert_eq!(first.get_for_share(&db, "a").unwrap().unwrap(), "1");
        assert_eq!(second.get_for_share(&db, "a").unwrap().unwrap(), "1");
        let refused = third.put(&db, "a", "2").unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::LockTimeout, "{isolation:?}");
        let refused = third.get_for_update(&db, "a").unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::LockTimeout, "{isolation:?}");
        first.commit().unwrap();
        let refused = third.put(&db, "a", "2").unwrap_err();
        assert_eq!(
            refused.kind(),
            ErrorKind::LockTimeout,
            "one still shares it"
        );
        drop(second);
        third.put(&db, "a", "1").unwrap();
        third.commit().unwrap();
    }
}

#[test]
fn who_shares_alone_writes_and_who_has_it_for_itself_is_waited_for() {
    let (_dir, db) = opened();
    let mut first = at_once(&db);
    first.get_for_share(&db, "a").unwrap();
    first.put(&db, "a", "2").unwrap();
    let second = at_once(&db);
    let refused = second.get_for_share(&db, "a").unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::LockTimeout);
    first.commit().unwrap();
    assert_eq!(second.get_for_share(&db, "a").unwrap().unwrap(), "2");
}

#[test]
fn of_two_that_share_and_write_the_second_is_a_deadlock() {
    let (_dir, db) = opened();
    let (mut first, mut second) = (patient(&db), patient(&db));
    first.get_for_share(&db, "a").unwrap();
    second.get_for_share(&db, "a").unwrap();
    thread::scope(|scope| {
        let writes = scope.spawn(|| {
            first.put(&db, "a", "2").unwrap();
            first.commit().unwrap();
        });
        until_somebody_waits(&db);
        let refused = second.put(&db, "a", "3").unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Deadlock);
        drop(second);
        writes.join().unwrap();
    });
    assert_eq!(db.get("a").unwrap().unwrap(), "2");
}

#[test]
fn a_shared_lock_goes_with_the_savepoint_behind_which_it_was_taken() {
    let (_dir, db) = opened();
    let (mut first, mut second) = (at_once(&db), at_once(&db));
    first.set_savepoint();
    first.get_for_share(&db, "a").unwrap();
    assert!(second.put(&db, "a", "2").is_err());
    first.rollback_to_savepoint().unwrap();
    second.put(&db, "a", "2").unwrap();
}

#[test]
fn an_optimistic_transaction_fails_if_others_write_to_what_it_shares() {
    let (_dir, db) = opened();
    for isolation in [Isolation::ReadCommitted, Isolation::Snapshot] {
        let mut tx = db.begin_with(TransactionOptions {
            isolation,
            ..TransactionOptions::default()
        });
        tx.get_for_share(&db, "a").unwrap();
        db.put("a", "1").unwrap();
        tx.put(&db, "b", "1").unwrap();
        assert_eq!(tx.commit().unwrap_err().kind(), ErrorKind::Conflict);
    }
}

#[test]
fn a_key_that_is_not_there_is_locked_without_a_read() {
    let (_dir, db) = opened();
    let first = at_once(&db);
    first.lock_for_update(&db, "name").unwrap();
    let mut second = at_once(&db);
    for refused in [
        second.lock_for_share(&db, "name").unwrap_err(),
        second.lock_for_update(&db, "name").unwrap_err(),
        second.put(&db, "name", "taken").unwrap_err(),
    ] {
        assert_eq!(refused.kind(), ErrorKind::LockTimeout);
    }
    drop(first);
    second.lock_for_share(&db, "name").unwrap();
    at_once(&db).lock_for_share(&db, "name").unwrap();
}

#[test]
fn a_keyspace_of_another_database_is_refused() {
    let (_dir, db) = opened();
    let (_other_dir, other) = opened();
    let tx = at_once(&db);
    for refused in [
        tx.get_for_share(&other, "a").unwrap_err(),
        tx.lock_for_share(&other, "a").unwrap_err(),
        tx.lock_for_update(&other, "a").unwrap_err(),
    ] {
        assert_eq!(refused.kind(), ErrorKind::Invalid);
    }
}

#[test]
fn how_long_it_waits_changes_between_calls() {
    let (_dir, db) = opened();
    let mut first = at_once(&db);
    first.put(&db, "a", "2").unwrap();
    let mut second = patient(&db);
    second.set_lock_timeout(Duration::from_millis(20));
    let begun = Instant::now();
    let refused = second.put(&db, "a", "3").unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::LockTimeout);
    assert!(begun.elapsed() >= Duration::from_millis(20));
    assert!(refused.message().contains("0.020 s"), "{refused}");
    second.set_lock_timeout(Duration::MAX);
    thread::scope(|scope| {
        let waits = scope.spawn(|| second.put(&db, "a", "3"));
        until_somebody_waits(&db);
        first.commit().unwrap();
        waits.join().unwrap().unwrap();
    });
}

#[test]
fn a_wait_ends_when_it_is_interrupted_and_what_comes_after_it() {
    let (_dir, db) = opened();
    let mut first = at_once(&db);
    first.put(&db, "a", "2").unwrap();
    let mut second = patient(&db);
    let interrupter = second.interrupter();
    second.put(&db, "b", "1").unwrap();
    thread::scope(|scope| {
        let waits = scope.spawn(|| second.put(&db, "a", "3"));
        until_somebody_waits(&db);
        interrupter.interrupt();
        let refused = waits.join().unwrap().unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Interrupted);
    });
    // It stays so, for what it would have to wait for.
    let refused = second.get_for_share(&db, "a").unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Interrupted);
    second.put(&db, "c", "1").unwrap();
    second.clear_interrupt();
    first.commit().unwrap();
    second.put(&db, "a", "3").unwrap();
    second.commit().unwrap();
    for key in ["b", "c"] {
        assert!(db.contains_key(key).unwrap());
    }
}

#[test]
fn a_wait_for_a_prepared_transaction_is_interrupted_too() {
    let (_dir, db) = opened();
    let mut first = db.begin();
    first.put(&db, "a", "2").unwrap();
    let prepared = first.prepare("first").unwrap();
    for share in [false, true] {
        let mut second = patient(&db);
        let interrupter = second.interrupter();
        thread::scope(|scope| {
            let waits = scope.spawn(|| match share {
                true => second.lock_for_share(&db, "a"),
                false => second.lock_for_update(&db, "a"),
            });
            // Before it waits or while it does: nobody can tell, and it ends either way.
            thread::yield_now();
            interrupter.interrupt();
            let refused = waits.join().unwrap().unwrap_err();
            assert_eq!(refused.kind(), ErrorKind::Interrupted);
        });
    }
    prepared.commit().unwrap();
}

#[test]
fn who_is_gone_is_not_interrupted() {
    let (_dir, db) = opened();
    let mut tx = patient(&db);
    let (number, interrupter) = (tx.number(), tx.interrupter());
    let other = interrupter.clone();
    let core = std::sync::Arc::clone(tx.database().core());
    interrupter.interrupt();
    assert!(core.locks.is_interrupted(TxnId(number)));
    drop(tx);
    assert!(!core.locks.is_interrupted(TxnId(number)));
    other.interrupt();
    assert!(
        !core.locks.is_interrupted(TxnId(number)),
        "nothing is kept of it"
    );
    drop(core);
    db.close().unwrap();
    drop(db);
    other.interrupt();
}

#[test]
fn handles_go_to_other_threads() {
    fn goes<T: Send>() {}
    goes::<Transaction>();
    goes::<PreparedTransaction>();
    goes::<OrderedCommit>();
    goes::<Interrupter>();
    goes::<Snapshot>();
    goes::<WriteBatch>();
    goes::<DbCursor>();
    goes::<Iter>();
}

#[test]
fn a_lost_race_is_told_by_the_read_that_locks() {
    // And not only by the commit, when all the work is done.
    type Reads = fn(&mut Transaction, &Db) -> Result<()>;
    let ways: [(&str, Reads); 6] = [
        ("update", |tx, db| tx.get_for_update(db, "b").map(drop)),
        ("share", |tx, db| tx.get_for_share(db, "b").map(drop)),
        ("many", |tx, db| {
            tx.multi_get_for_update(db, &["b"]).map(drop)
        }),
        ("lock", |tx, db| tx.lock_for_update(db, "b")),
        ("lock, shared", |tx, db| tx.lock_for_share(db, "b")),
        ("end", |tx, db| tx.set_expiry(db, "b", None).map(drop)),
    ];
    for isolation in [Isolation::Snapshot, Isolation::Serializable] {
        for (name, read) in ways {
            for is_flushed in [false, true] {
                let (_dir, db) = opened();
                let mut tx = db.begin_with(locking(isolation, Duration::ZERO));
                tx.put(&db, "own", "1").unwrap();
                db.put("b", "2").unwrap();
                if is_flushed {
                    db.flush().unwrap();
                }
                let held = db.stats().locks.held_count;
                let error = read(&mut tx, &db).unwrap_err();
                assert_eq!(error.kind(), ErrorKind::Conflict, "{name}: {error}");
                let text = error.to_string();
                assert!(text.contains("key b\"b\" of keyspace"), "{text}");
                // Nothing of it was done: not even locked.
                assert_eq!(db.stats().locks.held_count, held, "{name}");
                db.put("b", "3").unwrap();
                let statistics = &db.database().core().statistics;
                assert_eq!(statistics.sum(Ticker::TransactionConflicts), 1);
                tx.commit().unwrap();
            }
        }
    }
}

#[test]
fn a_race_is_lost_only_by_who_saw_less() {
    let (_dir, db) = opened();
    // What it has read before the others wrote is no matter where each read is of its own moment.
    let mut tx = db.begin_with(locking(Isolation::ReadCommitted, Duration::ZERO));
    assert_eq!(tx.get("a").unwrap().unwrap(), "1");
    tx.set_snapshot().unwrap();
    db.put("a", "2").unwrap();
    assert_eq!(tx.get_for_update(&db, "a").unwrap().unwrap(), "2");
    drop(tx);
    // Before the snapshot; or other keys; or its own.
    let mut tx = db.begin_with(locking(Isolation::Snapshot, Duration::ZERO));
    db.put("a", "3").unwrap();
    assert_eq!(tx.get("b").unwrap(), None);
    db.put("c", "1").unwrap();
    db.delete_range("x".."z").unwrap();
    tx.put(&db, "d", "1").unwrap();
    assert_eq!(tx.get_for_update(&db, "a").unwrap().unwrap(), "3");
    assert_eq!(tx.get_for_update(&db, "d").unwrap().unwrap(), "1");
    // What lies in a range that was deleted since was written to, there or not.
    let error = tx.get_for_update(&db, "y").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Conflict);
    // Who waits for nobody is told when it commits.
    let mut optimistic = db.begin();
    db.put("e", "2").unwrap();
    assert_eq!(optimistic.get_for_update(&db, "e").unwrap(), None);
    optimistic.put(&db, "f", "1").unwrap();
    assert_eq!(optimistic.commit().unwrap_err().kind(), ErrorKind::Conflict);
}

#[test]
fn who_lost_a_race_runs_again() {
    let (_dir, db) = opened();
    let mut runs = 0;
    let options = locking(Isolation::Snapshot, Duration::ZERO);
    let seen = db.transaction_with(options, |tx| {
        runs += 1;
        tx.contains_key("other")?;
        if runs == 1 {
            db.put("a", "2")?;
        }
        tx.get_for_update(&db, "a")
    });
    assert_eq!((runs, seen.unwrap().unwrap().to_vec()), (2, b"2".to_vec()));
}

#[test]
fn a_lock_that_was_given_back_keeps_nobody_out() {
    // Of a read under the lock, at each isolation that allows it; not once something was written.
    let (_dir, db) = opened();
    db.put("b", "1").unwrap();
    for isolation in [Isolation::ReadCommitted, Isolation::Snapshot] {
        let mut first = db.begin_with(locking(isolation, Duration::ZERO));
        first.get_for_update(&db, "a").unwrap();
        let place = first.lock_place();
        first.get_for_update(&db, "b").unwrap();
        let mut second = at_once(&db);
        let refused = second.put(&db, "b", "2").unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::LockTimeout);
        assert!(first.unlock_since(place).unwrap());
        assert_eq!(first.lock_place(), place);
        second.put(&db, "b", "2").unwrap();
        second.rollback();
        let mut second = at_once(&db);
        assert!(second.put(&db, "a", "2").is_err());
        first.put(&db, "b", "3").unwrap();
        assert!(!first.unlock_since(place).unwrap());
        assert!(second.put(&db, "b", "2").is_err());
        // Plain writes heed what is left.
        let held = db.held_locks(db.stats().transactions[0].number);
        let keys: Vec<_> = held.iter().map(|lock| lock.key.as_deref()).collect();
        assert_eq!(keys, [None, Some(&b"a"[..]), Some(b"b")], "{held:?}");
    }
    let mut serializable = db.begin_with(locking(Isolation::Serializable, LONG));
    let refused = serializable.unlock_since(0).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Invalid);
    let mut optimistic = db.begin();
    assert_eq!(optimistic.lock_place(), 0);
    assert!(!optimistic.unlock_since(0).unwrap());
}

#[test]
fn what_a_prepared_transaction_keeps_from_others_is_listed_also_after_a_start() {
    // Keys that it writes to, and one that it read to write elsewhere; none once it has ended.
    let (dir, db) = opened();
    let ships = db.keyspace("ships").unwrap();
    let mut tx = db.begin_with(locking(Isolation::Snapshot, Duration::ZERO));
    tx.get_for_update(&db, "captain").unwrap();
    for number in 0..1100 {
        tx.put(&ships, format!("ship {number:04}"), "").unwrap();
    }
    drop(tx.prepare("sails").unwrap());
    let all = db.prepared()[0].claim_count;
    let listed = |db: &Db| {
        let held = db.prepared_locks("sails").unwrap();
        assert!(held.iter().all(|lock| lock.held < LONG));
        let told = held.into_iter().map(|lock| {
            let key = String::from_utf8(lock.key.unwrap()).unwrap();
            (lock.keyspace.unwrap(), key, lock.mode)
        });
        told.collect::<Vec<_>>()
    };
    let before = listed(&db);
    assert_eq!((all, before.len()), (1101, 1024));
    let is = |place: usize, keyspace: &str, key: &str, mode| {
        before[place] == (keyspace.to_owned(), key.to_owned(), mode)
    };
    assert!(is(0, "default", "captain", "S"));
    assert!(is(1, "ships", "ship 0000", "X") && is(1023, "ships", "ship 1022", "X"));
    drop(ships);
    db.close().unwrap();
    let db = Db::open(dir.path()).unwrap();
    assert_eq!(listed(&db), before);
    db.rollback_prepared("sails").unwrap();
    let error = db.prepared_locks("sails").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
}

#[test]
fn held_locks_are_listed_also_while_their_owner_waits() {
    // With mode and keyspace; none of one that has ended.
    let (_dir, db) = opened();
    let (first, mut second) = (at_once(&db), patient(&db));
    first.get_for_share(&db, "a").unwrap();
    second.set_owner("second");
    second.get_for_update(&db, "b").unwrap();
    let (listed, number) = thread::scope(|scope| {
        let waits = scope.spawn(|| second.put(&db, "a", "2"));
        until_somebody_waits(&db);
        let owners = db.stats().transactions;
        let number = owners
            .iter()
            .find(|one| one.owner.is_some())
            .unwrap()
            .number;
        let listed = db.held_locks(number);
        drop(first);
        waits.join().unwrap().unwrap();
        (listed, number)
    });
    let told: Vec<_> = listed
        .iter()
        .map(|lock| (lock.mode, lock.key.as_deref()))
        .collect();
    assert_eq!(told, [("IX", None), ("X", Some(&b"b"[..]))]);
    assert!(
        listed
            .iter()
            .all(|lock| lock.keyspace.as_deref() == Some("default"))
    );
    assert_eq!(db.held_locks(number).len(), 3);
    second.rollback();
    assert_eq!(db.held_locks(number), []);
}
