//! Tests of `pool`.

use std::collections::BTreeSet;

use super::*;
use crate::env::clock::Clock;

fn new_pool(seed: u64, order: JobOrder) -> (Arc<SimClock>, Arc<SimPool>) {
    let clock = Arc::new(SimClock::new());
    let pool = SimPool::new(Arc::clone(&clock), seed, order, 2);
    (clock, Arc::new(pool))
}

// Runs three low and two high jobs; returns the order in which they ran.
fn run_five(seed: u64, order: JobOrder) -> Vec<u32> {
    let (_, pool) = new_pool(seed, order);
    let ran = Arc::new(Mutex::new(Vec::new()));
    for number in 0..5 {
        let ran = Arc::clone(&ran);
        let priority = if number < 3 {
            Priority::Low
        } else {
            Priority::High
        };
        let job = Box::new(move || ran.lock().unwrap().push(number));
        pool.spawn(priority, "numbered", job);
    }
    assert_eq!(pool.pending_count(), 5);
    pool.run_all();
    assert_eq!((pool.pending_count(), pool.run_count()), (0, 5));
    let ran = ran.lock().unwrap();
    ran.clone()
}

#[test]
fn the_seed_decides_which_job_is_next() {
    // The same seed gives the same order; some seeds let a low job overtake, if allowed.
    let orders: BTreeSet<Vec<u32>> = (0..200)
        .map(|seed| run_five(seed, JobOrder::AnyPriority))
        .collect();
    assert!(orders.len() > 50);
    assert!(orders.iter().any(|order| order[0] < 3));
    for seed in 0..200 {
        let order = run_five(seed, JobOrder::ByPriority);
        assert!(order[..2].iter().all(|number| *number >= 3), "{order:?}");
        assert_eq!(order, run_five(seed, JobOrder::ByPriority));
    }
}

#[test]
fn waiting_runs_jobs_until_the_signal_comes() {
    // A writer waits for a flush: the flush runs, what is behind it stays. A job spawns a job.
    let (clock, pool) = new_pool(1, JobOrder::ByPriority);
    let signal = Arc::new(Signal::default());
    let (raised, inner_pool) = (Arc::clone(&signal), Arc::clone(&pool));
    let first = Box::new(move || {
        let second = Box::new(move || raised.raise());
        inner_pool.spawn(Priority::High, "second", second);
    });
    pool.spawn(Priority::High, "first", first);
    pool.spawn(Priority::Low, "later", Box::new(|| {}));
    assert!(pool.wait(&signal, 0, Duration::from_secs(1)));
    assert_eq!(pool.pending_names(), ["later"]);
    assert_eq!(clock.monotonic(), Duration::ZERO);
}

#[test]
fn waiting_for_nothing_moves_the_clock() {
    // No job can raise the signal, so the whole timeout passes.
    let (clock, pool) = new_pool(1, JobOrder::AnyPriority);
    let signal = Signal::default();
    pool.spawn(Priority::Low, "unrelated", Box::new(|| {}));
    assert!(!pool.wait(&signal, 0, Duration::from_secs(5)));
    assert_eq!(pool.pending_count(), 0);
    assert_eq!(clock.monotonic(), Duration::from_secs(5));
    signal.raise();
    assert!(pool.wait(&signal, 0, Duration::from_secs(5)));
    assert_eq!(clock.monotonic(), Duration::from_secs(5));
}

#[test]
fn dropped_jobs_never_run() {
    // A killed process takes its queue with it.
    let (_, pool) = new_pool(1, JobOrder::AnyPriority);
    pool.spawn(Priority::Low, "never", Box::new(|| panic!("it ran")));
    assert_eq!(pool.drop_all(), 1);
    assert!(!pool.run_one());
}

#[test]
fn a_job_for_later_runs_when_the_clock_gets_there() {
    // Until then it does not count as work; a wait moves the clock to it and not beyond its end.
    let (clock, pool) = new_pool(1, JobOrder::ByPriority);
    let signal = Arc::new(Signal::default());
    let inside = Arc::clone(&signal);
    let job = Box::new(move || inside.raise());
    pool.spawn_after(Duration::from_secs(3), Priority::High, "later", job);
    pool.run_all();
    assert_eq!((pool.pending_count(), pool.run_count()), (0, 0));
    assert!(!pool.wait(&signal, 0, Duration::from_secs(2)));
    assert_eq!(clock.monotonic(), Duration::from_secs(2));
    assert!(pool.wait(&signal, 0, Duration::from_secs(2)));
    assert_eq!(clock.monotonic(), Duration::from_secs(3));
    assert_eq!(pool.run_count(), 1);
}
