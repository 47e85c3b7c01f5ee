//! What became of a keyspace's retain rule: what it dropped, and whether it failed.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// What became of a keyspace's retain rule since the keyspace was opened. Any thread may call
/// anything. All orderings are Relaxed: jobs that matter to one another meet at the lock of the
/// books.
#[derive(Debug, Default)]
pub struct Retained {
    dropped_count: AtomicU64,
    has_failed: Arc<AtomicBool>,
}

impl Retained {
    /// Whether compactions ask the rule: not since it failed.
    pub fn is_in_use(&self) -> bool {
        !self.has_failed.load(Ordering::Relaxed)
    }

    /// Where a compaction says that the rule failed.
    pub fn has_failed(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.has_failed)
    }

    /// Has the rule asked again, or another one.
    pub fn begin_anew(&self) {
        self.has_failed.store(false, Ordering::Relaxed);
    }

    /// Counts values that it dropped.
    pub fn count_dropped(&self, count: u64) {
        self.dropped_count.fetch_add(count, Ordering::Relaxed);
    }

    /// How many values it dropped.
    pub fn dropped_count(&self) -> u64 {
        self.dropped_count.load(Ordering::Relaxed)
    }
}
