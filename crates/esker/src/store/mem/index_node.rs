//! A wide node of the index over a memtable's entries: up to fifteen ways on, in order.
//!
//! | offset | size | type | meaning |
//! |---|---|---|---|
//! | 0 | 8 | u64 | the order of the ways, see [`Ways`] |
//! | 8 | 8 | usize | height: 0 where the ways lead to entries, else to nodes of one less |
//! | 16 | 15 × 8 | u64 | by slot: fragment of the smallest entry of each way |
//! | 136 | 15 × 8 | address | by slot: where each way leads |
//!
//! Memory only: four cache lines, of which a search touches three. A way is written into a free
//! slot and then, by one store of the order, becomes one of the node's; it leaves by such a store
//! too, when the upper ways move to a new node. So a reader always has a whole order, whatever the
//! writer is doing (the permutation of Mao, Kohler and Morris, "Cache craftiness for fast multicore
//! key-value storage", 2012).
//!
//! A slot that was left may be written anew while a reader with an older order still looks at it.
//! What was left lay above what stayed, and only what belongs to what stayed comes: so **what a
//! slot has is, from one time to the next, ever smaller**. Of a slot the address is stored first
//! and the fragment then; a reader loads the fragment first: so where he is led never lies behind
//! the entry whose fragment he has.

use std::array;
use std::ptr;

use crate::env::primitives::atomic::{AtomicPtr, AtomicU64, Ordering};

/// Most ways of a node: with their number, an order of four bits each fits one word. The model
/// checker gets nodes that split at once.
pub const WAYS_MAX: usize = if cfg!(all(test, loom)) { 3 } else { 15 };

/// One node; see the head of this file. Its height is written once, the rest is atomics.
#[repr(C)]
pub struct IndexNode {
    order: AtomicU64,
    height: usize,
    fragments: [AtomicU64; WAYS_MAX],
    addresses: [AtomicPtr<u8>; WAYS_MAX],
}

/// The ways of a node at one moment: how many, and the slots they lie in by their order.
///
/// Shape: four bits for the number of ways; then all slots in four bits each, those of the ways in
/// order first, then the free ones.
#[derive(Clone, Copy)]
pub struct Ways(u64);

impl Ways {
    /// No way, all slots free.
    const NONE: Ways = Ways(0xedcb_a987_6543_2100);

    /// How many there are.
    #[inline]
    pub fn count(self) -> usize {
        (self.0 & 15) as usize
    }

    /// The slot of the way at `position`, or of a free one behind the ways.
    #[inline]
    pub fn slot(self, position: usize) -> usize {
        (self.0 >> (4 + 4 * position)) as usize & 15
    }

    /// With the first free slot as that of a new way at `position`.
    #[inline]
    fn with(self, position: usize) -> Ways {
        let count = self.count();
        let slot = self.slot(count) as u64;
        let start = 4 + 4 * position;
        // The bits of the new way and of all behind it, which make room, up to that slot.
        let moved = u64::MAX >> (56 - 4 * count) & u64::MAX << start;
        let shifted = (self.0 & moved) << 4 & moved;
        Ways((self.0 & !moved | shifted | slot << start) + 1)
    }

    /// The first `count` of them.
    fn first(self, count: usize) -> Ways {
        Ways(self.0 & !15 | count as u64)
    }
}

impl IndexNode {
    /// A node without ways.
    pub fn new(height: usize) -> IndexNode {
        IndexNode {
            order: AtomicU64::new(Ways::NONE.0),
            height,
            fragments: array::from_fn(|_| AtomicU64::new(0)),
            addresses: array::from_fn(|_| AtomicPtr::new(ptr::null_mut())),
        }
    }

    /// How many nodes lie between it and the entries.
    #[inline]
    pub fn height(&self) -> usize {
        self.height
    }

    /// Its ways.
    #[inline]
    pub fn ways(&self) -> Ways {
        // Acquire: pairs with the Release in `add`, so the slots of the ways are there to read.
        Ways(self.order.load(Ordering::Acquire))
    }

    /// Whether it takes no further way; only for the writer, for whom that stays so.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.ways().count() == WAYS_MAX
    }

    /// The fragment of a way.
    #[inline]
    pub fn fragment(&self, slot: usize) -> u64 {
        // Acquire: the address is read after it, and so is not older.
        self.fragments[slot].load(Ordering::Acquire)
    }

    /// Where a way leads: to an entry or to a node, by the height.
    #[inline]
    pub fn address(&self, slot: usize) -> *mut u8 {
        // Acquire: pairs with the Release in `add`, so what lies there can be read.
        self.addresses[slot].load(Ordering::Acquire)
    }

    /// Adds a way at `position`; only for the writer.
    ///
    /// # Panics
    /// When the node is full.
    #[inline]
    pub fn add(&self, position: usize, fragment: u64, address: *mut u8) {
        let ways = self.ways();
        assert!(position <= ways.count() && ways.count() < WAYS_MAX);
        let slot = ways.slot(ways.count());
        // Release: what lies there was written before.
        self.addresses[slot].store(address, Ordering::Release);
        // Release: whoever sees this fragment also sees the address stored before it.
        self.fragments[slot].store(fragment, Ordering::Release);
        // Release: whoever sees this order also sees the slot.
        self.order.store(ways.with(position).0, Ordering::Release);
    }

    /// Adds all ways behind the first `count` to a node without ways that nobody can find yet;
    /// only for the writer.
    pub fn copy_behind(&self, count: usize, other: &IndexNode) {
        let ways = self.ways();
        for (position, from) in (count..ways.count()).enumerate() {
            let slot = ways.slot(from);
            other.add(position, self.fragment(slot), self.address(slot));
        }
    }

    /// Leaves all ways behind the first `count`; only for the writer, once readers find them
    /// elsewhere.
    pub fn keep(&self, count: usize) {
        // Release: whoever sees a slot that is written anew has also seen the ways leave, or has an
        // older order: see the head of this file.
        self.order
            .store(self.ways().first(count).0, Ordering::Release);
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
