//! Tests of the moments that a transaction chooses, and of keys that are locked together.
#![allow(clippy::disallowed_methods, reason = "only real threads wait")]

use std::thread;
use std::time::Duration;

use crate::base::options::call::{
    Isolation, ReadOptions, TransactionMode, TransactionOptions, WriteOptions,
};
use crate::base::types::error::ErrorKind;
use crate::db::handle::Db;
use crate::db::transaction::Transaction;

const LEVELS: [Isolation; 3] = [
    Isolation::ReadCommitted,
    Isolation::Snapshot,
    Isolation::Serializable,
];

fn begin(db: &Db, isolation: Isolation, mode: TransactionMode) -> Transaction {
    db.begin_with(TransactionOptions {
        isolation,
        mode,
        lock_timeout: Duration::ZERO,
    })
}

fn opened() -> (tempfile::TempDir, Db) {
    let dir = tempfile::tempdir().unwrap();
    let db = Db::open(dir.path()).unwrap();
    db.put("a", "1").unwrap();
    (dir, db)
}

fn keys(entries: crate::db::iterator::Iter) -> Vec<String> {
    let keys = entries.map(|entry| String::from_utf8(entry.unwrap().0.to_vec()).unwrap());
    keys.collect()
}

#[test]
fn a_statement_reads_one_moment_and_locks_what_there_is() {
    let (_dir, db) = opened();
    for mode in [TransactionMode::Locking, TransactionMode::Optimistic] {
        db.put("a", "1").unwrap();
        db.delete("b").unwrap();
        let mut tx = begin(&db, Isolation::ReadCommitted, mode);
        tx.set_snapshot().unwrap();
        tx.put(&db, "own", "x").unwrap();
        db.put("a", "2").unwrap();
        db.put("b", "2").unwrap();
        // What is flushed and compacted since is read as it was.
        db.flush().unwrap();
        db.compact::<&[u8]>(..).unwrap();
        assert_eq!(tx.get("a").unwrap().unwrap(), "1");
        assert!(!tx.contains_key("b").unwrap());
        assert_eq!(
            tx.multi_get(&["a", "b"]).unwrap()[0].as_deref(),
            Some(&b"1"[..])
        );
        assert_eq!(keys(tx.iter().unwrap()), ["a", "own"]);
        assert_eq!(keys(tx.latest(&db).iter().unwrap()), ["a", "b", "own"]);
        assert_eq!(tx.get_for_update(&db, "a").unwrap().unwrap(), "2");
        let found = tx.multi_get_for_update(&db, &["b", "a", "b", "c"]).unwrap();
        let found: Vec<_> = found.iter().map(Option::as_deref).collect();
        let two = Some(&b"2"[..]);
        assert_eq!(found, [two, two, two, None]);
        // The next statement.
        let mut iter = tx.iter().unwrap();
        tx.set_snapshot().unwrap();
        assert_eq!(tx.get("a").unwrap().unwrap(), "2");
        assert_eq!(
            iter.next().unwrap().unwrap().1,
            "1",
            "it shows its own moment"
        );
        drop(iter);
        tx.clear_snapshot().unwrap();
        let now = db.with_write(WriteOptions {
            no_wait: true,
            ..WriteOptions::default()
        });
        now.put("c", "3").unwrap_or_else(|error| {
            // The locking one has it.
            assert_eq!(error.kind(), ErrorKind::Busy);
        });
        let seen = tx.get("c").unwrap().is_some();
        assert_eq!(seen, mode == TransactionMode::Optimistic);
        drop(tx);
        assert!(
            db.stats().snapshots.is_empty(),
            "nothing of the past is kept"
        );
        db.delete("c").unwrap();
    }
}

#[test]
fn a_moment_ends_with_its_transaction_however_that_ends() {
    let (_dir, db) = opened();
    for ends in 0..3 {
        let mut tx = begin(&db, Isolation::ReadCommitted, TransactionMode::Locking);
        for _ in 0..3 {
            tx.set_snapshot().unwrap();
            assert_eq!(db.stats().snapshots.len(), 1, "one at a time");
        }
        tx.put(&db, format!("b{ends}"), "1").unwrap();
        match ends {
            0 => tx.commit().unwrap(),
            1 => drop(tx.prepare("one").unwrap()),
            _ => tx.rollback(),
        }
        assert!(db.stats().snapshots.is_empty());
    }
    db.rollback_prepared("one").unwrap();
}

#[test]
fn what_others_wrote_since_the_moment_is_no_conflict() {
    let (_dir, db) = opened();
    let mut tx = begin(&db, Isolation::ReadCommitted, TransactionMode::Locking);
    tx.set_snapshot().unwrap();
    db.put("a", "2").unwrap();
    let found = tx.get_for_update(&db, "a").unwrap().unwrap();
    tx.put(&db, "a", [&found[..], b"+"].concat()).unwrap();
    tx.commit().unwrap();
    assert_eq!(db.get("a").unwrap().unwrap(), "2+");
    // One that locks nothing is told of what came since it read to write, and of nothing else.
    for is_late in [false, true] {
        let mut tx = begin(&db, Isolation::ReadCommitted, TransactionMode::Optimistic);
        tx.set_snapshot().unwrap();
        db.put("a", "3").unwrap();
        tx.get_for_update(&db, "a").unwrap();
        if is_late {
            db.put("a", "4").unwrap();
        }
        tx.put(&db, "a", "5").unwrap();
        let told = tx.commit().map_err(|error| error.kind());
        assert_eq!(
            told,
            if is_late {
                Err(ErrorKind::Conflict)
            } else {
                Ok(())
            }
        );
    }
}

#[test]
fn a_snapshot_for_good_is_chosen_once() {
    let (_dir, db) = opened();
    for isolation in [Isolation::Snapshot, Isolation::Serializable] {
        db.put("a", "1").unwrap();
        let mut tx = begin(&db, isolation, TransactionMode::Locking);
        tx.set_snapshot().unwrap();
        db.put("a", "2").unwrap();
        let refused = tx.set_snapshot().unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Invalid);
        tx.clear_snapshot().unwrap();
        assert_eq!(tx.get("a").unwrap().unwrap(), "1");
        let mut optimistic = begin(&db, isolation, TransactionMode::Optimistic);
        let refused = optimistic.set_snapshot().unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Invalid);
    }
}

#[test]
fn the_latest_is_not_what_a_serializable_one_may_read() {
    let (_dir, db) = opened();
    for isolation in LEVELS {
        for mode in [TransactionMode::Locking, TransactionMode::Optimistic] {
            db.put("a", "1").unwrap();
            let mut tx = begin(&db, isolation, mode);
            assert_eq!(tx.get("a").unwrap().unwrap(), "1");
            tx.put(&db, "own", "x").unwrap();
            if isolation == Isolation::Serializable {
                let refused = tx.latest(&db).get("a").unwrap_err();
                assert_eq!(refused.kind(), ErrorKind::Invalid);
                let refused = tx.latest(&db).iter().err().unwrap();
                assert_eq!(refused.kind(), ErrorKind::Invalid);
                continue;
            }
            db.put("a", "2").unwrap();
            let latest = tx.latest(&db);
            assert_eq!(latest.get("a").unwrap().unwrap(), "2");
            assert_eq!(latest.last().unwrap().unwrap().0, "own");
            let mut cursor = latest.cursor().unwrap();
            assert!(cursor.refresh().is_err(), "a transaction makes another one");
            drop(cursor);
            // Looking is nothing that the commit depends on.
            db.put("a", "3").unwrap();
            tx.commit().unwrap();
        }
    }
}

#[test]
fn keys_are_locked_together_or_as_far_as_they_came() {
    let (_dir, db) = opened();
    let first = begin(&db, Isolation::ReadCommitted, TransactionMode::Locking);
    first.get_for_update(&db, "b").unwrap();
    let mut second = begin(&db, Isolation::ReadCommitted, TransactionMode::Locking);
    second.set_savepoint();
    let refused = second.multi_get_for_update(&db, &["c", "b", "a"]);
    assert_eq!(refused.unwrap_err().kind(), ErrorKind::LockTimeout);
    // In their order: "a" was had, "c" not come to.
    let third = begin(&db, Isolation::ReadCommitted, TransactionMode::Locking);
    assert!(third.get_for_update(&db, "a").is_err());
    third.get_for_update(&db, "c").unwrap();
    second.rollback_to_savepoint().unwrap();
    third.get_for_update(&db, "a").unwrap();
}

#[test]
fn two_who_want_the_same_keys_do_not_meet_head_on() {
    let (_dir, db) = opened();
    let patient = TransactionOptions {
        isolation: Isolation::ReadCommitted,
        mode: TransactionMode::Locking,
        lock_timeout: Duration::from_secs(600),
    };
    let threads = [["a", "b", "c"], ["c", "b", "a"]].map(|keys| {
        let db = db.clone();
        thread::spawn(move || {
            for _ in 0..200 {
                let tx = db.begin_with(patient);
                tx.multi_get_for_update(&db, &keys).unwrap();
                tx.commit().unwrap();
            }
        })
    });
    for thread in threads {
        thread.join().unwrap();
    }
    assert_eq!(db.stats().locks.deadlock_count, 0);
}

#[test]
fn reads_of_a_handle_are_done_as_it_was_told() {
    let (_dir, db) = opened();
    db.flush().unwrap();
    let once = db.with_read(ReadOptions {
        fill_cache: false,
        ..ReadOptions::default()
    });
    let cached = || {
        let memory = db.stats().memory;
        memory
            .iter()
            .find(|(owner, _)| *owner == "block_cache")
            .unwrap()
            .1
    };
    let (snapshot, tx) = (db.snapshot(), db.begin());
    let before = cached();
    assert_eq!(snapshot.of(&once).get("a").unwrap().unwrap(), "1");
    assert_eq!(tx.of(&once).get("a").unwrap().unwrap(), "1");
    assert_eq!(tx.latest(&once).get("a").unwrap().unwrap(), "1");
    assert_eq!(cached(), before);
    assert_eq!(tx.get("a").unwrap().unwrap(), "1");
    assert!(cached() > before);
}
