//! Tests of `team`.

use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;
use crate::env::signal::Signal;

// Long enough that only a broken pool ever waits it out.
const PATIENCE: Duration = Duration::from_secs(60);

fn wait_for_count(team: &Team, signal: &Signal, count: u64) {
    while signal.raised_count() < count {
        team.start_thread_if_short();
        assert!(signal.block(count - 1, PATIENCE), "{team:?}");
    }
}

#[test]
fn as_many_jobs_run_at_once_as_there_are_threads() {
    // Three jobs that wait for one another get through only together.
    let team = Team::new("test", 3);
    let (meeting, done) = (Arc::new(Barrier::new(3)), Arc::new(Signal::default()));
    for _ in 0..3 {
        let (meeting, done) = (Arc::clone(&meeting), Arc::clone(&done));
        let job = move || {
            meeting.wait();
            done.raise();
        };
        team.spawn("meet", Box::new(job));
    }
    wait_for_count(&team, &done, 3);
    assert_eq!(team.thread_count(), 3);
}

#[test]
fn a_panic_ends_only_its_job() {
    // The thread goes on, and the first panic can be read.
    let team = Team::new("test", 1);
    let done = Arc::new(Signal::default());
    team.spawn("breaks", Box::new(|| panic!("number {}", 1)));
    team.spawn("breaks", Box::new(|| panic!("again")));
    let raised = Arc::clone(&done);
    team.spawn("works", Box::new(move || raised.raise()));
    wait_for_count(&team, &done, 1);
    let trouble = team.first_trouble().unwrap();
    assert_eq!(trouble, "the job \"breaks\" panicked: number 1");
    assert!(format!("{team:?}").contains("number 1"));
}

#[test]
fn drop_waits_for_what_runs_and_drops_the_rest() {
    // Closing a database: the running job ends in peace, the queued ones never start.
    let team = Team::new("test", 1);
    let (started, ran_count) = (Arc::new(Barrier::new(2)), Arc::new(AtomicUsize::new(0)));
    let (inside, counter) = (Arc::clone(&started), Arc::clone(&ran_count));
    let release = Arc::new(Signal::default());
    let released = Arc::clone(&release);
    team.spawn(
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
    team.spawn(
        "queued",
        Box::new(move || {
            counter.fetch_add(100, Ordering::SeqCst);
            drop(token);
        }),
    );
    started.wait();
    drop(team);
    assert_eq!(ran_count.load(Ordering::SeqCst), 1);
}

#[test]
fn a_job_may_hold_the_last_handle_to_its_team() {
    // The thread that drops the team cannot wait for itself, and does not try.
    let team = Arc::new(Team::new("test", 1));
    let (own, done) = (Arc::clone(&team), Arc::new(Signal::default()));
    let (go, raised) = (Arc::new(Barrier::new(2)), Arc::clone(&done));
    let inside = Arc::clone(&go);
    team.spawn(
        "last",
        Box::new(move || {
            inside.wait();
            drop(own);
            raised.raise();
        }),
    );
    drop(team);
    go.wait();
    assert!(done.block(0, PATIENCE));
}

#[test]
fn idle_threads_are_woken_only_by_work() {
    // While there is nothing to do, nobody looks whether there is: a team that polled would count.
    let team = Team::new("test", 4);
    let done = Arc::new(Signal::default());
    for count in 1..=100 {
        let raised = Arc::clone(&done);
        team.spawn("one", Box::new(move || raised.raise()));
        wait_for_count(&team, &done, count);
    }
    // A thread about to wait when another is notified returns at once, as condition variables
    // may: so a job can be counted by every thread, but by none twice.
    assert!(team.wakeup_count() <= 400, "{}", team.wakeup_count());
    let never = Signal::default();
    let is_idle = |_| {
        let before = team.wakeup_count();
        never.block(0, Duration::from_millis(50));
        team.wakeup_count() == before
    };
    // The last jobs' wakeups may come late on a busy machine; a pool that polls never rests.
    assert!((0..20).any(is_idle));
}

#[test]
fn no_thread_is_started_before_there_is_work() {
    // A database that is only read costs no thread.
    let team = Team::new("test", 4);
    assert!(team.threads.lock().unwrap().is_empty());
    let done = Arc::new(Signal::default());
    let raised = Arc::clone(&done);
    team.spawn("one", Box::new(move || raised.raise()));
    wait_for_count(&team, &done, 1);
    assert_eq!(team.threads.lock().unwrap().len(), 1);
}

#[test]
fn a_job_for_later_runs_when_its_time_has_come() {
    // Not before, though a thread is free; the sooner one first, though it came later, and not by
    // so little that a busy machine could reverse them; one that is far off goes with the team.
    let team = Team::new("test", 1);
    let (order, done) = (
        Arc::new(Mutex::new(Vec::new())),
        Arc::new(Signal::default()),
    );
    let began = Instant::now();
    for (number, delay_ms) in [(2, 500), (1, 20), (3, 3_600_000)] {
        let (order, done) = (Arc::clone(&order), Arc::clone(&done));
        let delay = Duration::from_millis(delay_ms);
        let job = move || {
            order.lock().unwrap().push((number, delay, began.elapsed()));
            done.raise();
        };
        team.spawn_after(delay, "later", Box::new(job));
    }
    wait_for_count(&team, &done, 2);
    drop(team);
    let order = order.lock().unwrap();
    let numbers: Vec<u32> = order.iter().map(|(number, ..)| *number).collect();
    assert_eq!(numbers, [1, 2]);
    for (_, delay, after) in order.iter() {
        assert!(after >= delay, "{after:?}");
    }
}

#[test]
fn as_many_jobs_meet_whenever_they_are_due() {
    // As many jobs as there are threads, each due at once or a little later, in every mixture: they
    // get through only together. A job whose time came waited behind one that ran, though a thread
    // was free, or could have been started: where another job had taken the thread that watched
    // the time, and where several came due at once.
    const COUNT: u64 = 3;
    // For a machine that does much else; only a broken team ever waits it out.
    let patience = Duration::from_secs(10);
    for (mixture, is_warm) in (0..1 << COUNT).flat_map(|bits| [(bits, false), (bits, true)]) {
        let team = Team::new("test", 3);
        let (meeting, done) = (Arc::new(Signal::default()), Arc::new(Signal::default()));
        let meet = || {
            let (meeting, done) = (Arc::clone(&meeting), Arc::clone(&done));
            let job = move || {
                meeting.raise();
                let since = Instant::now();
                while meeting.raised_count() < COUNT && since.elapsed() < patience {
                    let seen = meeting.raised_count();
                    meeting.block(seen, patience.saturating_sub(since.elapsed()));
                }
                if meeting.raised_count() == COUNT {
                    done.raise();
                }
            };
            Box::new(job)
        };
        if is_warm {
            let (started, ended) = (Arc::new(Barrier::new(3)), Arc::new(Signal::default()));
            for _ in 0..COUNT {
                let (started, ended) = (Arc::clone(&started), Arc::clone(&ended));
                let job = move || {
                    started.wait();
                    ended.raise();
                };
                team.spawn("warm up", Box::new(job));
            }
            wait_for_count(&team, &ended, COUNT);
        }
        for bit in 0..COUNT {
            match mixture >> bit & 1 {
                0 => team.spawn("now", meet()),
                _ => team.spawn_after(Duration::from_millis(2), "later", meet()),
            }
        }
        while done.raised_count() < COUNT {
            let seen = done.raised_count();
            assert!(
                done.block(seen, patience),
                "{mixture:03b} {is_warm} {team:?}"
            );
        }
    }
}
