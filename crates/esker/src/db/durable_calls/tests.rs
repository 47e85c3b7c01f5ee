//! Tests of `durable_calls`.

use std::sync::{Arc, Mutex};

use super::*;
use crate::env::sim::SimWorld;

type Heard = Arc<Mutex<Vec<(u32, bool)>>>;

fn call(number: u32, heard: &Heard) -> DurableCall {
    let heard = Arc::clone(heard);
    Box::new(move |durable| heard.lock().unwrap().push((number, durable.is_ok())))
}

#[test]
fn one_job_serves_all_who_came_before_it_and_a_panic_harms_none() {
    let (calls, heard, syncs) = (DurableCalls::default(), Heard::default(), Mutex::new(0));
    let sync = || {
        *syncs.lock().unwrap() += 1;
        Ok(())
    };
    assert!(calls.add(call(1, &heard)).unwrap());
    assert!(!calls.add(Box::new(|_| panic!("mine"))).unwrap());
    assert!(!calls.add(call(2, &heard)).unwrap());
    calls.run(sync);
    assert_eq!(*heard.lock().unwrap(), [(1, true), (2, true)]);
    assert_eq!(*syncs.lock().unwrap(), 1);
    assert!(calls.trouble().unwrap().ends_with("(1 in all): mine"));
    // A job that came too late does nothing; the next who asks has one of its own.
    calls.run(sync);
    assert_eq!(*syncs.lock().unwrap(), 1);
    assert!(calls.add(call(3, &heard)).unwrap());
}

#[test]
fn who_asks_while_others_are_called_has_a_sync_of_its_own() {
    // The one before may have begun before what it asks about was written.
    let (calls, heard) = (Arc::new(DurableCalls::default()), Heard::default());
    let (own, own_heard) = (Arc::clone(&calls), Heard::clone(&heard));
    let first: DurableCall = Box::new(move |_| {
        assert!(own.is_calling_here() && own.refuse_call().is_err());
        assert!(!own.add(call(2, &own_heard)).unwrap());
    });
    assert!(calls.add(first).unwrap());
    let outcomes = Mutex::new(vec![Err(Error::invalid("second")), Ok(())]);
    let sync = || outcomes.lock().unwrap().pop().expect("two syncs");
    // In a job of its own, so that who asks again and again lets others have their turn.
    assert!(calls.run(sync) && heard.lock().unwrap().is_empty());
    assert!(!calls.run(sync));
    assert_eq!(*heard.lock().unwrap(), [(2, false)]);
    assert!(calls.trouble().is_none() && !calls.is_calling_here());
}

#[test]
fn the_end_calls_what_no_job_came_to() {
    let (calls, heard, world) = (DurableCalls::default(), Heard::default(), SimWorld::new(1));
    assert!(calls.add(call(1, &heard)).unwrap());
    calls.end(&*world.pool, || Ok(()));
    assert_eq!(*heard.lock().unwrap(), [(1, true)]);
    let refused = calls.add(call(2, &heard)).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Closed);
}

#[test]
fn a_sync_that_panics_leaves_the_calls_to_who_closes() {
    let (calls, heard, world) = (DurableCalls::default(), Heard::default(), SimWorld::new(2));
    assert!(calls.add(call(1, &heard)).unwrap());
    let run = || calls.run(|| panic!("a sync"));
    assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).is_err());
    assert!(!calls.add(call(2, &heard)).unwrap());
    calls.end(&*world.pool, || Err(Error::invalid("after a panic")));
    assert_eq!(*heard.lock().unwrap(), [(1, false), (2, false)]);
}
