//! Hands out file numbers, each once.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::base::types::ids::FileNumber;

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
