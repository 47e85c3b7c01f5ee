//! Counters that many threads raise without waiting for one another.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// Shards of every set of counters: enough that the threads of a 16-core machine rarely share
/// one, few enough that a sum stays a short loop. A power of two, so that picking is a mask.
const SHARD_COUNT: usize = 16;

const _: () = assert!(SHARD_COUNT.is_power_of_two());

/// A thread that has not counted yet.
const UNASSIGNED: usize = usize::MAX;

static NEXT_THREAD: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    static THREAD: Cell<usize> = const { Cell::new(UNASSIGNED) };
}

/// A small number of the calling thread, given out in turn at its first count.
///
/// Take it modulo the number of shards: neighbours in time then never share a shard until all
/// shards are taken.
pub(crate) fn thread_ordinal() -> usize {
    THREAD.with(|thread| {
        if thread.get() == UNASSIGNED {
            // Relaxed: only the uniqueness of the number matters, which the addition itself gives.
            thread.set(NEXT_THREAD.fetch_add(1, Ordering::Relaxed) % UNASSIGNED);
        }
        thread.get()
    })
}

/// A set of `N` counters, named by their index.
///
/// Shape: each shard holds all `N` counters side by side on cache lines of its own, so that a
/// thread which raises several counters of one operation touches few lines and shares none.
/// Any thread may add and sum at any time.
pub struct Counters<const N: usize> {
    shards: [Shard<N>; SHARD_COUNT],
}

// 128 bytes: processors fetch cache lines of 64 bytes in pairs.
#[repr(align(128))]
struct Shard<const N: usize>([AtomicU64; N]);

impl<const N: usize> Counters<N> {
    /// All counters at zero.
    pub const fn new() -> Counters<N> {
        Counters {
            shards: [const { Shard([const { AtomicU64::new(0) }; N]) }; SHARD_COUNT],
        }
    }

    /// Raises the counter at `index` by `amount`; sums wrap after 2^64.
    ///
    /// Panics when `index` is not below `N`.
    pub fn add(&self, index: usize, amount: u64) {
        let shard = &self.shards[thread_ordinal() % SHARD_COUNT];
        // Relaxed: a counter orders nothing but itself.
        shard.0[index].fetch_add(amount, Ordering::Relaxed);
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
