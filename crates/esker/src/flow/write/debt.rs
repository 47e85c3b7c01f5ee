//! How fast writes may come: a rate per keyspace that follows its compaction debt.
//!
//! One continuous controller instead of thresholds: while debt is small nothing is held back;
//! from there on the allowed rate falls smoothly towards what compaction can digest, and only a
//! debt far beyond that brings it lower. There is no file count at which writes stop.

use std::time::Duration;

use crate::env::primitives::atomic::{AtomicU64, Ordering};

/// A rate that holds nobody back, in bytes per second.
pub const RATE_UNLIMITED: u64 = u64::MAX;

/// Lowest rate the controller ever sets, in bytes per second: a writer of 1 MB/s is slow but
/// alive, and debt falls at any compaction speed above that.
const RATE_MIN: u64 = 1 << 20;

/// Longest single wait for the rate. A writer asks again afterwards, so a rate that was raised
/// meanwhile is felt within this time.
const DELAY_MAX: Duration = Duration::from_millis(50);

/// Debt that is owed to nobody yet delays writers by less than this; smaller waits cost more
/// than they bring, because waking a thread takes about as long.
const DELAY_MIN: Duration = Duration::from_micros(200);

/// The allowed write rate of one keyspace, as a leaky bucket. Any thread may call anything.
#[derive(Debug)]
pub struct Throttle {
    rate_bytes_s: AtomicU64,
    /// Moment, in nanoseconds of the monotonic clock, at which the bucket is empty again.
    drained_at_ns: AtomicU64,
}

impl Default for Throttle {
    fn default() -> Throttle {
        Throttle {
            rate_bytes_s: AtomicU64::new(RATE_UNLIMITED),
            drained_at_ns: AtomicU64::new(0),
        }
    }
}

impl Throttle {
    /// Sets the allowed rate in bytes per second.
    pub fn set_rate(&self, bytes_s: u64) {
        // Relaxed: the rate is advice and orders nothing else.
        self.rate_bytes_s
            .store(bytes_s.max(RATE_MIN), Ordering::Relaxed);
    }

    /// The allowed rate in bytes per second; [`RATE_UNLIMITED`] when nothing is held back.
    pub fn rate(&self) -> u64 {
        self.rate_bytes_s.load(Ordering::Relaxed)
    }

    /// Counts a write of `bytes` at the moment `now`, and says how long its writer must wait.
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
            delay.min(DELAY_MAX)
        }
    }
}

/// What the controller knows of one keyspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Debt {
    /// Bytes that compaction should already have merged.
    pub owed_bytes: u64,
    /// Debt below which nothing is held back.
    pub soft_bytes: u64,
    /// Debt at which writes may come just as fast as compaction digests them.
    pub hard_bytes: u64,
    /// Bytes per second that compaction takes off the debt, as measured lately.
    pub digest_bytes_s: u64,
}

/// The rate for a debt: unlimited below `soft`, the digestion rate at `hard`, and in between
/// the digestion rate divided by how far the debt has come; beyond `hard` it goes on falling
/// with the square, so that debt turns round instead of growing.
pub fn rate_for(debt: Debt) -> u64 {
    if debt.owed_bytes <= debt.soft_bytes {
        return RATE_UNLIMITED;
    }
    let span = debt.hard_bytes.saturating_sub(debt.soft_bytes).max(1);
    let share = (debt.owed_bytes - debt.soft_bytes) as f64 / span as f64;
    let digest = debt.digest_bytes_s.max(RATE_MIN) as f64;
    let rate = if share <= 1.0 {
        digest / share
    } else {
        digest / (share * share)
    };
    if rate >= RATE_UNLIMITED as f64 {
        RATE_UNLIMITED
    } else {
        (rate as u64).max(RATE_MIN)
    }
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(all(test, not(loom)))]
mod tests;
