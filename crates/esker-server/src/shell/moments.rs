//! The time, as stages are given it.

use std::sync::Arc;
use std::time::Duration;

use esker::internals::env::clock::Clock;
use rustix::time::{ClockId, clock_gettime};

use crate::node::Now;

/// The clocks of the machine. Any thread may ask.
#[derive(Clone, Debug)]
pub(crate) struct Moments(pub(crate) Arc<dyn Clock>);

impl Moments {
    /// The time since the machine was started, or some other fixed moment: unlike the clock of the
    /// engine it goes on while the machine sleeps, as leases need it.
    pub(crate) fn monotonic(&self) -> Duration {
        #[cfg(target_os = "linux")]
        let clock = ClockId::Boottime;
        #[cfg(not(target_os = "linux"))]
        let clock = ClockId::Monotonic;
        let time = clock_gettime(clock);
        // Neither clock was ever below zero.
        let (seconds, nanos) = (u64::try_from(time.tv_sec), u32::try_from(time.tv_nsec));
        Duration::new(seconds.unwrap_or(0), nanos.unwrap_or(0))
    }

    /// Now.
    pub(crate) fn now(&self) -> Now {
        let unix_us = self.0.unix_time().as_micros();
        Now {
            monotonic: self.monotonic(),
            unix_us: u64::try_from(unix_us).unwrap_or(u64::MAX),
        }
    }
}
