//! The clock of a keyspace that does not go by the machine's: it stands still until it is told.

use std::sync::atomic::{AtomicU64, Ordering};

/// What time it is for the entries of one keyspace, in unix milliseconds. It is told under the lock
/// of all writers; any thread may read it.
///
/// Relaxed: it is told before the entries of its batch become visible, which is a Release, and read
/// behind the Acquire of what is visible. So who sees a batch sees its time, and a later time than
/// that of what one sees is none that would be wrong.
#[derive(Debug)]
pub struct ToldClock(AtomicU64);

impl ToldClock {
    /// A clock that shows `unix_ms`.
    pub fn at(unix_ms: u64) -> ToldClock {
        ToldClock(AtomicU64::new(unix_ms))
    }

    /// What it shows.
    #[inline]
    pub fn unix_ms(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    /// Sets it forward; an earlier time changes nothing.
    pub fn tell(&self, unix_ms: u64) {
        self.0.fetch_max(unix_ms, Ordering::Relaxed);
    }
}
