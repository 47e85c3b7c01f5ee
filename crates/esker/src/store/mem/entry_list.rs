//! Ordered set of entries; one writer, many readers, no locks.
//!
//! A linked list in the order of internal keys, into which one writer links nodes, which readers
//! follow without locks, and from which nothing is ever unlinked; and beside it an index
//! (`index.rs`), which leads to an entry near any place. What else there is:
//!
//! - **Fragments.** Links and index carry, beside an address, eight bytes that stand for the key
//!   of the entry there (`fragment.rs`), so a search fetches next to no entries.
//! - **A finger.** The writer remembers where in the index its last insert was, and looks there
//!   first: rising keys need no descent.
//! - **Links back**, so that a step back costs what a step forward costs, and not a search. A link
//!   back may be behind the times; the way forward from it is always right.
//!
//! Measured (`cargo bench -p esker --bench parts`; 1 M keys of 16 decimal digits, values of 100
//! bytes; two cores of a busy virtual machine, in turns; processor time in ns/op, and bytes beyond
//! key and value):
//!
//! | variant | rising insert | random insert | random get | absent | bytes |
//! |---|---|---|---|---|---|
//! | this | 137 to 159 | 1370, 1380 | 1377, 1324 | 223, 240 | 65 rising, 72 |
//! | a skip list, branching 2 | 141 to 194 | 2400 to 2860 | 2820 to 3190 | 380 to 390 | 61 |
//! | `std` `BTreeMap` of vectors | | 1600 | 1590 | | |
//!
//! The skip list, with fragments in its links, came first: it fetched some twenty nodes for each
//! search. `BTreeMap` cannot be read while it is written. Many versions of one key defeat
//! fragments, which then tie: merges onto a thousand counters cost 900 to 1300, with either.
//!
//! Laws, from which the proofs beside the atomics follow. A link only ever changes to lead to a
//! node that lies before the one it led to. A node is in the list before the index has it. A
//! reader that has the fragment of a link, or of a way of the index, finds a node behind it that is
//! no farther.
//!
//! A reader finds everything that was inserted before it began, in the sense of "happens before"
//! (a sequence number published with Release and read with Acquire); of what is inserted
//! meanwhile it may find some.
#![allow(unsafe_code)]

use std::ptr;
use std::sync::Arc;

use crate::base::types::comparator::Comparator;
use crate::base::types::entry::Entry;
use crate::base::types::key::{self, Trailer};
use crate::base::types::kind::Kind;
use crate::env::pages::Pages;
use crate::env::primitives::atomic::{AtomicPtr, AtomicUsize, Ordering};
use crate::store::mem::arena::{Arena, ArenaWriter};
use crate::store::mem::fragment::fragment;
use crate::store::mem::index::{Index, IndexWriter};
use crate::store::mem::node::{BeforeFold, Link, Node, NodeRef};
use crate::store::mem::target::Target;

/// Steps of a cursor from which on it is a walk, for which entries are fetched ahead.
const STEPS_BEFORE_FETCHING: usize = 12;

/// The shared side: search and read. Any number of threads.
pub struct EntryList {
    /// The way to the first node.
    head: Link,
    index: Index,
    count: AtomicUsize,
    /// The first node that was inserted: its key is what fragments are relative to. Never
    /// changes once it is set, which happens before anything is linked.
    reference: AtomicPtr<Node>,
    comparator: Comparator,
    arena: Arc<Arena>,
}

/// The one writer of a list.
pub struct EntryListWriter {
    list: Arc<EntryList>,
    arena: ArenaWriter,
    index: IndexWriter,
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

impl EntryList {
    /// An empty list in that order, whose memory comes from `pages`, and its writer.
    pub fn create(pages: Arc<dyn Pages>, comparator: Comparator) -> EntryListWriter {
        let arena = Arena::create(pages);
        let list = EntryList {
            head: Link::end(),
            index: Index::default(),
            count: AtomicUsize::new(0),
            reference: AtomicPtr::new(ptr::null_mut()),
            comparator,
            arena: Arc::clone(arena.arena()),
        };
        EntryListWriter {
            list: Arc::new(list),
            arena,
            index: IndexWriter::default(),
        }
    }

    /// The order of its user keys.
    pub fn comparator(&self) -> &Comparator {
        &self.comparator
    }

    /// Entries in the list.
    pub fn count(&self) -> usize {
        // Relaxed: a number for accounting, nothing is reached through it.
        self.count.load(Ordering::Relaxed)
    }

    /// Bytes of memory taken from the system for list and writer.
    pub fn used_bytes(&self) -> usize {
        let fixed = size_of::<EntryList>() + size_of::<EntryListWriter>() + size_of::<Arena>();
        fixed + self.arena.reserved_bytes()
    }

    /// The first entry.
    pub fn first(&self) -> Option<NodeRef<'_>> {
        self.next_of(None)
    }

    /// About how many entries lie between two places; `None` is an end of the list.
    pub fn about_between(
        &self,
        lower: Option<(&[u8], Trailer)>,
        upper: Option<(&[u8], Trailer)>,
    ) -> usize {
        let target = |place| {
            let (user_key, trailer) = place;
            self.target(user_key, trailer, false)
        };
        // Without an entry there is no target, and nothing between any.
        let (lower, upper) = (lower.and_then(target), upper.and_then(target));
        self.index.about_between(lower.as_ref(), upper.as_ref())
    }

    /// The last entry.
    pub fn last(&self) -> Option<NodeRef<'_>> {
        let mut last = self.index.last();
        while let Some(next) = self.next_of(last) {
            last = Some(next);
        }
        last
    }

    /// The first entry not before `(key, trailer)`.
    #[inline]
    pub fn seek(&self, key: &[u8], trailer: Trailer) -> Option<NodeRef<'_>> {
        let target = self.target(key, trailer, false)?;
        let mut before = self.last_before(&target);
        loop {
            // The walk may have stopped at a fragment that was replaced meanwhile: then the next
            // node is newer than it, and may lie before the target.
            let next = self.next_of(before)?;
            if !target.is_behind_entry(next) {
                return Some(next);
            }
            before = Some(next);
        }
    }

    /// The last entry not after `(key, trailer)`.
    pub fn seek_for_prev(&self, key: &[u8], trailer: Trailer) -> Option<NodeRef<'_>> {
        self.last_before(&self.target(key, trailer, true)?)
    }

    /// The entry after `node`, which is one of this list.
    #[inline]
    pub fn next<'a>(&'a self, node: NodeRef<'a>) -> Option<NodeRef<'a>> {
        self.next_of(Some(node))
    }

    /// Has the processor fetch some entries behind `node`, which is one of this list; how many.
    pub fn fetch_behind(&self, node: NodeRef<'_>) -> usize {
        let (key, trailer) = key::split(node.internal_key());
        let target = self.target(key, trailer, true);
        target.map_or(0, |target| self.index.fetch_behind(&target))
    }

    /// The entry before `node`, which is one of this list.
    #[inline]
    pub fn prev<'a>(&'a self, node: NodeRef<'a>) -> Option<NodeRef<'a>> {
        // SAFETY: null or a node of this list.
        let mut before = unsafe { NodeRef::new(node.back()) };
        loop {
            // What was inserted since `back` was stored lies between the two, and whoever found
            // `node` also finds the way to it.
            let next = self.next_of(before).expect("the node lies ahead");
            if next.as_ptr() == node.as_ptr() {
                return before;
            }
            before = Some(next);
        }
    }

    /// The link of a node, or of the head.
    #[inline]
    fn link<'a>(&'a self, node: Option<NodeRef<'a>>) -> &'a Link {
        node.map_or(&self.head, NodeRef::link)
    }

    #[inline]
    fn next_of<'a>(&'a self, node: Option<NodeRef<'a>>) -> Option<NodeRef<'a>> {
        let (_, next) = self.link(node).load();
        // SAFETY: links lead only to nodes of this list.
        unsafe { NodeRef::new(next) }
    }

    /// What to look for, or `None` when the list is empty.
    #[inline]
    fn target<'a>(
        &'a self,
        key: &'a [u8],
        trailer: Trailer,
        is_inclusive: bool,
    ) -> Option<Target<'a>> {
        // Acquire: pairs with the Release in `place`, so the key is there to read.
        let reference = self.reference.load(Ordering::Acquire);
        // SAFETY: null or a node of this list.
        let reference = unsafe { NodeRef::new(reference) }?;
        // Where keys do not compare as bytes all fragments are equal, and never decide.
        let fragment = if self.comparator.is_bytewise() {
            fragment(key::user_key(reference.internal_key()), key)
        } else {
            0
        };
        Some(Target {
            comparator: &self.comparator,
            key,
            trailer,
            fragment,
            is_inclusive,
        })
    }

    /// Links a new node behind `before`; only for the writer.
    ///
    /// # Safety
    /// Both are nodes of this list's arena.
    #[inline]
    unsafe fn link_in(&self, before: Option<NodeRef<'_>>, new: NodeRef<'_>, fragment: u64) {
        let (after_fragment, after) = self.link(before).load();
        let back = before.map_or(ptr::null_mut(), NodeRef::as_ptr);
        // SAFETY: all three are nodes of this list's arena, or null: `after` because links lead to
        // nothing else. Nobody can find the new one yet; the Release that links it publishes all
        // of it.
        unsafe {
            new.link().store(after_fragment, after);
            new.set_back(back);
            self.link(before).store(fragment, new.as_ptr());
            if let Some(after) = NodeRef::new(after) {
                after.set_back(new.as_ptr());
            }
        }
        // Relaxed, and not an addition in one step: there is one writer.
        self.count.store(self.count() + 1, Ordering::Relaxed);
    }

    /// The last node before the target, `None` for the head: from where the index leads, by the
    /// links.
    #[inline]
    fn last_before<'a>(&'a self, target: &Target<'_>) -> Option<NodeRef<'a>> {
        let mut before = self.index.before(target);
        loop {
            let (fragment, next) = self.link(before).load();
            // SAFETY: links lead only to nodes of this list.
            let next = unsafe { NodeRef::new(next) };
            if next.is_none() || !target.is_behind(fragment, || next) {
                return before;
            }
            before = next;
        }
    }
}

impl EntryListWriter {
    /// The list.
    pub fn list(&self) -> &Arc<EntryList> {
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
        let EntryListWriter { list, arena, index } = self;
        let target = list.target(entry.key, entry.trailer, false);
        let before = target
            .as_ref()
            // SAFETY: index and arena are the list's, which keeps the arena, and has one writer.
            .and_then(|target| unsafe { index.find(&list.index, arena, target) });
        let after = list.next_of(before);
        let older = after.filter(|after| key::user_key(after.internal_key()) == entry.key);
        assert!(older.is_none_or(|older| older.entry().seqno() < entry.seqno()));
        let folded = older.and_then(fold);
        let stored = folded.as_ref().map_or(entry, |folded| Entry {
            key: entry.key,
            trailer: Trailer::new(entry.seqno(), folded.kind),
            value: &folded.value,
        });
        let before_fold = folded
            .as_ref()
            .filter(|folded| folded.kind == Kind::MergeFolded)
            .map(|folded| BeforeFold {
                base: folded.base.map_or(ptr::null_mut(), NodeRef::as_ptr),
                operand: entry.value,
            });
        // SAFETY: the base, if any, is an entry of this list.
        let node = unsafe { NodeRef::write(arena, stored, before_fold) };
        let fragment = match target {
            Some(target) => target.fragment,
            None => {
                // Release: the key was written before; it is there before any link is.
                list.reference.store(node, Ordering::Release);
                let target = list.target(entry.key, entry.trailer, false);
                let target = target.expect("the reference is set");
                // SAFETY: as above.
                unsafe { index.find(&list.index, arena, &target) };
                target.fragment
            }
        };
        // SAFETY: just written into the list's arena.
        let new = unsafe { NodeRef::new(node) }.expect("a node has an address");
        // SAFETY: `before` and `new` are nodes of this list, and the new one is not linked yet.
        unsafe { list.link_in(before, new, fragment) };
        // SAFETY: as above, and `find` was called before: with a target, or where it was made.
        unsafe { index.add(fragment, new) };
    }
}

/// A place in a list that keeps the list alive; stands on an entry or nowhere.
pub struct ListCursor {
    list: Arc<EntryList>,
    at: *mut Node,
    /// Steps ahead until entries are fetched.
    steps_left: usize,
}

// SAFETY: `at` is null or a node of `list`, which the cursor keeps alive and any thread may read.
unsafe impl Send for ListCursor {}

impl ListCursor {
    /// A cursor that stands nowhere.
    pub fn new(list: Arc<EntryList>) -> ListCursor {
        ListCursor {
            list,
            at: ptr::null_mut(),
            steps_left: STEPS_BEFORE_FETCHING,
        }
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
        find: impl for<'a> FnOnce(&'a EntryList, Option<NodeRef<'a>>) -> Option<NodeRef<'a>>,
    ) -> bool {
        self.at = find(&self.list, self.node()).map_or(ptr::null_mut(), NodeRef::as_ptr);
        self.steps_left = STEPS_BEFORE_FETCHING;
        !self.at.is_null()
    }

    /// Moves to the next entry. Only while it stands on one.
    #[inline]
    pub fn step(&mut self) -> bool {
        // SAFETY: null or a node of the list, which lives as long as the cursor.
        let node = unsafe { NodeRef::new(self.at) }.expect("the cursor stands on an entry");
        if self.steps_left == 0 {
            self.steps_left = self.list.fetch_behind(node);
        }
        self.steps_left = self.steps_left.saturating_sub(1);
        self.at = self
            .list
            .next(node)
            .map_or(ptr::null_mut(), NodeRef::as_ptr);
        !self.at.is_null()
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
