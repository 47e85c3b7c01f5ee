//! The clocks of the operating system.
#![allow(
    clippy::disallowed_methods,
    reason = "this is the door to the operating system's clocks"
)]

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rustix::time::clock_gettime;

use crate::env::clock::Clock;
use crate::env::real::system::TICK_CLOCK;

/// The monotonic and the wall clock; both cost some tens of nanoseconds and no system call, the
/// time of the last tick a few.
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

    // Every read asks, in case it meets an expiry. The time of the last tick, some milliseconds
    // ago, is there for a fifth of what it costs to ask the processor's counter as well.
    #[inline]
    fn unix_millis(&self) -> u64 {
        let tick = clock_gettime(TICK_CLOCK);
        let second = u64::try_from(tick.tv_sec).unwrap_or_default();
        // Below a billion, and so quicker to divide.
        let nanos = u32::try_from(tick.tv_nsec).unwrap_or_default();
        second * 1000 + u64::from(nanos / 1_000_000)
    }

    fn unix_seconds(&self) -> u64 {
        let tick = clock_gettime(TICK_CLOCK);
        u64::try_from(tick.tv_sec).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests;
