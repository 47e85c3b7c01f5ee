//! Tests of locks of keyspaces as a whole, and of what a refused one leaves.

use std::time::Duration;

use crate::base::options::call::{Isolation, TransactionMode, TransactionOptions, WriteOptions};
use crate::base::types::error::{ErrorKind, Result};
use crate::db::handle::Db;
use crate::db::transaction::Transaction;

fn begin(db: &Db, mode: TransactionMode) -> Transaction {
    db.begin_with(TransactionOptions {
        isolation: Isolation::ReadCommitted,
        mode,
        lock_timeout: Duration::ZERO,
    })
}

fn locking(db: &Db) -> Transaction {
    begin(db, TransactionMode::Locking)
}

fn opened() -> (tempfile::TempDir, Db) {
    let dir = tempfile::tempdir().unwrap();
    let db = Db::open(dir.path()).unwrap();
    db.put("a", "1").unwrap();
    (dir, db)
}

fn kind<T>(done: Result<T>) -> Option<ErrorKind> {
    done.err().map(|error| error.kind())
}

const TIMEOUT: Option<ErrorKind> = Some(ErrorKind::LockTimeout);

#[test]
fn who_has_a_keyspace_alone_takes_no_other_lock_in_it() {
    let (_dir, db) = opened();
    let other = db.keyspace("other").unwrap();
    let now = db.with_write(WriteOptions {
        no_wait: true,
        ..WriteOptions::default()
    });
    let (mut tx, mut writer) = (locking(&db), locking(&db));
    tx.lock_keyspace_for_update(&db).unwrap();
    for number in 0..1_000 {
        tx.put(&db, format!("key {number:03}"), "1").unwrap();
    }
    tx.get_for_update(&db, "a").unwrap();
    tx.delete_range(&db, "a", "b").unwrap();
    assert_eq!(db.stats().locks.held_count, 1);
    // Nobody else locks there, by whatever way.
    assert_eq!(kind(now.put("z", "1")), Some(ErrorKind::Busy));
    assert_eq!(kind(writer.put(&db, "z", "1")), TIMEOUT);
    assert_eq!(kind(writer.get_for_update(&db, "z")), TIMEOUT);
    assert_eq!(kind(writer.lock_keyspace_for_share(&db)), TIMEOUT);
    let mut optimistic = begin(&db, TransactionMode::Optimistic);
    optimistic.put(&db, "z", "1").unwrap();
    assert_eq!(kind(optimistic.commit()), Some(ErrorKind::Conflict));
    // Reads go on, and so does everything elsewhere.
    assert_eq!(db.get("a").unwrap().unwrap(), "1");
    writer.put(&other, "z", "1").unwrap();
    writer.commit().unwrap();
    tx.commit().unwrap();
    assert_eq!(db.iter().unwrap().count(), 1_000);
    now.put("z", "1").unwrap();
}

#[test]
fn what_is_shared_as_a_whole_stays_as_it_is() {
    let (_dir, db) = opened();
    let (first, second, mut writer) = (locking(&db), locking(&db), locking(&db));
    first.lock_keyspace_for_share(&db).unwrap();
    second.lock_keyspace_for_share(&db).unwrap();
    let before = first.iter().unwrap().count();
    assert_eq!(kind(writer.put(&db, "b", "1")), TIMEOUT);
    assert_eq!(kind(writer.delete_range(&db, "a", "b")), TIMEOUT);
    assert_eq!(first.iter().unwrap().count(), before);
    // While another shares it, nobody has it alone.
    assert_eq!(kind(first.lock_keyspace_for_update(&db)), TIMEOUT);
    drop(second);
    first.lock_keyspace_for_update(&db).unwrap();
    drop(first);
    writer.put(&db, "b", "1").unwrap();
    // And while one writes inside, nobody shares it.
    let third = locking(&db);
    assert_eq!(kind(third.lock_keyspace_for_share(&db)), TIMEOUT);
    writer.commit().unwrap();
    third.lock_keyspace_for_share(&db).unwrap();
}

#[test]
fn a_savepoint_gives_back_a_row_or_a_whole_that_is_not_wanted() {
    let (_dir, db) = opened();
    let (mut tx, other) = (locking(&db), locking(&db));
    tx.put(&db, "kept", "1").unwrap();
    for key in ["x", "y", "z"] {
        // A row is locked, looked at, and let go, as by a statement whose condition it fails.
        tx.set_savepoint();
        tx.get_for_update(&db, key).unwrap();
        assert_eq!(kind(other.get_for_update(&db, key)), TIMEOUT);
        tx.rollback_to_savepoint().unwrap();
        other.get_for_update(&db, key).unwrap();
    }
    drop(other);
    tx.set_savepoint();
    tx.lock_keyspace_for_update(&db).unwrap();
    let other = locking(&db);
    assert_eq!(kind(other.get_for_update(&db, "x")), TIMEOUT);
    tx.rollback_to_savepoint().unwrap();
    other.get_for_update(&db, "x").unwrap();
    assert_eq!(kind(other.get_for_update(&db, "kept")), TIMEOUT);
}

#[test]
fn who_locks_nothing_is_told_so() {
    let (_dir, db) = opened();
    let tx = begin(&db, TransactionMode::Optimistic);
    let invalid = Some(ErrorKind::Invalid);
    assert_eq!(kind(tx.lock_keyspace_for_update(&db)), invalid);
    assert_eq!(kind(tx.lock_keyspace_for_share(&db)), invalid);
}

#[test]
fn what_is_claimed_is_waited_for_and_leaves_no_lock() {
    let (_dir, db) = opened();
    let mut prepared = locking(&db);
    prepared.put(&db, "a", "2").unwrap();
    let prepared = prepared.prepare("one").unwrap();
    let tx = locking(&db);
    assert_eq!(kind(tx.lock_keyspace_for_update(&db)), TIMEOUT);
    assert_eq!(kind(tx.lock_keyspace_for_share(&db)), TIMEOUT);
    assert_eq!(kind(tx.get_for_update(&db, "a")), TIMEOUT);
    // Refused, it has what it had: nothing.
    assert_eq!(db.stats().locks.held_count, 0);
    prepared.commit().unwrap();
    let other = locking(&db);
    assert_eq!(other.get_for_update(&db, "a").unwrap().unwrap(), "2");
    drop(other);
    tx.lock_keyspace_for_update(&db).unwrap();
    assert_eq!(tx.get("a").unwrap().unwrap(), "2");
}
