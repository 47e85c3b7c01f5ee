//! Background work run step by step, in an order that a seed decides.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::env::clock::Clock;
use crate::env::pool::{Job, Pool, Priority};
use crate::env::random::Random;
use crate::env::signal::Signal;
use crate::env::sim::clock::SimClock;

/// Which of the waiting jobs may run next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobOrder {
    /// Any of the highest priority that waits, as with real threads that are all busy.
    ByPriority,
    /// Any: as with real threads of different luck.
    AnyPriority,
}

/// Background work without threads.
///
/// Shape: a list of waiting jobs; each runs on the thread of whoever calls `run_one`,
/// `run_all` or `wait`, with no lock of the pool held, so a job may spawn jobs and wait. A
/// panic in a job goes through to that caller.
pub struct SimPool {
    clock: Arc<SimClock>,
    order: JobOrder,
    thread_count: usize,
    waiting: Mutex<Waiting>,
}

struct Waiting {
    jobs: Vec<WaitingJob>,
    random: Random,
    run_count: u64,
}

struct WaitingJob {
    priority: Priority,
    name: &'static str,
    job: Job,
    /// When it may run, by the monotonic clock.
    due: Duration,
}

impl SimPool {
    /// A pool that claims to have `thread_count` threads.
    pub fn new(clock: Arc<SimClock>, seed: u64, order: JobOrder, thread_count: usize) -> SimPool {
        assert!(thread_count > 0);
        SimPool {
            clock,
            order,
            thread_count,
            waiting: Mutex::new(Waiting {
                jobs: Vec::new(),
                random: Random::new(seed),
                run_count: 0,
            }),
        }
    }

    /// How many jobs wait for a thread; those for later are not among them.
    pub fn pending_count(&self) -> usize {
        self.pending_names().len()
    }

    /// The names of the jobs that wait for a thread, in no order that matters.
    pub fn pending_names(&self) -> Vec<&'static str> {
        let now = self.clock.monotonic();
        let waiting = self.waiting();
        let due = waiting.jobs.iter().filter(|job| job.due <= now);
        due.map(|job| job.name).collect()
    }

    /// How many jobs were started so far.
    pub fn run_count(&self) -> u64 {
        self.waiting().run_count
    }

    /// Runs one job to its end; `false` if none waits.
    pub fn run_one(&self) -> bool {
        let next = self.take_next();
        match next {
            Some(WaitingJob { job, .. }) => {
                job();
                true
            }
            None => false,
        }
    }

    /// Runs jobs until none waits, those included that jobs spawn.
    pub fn run_all(&self) {
        while self.run_one() {}
    }

    /// Forgets the waiting jobs, as a killed process does; says how many there were.
    pub fn drop_all(&self) -> usize {
        let dropped = std::mem::take(&mut self.waiting().jobs);
        dropped.len()
    }

    fn take_next(&self) -> Option<WaitingJob> {
        let now = self.clock.monotonic();
        let mut waiting = self.waiting();
        let due = waiting.jobs.iter().filter(|job| job.due <= now);
        let highest = due.map(|job| job.priority).max()?;
        let may_run: Vec<usize> = (0..waiting.jobs.len())
            .filter(|index| {
                let job = &waiting.jobs[*index];
                job.due <= now && (self.order == JobOrder::AnyPriority || job.priority == highest)
            })
            .collect();
        let choice = waiting.random.below(may_run.len() as u64);
        let index = may_run[usize::try_from(choice).expect("the choice is below a usize")];
        waiting.run_count += 1;
        Some(waiting.jobs.remove(index))
    }

    // Moves the clock to where the next job for later may run, if that is not behind `end`.
    fn skip_to_later(&self, end: Duration) -> bool {
        let next = self.waiting().jobs.iter().map(|job| job.due).min();
        let now = self.clock.monotonic();
        match next.filter(|due| *due <= end) {
            Some(due) => {
                self.clock.advance(due.saturating_sub(now));
                true
            }
            None => false,
        }
    }

    // Never held while a job runs, so what it guards is whole even after a panic.
    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Pool for SimPool {
    fn spawn(&self, priority: Priority, name: &'static str, job: Job) {
        self.spawn_after(Duration::ZERO, priority, name, job);
    }

    fn spawn_after(&self, delay: Duration, priority: Priority, name: &'static str, job: Job) {
        let due = self.clock.monotonic() + delay;
        self.waiting().jobs.push(WaitingJob {
            priority,
            name,
            job,
            due,
        });
    }

    fn wait(&self, signal: &Signal, seen: u64, timeout: Duration) -> bool {
        let mut end = None;
        while signal.raised_count() <= seen {
            if self.run_one() {
                continue;
            }
            // Time passes only where nothing is left to do.
            let now = self.clock.monotonic();
            let end = *end.get_or_insert(now + timeout);
            if !self.skip_to_later(end) {
                self.clock.advance(end.saturating_sub(now));
                return false;
            }
        }
        true
    }

    fn thread_count(&self) -> usize {
        self.thread_count
    }
}

impl fmt::Debug for SimPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SimPool")
            .field("order", &self.order)
            .field("pending", &self.pending_names())
            .field("run_count", &self.run_count())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
