//! Which reads are served where they came in, and which wait for the threads that read.
//!
//! To hand a read of memory to another thread costs more than the read: two threads are woken for
//! it, one to read and one to write the answer. A read of the disk must not hold up the sockets of
//! a thread. Which of the two it will be nobody knows before, so it goes by how long the last one
//! took.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use esker_rpc::message::data::KeyCall;

/// What takes so long has waited for the disk, or for the processor: a read of memory takes a tenth
/// of that.
const SLOW: Duration = Duration::from_micros(100);

/// So many reads go to the threads that read after a slow one. Where every read waits for the disk,
/// sockets wait for one in so many.
const AFTER_SLOW: u32 = 64;

/// Decides. Any thread may ask.
#[derive(Debug, Default)]
pub(crate) struct QuickReads {
    /// Reads that are still to go to the threads.
    handed_on: AtomicU32,
}

impl QuickReads {
    /// Whether a call is to be served where it came in.
    pub(crate) fn is_quick(&self, call: &KeyCall) -> bool {
        // What reads many rows takes its time in any case.
        if !matches!(call, KeyCall::Get(_) | KeyCall::Ttl(_)) {
            return false;
        }
        // Relaxed, here and below: the number orders nothing, and one read more or less does no
        // harm.
        let left = self.handed_on.load(Ordering::Relaxed);
        if left > 0 {
            self.handed_on.store(left - 1, Ordering::Relaxed);
        }
        left == 0
    }

    /// One that was served where it came in took so long.
    pub(crate) fn took(&self, time: Duration) {
        if time >= SLOW {
            self.handed_on.store(AFTER_SLOW, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests;
