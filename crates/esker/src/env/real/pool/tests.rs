//! Tests of `pool`.

use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;

// Long enough that only a broken pool ever waits it out.
const PATIENCE: Duration = Duration::from_secs(60);

fn wait_for_count(pool: &RealPool, signal: &Signal, count: u64) {
    while signal.raised_count() < count {
        assert!(pool.wait(signal, count - 1, PATIENCE), "{pool:?}");
    }
}

#[test]
fn high_priority_runs_first() {
    // The one thread is kept busy until the queue is full; then flushes overtake compactions.
    let pool = RealPool::new(1);
    let (order, done) = (
        Arc::new(Mutex::new(Vec::new())),
        Arc::new(Signal::default()),
    );
    let gate = Arc::new(Barrier::new(2));
    let gate_inside = Arc::clone(&gate);
    pool.spawn(
        Priority::Low,
        "gate",
        Box::new(move || {
            gate_inside.wait();
        }),
    );
    let jobs = [
        (Priority::Low, 3),
        (Priority::High, 1),
        (Priority::Low, 4),
        (Priority::High, 2),
    ];
    for (priority, number) in jobs {
        let (order, done) = (Arc::clone(&order), Arc::clone(&done));
        let job = move || {
            order.lock().unwrap().push(number);
            done.raise();
        };
        pool.spawn(priority, "numbered", Box::new(job));
    }
    gate.wait();
    wait_for_count(&pool, &done, 4);
    assert_eq!(*order.lock().unwrap(), [1, 2, 3, 4]);
}

#[test]
fn as_many_jobs_run_at_once_as_there_are_threads() {
    // Three jobs that wait for one another get through only together.
    let pool = RealPool::new(3);
    let (meeting, done) = (Arc::new(Barrier::new(3)), Arc::new(Signal::default()));
    for _ in 0..3 {
        let (meeting, done) = (Arc::clone(&meeting), Arc::clone(&done));
        let job = move || {
            meeting.wait();
            done.raise();
        };
        pool.spawn(Priority::Low, "meet", Box::new(job));
    }
    wait_for_count(&pool, &done, 3);
    assert_eq!(pool.thread_count(), 3);
}

#[test]
fn a_panic_ends_only_its_job() {
    // The thread goes on, and the first panic can be read.
    let pool = RealPool::new(1);
    let done = Arc::new(Signal::default());
    pool.spawn(
        Priority::High,
        "breaks",
        Box::new(|| panic!("number {}", 1)),
    );
    pool.spawn(Priority::High, "breaks", Box::new(|| panic!("again")));
    let raised = Arc::clone(&done);
    pool.spawn(Priority::Low, "works", Box::new(move || raised.raise()));
    wait_for_count(&pool, &done, 1);
    let trouble = pool.first_trouble().unwrap();
    assert_eq!(trouble, "the job \"breaks\" panicked: number 1");
    assert!(format!("{pool:?}").contains("number 1"));
}

#[test]
fn drop_waits_for_what_runs_and_drops_the_rest() {
    // Closing a database: the running job ends in peace, the queued ones never start.
    let pool = RealPool::new(1);
    let (started, ran_count) = (Arc::new(Barrier::new(2)), Arc::new(AtomicUsize::new(0)));
    let (inside, counter) = (Arc::clone(&started), Arc::clone(&ran_count));
    let release = Arc::new(Signal::default());
    let released = Arc::clone(&release);
    pool.spawn(
        Priority::High,
        "running",
        Box::new(move || {
            inside.wait();
            released.block(0, PATIENCE);
            counter.fetch_add(1, Ordering::SeqCst);
        }),
    );
    // Dropped without being run, this job releases the first one: so `drop` has emptied the
    // queue before it waits.
    struct RaiseOnDrop(Arc<Signal>);
    impl Drop for RaiseOnDrop {
        fn drop(&mut self) {
            self.0.raise();
        }
    }
    let (token, counter) = (RaiseOnDrop(release), Arc::clone(&ran_count));
    pool.spawn(
        Priority::High,
        "queued",
        Box::new(move || {
            counter.fetch_add(100, Ordering::SeqCst);
            drop(token);
        }),
    );
    started.wait();
    drop(pool);
    assert_eq!(ran_count.load(Ordering::SeqCst), 1);
}

#[test]
fn a_job_may_hold_the_last_handle_to_its_pool() {
    // The thread that drops the pool cannot wait for itself, and does not try.
    let pool = Arc::new(RealPool::new(1));
    let (own, done) = (Arc::clone(&pool), Arc::new(Signal::default()));
    let (go, raised) = (Arc::new(Barrier::new(2)), Arc::clone(&done));
    let inside = Arc::clone(&go);
    pool.spawn(
        Priority::High,
        "last",
        Box::new(move || {
            inside.wait();
            drop(own);
            raised.raise();
        }),
    );
    drop(pool);
    go.wait();
    assert!(done.block(0, PATIENCE));
}

#[test]
fn idle_threads_are_woken_only_by_work() {
    // While there is nothing to do, nobody looks whether there is: a pool that polled would count.
    let pool = RealPool::new(4);
    let done = Arc::new(Signal::default());
    for count in 1..=100 {
        let raised = Arc::clone(&done);
        pool.spawn(Priority::Low, "one", Box::new(move || raised.raise()));
        wait_for_count(&pool, &done, count);
    }
    // A thread about to wait when another is notified returns at once, as condition variables
    // may: so a job can be counted by every thread, but by none twice.
    assert!(pool.wakeup_count() <= 400, "{}", pool.wakeup_count());
    let never = Signal::default();
    let is_idle = |_| {
        let before = pool.wakeup_count();
        never.block(0, Duration::from_millis(50));
        pool.wakeup_count() == before
    };
    // The last jobs' wakeups may come late on a busy machine; a pool that polls never rests.
    assert!((0..20).any(is_idle));
}

#[test]
fn no_thread_is_started_before_there_is_work() {
    // A database that is only read costs no thread.
    let pool = RealPool::new(4);
    assert!(pool.threads.lock().unwrap().is_empty());
    let done = Arc::new(Signal::default());
    let raised = Arc::clone(&done);
    pool.spawn(Priority::Low, "one", Box::new(move || raised.raise()));
    wait_for_count(&pool, &done, 1);
    assert_eq!(pool.threads.lock().unwrap().len(), 1);
}

#[test]
fn a_job_for_later_runs_when_its_time_has_come() {
    // Not before, though a thread is free; the sooner one first; one that is far off goes with
    // the pool.
    let pool = RealPool::new(1);
    let (order, done) = (
        Arc::new(Mutex::new(Vec::new())),
        Arc::new(Signal::default()),
    );
    let began = Instant::now();
    for (number, delay_ms) in [(2_u64, 40), (1, 20), (3, 3_600_000)] {
        let (order, done) = (Arc::clone(&order), Arc::clone(&done));
        let job = move || {
            order.lock().unwrap().push((number, began.elapsed()));
            done.raise();
        };
        let delay = Duration::from_millis(delay_ms);
        pool.spawn_after(delay, Priority::Low, "later", Box::new(job));
    }
    wait_for_count(&pool, &done, 2);
    drop(pool);
    let order = order.lock().unwrap();
    let numbers: Vec<u64> = order.iter().map(|(number, _)| *number).collect();
    assert_eq!(numbers, [1, 2]);
    for (number, after) in order.iter() {
        assert!(*after >= Duration::from_millis(20 * number), "{after:?}");
    }
}
