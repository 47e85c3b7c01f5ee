//! Background threads with priorities, and waiting for what they do.

use std::fmt;
use std::time::Duration;

use crate::env::signal::Signal;

/// What kind of background work a job is; higher first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Priority {
    /// Calls of listeners, which take as long as a user's code does: nothing else waits for them.
    Events,
    /// Calls of a user's own log, for which flushes of some keyspaces wait, and nothing else.
    Hooks,
    /// Compaction and cleaning: can wait.
    Low,
    /// Flush: writers wait for it when memory is full.
    High,
}

/// One piece of background work. It must not block on other jobs of the same pool.
pub type Job = Box<dyn FnOnce() + Send>;

/// Background threads. Where they are real, jobs of one priority never wait for those of the other.
pub trait Pool: Send + Sync + fmt::Debug {
    /// Runs `job` some time later on a background thread. `name` is for people and debuggers.
    fn spawn(&self, priority: Priority, name: &'static str, job: Job);

    /// Runs `job` as [`Pool::spawn`] does, when `delay` is over. It is forgotten when the pool goes
    /// before that.
    fn spawn_after(&self, delay: Duration, priority: Priority, name: &'static str, job: Job);

    /// Waits until `signal` was raised more often than `seen`, or until `timeout` is over; says
    /// whether it was raised. A simulated pool runs its jobs here instead of sleeping, and moves
    /// its clock to the end of the timeout when no job is left.
    fn wait(&self, signal: &Signal, seen: u64, timeout: Duration) -> bool;

    /// Lets others run until `is_over`, or for as long as `most`: for who expects something within
    /// microseconds, less than going to sleep and being woken takes. Where threads are not real it
    /// is over at once.
    fn linger(&self, _most: Duration, _is_over: &dyn Fn() -> bool) {}

    /// How many `Low` jobs can run at the same time.
    fn thread_count(&self) -> usize;
}
