//! A rate of bytes, and how long who writes must wait to keep to it.

use std::time::Duration;

use crate::base::stats::statistics::nanoseconds;
use crate::env::primitives::atomic::{AtomicU64, Ordering};

/// A rate that holds nobody back, in bytes per second.
pub const RATE_UNLIMITED: u64 = u64::MAX;

/// Shorter waits cost more than they bring, because waking a thread takes about as long.
const DELAY_MIN: Duration = Duration::from_micros(200);

/// An allowed rate, as a leaky bucket. Any thread may call anything.
#[derive(Debug)]
pub struct RateLimiter {
    rate_bytes_s: AtomicU64,
    /// Moment, in nanoseconds of the monotonic clock, at which the bucket is empty again.
    drained_at_ns: AtomicU64,
}

impl Default for RateLimiter {
    fn default() -> RateLimiter {
        RateLimiter {
            rate_bytes_s: AtomicU64::new(RATE_UNLIMITED),
            drained_at_ns: AtomicU64::new(0),
        }
    }
}

impl RateLimiter {
    /// Sets the allowed rate in bytes per second.
    pub fn set_rate(&self, bytes_s: u64) {
        // Relaxed: the rate is advice and orders nothing else.
        self.rate_bytes_s.store(bytes_s.max(1), Ordering::Relaxed);
    }

    /// The allowed rate in bytes per second; [`RATE_UNLIMITED`] when nothing is held back.
    pub fn rate(&self) -> u64 {
        self.rate_bytes_s.load(Ordering::Relaxed)
    }

    /// How long a writer who came at the moment `now` would have to wait; counts nothing.
    pub fn delay(&self, now: Duration) -> Duration {
        if self.rate() == RATE_UNLIMITED {
            return Duration::ZERO;
        }
        // Relaxed: as in `admit`.
        let drained_at_ns = self.drained_at_ns.load(Ordering::Relaxed);
        let delay = Duration::from_nanos(drained_at_ns.saturating_sub(nanoseconds(now)));
        match delay < DELAY_MIN {
            true => Duration::ZERO,
            false => delay,
        }
    }

    /// Counts a write of `bytes` at the moment `now`, and says how long its writer must wait: until
    /// what was counted before it has drained.
    pub fn admit(&self, bytes: u64, now: Duration) -> Duration {
        let rate = self.rate();
        if rate == RATE_UNLIMITED {
            return Duration::ZERO;
        }
        let now_ns = nanoseconds(now);
        let cost_ns = nanoseconds(Duration::from_secs_f64(bytes as f64 / rate as f64));
        // Relaxed: the cell is a running sum; no other memory is read by its value.
        let mut before = self.drained_at_ns.load(Ordering::Relaxed);
        while let Err(changed) = self.drained_at_ns.compare_exchange(
            before,
            before.max(now_ns).saturating_add(cost_ns),
            Ordering::Relaxed,
            Ordering::Relaxed,
        ) {
            before = changed;
        }
        let delay = Duration::from_nanos(before.saturating_sub(now_ns));
        if delay < DELAY_MIN {
            Duration::ZERO
        } else {
            delay
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
