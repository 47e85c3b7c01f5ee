//! What one replica here was asked for, counted.

use std::sync::atomic::{AtomicU64, Ordering};

/// Counts of one kind of calls. Any thread may count; nothing hangs on the order of a count among
/// other writes.
#[derive(Debug, Default)]
pub struct Traffic {
    calls: AtomicU64,
    delayed: AtomicU64,
    rejected: AtomicU64,
    denied: AtomicU64,
}

/// The counts of a moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TrafficCounts {
    /// Calls that came, whatever became of them.
    pub calls: u64,
    /// Those that a limit of the table made wait.
    pub delayed: u64,
    /// Those that a limit of the table refused.
    pub rejected: u64,
    /// Those that came while clients are denied.
    pub denied: u64,
}

impl TrafficCounts {
    /// Those as well.
    pub fn add(&mut self, other: TrafficCounts) {
        self.calls += other.calls;
        self.delayed += other.delayed;
        self.rejected += other.rejected;
        self.denied += other.denied;
    }
}

impl Traffic {
    /// A call has come.
    pub fn call(&self) {
        // Here and below: see the type.
        self.calls.fetch_add(1, Ordering::Relaxed);
    }

    /// It waits for a limit.
    pub fn delay(&self) {
        // As above.
        self.delayed.fetch_add(1, Ordering::Relaxed);
    }

    /// It is refused for a limit.
    pub fn reject(&self) {
        // As above.
        self.rejected.fetch_add(1, Ordering::Relaxed);
    }

    /// Its client is denied.
    pub fn deny(&self) {
        // As above.
        self.denied.fetch_add(1, Ordering::Relaxed);
    }

    /// The counts.
    pub fn counts(&self) -> TrafficCounts {
        // As above.
        let of = |count: &AtomicU64| count.load(Ordering::Relaxed);
        TrafficCounts {
            calls: of(&self.calls),
            delayed: of(&self.delayed),
            rejected: of(&self.rejected),
            denied: of(&self.denied),
        }
    }
}
