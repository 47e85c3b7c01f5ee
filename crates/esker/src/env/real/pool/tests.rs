//! Tests of `pool`.

use std::io;
use std::sync::{Arc, Barrier};

use super::*;

// Long enough that only a broken pool ever waits it out.
const PATIENCE: Duration = Duration::from_secs(60);

fn meet_and_raise(meeting: &Arc<Barrier>, done: &Arc<Signal>) -> Job {
    let (meeting, done) = (Arc::clone(meeting), Arc::clone(done));
    Box::new(move || {
        meeting.wait();
        done.raise();
    })
}

#[test]
fn a_flush_does_not_wait_for_compactions() {
    // Every thread for compactions is taken until the flush has run.
    let pool = RealPool::new(2);
    let (meeting, done) = (Arc::new(Barrier::new(3)), Arc::new(Signal::default()));
    for _ in 0..2 {
        pool.spawn(Priority::Low, "compact", meet_and_raise(&meeting, &done));
    }
    pool.spawn(Priority::High, "flush", meet_and_raise(&meeting, &done));
    while done.raised_count() < 3 {
        let seen = done.raised_count();
        assert!(pool.wait(&done, seen, PATIENCE), "{pool:?}");
    }
    assert_eq!(pool.thread_count(), 2);
}

#[test]
fn trouble_of_either_kind_is_told() {
    // A panic ends its job alone; the first one of an urgent job is told before others.
    for priority in [Priority::Low, Priority::High] {
        let pool = RealPool::new(1);
        assert_eq!(pool.first_trouble(), None);
        pool.spawn(priority, "breaks", Box::new(|| panic!("number {}", 1)));
        // It is kept a moment after the job has ended.
        let done = Arc::new(Signal::default());
        for seen in 0..1_000_000 {
            if pool.first_trouble().is_some() {
                break;
            }
            let alone = Arc::new(Barrier::new(1));
            pool.spawn(priority, "works", meet_and_raise(&alone, &done));
            assert!(pool.wait(&done, seen, PATIENCE), "{pool:?}");
        }
        let trouble = pool.first_trouble().unwrap();
        assert_eq!(trouble, "the job \"breaks\" panicked: number 1");
    }
}

/// A pool whose threads the system refuses to start, as it does beyond `ulimit -u`.
fn without_threads() -> RealPool {
    let team = |name| Team::with_start(name, 1, |_, _| Err(io::ErrorKind::WouldBlock.into()));
    RealPool {
        urgent: team("esker-urgent"),
        patient: team("esker"),
        events: team("esker-events"),
        hooks: team("esker-hooks"),
    }
}

#[test]
fn who_waits_does_the_work_where_no_thread_can_be_started() {
    // Beyond `ulimit -u` a write, and the closing behind it, waited for ever for their flush. Here
    // jobs of both kinds, one of them for later, one that panics and one that waits for another.
    let pool = Arc::new(without_threads());
    let done = Arc::new(Signal::default());
    let raise = || {
        let done = Arc::clone(&done);
        Box::new(move || done.raise())
    };
    pool.spawn(Priority::Low, "breaks", Box::new(|| panic!("alone")));
    pool.spawn(Priority::Low, "compact", raise());
    pool.spawn(Priority::High, "flush", raise());
    pool.spawn_after(Duration::from_millis(1), Priority::High, "look", raise());
    let (inside, merged) = (Arc::clone(&pool), Arc::new(Signal::default()));
    let raised = Arc::clone(&merged);
    let merge = move || {
        inside.spawn(Priority::Low, "pack", Box::new(move || raised.raise()));
        assert!(inside.wait(&merged, 0, PATIENCE));
    };
    pool.spawn(Priority::Low, "merge", Box::new(merge));
    pool.spawn(Priority::Low, "compact", raise());
    for _ in 0..6_000 {
        if done.raised_count() == 4 {
            break;
        }
        pool.wait(&done, done.raised_count(), Duration::from_millis(10));
    }
    assert_eq!(done.raised_count(), 4, "{pool:?}");
    let trouble = pool.first_trouble().unwrap();
    assert!(
        trouble.starts_with("cannot start a background thread: "),
        "{trouble}"
    );
}
