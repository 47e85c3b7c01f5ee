//! Tests of `pool`.

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
