//! How fast a keyspace may write: a rate that follows its compaction debt.
//!
//! One continuous controller instead of thresholds: while debt is small nothing is held back;
//! from there on the allowed rate falls smoothly towards what compaction can digest, and only a
//! debt far beyond that brings it lower. There is no file count at which writes stop.

use crate::flow::rate_limiter::RATE_UNLIMITED;

/// Lowest rate the controller ever sets, in bytes per second: a writer of 1 MB/s is slow but
/// alive, and debt falls at any compaction speed above that.
const RATE_MIN: u64 = 1 << 20;

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

#[cfg(all(test, not(loom)))]
mod tests;
