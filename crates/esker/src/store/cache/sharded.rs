//! The sharded block cache.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{PoisonError, RwLock};

use crate::base::types::ids::FileNumber;
use crate::store::cache::block_key::BlockKey;
use crate::store::cache::shard::Shard;

/// Most shards: with 64, even as many threads as large machines have seldom meet in one.
const SHARD_COUNT_MAX: usize = 64;

/// A shard's share of the budget is not made smaller than this when the cache is created, so that
/// blocks of unusual size still fit in.
const SHARE_BYTES_MIN: usize = 1 << 20;

/// A cache of blocks with a strict budget of bytes. Any number of threads.
///
/// The budget is split evenly over shards, and every shard keeps its share; so
/// `used_bytes() <= capacity_bytes()` holds whenever no call is under way. An entry's charge is
/// what the caller says plus [`ShardedCache::ENTRY_BYTES`]; that of a file's first entry in a shard
/// is a little more.
///
/// A hit takes the shard's lock shared and moves nothing; values are dropped outside the lock.
pub struct ShardedCache<V> {
    cells: Box<[Cell<V>]>,
    capacity_bytes: AtomicUsize,
}

/// One shard with its lock and its counters, apart from its neighbours: 128 bytes, because
/// processors fetch lines in pairs.
#[repr(align(128))]
struct Cell<V> {
    shard: RwLock<Shard<V>>,
    /// A copy of the shard's number, so that it can be read without the lock.
    used_bytes: AtomicUsize,
    hits: AtomicU64,
    misses: AtomicU64,
}

impl<V: Clone> ShardedCache<V> {
    /// What an entry takes from the budget beyond its charge, in bytes: its part of the maps.
    pub const ENTRY_BYTES: usize = Shard::<V>::ENTRY_BYTES;

    /// An empty cache with that budget, in bytes. The number of shards follows from it and stays:
    /// one for each MiB, at most 64.
    pub fn new(capacity_bytes: usize) -> ShardedCache<V> {
        let wanted = (capacity_bytes / SHARE_BYTES_MIN).clamp(1, SHARD_COUNT_MAX);
        let shard_count = (wanted / 2 + 1).next_power_of_two();
        let cell = |index| Cell {
            shard: RwLock::new(Shard::new(share(capacity_bytes, shard_count, index))),
            used_bytes: AtomicUsize::new(0),
            hits: AtomicU64::new(0),
            misses: AtomicU64::new(0),
        };
        ShardedCache {
            cells: (0..shard_count).map(cell).collect(),
            capacity_bytes: AtomicUsize::new(capacity_bytes),
        }
    }

    /// A handle onto the block, if it is here. Counted as a hit or a miss.
    #[inline]
    pub fn get(&self, key: &BlockKey) -> Option<V> {
        let hash = key.hash();
        let cell = self.cell(hash);
        let shard = cell.shard.read().unwrap_or_else(PoisonError::into_inner);
        let found = shard.get(key, tag(hash));
        drop(shard);
        let counter = if found.is_some() {
            &cell.hits
        } else {
            &cell.misses
        };
        // Relaxed: a number for the statistics, nothing is reached through it.
        counter.fetch_add(1, Ordering::Relaxed);
        found
    }

    /// Puts a block in, in place of one with the same key; `charge_bytes` is the memory that the
    /// value holds. A block larger than a shard's share is not kept. Returns one of those that had
    /// to leave, for who can use its memory.
    pub fn insert(&self, key: BlockKey, value: V, charge_bytes: usize) -> Option<V> {
        let hash = key.hash();
        self.cell(hash).change(|shard, evicted| {
            shard.insert(key, tag(hash), value, charge_bytes, evicted);
        })
    }

    /// As [`ShardedCache::insert`], for what is cheap to bring again: it is kept if that pushes
    /// nothing out, or when it is offered several times within a while. What is not kept costs the
    /// shared lock only.
    pub fn offer(&self, key: BlockKey, value: V, charge_bytes: usize) {
        let hash = key.hash();
        let cell = self.cell(hash);
        let shard = cell.shard.read().unwrap_or_else(PoisonError::into_inner);
        let is_wanted = shard.wants(&key, tag(hash), charge_bytes);
        drop(shard);
        if is_wanted {
            cell.change(|shard, evicted| {
                shard.insert(key, tag(hash), value, charge_bytes, evicted);
            });
        }
    }

    /// Whether a block with that charge would push nothing out.
    #[inline]
    pub fn has_room(&self, key: &BlockKey, charge_bytes: usize) -> bool {
        let share = self.capacity_bytes() / self.cells.len();
        // Relaxed: advice, right enough whoever sees it when.
        let used = self.cell(key.hash()).used_bytes.load(Ordering::Relaxed);
        used + charge_bytes + Self::ENTRY_BYTES + Shard::<V>::FILE_BYTES <= share
    }

    /// Removes all blocks of a file; takes time for each of them and for each shard, not for
    /// what else is in the cache.
    pub fn remove_file(&self, file: FileNumber) {
        for cell in &self.cells {
            cell.change(|shard, evicted| shard.remove_file(file, evicted));
        }
    }

    /// Sets the budget, in bytes, and evicts down to it before it returns.
    pub fn set_capacity_bytes(&self, capacity_bytes: usize) {
        // Relaxed: what holds the budget are the shards' own shares, set under their locks.
        self.capacity_bytes.store(capacity_bytes, Ordering::Relaxed);
        for (index, cell) in self.cells.iter().enumerate() {
            let share = share(capacity_bytes, self.cells.len(), index);
            cell.change(|shard, evicted| shard.set_capacity_bytes(share, evicted));
        }
    }

    /// Bytes of all entries with their overhead.
    pub fn used_bytes(&self) -> usize {
        // Relaxed: a number for accounting, nothing is reached through it.
        let used = |cell: &Cell<V>| cell.used_bytes.load(Ordering::Relaxed);
        self.cells.iter().map(used).sum()
    }

    /// The budget, in bytes.
    pub fn capacity_bytes(&self) -> usize {
        // Relaxed: a number for accounting, nothing is reached through it.
        self.capacity_bytes.load(Ordering::Relaxed)
    }

    /// Lookups that found their block.
    pub fn hits(&self) -> u64 {
        // Relaxed: a number for the statistics, nothing is reached through it.
        let hits = |cell: &Cell<V>| cell.hits.load(Ordering::Relaxed);
        self.cells.iter().map(hits).sum()
    }

    /// Lookups that did not.
    pub fn misses(&self) -> u64 {
        // Relaxed: a number for the statistics, nothing is reached through it.
        let misses = |cell: &Cell<V>| cell.misses.load(Ordering::Relaxed);
        self.cells.iter().map(misses).sum()
    }

    #[inline]
    fn cell(&self, hash: u64) -> &Cell<V> {
        &self.cells[(hash >> 32) as usize & (self.cells.len() - 1)]
    }
}

impl<V: Clone> Cell<V> {
    /// Changes the shard under its lock; what leaves it is dropped when the lock is free again, but
    /// for one, which is returned.
    fn change(&self, work: impl FnOnce(&mut Shard<V>, &mut Vec<V>)) -> Option<V> {
        let mut evicted = Vec::new();
        // A panic under the lock is a bug of ours; the cache is still only a cache.
        let mut shard = self.shard.write().unwrap_or_else(PoisonError::into_inner);
        work(&mut shard, &mut evicted);
        // Relaxed: a number for accounting, nothing is reached through it.
        self.used_bytes.store(shard.used_bytes(), Ordering::Relaxed);
        drop(shard);
        evicted.pop()
    }
}

/// The low half of the hash, for the table; the high half chose the shard.
#[inline]
fn tag(hash: u64) -> u32 {
    (hash & u64::from(u32::MAX)) as u32
}

/// The share of one of `shard_count` shards.
fn share(capacity_bytes: usize, shard_count: usize, index: usize) -> usize {
    capacity_bytes / shard_count + usize::from(index < capacity_bytes % shard_count)
}

#[cfg(test)]
mod tests;
