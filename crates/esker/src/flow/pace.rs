//! How fast flushes and compactions may write, all together.

use std::time::Duration;

use crate::env::bundle::Env;
use crate::env::signal::Signal;
use crate::flow::throttle::{RATE_UNLIMITED, Throttle};

/// Longest single wait: a rate that was raised meanwhile is felt by the signal at once, and a
/// clock that was set forward within this time.
const LOOK_AGAIN: Duration = Duration::from_millis(100);

/// The rate at which background work may write. Any thread may call anything.
#[derive(Debug, Default)]
pub struct Pace {
    throttle: Throttle,
    /// Raised when the rate changes, so that nobody waits for an old one.
    changed: Signal,
}

impl Pace {
    /// So many bytes per second; 0 is as fast as it can.
    pub fn new(bytes_s: u64) -> Pace {
        let pace = Pace::default();
        pace.set_rate(bytes_s);
        pace
    }

    /// Sets the rate in bytes per second; 0 is as fast as it can.
    pub fn set_rate(&self, bytes_s: u64) {
        let rate = if bytes_s == 0 {
            RATE_UNLIMITED
        } else {
            bytes_s
        };
        self.throttle.set_rate(rate);
        self.changed.raise();
    }

    /// Counts `bytes` that are about to be written, and waits until the rate allows them.
    pub fn pay(&self, bytes: u64, env: &Env) {
        let now = env.clock.monotonic();
        let due = now + self.throttle.admit(bytes, now);
        loop {
            let seen = self.changed.raised_count();
            let left = due.saturating_sub(env.clock.monotonic());
            if left.is_zero() || self.throttle.rate() == RATE_UNLIMITED {
                return;
            }
            env.pool.wait(&self.changed, seen, left.min(LOOK_AGAIN));
        }
    }
}

#[cfg(test)]
mod tests;
