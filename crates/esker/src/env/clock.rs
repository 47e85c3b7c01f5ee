//! Monotonic and wall time.

use std::fmt;
use std::time::Duration;

/// The clocks of the world.
pub trait Clock: Send + Sync + fmt::Debug {
    /// Time since some fixed moment of this process; never goes back. For durations.
    fn monotonic(&self) -> Duration;

    /// Time since 1970-01-01 UTC; may jump. For expiries and for people.
    fn unix_time(&self) -> Duration;

    /// Whole milliseconds of [`Clock::unix_time`], or of a moment up to 10 ms before: the cheaper
    /// one.
    fn unix_millis(&self) -> u64 {
        let now = self.unix_time();
        now.as_secs() * 1000 + u64::from(now.subsec_millis())
    }

    /// Whole seconds, as [`Clock::unix_millis`] has them.
    fn unix_seconds(&self) -> u64 {
        self.unix_time().as_secs()
    }
}
