//! Where among a memtable's entries a key belongs: a tree of wide nodes beside the list of entries.
//!
//! The list (`entry_list.rs`) is the truth, and the index a way to come close: it leads to an entry
//! before the target, and from there the list is followed. So an entry may be linked before the
//! index has it, and a reader whom a split overtakes is led a little short, never past his target:
//! that is all he relies on, and it takes no lock, no version and no second look.
//!
//! A descent fetches three lines of each node and, but where fragments tie, no entry. Nodes that
//! are full are split on the way down, so the node above always has room: the new node gets the
//! upper half and becomes a way of the node above, and only then is the half left where it was.
#![allow(unsafe_code)]

use std::cmp::Ordering::{Equal, Greater, Less};
use std::hint::black_box;
use std::ops::Range;
use std::ptr::{self, NonNull};

use crate::env::primitives::atomic::{AtomicPtr, Ordering};
use crate::store::mem::arena::{ALIGN, ArenaWriter};
use crate::store::mem::index_node::{IndexNode, WAYS_MAX, Ways};
use crate::store::mem::node::{LINE_BYTES, Node, NodeRef};
use crate::store::mem::target::Target;

/// Nodes for which memory is taken at once, in all but small memtables.
const BATCH_NODES_MAX: usize = 16;

/// Of so many ways of a node above those of leaves it is looked what they lead to, where a number
/// need only be near.
const SAMPLED_WAYS: usize = 4;

/// Ways that a full node keeps, of those that come as they may.
const WAYS_KEPT: usize = WAYS_MAX / 2 + 1;

const _: () = assert!(align_of::<IndexNode>() <= LINE_BYTES);
const _: () = assert!(LINE_BYTES.is_multiple_of(ALIGN));

/// The shared side: search. Any number of threads.
///
/// What it leads to lies in the arena of the list that it belongs to, which outlives it.
pub struct Index {
    root: AtomicPtr<IndexNode>,
}

/// The one who adds entries: where the last one went, which is the finger, and memory for nodes.
pub struct IndexWriter {
    /// The leaf of the last search; null before the first.
    leaf: *mut IndexNode,
    /// Where in it the entry that was looked for belongs.
    position: usize,
    /// Fragments between which all belong into that leaf, but those of equal fragment.
    bounds: (u64, u64),
    /// Memory for nodes, and for how many.
    room: *mut IndexNode,
    room_count: usize,
    made_count: usize,
}

impl Default for Index {
    /// An index without entries.
    fn default() -> Index {
        Index {
            root: AtomicPtr::new(ptr::null_mut()),
        }
    }
}

impl Index {
    /// An entry before the target, near it: for the writer the last one. `None` is the head of the
    /// list.
    #[inline]
    pub fn before(&self, target: &Target<'_>) -> Option<NodeRef<'_>> {
        self.walk_down(|node, ways| node.rank(ways, target))
    }

    /// The last entry, or one near it.
    pub fn last(&self) -> Option<NodeRef<'_>> {
        self.walk_down(|_, ways| ways.count())
    }

    /// About how many entries lie from the lower target on and before the upper one: few are
    /// counted, of many a sample is. What lies outside of them costs nothing.
    pub fn about_between(&self, lower: Option<&Target<'_>>, upper: Option<&Target<'_>>) -> usize {
        // Acquire: see `leaf`.
        let root = self.root.load(Ordering::Acquire);
        // SAFETY: null or a node in the list's arena.
        let root = unsafe { root.as_ref() };
        root.map_or(0, |root| root.about_between(lower, upper))
    }

    /// Has the processor fetch entries behind the target, some ten of them side by side; how many.
    ///
    /// Who walks the list waits for each entry before he knows where the next one lies. The index
    /// knows it of many, so they can be waited for together.
    pub fn fetch_behind(&self, target: &Target<'_>) -> usize {
        let mut beyond = None;
        let leaf = self.leaf(|node, ways| {
            let rank = node.rank(ways, target);
            // Below the inner node where it was set last lies the leaf behind the one that is met.
            if node.height() > 0 && rank.max(1) < ways.count() {
                beyond = Some((node, ways.slot(rank.max(1))));
            }
            rank
        });
        let rest = leaf.map_or(0, |(leaf, ways, rank)| leaf.fetch_from(ways, rank));
        let next = beyond.map_or(0, |(node, slot)| {
            let (leaf, _) = node.leftmost(slot);
            leaf.fetch_from(leaf.ways(), 0)
        });
        rest + next
    }

    /// Goes down by the last of the ways that `rank` counts, or else the first.
    #[inline]
    fn walk_down<'a>(&'a self, rank: impl Fn(&'a IndexNode, Ways) -> usize) -> Option<NodeRef<'a>> {
        let (leaf, ways, rank) = self.leaf(rank)?;
        let last = rank.checked_sub(1)?;
        leaf.entry(ways.slot(last))
    }

    /// The leaf to which that way leads, its ways, and how many of them `rank` counts.
    #[inline]
    fn leaf<'a>(
        &'a self,
        mut rank: impl FnMut(&'a IndexNode, Ways) -> usize,
    ) -> Option<(&'a IndexNode, Ways, usize)> {
        // Acquire: pairs with the Release in `IndexWriter`, so the node is there to read.
        let root = self.root.load(Ordering::Acquire);
        // SAFETY: null or a node in the list's arena.
        let mut node = unsafe { root.as_ref() }?;
        loop {
            let ways = node.ways();
            let rank = rank(node, ways);
            if node.height() == 0 {
                return Some((node, ways, rank));
            }
            node = node.child(ways.slot(rank.saturating_sub(1)));
        }
    }
}

impl IndexNode {
    /// How many of its ways begin before the target.
    #[inline]
    fn rank(&self, ways: Ways, target: &Target<'_>) -> usize {
        let (mut rank, mut count) = (0, ways.count());
        while count > 0 {
            let half = count / 2;
            let slot = ways.slot(rank + half);
            if target.is_behind(self.fragment(slot), || self.smallest(slot)) {
                rank += half + 1;
                count -= half + 1;
            } else {
                count = half;
            }
        }
        rank
    }

    /// About how many of its entries lie from the lower target on and before the upper one.
    fn about_between(&self, lower: Option<&Target<'_>>, upper: Option<&Target<'_>>) -> usize {
        let ways = self.ways();
        let from = lower.map_or(0, |target| self.rank(ways, target));
        let to = upper.map_or(ways.count(), |target| self.rank(ways, target));
        if self.height() == 0 {
            return to.saturating_sub(from);
        }
        if lower.is_none() && upper.is_none() {
            return self.about_below(ways, 0..to);
        }
        // The ways in which the two ends lie.
        let (first, last) = (from.saturating_sub(1), to.saturating_sub(1));
        let child = |way| self.child(ways.slot(way));
        match first.cmp(&last) {
            Less => {
                let behind = child(first).about_between(lower, None);
                let before = child(last).about_between(None, upper);
                behind + self.about_below(ways, first + 1..last) + before
            }
            Equal => child(last).about_between(lower, upper),
            Greater => 0,
        }
    }

    /// About how many entries some ways of an inner node lead to: those of leaves are counted, and
    /// of larger parts what a few have stands for all.
    fn about_below(&self, ways: Ways, range: Range<usize>) -> usize {
        let sampled = match self.height() {
            1 => range.len(),
            _ => range.len().min(SAMPLED_WAYS),
        };
        let place = |turn| range.start + turn * range.len() / sampled;
        let about = |turn| self.child(ways.slot(place(turn))).about_between(None, None);
        let sum: usize = (0..sampled).map(about).sum();
        match sampled {
            0 => 0,
            _ => sum * range.len() / sampled,
        }
    }

    /// Has the processor fetch the entries of a leaf from a way on; how many.
    fn fetch_from(&self, ways: Ways, first: usize) -> usize {
        let entries = || (first..ways.count()).filter_map(|way| self.entry(ways.slot(way)));
        // First the lines that tell how long each is, for which nothing else has to be known.
        let lengths: usize = entries().map(NodeRef::entry_bytes).sum();
        let touched: usize = entries().map(NodeRef::touch).sum();
        black_box(lengths + touched);
        ways.count() - first
    }

    /// The entry to which a way of a leaf leads.
    #[inline]
    fn entry(&self, slot: usize) -> Option<NodeRef<'_>> {
        assert!(self.height() == 0);
        // SAFETY: the ways of a leaf lead to entries in the arena that also holds the leaf.
        unsafe { NodeRef::new(self.address(slot).cast::<Node>()) }
    }

    /// The node to which a way of an inner node leads.
    #[inline]
    fn child(&self, slot: usize) -> &IndexNode {
        assert!(self.height() > 0);
        // SAFETY: the ways of an inner node lead to nodes in the arena that also holds this one.
        unsafe { &*self.address(slot).cast::<IndexNode>() }
    }

    /// The first leaf below a way, and the slot of its first way; of a leaf, that way of its own.
    #[inline]
    fn leftmost(&self, slot: usize) -> (&IndexNode, usize) {
        let (mut node, mut slot) = (self, slot);
        while node.height() > 0 {
            node = node.child(slot);
            slot = node.ways().slot(0);
        }
        (node, slot)
    }

    /// The entry with which a way began when it was made. It stays its smallest one, but for the
    /// first way of all.
    #[cold]
    fn smallest(&self, slot: usize) -> Option<NodeRef<'_>> {
        let (leaf, slot) = self.leftmost(slot);
        leaf.entry(slot)
    }
}

impl Default for IndexWriter {
    /// A writer for an index without entries.
    fn default() -> IndexWriter {
        IndexWriter {
            leaf: ptr::null_mut(),
            position: 0,
            bounds: (0, 0),
            room: ptr::null_mut(),
            room_count: 0,
            made_count: 0,
        }
    }
}

impl IndexWriter {
    /// The last entry before the target, where the next [`IndexWriter::add`] will add one; `None`
    /// is the head of the list. Memory for nodes comes from `arena`, which is the list's.
    ///
    /// # Safety
    /// `index` and `arena` are the same at every call for this writer, no other writer has them,
    /// and the arena lives as long as anybody has the index.
    #[inline]
    pub unsafe fn find<'a>(
        &mut self,
        index: &'a Index,
        arena: &mut ArenaWriter,
        target: &Target<'_>,
    ) -> Option<NodeRef<'a>> {
        let is_within = self.bounds.0 < target.fragment && target.fragment < self.bounds.1;
        // SAFETY: null or a node in the list's arena.
        let finger = unsafe { self.leaf.as_ref() };
        let leaf = match finger {
            Some(leaf) if is_within && !leaf.is_full() => leaf,
            _ => self.descend(index, arena, target),
        };
        let ways = leaf.ways();
        self.position = leaf.rank(ways, target);
        let last = self.position.checked_sub(1)?;
        leaf.entry(ways.slot(last))
    }

    /// Adds an entry of the list where [`IndexWriter::find`] has been last.
    ///
    /// # Safety
    /// The entry lies in the arena that `find` was given.
    #[inline]
    pub unsafe fn add(&mut self, fragment: u64, entry: NodeRef<'_>) {
        // SAFETY: `find` left a node in the list's arena.
        let leaf = unsafe { self.leaf.as_ref() }.expect("a place was found");
        leaf.add(self.position, fragment, entry.as_ptr().cast());
    }

    /// Finds the leaf where the target belongs, with room for it, and puts the finger there.
    fn descend<'a>(
        &mut self,
        index: &'a Index,
        arena: &mut ArenaWriter,
        target: &Target<'_>,
    ) -> &'a IndexNode {
        let mut node = self.root_with_room(index, arena);
        let mut bounds = (0, u64::MAX);
        while node.height() > 0 {
            let ways = node.ways();
            let position = node.rank(ways, target).saturating_sub(1);
            let child = node.child(ways.slot(position));
            if child.is_full() {
                self.split(arena, node, position, child, target);
                continue;
            }
            if position > 0 {
                bounds.0 = node.fragment(ways.slot(position));
            }
            if position + 1 < ways.count() {
                bounds.1 = node.fragment(ways.slot(position + 1));
            }
            node = child;
        }
        self.leaf = ptr::from_ref(node).cast_mut();
        self.bounds = bounds;
        node
    }

    /// The root, with room for another way.
    fn root_with_room<'a>(&mut self, index: &'a Index, arena: &mut ArenaWriter) -> &'a IndexNode {
        // Relaxed: only the one writer stores it.
        let root = index.root.load(Ordering::Relaxed);
        // SAFETY: null or a node in the list's arena.
        let old = unsafe { root.as_ref() };
        let new = match old {
            Some(old) if !old.is_full() => return old,
            Some(old) => {
                let new = self.make(arena, old.height() + 1);
                // Of a first way nobody asks how it begins.
                new.add(0, 0, root.cast());
                new
            }
            None => self.make(arena, 0),
        };
        // Release: the node was written before.
        index
            .root
            .store(ptr::from_ref(new).cast_mut(), Ordering::Release);
        new
    }

    /// Splits a full `child`, which is the way of `parent` at `position`.
    #[cold]
    fn split(
        &mut self,
        arena: &mut ArenaWriter,
        parent: &IndexNode,
        position: usize,
        child: &IndexNode,
        target: &Target<'_>,
    ) {
        let ways = child.ways();
        // Rising keys leave full nodes behind.
        let is_rising = child.rank(ways, target) == WAYS_MAX
            && (child.height() > 0 || ptr::eq(child, self.leaf) && self.position + 1 == WAYS_MAX);
        let kept = if is_rising { WAYS_MAX - 1 } else { WAYS_KEPT };
        let upper = self.make(arena, child.height());
        child.copy_behind(kept, upper);
        let fragment = child.fragment(ways.slot(kept));
        parent.add(
            position + 1,
            fragment,
            ptr::from_ref(upper).cast_mut().cast(),
        );
        child.keep(kept);
    }

    /// A new node without ways.
    fn make<'a>(&mut self, arena: &mut ArenaWriter, height: usize) -> &'a IndexNode {
        if self.room_count == 0 {
            self.room_count = self.made_count.clamp(1, BATCH_NODES_MAX);
            let bytes = self.room_count * size_of::<IndexNode>();
            let place = arena.allocate(bytes + LINE_BYTES - ALIGN);
            let padding = place.addr().get().wrapping_neg() % LINE_BYTES;
            // SAFETY: so much more was taken than the nodes need.
            self.room = unsafe { place.add(padding) }.cast().as_ptr();
        }
        let place = NonNull::new(self.room).expect("memory was just taken");
        self.room_count -= 1;
        self.made_count += 1;
        // SAFETY: the room is for one node more, nobody else has it, and it stays where it is as
        // long as the arena lives, which is longer than anybody holds the index.
        unsafe {
            self.room = self.room.add(1);
            place.write(IndexNode::new(height));
            place.as_ref()
        }
    }
}

// SAFETY: the addresses are nodes in the arena of the list that owns the writer, and room that
// nobody else has; a writer reads nodes as any reader may, and changes only their atomics.
unsafe impl Send for IndexWriter {}
// SAFETY: a shared writer offers nothing.
unsafe impl Sync for IndexWriter {}
