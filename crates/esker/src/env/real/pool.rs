//! Real background threads.

use std::time::{Duration, Instant};

use crate::env::pool::{Job, Pool, Priority};
use crate::env::real::fork;
use crate::env::real::team::Team;
use crate::env::signal::Signal;

/// Threads for urgent jobs: one for a flush, one so that the log's next segment and the values that
/// must be written do not wait for it, and one for merges within level 0 beside compactions.
const URGENT_THREADS: usize = 3;

/// Threads for listeners: they hear one event after the other.
const EVENT_THREADS: usize = 1;

/// Threads for a user's own log: it is asked one thing after the other.
const HOOK_THREADS: usize = 1;

/// Background threads, started when there is work for them: one team for each priority, so that
/// no flush, for which writers may be waiting, stands behind compactions that take seconds.
///
/// Any thread may call anything. Dropping the pool drops the jobs that have not started and waits
/// for those that have. (The thread of a job that itself drops the pool is not waited for; it ends
/// by itself.)
#[derive(Debug)]
pub struct RealPool {
    urgent: Team,
    patient: Team,
    events: Team,
    hooks: Team,
}

impl RealPool {
    /// How many threads the machine runs at the same time; 1 where it does not say.
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the door to real threads"
    )]
    pub fn core_count() -> usize {
        std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
    }

    /// A pool of at most `thread_count` threads for `Low` jobs, and a few for `High` ones; none is
    /// started yet.
    ///
    /// # Panics
    /// When `thread_count` is 0: nothing would ever run.
    pub fn new(thread_count: usize) -> RealPool {
        // Children have none of the threads.
        fork::watch();
        RealPool {
            urgent: Team::new("esker-urgent", URGENT_THREADS),
            patient: Team::new("esker", thread_count),
            events: Team::new("esker-events", EVENT_THREADS),
            hooks: Team::new("esker-hooks", HOOK_THREADS),
        }
    }

    /// The first panic of a job, or the first refusal to start a thread; `None` if all is well.
    pub fn first_trouble(&self) -> Option<String> {
        let urgent = self.urgent.first_trouble();
        urgent.or_else(|| self.patient.first_trouble())
    }

    fn team(&self, priority: Priority) -> &Team {
        match priority {
            Priority::High => &self.urgent,
            Priority::Low => &self.patient,
            Priority::Events => &self.events,
            Priority::Hooks => &self.hooks,
        }
    }
}

impl Pool for RealPool {
    fn spawn(&self, priority: Priority, name: &'static str, job: Job) {
        self.team(priority).spawn(name, job);
    }

    fn spawn_after(&self, delay: Duration, priority: Priority, name: &'static str, job: Job) {
        self.team(priority).spawn_after(delay, name, job);
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "this is the door to real threads"
    )]
    fn wait(&self, signal: &Signal, seen: u64, timeout: Duration) -> bool {
        let since = Instant::now();
        loop {
            self.urgent.start_thread_if_short();
            self.patient.start_thread_if_short();
            self.hooks.start_thread_if_short();
            let is_over = signal.raised_count() > seen || since.elapsed() >= timeout;
            // Where no thread can be had, who waits for the work does it. Events are told by who
            // closes the database then.
            if is_over || !(self.urgent.run_in_place() || self.patient.run_in_place()) {
                return signal.block(seen, timeout.saturating_sub(since.elapsed()));
            }
        }
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "this is the door to real threads"
    )]
    fn linger(&self, most: Duration, is_over: &dyn Fn() -> bool) {
        let since = Instant::now();
        while !is_over() && since.elapsed() < most {
            std::thread::yield_now();
        }
    }

    fn thread_count(&self) -> usize {
        self.patient.thread_count()
    }
}

#[cfg(test)]
mod tests;
