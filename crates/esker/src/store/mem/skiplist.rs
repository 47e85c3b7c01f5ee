//! Ordered set of entries; one writer, many readers, no locks.
//!
//! A skip list (Pugh 1990) in the manner of LevelDB's: one writer links nodes from the bottom up,
//! readers walk without locks, nothing is ever unlinked. What is added to it:
//!
//! - **Fragments in the links.** A link carries eight bytes that stand for the next node's key
//!   (`fragment.rs`), so a search fetches only the nodes it steps onto, not those that turn out
//!   to lie too far. That is also why a node reaches the next level once in two, and not once in
//!   four as elsewhere: nodes stepped onto per level are then one instead of three, and the
//!   comparisons, of which there are more, are nearly free.
//! - **A finger.** The writer remembers where its last insert was, and looks from there, upwards
//!   only as far as needed. Rising keys cost two comparisons.
//! - **Links back** on level 0, so that a step back costs what a step forward costs, and not a
//!   search. A link back may be behind the times; the way forward from it is always right.
//!
//! Measured (`cargo bench -p esker --bench parts`; 1 M keys of 16 decimal digits, values of 100
//! bytes; two cores of a busy 2.5 GHz Xeon in a virtual machine, where fetching one far entry
//! costs about 200 ns; processor time in ns/op, and bytes beyond key and value):
//!
//! | variant | sequential insert | random insert | random get | bytes |
//! |---|---|---|---|---|
//! | branching 2, fragments (this) | 164 | 1970 to 2850 | 2470 to 3170 | 61 |
//! | branching 4, fragments | 152 | 2660 to 3200 | 3290 to 4180 | 50 |
//! | branching 2, no fragment ever decides | 137 | 3490 | 3720 | 61 |
//! | this, in huge pages | 162 | 1750 to 1980 | 1530 to 1850 | 61 |
//! | `std` `BTreeMap` of vectors | | 1690 to 1850 | 1160 to 1610 | |
//!
//! The last but one line was taken with an allocator that asks for huge pages: half of what a
//! fetch costs here is finding its page. The last cannot be read while it is written. Its nodes
//! hold eleven keys, and wide nodes are what this list still lacks. Many versions of one key
//! defeat fragments, which then tie: merges onto a thousand counters cost 1000 to 1400.
//!
//! Laws, from which the proofs beside the atomics follow. The links of a level only ever change to
//! lead to a node that lies before the one they led to. A node is linked on level 0 first. A
//! reader that has the fragment of a link finds a node behind it that is no farther.
//!
//! A reader finds everything that was inserted before it began, in the sense of "happens before"
//! (a sequence number published with Release and read with Acquire); of what is inserted
//! meanwhile it may find some.
#![allow(unsafe_code)]

use std::cmp::Ordering::{Equal, Greater, Less};
use std::ptr;
use std::sync::Arc;

use crate::base::types::entry::Entry;
use crate::base::types::key::{self, Trailer};
use crate::base::types::kind::Kind;
use crate::base::types::order::KeyOrder;
use crate::env::pages::Pages;
use crate::env::primitives::atomic::{AtomicPtr, AtomicUsize, Ordering};
use crate::env::random::Random;
use crate::store::mem::arena::{Arena, ArenaWriter};
use crate::store::mem::fragment::fragment;
use crate::store::mem::node::{BeforeFold, FRAGMENT_OF_END, Link, Node, NodeRef};

/// A node reaches the next level once in 2 to this many times: see above for why not once in 4.
const BRANCHING_BITS: u32 = 1;

/// Levels of the tallest node: 2^20 entries, with the smallest of them 100 MB. Beyond that a
/// search walks a few steps more on the top level.
const HEIGHT_MAX: usize = 20;

/// Seed of the tower heights. Fixed, so that the same inserts build the same list; heights do
/// not depend on keys, so nobody can choose keys that make it slow.
const HEIGHT_SEED: u64 = 0x0065_736b_6572;

/// The shared side: search and read. Any number of threads.
pub struct SkipList {
    head: [Link; HEIGHT_MAX],
    /// Levels in use; a reader with an old number only takes a longer way.
    height: AtomicUsize,
    count: AtomicUsize,
    /// The first node that was inserted: its key is what fragments are relative to. Never
    /// changes once it is set, which happens before anything is linked.
    reference: AtomicPtr<Node>,
    order: KeyOrder,
    arena: Arc<Arena>,
}

/// The one writer of a list.
pub struct SkipListWriter {
    list: Arc<SkipList>,
    arena: ArenaWriter,
    finger: Finger,
    random: Random,
}

// SAFETY: the addresses in the finger are nodes of `list`, which the writer keeps alive; it reads
// them as any reader may, and changes only their atomics.
unsafe impl Send for SkipListWriter {}
// SAFETY: a shared writer only lends its list.
unsafe impl Sync for SkipListWriter {}

/// Where the last insert was: on each level in use the nodes before it (null: the head) and after
/// it (null: the end), which are neighbours, and their fragments.
struct Finger {
    before: [*mut Node; HEIGHT_MAX],
    after: [*mut Node; HEIGHT_MAX],
    before_fragment: [u64; HEIGHT_MAX],
    after_fragment: [u64; HEIGHT_MAX],
}

/// What a search looks for.
struct Target<'a> {
    key: &'a [u8],
    trailer: Trailer,
    fragment: u64,
}

/// What an insert stores instead of the entry it was given.
pub struct Folded<'a> {
    /// The kind in place of the given one.
    pub kind: Kind,
    /// The value in place of the given one.
    pub value: Vec<u8>,
    /// Only for [`Kind::MergeFolded`]: the newest older entry of the key that is no merge.
    pub base: Option<NodeRef<'a>>,
}

impl Target<'_> {
    /// Whether a node comes before the target, or, if `or_at`, is the target.
    #[inline]
    fn is_behind(&self, order: &KeyOrder, node: NodeRef<'_>, or_at: bool) -> bool {
        let (key, trailer) = key::split(node.internal_key());
        match order.compare(key, self.key) {
            Less => true,
            Greater => false,
            Equal => trailer > self.trailer || or_at && trailer == self.trailer,
        }
    }
}

impl SkipList {
    /// An empty list in that order, whose memory comes from `pages`, and its writer.
    pub fn create(pages: Arc<dyn Pages>, order: KeyOrder) -> SkipListWriter {
        let arena = Arena::create(pages);
        let list = SkipList {
            head: std::array::from_fn(|_| Link::end()),
            height: AtomicUsize::new(1),
            count: AtomicUsize::new(0),
            reference: AtomicPtr::new(ptr::null_mut()),
            order,
            arena: Arc::clone(arena.arena()),
        };
        SkipListWriter {
            list: Arc::new(list),
            arena,
            finger: Finger {
                before: [ptr::null_mut(); HEIGHT_MAX],
                after: [ptr::null_mut(); HEIGHT_MAX],
                before_fragment: [0; HEIGHT_MAX],
                after_fragment: [FRAGMENT_OF_END; HEIGHT_MAX],
            },
            random: Random::new(HEIGHT_SEED),
        }
    }

    /// The order of its user keys.
    pub fn order(&self) -> &KeyOrder {
        &self.order
    }

    /// Entries in the list.
    pub fn count(&self) -> usize {
        // Relaxed: a number for accounting, nothing is reached through it.
        self.count.load(Ordering::Relaxed)
    }

    /// Bytes of memory taken from the system for list and writer.
    pub fn used_bytes(&self) -> usize {
        let fixed = size_of::<SkipList>() + size_of::<SkipListWriter>() + size_of::<Arena>();
        fixed + self.arena.reserved_bytes()
    }

    /// The first entry.
    pub fn first(&self) -> Option<NodeRef<'_>> {
        self.next_of(None, 0)
    }

    /// The last entry.
    pub fn last(&self) -> Option<NodeRef<'_>> {
        let mut last = None;
        for level in (0..self.levels()).rev() {
            while let Some(next) = self.next_of(last, level) {
                last = Some(next);
            }
        }
        last
    }

    /// The first entry not before `(key, trailer)`.
    #[inline]
    pub fn seek(&self, key: &[u8], trailer: Trailer) -> Option<NodeRef<'_>> {
        let target = self.target(key, trailer)?;
        let mut before = self.descend(&target, false);
        loop {
            // The descent may have stopped at a fragment that was replaced meanwhile: then the
            // next node is newer than it, and may lie before the target.
            let next = self.next_of(before, 0)?;
            if !target.is_behind(&self.order, next, false) {
                return Some(next);
            }
            before = Some(next);
        }
    }

    /// The last entry not after `(key, trailer)`.
    pub fn seek_for_prev(&self, key: &[u8], trailer: Trailer) -> Option<NodeRef<'_>> {
        self.descend(&self.target(key, trailer)?, true)
    }

    /// The entry after `node`, which is one of this list.
    #[inline]
    pub fn next<'a>(&'a self, node: NodeRef<'a>) -> Option<NodeRef<'a>> {
        self.next_of(Some(node), 0)
    }

    /// The entry before `node`, which is one of this list.
    #[inline]
    pub fn prev<'a>(&'a self, node: NodeRef<'a>) -> Option<NodeRef<'a>> {
        // SAFETY: null or a node of this list.
        let mut before = unsafe { NodeRef::new(node.back()) };
        loop {
            // What was inserted since `back` was stored lies between the two, and whoever found
            // `node` also finds the way to it on level 0, where nodes are linked first.
            let next = self.next_of(before, 0).expect("the node lies ahead");
            if next.as_ptr() == node.as_ptr() {
                return before;
            }
            before = Some(next);
        }
    }

    /// Levels in use.
    #[inline]
    fn levels(&self) -> usize {
        // Relaxed: whatever is linked on a level is also linked on all levels below.
        self.height.load(Ordering::Relaxed)
    }

    /// The link of that level of a node that was found on that level or above, or of the head.
    #[inline]
    fn link<'a>(&'a self, node: Option<NodeRef<'a>>, level: usize) -> &'a Link {
        match node {
            // SAFETY: a node found on a level has a link there and on all levels below.
            Some(node) => unsafe { node.link(level) },
            None => &self.head[level],
        }
    }

    #[inline]
    fn next_of<'a>(&'a self, node: Option<NodeRef<'a>>, level: usize) -> Option<NodeRef<'a>> {
        let (_, next) = self.link(node, level).load();
        // SAFETY: links lead only to nodes of this list.
        unsafe { NodeRef::new(next) }
    }

    /// What to look for, or `None` when the list is empty.
    #[inline]
    fn target<'a>(&self, key: &'a [u8], trailer: Trailer) -> Option<Target<'a>> {
        // Acquire: pairs with the Release in `place`, so the key is there to read.
        let reference = self.reference.load(Ordering::Acquire);
        // SAFETY: null or a node of this list.
        let reference = unsafe { NodeRef::new(reference) }?;
        // Where keys do not compare as bytes all fragments are equal, and never decide.
        let fragment = if self.order.is_bytewise() {
            fragment(key::user_key(reference.internal_key()), key)
        } else {
            0
        };
        Some(Target {
            key,
            trailer,
            fragment,
        })
    }

    /// The last node before the target (or at it), `None` for the head.
    #[inline]
    fn descend<'a>(&'a self, target: &Target<'_>, or_at: bool) -> Option<NodeRef<'a>> {
        let mut before = None;
        for level in (0..self.levels()).rev() {
            (before, _, _) = self.walk(before, 0, level, target, or_at);
        }
        before
    }

    /// Walks one level from `before`, which lies before the target and has the fragment
    /// `before_fragment`. Returns the last node before the target, its fragment, and the link
    /// behind it as it was read: its node may be newer than its fragment, but not for the writer.
    #[inline]
    fn walk<'a>(
        &'a self,
        mut before: Option<NodeRef<'a>>,
        mut before_fragment: u64,
        level: usize,
        target: &Target<'_>,
        or_at: bool,
    ) -> (Option<NodeRef<'a>>, u64, (u64, *mut Node)) {
        loop {
            let (fragment, next) = self.link(before, level).load();
            if fragment > target.fragment {
                return (before, before_fragment, (fragment, next));
            }
            // SAFETY: links lead only to nodes of this list.
            let Some(node) = (unsafe { NodeRef::new(next) }) else {
                return (before, before_fragment, (fragment, next));
            };
            if fragment == target.fragment && !target.is_behind(&self.order, node, or_at) {
                return (before, before_fragment, (fragment, next));
            }
            (before, before_fragment) = (Some(node), fragment);
        }
    }
}

impl SkipListWriter {
    /// The list.
    pub fn list(&self) -> &Arc<SkipList> {
        &self.list
    }

    /// Puts an entry in its place.
    ///
    /// When the list has older entries of the same user key, `fold` is given the newest of them,
    /// and what it returns is stored instead of the entry's kind and value.
    ///
    /// # Panics
    /// When the list has an entry of that user key that is not older, or key or value are beyond
    /// their limits.
    #[inline]
    pub fn insert(
        &mut self,
        entry: Entry<'_>,
        fold: impl for<'a> FnOnce(NodeRef<'a>) -> Option<Folded<'a>>,
    ) {
        let target = self.list.target(entry.key, entry.trailer);
        if let Some(target) = &target {
            self.finger.find(&self.list, target);
        }
        let fragment = target.map(|target| target.fragment);
        // SAFETY: null or a node of the list, which lives while the writer does.
        let after = unsafe { NodeRef::new(self.finger.after[0]) };
        let older = after.filter(|after| key::user_key(after.internal_key()) == entry.key);
        assert!(older.is_none_or(|older| older.entry().seqno() < entry.seqno()));
        match older.and_then(fold) {
            None => self.place(entry, fragment, None),
            Some(folded) => {
                let operand = entry.value;
                let entry = Entry {
                    key: entry.key,
                    trailer: Trailer::new(entry.seqno(), folded.kind),
                    value: &folded.value,
                };
                let base = folded.base.map_or(ptr::null_mut(), NodeRef::as_ptr);
                let before = BeforeFold { base, operand };
                let before = (folded.kind == Kind::MergeFolded).then_some(before);
                self.place(entry, fragment, before);
            }
        }
    }

    /// Links a new node in between the two sides of the finger. Its fragment is known unless it is
    /// the first of the list, and so the reference.
    #[inline]
    fn place(&mut self, entry: Entry<'_>, fragment: Option<u64>, folded: Option<BeforeFold<'_>>) {
        let (list, finger) = (&*self.list, &mut self.finger);
        let bits = self.random.next_u64();
        let height = 1 + (bits.trailing_zeros() / BRANCHING_BITS) as usize;
        let height = height.min(HEIGHT_MAX);
        // SAFETY: the base, if any, was found by `insert` in this list.
        let node = unsafe { NodeRef::write(&mut self.arena, height, entry, folded) };
        if list.count() == 0 {
            // Release: the key was written before; it is there before any link is.
            list.reference.store(node, Ordering::Release);
        }
        let fragment = fragment.unwrap_or_else(|| {
            let target = list.target(entry.key, entry.trailer);
            target.expect("the reference is set").fragment
        });
        // SAFETY: just written into the list's arena.
        let new = unsafe { NodeRef::new(node) };
        // Nobody can find the node yet; the Release that links it publishes all of it.
        for level in 0..height {
            list.link(new, level)
                .store(finger.after_fragment[level], finger.after[level]);
        }
        if let Some(new) = new {
            new.set_back(finger.before[0]);
        }
        // Level 0 first: whoever finds the node above must also find it below.
        for level in 0..height {
            // SAFETY: null or a node of the list.
            let before = unsafe { NodeRef::new(finger.before[level]) };
            list.link(before, level).store(fragment, node);
            finger.before[level] = node;
            finger.before_fragment[level] = fragment;
        }
        // SAFETY: null or a node of the list.
        if let Some(after) = unsafe { NodeRef::new(finger.after[0]) } {
            after.set_back(node);
        }
        if height > list.levels() {
            // Relaxed: see `levels`.
            list.height.store(height, Ordering::Relaxed);
        }
        // Relaxed, and not an addition in one step: there is one writer.
        list.count.store(list.count() + 1, Ordering::Relaxed);
    }
}

impl Finger {
    /// Moves the finger to where the target belongs: up from level 0 to the first level where it
    /// already stands right, then down again.
    #[inline]
    fn find(&mut self, list: &SkipList, target: &Target<'_>) {
        let levels = list.levels();
        let right = (0..levels).find(|&level| self.is_around(list, level, target));
        let (mut before, mut before_fragment) = match right {
            // SAFETY: null or a node of the list, which was found on that level.
            Some(level) => (
                unsafe { NodeRef::new(self.before[level]) },
                self.before_fragment[level],
            ),
            None => (None, 0),
        };
        for level in (0..right.unwrap_or(levels)).rev() {
            let after;
            (before, before_fragment, after) =
                list.walk(before, before_fragment, level, target, false);
            self.before[level] = before.map_or(ptr::null_mut(), NodeRef::as_ptr);
            self.before_fragment[level] = before_fragment;
            (self.after_fragment[level], self.after[level]) = after;
        }
    }

    /// Whether the target belongs between the two sides on that level.
    #[inline]
    fn is_around(&self, list: &SkipList, level: usize, target: &Target<'_>) -> bool {
        let is_behind = |fragment: u64, node: *mut Node, if_none: bool| {
            if fragment != target.fragment {
                return fragment < target.fragment;
            }
            // SAFETY: null or a node of the list.
            let node = unsafe { NodeRef::new(node) };
            node.map_or(if_none, |node| target.is_behind(&list.order, node, false))
        };
        is_behind(self.before_fragment[level], self.before[level], true)
            && !is_behind(self.after_fragment[level], self.after[level], false)
    }
}

/// A place in a list that keeps the list alive; stands on an entry or nowhere.
pub struct ListCursor {
    list: Arc<SkipList>,
    at: *mut Node,
}

// SAFETY: `at` is null or a node of `list`, which the cursor keeps alive and any thread may read.
unsafe impl Send for ListCursor {}

impl ListCursor {
    /// A cursor that stands nowhere.
    pub fn new(list: Arc<SkipList>) -> ListCursor {
        let at = ptr::null_mut();
        ListCursor { list, at }
    }

    /// The entry it stands on.
    #[inline]
    pub fn node(&self) -> Option<NodeRef<'_>> {
        // SAFETY: null or a node of the list, which lives as long as the cursor.
        unsafe { NodeRef::new(self.at) }
    }

    /// The entry before the one it stands on.
    #[inline]
    pub fn before(&self) -> Option<NodeRef<'_>> {
        self.list.prev(self.node()?)
    }

    /// Moves to what `find` returns, given the list and the entry it stands on; says whether it
    /// stands on an entry now.
    #[inline]
    pub fn go(
        &mut self,
        find: impl for<'a> FnOnce(&'a SkipList, Option<NodeRef<'a>>) -> Option<NodeRef<'a>>,
    ) -> bool {
        self.at = find(&self.list, self.node()).map_or(ptr::null_mut(), NodeRef::as_ptr);
        !self.at.is_null()
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
