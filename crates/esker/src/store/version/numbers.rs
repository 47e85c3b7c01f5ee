//! Hands out file numbers, each once.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::base::types::ids::FileNumber;

/// How far a file's number may lie ahead of what the manifest knows: numbers that were taken since
/// its last edit. Each goes to a file, and an edit comes with every flush, so some hundreds are
/// many.
const UNRECORDED_MAX: u64 = 1 << 20;

/// Whether a database whose next number is `next`, as far as its manifest knows, may have given out
/// `number`. A file with any other number is a stranger's, whatever its name looks like: no number
/// follows from it, and nobody removes it.
pub fn is_given_out(number: FileNumber, next: FileNumber) -> bool {
    number.0 < next.0.saturating_add(UNRECORDED_MAX)
}

/// The next free file number of a database. Any thread may take one.
#[derive(Debug)]
pub struct FileNumbers {
    next: AtomicU64,
}

impl FileNumbers {
    /// Numbers from `next` upwards.
    pub fn new(next: FileNumber) -> FileNumbers {
        FileNumbers {
            next: AtomicU64::new(next.0),
        }
    }

    /// A number that nobody has.
    pub fn take(&self) -> FileNumber {
        // Relaxed: the sum alone keeps numbers apart; they order nothing else.
        FileNumber(self.next.fetch_add(1, Ordering::Relaxed))
    }

    /// The number that the next call of `take` gives.
    pub fn peek(&self) -> FileNumber {
        FileNumber(self.next.load(Ordering::Relaxed))
    }

    /// Hands out only numbers from `next` on.
    pub fn skip(&self, next: FileNumber) {
        self.next.fetch_max(next.0, Ordering::Relaxed);
    }
}
