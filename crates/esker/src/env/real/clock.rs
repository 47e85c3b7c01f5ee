//! The clocks of the operating system.
#![allow(
    clippy::disallowed_methods,
    reason = "this is the door to the operating system's clocks"
)]

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::env::clock::Clock;

/// The monotonic and the wall clock; both cost some tens of nanoseconds and no system call.
#[derive(Clone, Copy, Debug)]
pub struct RealClock {
    started: Instant,
}

impl RealClock {
    /// A clock whose monotonic time starts now.
    pub fn new() -> RealClock {
        RealClock {
            started: Instant::now(),
        }
    }
}

impl Default for RealClock {
    fn default() -> RealClock {
        RealClock::new()
    }
}

impl Clock for RealClock {
    fn monotonic(&self) -> Duration {
        self.started.elapsed()
    }

    fn unix_time(&self) -> Duration {
        // A machine whose clock stands before 1970 has no time yet; zero says so.
        SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default()
    }
}

#[cfg(test)]
mod tests;
