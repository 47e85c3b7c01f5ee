//! Tests of `joint_work`.
#![allow(clippy::disallowed_methods, reason = "only real threads meet")]

use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use super::*;
use crate::base::types::error::{Error, ErrorKind};
use crate::env::real::pool::RealPool;
use crate::env::sim::world::SimWorld;

// Has the caller and one other thread meet, and do what belongs to each of them.
fn both(
    own: impl Fn() -> Result<()> + Send + Sync + 'static,
    other: impl Fn() -> Result<()> + Send + Sync + 'static,
) -> Result<()> {
    let caller = thread::current().id();
    let met = Barrier::new(2);
    let share = move || {
        met.wait();
        match thread::current().id() == caller {
            true => own(),
            false => other(),
        }
    };
    do_jointly(&RealPool::new(1), "test", Arc::new(share))
}

fn refused(text: &str) -> Result<()> {
    Err(Error::invalid(text))
}

#[test]
fn a_thread_that_is_free_does_its_share() {
    both(|| Ok(()), || Ok(())).unwrap();
    let told = |done: Result<()>| done.unwrap_err().message().to_owned();
    assert_eq!(told(both(|| refused("own"), || refused("other"))), "own");
    assert_eq!(told(both(|| refused("own"), || Ok(()))), "own");
    assert_eq!(told(both(|| Ok(()), || refused("other"))), "other");
}

#[test]
fn where_nobody_is_free_the_caller_does_everything() {
    let world = SimWorld::new(1);
    let count = Arc::new(AtomicUsize::new(0));
    let share = {
        let count = Arc::clone(&count);
        move || {
            count.fetch_add(1, Ordering::SeqCst);
            Ok(())
        }
    };
    do_jointly(&*world.pool, "test", Arc::new(share)).unwrap();
    // Whoever comes later finds nothing, and keeps nothing.
    assert_eq!(Arc::strong_count(&count), 1);
    assert_eq!(world.pool.pending_count(), 1);
    world.pool.run_all();
    assert_eq!(count.load(Ordering::SeqCst), 1);
}

#[test]
fn a_panic_comes_to_the_caller() {
    let caught = |work: &dyn Fn() -> Result<()>| catch_unwind(AssertUnwindSafe(work));
    let panic = caught(&|| both(|| Ok(()), || panic!("of the other"))).unwrap_err();
    assert_eq!(user_code::panic_text(panic), "of the other");
    // The code of a user's is told by its name.
    let ended = both(|| Ok(()), || user_code::run(|| panic!("of an order")));
    let error = ended.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
    assert!(error.message().contains("of an order"), "{error}");
}

#[test]
fn who_panics_waits_for_the_other() {
    let is_done = Arc::new(AtomicBool::new(false));
    let other = {
        let is_done = Arc::clone(&is_done);
        move || {
            (0..1000).for_each(|_| thread::yield_now());
            is_done.store(true, Ordering::SeqCst);
            Ok(())
        }
    };
    let work = || both(|| panic!("own"), other);
    catch_unwind(AssertUnwindSafe(work)).unwrap_err();
    assert!(is_done.load(Ordering::SeqCst));
}
