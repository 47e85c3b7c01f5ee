//! Counters that many threads raise without waiting for one another.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::base::stats::thread_slot::{SLOT_COUNT, raise, slot_of_thread};

/// A set of `N` counters, named by their index.
///
/// Shape: a shard for each slot, which holds all `N` counters side by side on cache lines of its
/// own; a thread that raises several counters of one operation touches few lines and shares none.
/// Any thread may add and sum at any time.
pub struct Counters<const N: usize> {
    shards: [Shard<N>; SLOT_COUNT],
}

// 128 bytes: processors fetch cache lines of 64 bytes in pairs.
#[repr(align(128))]
struct Shard<const N: usize>([AtomicU64; N]);

impl<const N: usize> Counters<N> {
    /// All counters at zero.
    pub const fn new() -> Counters<N> {
        Counters {
            shards: [const { Shard([const { AtomicU64::new(0) }; N]) }; SLOT_COUNT],
        }
    }

    /// Raises the counter at `index` by `amount`; sums wrap after 2^64.
    ///
    /// Panics when `index` is not below `N`.
    pub fn add(&self, index: usize, amount: u64) {
        let slot = slot_of_thread();
        raise(&self.shards[slot].0[index], slot, amount);
    }

    /// What was added to the counter at `index` so far. Additions that run at the same time may
    /// or may not be in it; those that came before are.
    ///
    /// Panics when `index` is not below `N`.
    pub fn sum(&self, index: usize) -> u64 {
        // Relaxed: what the caller saw happen before is visible, and no more is promised.
        self.shards
            .iter()
            .map(|shard| shard.0[index].load(Ordering::Relaxed))
            .fold(0, u64::wrapping_add)
    }
}

impl<const N: usize> Default for Counters<N> {
    fn default() -> Counters<N> {
        Counters::new()
    }
}

/// One counter on its own; for a set that is raised together use [`Counters`].
#[derive(Default)]
pub struct Counter(Counters<1>);

impl Counter {
    /// A counter at zero.
    pub const fn new() -> Counter {
        Counter(Counters::new())
    }

    /// Raises the counter by `amount`.
    pub fn add(&self, amount: u64) {
        self.0.add(0, amount);
    }

    /// What was added so far.
    pub fn sum(&self) -> u64 {
        self.0.sum(0)
    }
}

#[cfg(test)]
mod tests;
