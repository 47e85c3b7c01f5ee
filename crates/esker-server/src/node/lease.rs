//! Until when reads of a replica need not be cleared one by one, as any thread may ask.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use esker_raft::Lease;

/// The lease of a replica that leads; none of one that does not.
///
/// Consensus sets it, whoever reads looks at it. What this leader acknowledged it had applied, and
/// what was acknowledged before its term is before the index that consensus names: once that is
/// applied, the state as it stands is a linearizable answer within the lease.
#[derive(Debug, Default)]
pub struct LeaseCell {
    until_us: AtomicU64,
    index: AtomicU64,
    is_used: AtomicBool,
}

impl LeaseCell {
    /// The lease from now on.
    pub fn set(&self, lease: Option<Lease>) {
        let Some(lease) = lease else {
            return self.until_us.store(0, Ordering::SeqCst);
        };
        // Whoever sees the new end sees the index that goes with it.
        self.index.store(lease.index, Ordering::SeqCst);
        let until_us = u64::try_from(lease.until.as_micros()).unwrap_or(u64::MAX);
        self.until_us.store(until_us, Ordering::SeqCst);
    }

    /// What a read must see that is served without asking, if one may be.
    pub fn index(&self, clock: Duration) -> Option<u64> {
        let until_us = self.until_us.load(Ordering::SeqCst);
        let is_held = clock.as_micros() < u128::from(until_us);
        is_held.then(|| self.index.load(Ordering::SeqCst))
    }

    /// Notes that the lease was used. True if it was not, since somebody last asked.
    pub fn note_use(&self) -> bool {
        !self.is_used.load(Ordering::Relaxed) && !self.is_used.swap(true, Ordering::Relaxed)
    }

    /// Forgets that it was used.
    pub fn forget_use(&self) {
        self.is_used.store(false, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests;
