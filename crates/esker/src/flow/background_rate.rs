//! How fast flushes and compactions may write, all together.

use std::time::Duration;

use crate::env::bundle::Env;
use crate::env::signal::Signal;
use crate::flow::rate_limiter::{RATE_UNLIMITED, RateLimiter};

/// Longest single wait: a rate that was raised meanwhile is felt by the signal at once, and a
/// clock that was set forward within this time.
const LOOK_AGAIN: Duration = Duration::from_millis(100);

/// The rate at which background work may write. Any thread may call anything.
#[derive(Debug, Default)]
pub struct BackgroundRate {
    limiter: RateLimiter,
    /// Raised when the rate changes, so that nobody waits for an old one.
    changed: Signal,
}

impl BackgroundRate {
    /// So many bytes per second; 0 is as fast as it can.
    pub fn new(bytes_s: u64) -> BackgroundRate {
        let background_rate = BackgroundRate::default();
        background_rate.set_rate(bytes_s);
        background_rate
    }

    /// Sets the rate in bytes per second; 0 is as fast as it can.
    pub fn set_rate(&self, bytes_s: u64) {
        let rate = if bytes_s == 0 {
            RATE_UNLIMITED
        } else {
            bytes_s
        };
        self.limiter.set_rate(rate);
        self.changed.raise();
    }

    /// Counts `bytes` that are about to be written, and waits until the rate allows them.
    pub fn request(&self, bytes: u64, env: &Env) {
        let now = env.clock.monotonic();
        let due = now + self.limiter.admit(bytes, now);
        loop {
            let seen = self.changed.raised_count();
            let left = due.saturating_sub(env.clock.monotonic());
            if left.is_zero() || self.limiter.rate() == RATE_UNLIMITED {
                return;
            }
            env.pool.wait(&self.changed, seen, left.min(LOOK_AGAIN));
        }
    }
}

#[cfg(test)]
mod tests;
