//! A counter that tells the highest number below which all are acknowledged.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::fail::{Failure, Outcome};

/// How far numbers may be ahead of the oldest one that is not acknowledged.
const WINDOW: u64 = 1 << 20;

/// Hands out numbers to those who insert, and tells those who read up to where all are there.
///
/// Any number of threads call it. A reader never sees a number whose record is still on its way,
/// nor one with a gap below it.
#[derive(Debug)]
pub struct Acknowledged {
    next: AtomicU64,
    /// All numbers below are acknowledged.
    limit: AtomicU64,
    window: Box<[AtomicBool]>,
    /// Held by the one thread that moves the limit.
    mover: Mutex<()>,
}

impl Acknowledged {
    /// Numbers from `start` on; all below are there already.
    pub fn new(start: u64) -> Acknowledged {
        Acknowledged {
            next: AtomicU64::new(start),
            limit: AtomicU64::new(start),
            window: (0..WINDOW).map(|_| AtomicBool::new(false)).collect(),
            mover: Mutex::new(()),
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
    pub fn acknowledge(&self, number: u64) -> Outcome {
        let slot = self.slot(number);
        if number >= self.count() + WINDOW || slot.swap(true, Ordering::AcqRel) {
            return Err(Failure::failed("Too many unacknowledged insertion keys."));
        }
        // Whoever holds the lock moves the limit for all. Waiting for it, where YCSB only tries,
        // costs a few nanoseconds and leaves no number behind at the end.
        let _moving = self.mover.lock().unwrap_or_else(PoisonError::into_inner);
        let mut limit = self.count();
        while self.slot(limit).swap(false, Ordering::AcqRel) {
            limit += 1;
        }
        self.limit.store(limit, Ordering::Release);
        Ok(())
    }

    fn slot(&self, number: u64) -> &AtomicBool {
        let place = usize::try_from(number % WINDOW).expect("a window fits into memory");
        &self.window[place]
    }
}

#[cfg(test)]
mod tests;
