//! The clock that threads at work look at: that of the system, or one that a test steps.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::measure::pace::wait_until;

/// Tells the time, and waits for it.
pub trait Clock: Sync {
    /// Now.
    fn now(&self) -> Instant;

    /// Returns at `due`; at once if that has passed.
    fn wait_until(&self, due: Instant);
}

/// The system's clock.
#[derive(Clone, Copy, Debug)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[inline]
    fn now(&self) -> Instant {
        Instant::now()
    }

    fn wait_until(&self, due: Instant) {
        wait_until(due);
    }
}

/// A clock that stands still until somebody steps it, or waits: then it is at once as late as that.
/// For tests of one thread.
#[derive(Debug)]
pub struct SteppedClock {
    begun: Instant,
    passed_ns: AtomicU64,
}

impl Default for SteppedClock {
    fn default() -> SteppedClock {
        SteppedClock {
            begun: Instant::now(),
            passed_ns: AtomicU64::new(0),
        }
    }
}

impl SteppedClock {
    /// Lets time pass.
    pub fn step(&self, by: Duration) {
        // Relaxed: the number carries nothing but itself, and one thread uses it.
        self.passed_ns.fetch_add(nanos(by), Ordering::Relaxed);
    }
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).expect("tests last less than centuries")
}

impl Clock for SteppedClock {
    fn now(&self) -> Instant {
        self.begun + Duration::from_nanos(self.passed_ns.load(Ordering::Relaxed))
    }

    fn wait_until(&self, due: Instant) {
        let passed = nanos(due.saturating_duration_since(self.begun));
        self.passed_ns.fetch_max(passed, Ordering::Relaxed);
    }
}
