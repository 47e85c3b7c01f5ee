//! Which reads are served where they came in, and which wait for the threads that read.
//!
//! To hand a read of memory to another thread costs more than the read: two threads are woken for
//! it, one to read and one to write the answer. A read of the disk must not hold up the sockets of
//! a thread. Which of the two it will be nobody knows before, so it goes by how long the last one
//! of its kind took.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use esker_rpc::message::data::KeyCall;

/// What takes so long has waited for the disk, or for the processor: a read of memory takes a tenth
/// of that.
const SLOW: Duration = Duration::from_micros(100);

/// As much for keys that are named together; a hundred in memory take a quarter of that.
const SLOW_TOGETHER: Duration = Duration::from_micros(400);

/// Keys that are named together, at the most, to be served where they came in.
const TOGETHER_MAX: usize = 100;

/// So many reads go to the threads that read after a slow one, for each time that it was slow:
/// where every read waits for the disk, sockets wait for a sixty-fourth of it.
const AFTER_SLOW: u32 = 64;

/// Most times that one counts for.
const TIMES_MAX: u32 = 1000;

/// Kinds of reads that are served where they came in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum QuickKind {
    /// Of one key.
    One,
    /// Of some keys that are named.
    Together,
}

/// Decides. Any thread may ask.
#[derive(Debug, Default)]
pub(crate) struct QuickReads {
    one: Rest,
    together: Rest,
}

/// Reads of a kind that are still to go to the threads.
#[derive(Debug, Default)]
struct Rest(AtomicU32);

impl QuickReads {
    /// As what a call is to be served where it came in, if it is.
    pub(crate) fn kind_of(&self, call: &KeyCall) -> Option<QuickKind> {
        let kind = match call {
            KeyCall::Get(_) | KeyCall::Ttl(_) => QuickKind::One,
            KeyCall::MultiGet(request) if is_some(request.sort_keys.len()) => QuickKind::Together,
            KeyCall::BatchGet(request) if is_some(request.keys.len()) => QuickKind::Together,
            // What walks over rows takes its time in any case.
            _ => return None,
        };
        self.rest_of(kind).is_over().then_some(kind)
    }

    /// One that was served where it came in took so long.
    pub(crate) fn took(&self, kind: QuickKind, time: Duration) {
        let slow = match kind {
            QuickKind::One => SLOW,
            QuickKind::Together => SLOW_TOGETHER,
        };
        let times = time.as_micros() / slow.as_micros();
        // Of a machine that stood still for long nobody learns how fast its disk is.
        let times = u32::try_from(times).map_or(TIMES_MAX, |times| times.min(TIMES_MAX));
        if times > 0 {
            self.rest_of(kind).begin(AFTER_SLOW * times);
        }
    }

    fn rest_of(&self, kind: QuickKind) -> &Rest {
        match kind {
            QuickKind::One => &self.one,
            QuickKind::Together => &self.together,
        }
    }
}

impl Rest {
    fn is_over(&self) -> bool {
        // Relaxed, here and below: the number orders nothing, and one read more or less does no
        // harm.
        let left = self.0.load(Ordering::Relaxed);
        if left > 0 {
            self.0.store(left - 1, Ordering::Relaxed);
        }
        left == 0
    }

    fn begin(&self, reads: u32) {
        self.0.fetch_max(reads, Ordering::Relaxed);
    }
}

fn is_some(keys: usize) -> bool {
    (1..=TOGETHER_MAX).contains(&keys)
}

#[cfg(test)]
mod tests;
