//! Who waits for what a prepared transaction claims, and how that ends.

use std::time::Duration;

use esker::internals::env::clock::Clock;
use esker::internals::env::pool::{Pool, Priority};
use esker::internals::env::sim::SimWorld;
use esker::{
    Db, Durability, ErrorKind, Isolation, TransactionMode, TransactionOptions, WriteOptions,
};

use crate::two_phases::open;

fn prepare(db: &Db, key: &str) {
    let mut tx = db.begin();
    tx.put(db, key, "prepared").unwrap();
    drop(tx.prepare("the id").unwrap());
}

/// Has that done while somebody waits: on a simulated machine jobs run where somebody does.
fn meanwhile(world: &SimWorld, act: impl FnOnce() + Send + 'static) {
    world.pool.spawn(Priority::Low, "meanwhile", Box::new(act));
}

fn locking(lock_timeout: Duration) -> TransactionOptions {
    TransactionOptions {
        mode: TransactionMode::Locking,
        isolation: Isolation::Snapshot,
        lock_timeout,
    }
}

#[test]
fn a_plain_write_waits_until_the_claim_ends() {
    for is_committed in [false, true] {
        let world = SimWorld::new(1);
        let db = open(&world.env());
        prepare(&db, "a");
        let own = db.clone();
        meanwhile(&world, move || match is_committed {
            true => own.commit_prepared("the id").unwrap(),
            false => own.rollback_prepared("the id").unwrap(),
        });
        let since = world.clock.monotonic();
        db.put("a", "plain").unwrap();
        assert_eq!(world.clock.monotonic(), since, "it was woken");
        assert_eq!(db.get("a").unwrap().unwrap(), "plain");
    }
}

#[test]
fn it_waits_its_second_and_is_told_for_whom() {
    let world = SimWorld::new(2);
    let db = open(&world.env());
    prepare(&db, "a");
    let since = world.clock.monotonic();
    let batch = || db.batch().put(&db, "b", "1").put(&db, "a", "1").commit();
    for write in [batch(), db.delete_range("0".."z")] {
        let error = write.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::LockTimeout);
        let told = error.to_string();
        assert!(
            told.contains("\"the id\"") && told.contains("1.000 s"),
            "{told}"
        );
    }
    assert_eq!(world.clock.monotonic() - since, Duration::from_secs(2));
    assert!(!db.contains_key("b").unwrap());
    let error = db.compare_and_swap("a", None, Some(b"1")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::LockTimeout);
}

#[test]
fn who_waits_for_nobody_is_refused_at_once() {
    let world = SimWorld::new(3);
    let db = open(&world.env());
    prepare(&db, "a");
    let since = world.clock.monotonic();
    let at_once = db.with_write(WriteOptions {
        durability: Some(Durability::Buffered),
        no_wait: true,
    });
    let error = at_once.put("a", "1").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Busy);
    assert!(error.to_string().contains("\"the id\""), "{error}");
    let mut tx = db.begin();
    tx.put(&db, "a", "1").unwrap();
    assert_eq!(tx.commit().unwrap_err().kind(), ErrorKind::Conflict);
    let mut tx = db.begin();
    tx.put(&db, "a", "1").unwrap();
    let refused = tx.prepare("another").map(drop).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Conflict);
    let mut tx = db.begin_with(locking(Duration::ZERO));
    let refused = tx.put(&db, "a", "1").unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::LockTimeout);
    assert_eq!(world.clock.monotonic(), since);
}

#[test]
fn a_locking_transaction_sees_what_it_waited_for() {
    let world = SimWorld::new(4);
    let db = open(&world.env());
    prepare(&db, "a");
    let own = db.clone();
    meanwhile(&world, move || own.commit_prepared("the id").unwrap());
    let mut tx = db.begin_with(locking(Duration::from_secs(1)));
    let seen = tx.get_for_update(&db, "a").unwrap();
    assert_eq!(seen.unwrap(), "prepared");
    tx.put(&db, "a", "after it").unwrap();
    tx.commit().unwrap();
    assert_eq!(db.get("a").unwrap().unwrap(), "after it");
}

#[test]
fn it_waits_its_own_time_and_may_go_on() {
    let world = SimWorld::new(5);
    let db = open(&world.env());
    prepare(&db, "a");
    let mut tx = db.begin_with(locking(Duration::from_secs(3)));
    let since = world.clock.monotonic();
    let error = tx.put(&db, "a", "1").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::LockTimeout);
    assert!(error.to_string().contains("3.000 s"), "{error}");
    assert_eq!(world.clock.monotonic() - since, Duration::from_secs(3));
    tx.put(&db, "b", "1").unwrap();
    tx.commit().unwrap();
    assert!(db.contains_key("b").unwrap() && !db.contains_key("a").unwrap());
}

#[test]
fn what_holds_no_claim_is_written_while_another_waits() {
    // Who waits for a claim has no locks meanwhile, and large values are not written again for
    // each that ends.
    let world = SimWorld::new(6);
    let db = open(&world.env());
    prepare(&db, "a");
    let held = db.begin_with(locking(Duration::from_secs(1)));
    let own = db.clone();
    meanwhile(&world, move || {
        let mut held = held;
        held.put(&own, "b", "locked").unwrap();
        held.commit().unwrap();
        own.commit_prepared("the id").unwrap();
    });
    db.batch()
        .put(&db, "a", "1")
        .put(&db, "b", "2")
        .commit()
        .unwrap();
    assert_eq!(db.get("b").unwrap().unwrap(), "2");
}

#[test]
fn closing_tells_who_waits() {
    let world = SimWorld::new(7);
    let db = open(&world.env());
    prepare(&db, "a");
    let own = db.clone();
    meanwhile(&world, move || own.close().unwrap());
    let error = db.put("a", "1").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Closed);
}
