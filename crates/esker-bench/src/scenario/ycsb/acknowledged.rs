//! A counter that tells the highest number below which all are acknowledged.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// Hands out numbers to those who insert, and tells those who read up to where all are there.
///
/// Any number of threads call it. A reader never sees a number whose record is still on its way,
/// nor one with a gap below it.
#[derive(Debug)]
pub struct Acknowledged {
    next: AtomicU64,
    /// All numbers below are acknowledged.
    limit: AtomicU64,
    /// Those acknowledged that have a gap below them.
    ahead: Mutex<BTreeSet<u64>>,
}

impl Acknowledged {
    /// Numbers from `start` on; all below are there already.
    pub fn new(start: u64) -> Acknowledged {
        Acknowledged {
            next: AtomicU64::new(start),
            limit: AtomicU64::new(start),
            ahead: Mutex::default(),
        }
    }

    /// The next number to insert.
    pub fn next(&self) -> u64 {
        // Relaxed: the number is unique by itself, and orders nothing.
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    /// How many numbers from 0 on are there without a gap.
    pub fn count(&self) -> u64 {
        // Acquire pairs with the release in `acknowledge`: the records below are written.
        self.limit.load(Ordering::Acquire)
    }

    /// Says that the record of `number` is there.
    pub fn acknowledge(&self, number: u64) {
        // A thread that panicked while it held the lock left a number out: the limit stays there.
        let mut ahead = self.ahead.lock().unwrap_or_else(PoisonError::into_inner);
        ahead.insert(number);
        let mut limit = self.count();
        while ahead.remove(&limit) {
            limit += 1;
        }
        self.limit.store(limit, Ordering::Release);
    }
}

#[cfg(test)]
mod tests;
