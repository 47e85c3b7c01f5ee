//! When large values are to be flushed, and what is counted on the way.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Limits, hints and counts of the values that wait. Any thread may call anything.
// All atomics here are advice that somebody acts on a little earlier or later, so Relaxed will do.
#[derive(Debug)]
pub struct ValueWatch {
    flush_bytes: AtomicU64,
    is_watched: AtomicBool,
    /// Bytes in memory when the rest of the database was told last.
    told_bytes: AtomicU64,
    packet_count: AtomicU64,
    wait_count: AtomicU64,
}

impl ValueWatch {
    /// Somebody should write and sync when `flush_bytes` wait.
    pub fn new(flush_bytes: u64) -> ValueWatch {
        ValueWatch {
            flush_bytes: AtomicU64::new(flush_bytes),
            is_watched: AtomicBool::new(false),
            told_bytes: AtomicU64::new(0),
            packet_count: AtomicU64::new(0),
            wait_count: AtomicU64::new(0),
        }
    }

    /// Bytes from which on somebody should write and sync.
    pub fn flush_bytes(&self) -> u64 {
        self.flush_bytes.load(Ordering::Relaxed)
    }

    /// Changes these bytes.
    pub fn set_flush_bytes(&self, flush_bytes: u64) {
        self.flush_bytes.store(flush_bytes, Ordering::Relaxed);
    }

    /// Whether somebody will look after what waits when a time is over.
    pub fn is_watched(&self) -> bool {
        self.is_watched.load(Ordering::Relaxed)
    }

    /// Says that somebody will, or that nobody will any more; gives what was said before.
    pub fn set_watched(&self, is_watched: bool) -> bool {
        self.is_watched.swap(is_watched, Ordering::Relaxed)
    }

    /// Whether `used_bytes` are `step_bytes` more or fewer than when this was last true.
    pub fn has_moved(&self, used_bytes: u64, step_bytes: u64) -> bool {
        let told_bytes = self.told_bytes.load(Ordering::Relaxed);
        let is_far = used_bytes.abs_diff(told_bytes) >= step_bytes;
        if is_far {
            self.told_bytes.store(used_bytes, Ordering::Relaxed);
        }
        is_far
    }

    /// Counts a packet that was written.
    pub fn count_packet(&self) {
        self.packet_count.fetch_add(1, Ordering::Relaxed);
    }

    /// How many packets were written.
    pub fn packet_count(&self) -> u64 {
        self.packet_count.load(Ordering::Relaxed)
    }

    /// Counts a writer that waits for room in memory.
    pub fn count_wait(&self) {
        self.wait_count.fetch_add(1, Ordering::Relaxed);
    }

    /// How many writers had to wait for room in memory.
    pub fn wait_count(&self) -> u64 {
        self.wait_count.load(Ordering::Relaxed)
    }
}
