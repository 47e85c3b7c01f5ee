//! The sharded block cache.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError, RwLock};

use crate::base::types::ids::FileNumber;
use crate::store::cache::block_key::BlockKey;
use crate::store::cache::pinned::{Holdable, Pinned};
use crate::store::cache::shard::Shard;

/// Most shards: with 64, even as many threads as large machines have seldom meet in one.
const SHARD_COUNT_MAX: usize = 64;

/// A shard's share of the budget is not made smaller than this when the cache is created, so that
/// blocks of unusual size still fit in.
const SHARE_BYTES_MIN: usize = 1 << 20;

/// A shard keeps this part of its share for blocks that may leave, whatever is pinned: with none
/// every read of a hot block goes to the file.
const FLOOR_DIVISOR: usize = 16;

/// From this part of a shard's share on what is pinned is much: readers should pin no more than
/// they must.
const MUCH_DIVISOR: usize = 16;

/// Pinned blocks that each change of a shard looks at: more than it can add, so that what is let
/// go is found.
const LOOKED_AT: usize = 4;

/// A cache of blocks with a strict budget of bytes. Any number of threads.
///
/// The budget is split evenly over shards, and every shard keeps its share; so
/// `used_bytes() <= capacity_bytes()` holds whenever no call is under way. An entry's charge is
/// what the caller says plus [`ShardedCache::ENTRY_BYTES`]; that of a file's first entry in a shard
/// is a little more.
///
/// What is held by somebody when it leaves is *pinned*, and takes from its shard's share what it
/// takes of memory, so that both together stay within the budget; but for a sixteenth of the share,
/// which the shard keeps.
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
    /// Never taken while the shard's lock is.
    pinned: Mutex<Pinned<V>>,
    /// Copies of its numbers.
    pinned_bytes: AtomicUsize,
    pinned_count: AtomicUsize,
    /// What blocks and pinned ones may take.
    share_bytes: AtomicUsize,
    hits: AtomicU64,
    misses: AtomicU64,
}

impl<V: Clone + Holdable> ShardedCache<V> {
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
            pinned: Mutex::default(),
            pinned_bytes: AtomicUsize::new(0),
            pinned_count: AtomicUsize::new(0),
            share_bytes: AtomicUsize::new(share(capacity_bytes, shard_count, index)),
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

    /// As [`ShardedCache::get`], for who has the block read a moment later if it is not here, and
    /// asks again then: that one is not counted.
    pub fn get_before_reading(&self, key: &BlockKey) -> Option<V> {
        let hash = key.hash();
        let cell = self.cell(hash);
        let shard = cell.shard.read().unwrap_or_else(PoisonError::into_inner);
        let found = shard.get(key, tag(hash));
        drop(shard);
        // Relaxed: as in `get`.
        cell.hits
            .fetch_add(u64::from(found.is_some()), Ordering::Relaxed);
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
        let cell = self.cell(key.hash());
        // Relaxed: advice, right enough whoever sees it when.
        let used = cell.used_bytes.load(Ordering::Relaxed);
        used + charge_bytes + Self::ENTRY_BYTES + Shard::<V>::FILE_BYTES <= cell.room_bytes()
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
            // Relaxed: as above; the shard is told under its lock.
            cell.share_bytes.store(share, Ordering::Relaxed);
            cell.look_through();
            let room = cell.room_bytes();
            cell.change(|shard, evicted| shard.set_capacity_bytes(room, evicted));
        }
    }

    /// Whether much of what the shard of that block may hold is pinned.
    #[inline]
    pub fn is_much_pinned(&self, key: &BlockKey) -> bool {
        let cell = self.cell(key.hash());
        // Relaxed: advice, right enough whoever sees it when.
        let pinned = cell.pinned_bytes.load(Ordering::Relaxed);
        pinned > cell.share_bytes.load(Ordering::Relaxed) / MUCH_DIVISOR
    }

    /// Bytes of blocks that left the cache while cursors or returned values held them, and that
    /// were held still when last looked at.
    pub fn pinned_bytes(&self) -> usize {
        // Relaxed: a number for accounting, nothing is reached through it.
        let pinned = |cell: &Cell<V>| cell.pinned_bytes.load(Ordering::Relaxed);
        self.cells.iter().map(pinned).sum()
    }

    /// How many such blocks there are.
    pub fn pinned_count(&self) -> usize {
        // Relaxed: a number for the statistics, nothing is reached through it.
        let pinned = |cell: &Cell<V>| cell.pinned_count.load(Ordering::Relaxed);
        self.cells.iter().map(pinned).sum()
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

impl<V: Clone + Holdable> Cell<V> {
    /// What the shard may take beside what is pinned.
    fn room_bytes(&self) -> usize {
        // Relaxed: whoever changes one of the two tells the shard afterwards.
        let share = self.share_bytes.load(Ordering::Relaxed);
        let pinned = self.pinned_bytes.load(Ordering::Relaxed);
        share.saturating_sub(pinned).max(share / FLOOR_DIVISOR)
    }

    /// Changes the shard under its lock; what leaves it is dropped when the lock is free again, but
    /// for what is pinned, and for one, which is returned.
    fn change(&self, work: impl FnOnce(&mut Shard<V>, &mut Vec<V>)) -> Option<V> {
        let mut evicted = Vec::new();
        // A panic under the lock is a bug of ours; the cache is still only a cache.
        let mut shard = self.shard.write().unwrap_or_else(PoisonError::into_inner);
        work(&mut shard, &mut evicted);
        // Relaxed: a number for accounting, nothing is reached through it.
        self.used_bytes.store(shard.used_bytes(), Ordering::Relaxed);
        drop(shard);
        // Relaxed: who misses what another pins right now leaves it to him.
        let is_pinning = self.pinned_count.load(Ordering::Relaxed) > 0;
        if is_pinning || evicted.iter().any(V::is_held_elsewhere) {
            self.pin(&mut evicted);
        }
        evicted.pop()
    }

    /// Lists what of `evicted` is held, looks at some that were, and fits the shard to it.
    #[cold]
    fn pin(&self, evicted: &mut Vec<V>) {
        let is_changed = self.with_pinned(|pinned| {
            pinned.take_held(evicted);
            pinned.look(LOOKED_AT);
        });
        if is_changed {
            self.fit();
        }
    }

    fn look_through(&self) {
        // Relaxed: as in `change`.
        let is_pinning = self.pinned_count.load(Ordering::Relaxed) > 0;
        if is_pinning && self.with_pinned(|pinned| pinned.look(usize::MAX)) {
            self.fit();
        }
    }

    /// Tells the shard what it may take now.
    fn fit(&self) {
        let mut left = Vec::new();
        let mut shard = self.shard.write().unwrap_or_else(PoisonError::into_inner);
        shard.set_capacity_bytes(self.room_bytes(), &mut left);
        // Relaxed: as in `change`.
        self.used_bytes.store(shard.used_bytes(), Ordering::Relaxed);
        drop(shard);
        // What that pins makes the shard give way with its next change.
        self.with_pinned(|pinned| pinned.take_held(&mut left));
    }

    /// Whether that changed how many bytes are pinned.
    fn with_pinned(&self, work: impl FnOnce(&mut Pinned<V>)) -> bool {
        let mut pinned = self.pinned.lock().unwrap_or_else(PoisonError::into_inner);
        let before = pinned.bytes();
        work(&mut pinned);
        // Relaxed: numbers for accounting, nothing is reached through them.
        self.pinned_bytes.store(pinned.bytes(), Ordering::Relaxed);
        self.pinned_count.store(pinned.count(), Ordering::Relaxed);
        pinned.bytes() != before
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
