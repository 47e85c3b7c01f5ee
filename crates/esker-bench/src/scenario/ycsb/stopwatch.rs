//! How one thread times its operations and where it puts the times.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use crate::scenario::ycsb::meter::{Metric, Tally, Times};
use crate::scenario::ycsb::reply::Reply;

/// Times the operations of one thread. The tally is its own, but an observer takes it away at each
/// status line.
pub struct Stopwatch<'a> {
    tally: &'a Mutex<Tally>,
    /// When the present step was due, in an open loop.
    pub due: Option<Instant>,
}

impl<'a> Stopwatch<'a> {
    /// A stopwatch that counts in `tally`.
    pub fn new(tally: &'a Mutex<Tally>) -> Stopwatch<'a> {
        Stopwatch { tally, due: None }
    }

    /// Counts an operation that began at `start`, ends now, and ended so.
    pub fn operation(&self, metric: Metric, start: Instant, reply: Reply) {
        let times = self.times(start);
        self.tally().operation(metric, times, reply);
    }

    /// Counts a combined operation that began at `start` and ends now.
    pub fn combined(&self, metric: Metric, start: Instant) {
        let times = self.times(start);
        self.tally().times(metric, times, false);
    }

    fn times(&self, start: Instant) -> Times {
        let end = Instant::now();
        Times {
            actual: end.saturating_duration_since(start),
            intended: end.saturating_duration_since(self.due.unwrap_or(start)),
        }
    }

    /// Where it counts, for what has no times of its own.
    pub fn tally(&self) -> MutexGuard<'_, Tally> {
        // A thread that panicked while it counted left at worst one operation out.
        self.tally.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
