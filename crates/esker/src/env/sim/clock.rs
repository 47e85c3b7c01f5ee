//! Time that moves only when told.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::env::clock::Clock;

// Wall time of a new clock: 2026-01-01 UTC, so that expiries look like real ones.
const UNIX_START: Duration = Duration::from_secs(1_767_225_600);

/// The clocks of a simulated world. Any thread may call anything.
#[derive(Debug)]
pub struct SimClock {
    times: Mutex<Times>,
}

#[derive(Debug)]
struct Times {
    monotonic: Duration,
    unix: Duration,
}

impl SimClock {
    /// A clock at monotonic zero and at the start of 2026.
    pub fn new() -> SimClock {
        SimClock {
            times: Mutex::new(Times {
                monotonic: Duration::ZERO,
                unix: UNIX_START,
            }),
        }
    }

    /// Moves both times forward.
    pub fn advance(&self, by: Duration) {
        let mut times = self.times();
        times.monotonic += by;
        times.unix += by;
    }

    /// Sets the wall clock, as a person or a time server does: forward or back.
    pub fn set_unix_time(&self, unix: Duration) {
        self.times().unix = unix;
    }

    // Two durations cannot be left half changed.
    fn times(&self) -> MutexGuard<'_, Times> {
        self.times.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for SimClock {
    fn default() -> SimClock {
        SimClock::new()
    }
}

impl Clock for SimClock {
    fn monotonic(&self) -> Duration {
        self.times().monotonic
    }

    fn unix_time(&self) -> Duration {
        self.times().unix
    }
}

#[cfg(test)]
mod tests;
