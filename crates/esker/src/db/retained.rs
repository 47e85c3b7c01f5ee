//! What became of a keyspace's retain rule: what it dropped, and whether it failed.

use std::sync::atomic::{AtomicU64, Ordering};

/// What became of a keyspace's retain rule since the keyspace was opened. Any thread may call
/// anything. All orderings are Relaxed but those that tell which rule a job asks: jobs that matter
/// to one another meet at the lock of the books.
#[derive(Debug)]
pub struct Retained {
    dropped_count: AtomicU64,
    /// How often a rule was given, or is to be asked whatever became of it before; from 1.
    generation: AtomicU64,
    /// The newest generation whose rule failed; 0 while none has.
    failed: AtomicU64,
}

impl Default for Retained {
    fn default() -> Retained {
        Retained {
            dropped_count: AtomicU64::new(0),
            generation: AtomicU64::new(1),
            failed: AtomicU64::new(0),
        }
    }
}

impl Retained {
    /// Which rule it is that compactions ask now. A job reads this before it reads the rule: it
    /// then blames none that is newer than the one it asks.
    pub fn generation(&self) -> u64 {
        // Acquire, with the Release below: who reads a generation reads its rule, or a newer one.
        self.generation.load(Ordering::Acquire)
    }

    /// Whether compactions ask the rule: not since it failed.
    pub fn is_in_use(&self) -> bool {
        self.failed.load(Ordering::Relaxed) < self.generation.load(Ordering::Relaxed)
    }

    /// Has the rule of that generation, which failed, not be asked any more.
    pub fn suspend(&self, generation: u64) {
        self.failed.fetch_max(generation, Ordering::Relaxed);
    }

    /// Has the rule asked again, or another one, which was set before.
    pub fn begin_anew(&self) {
        self.generation.fetch_add(1, Ordering::Release);
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
