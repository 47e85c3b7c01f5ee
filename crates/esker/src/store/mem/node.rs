//! One entry in the arena: its link, its key and its value in a single allocation.
//!
//! | offset | size | type | meaning |
//! |---|---|---|---|
//! | 0 | 16 | link | fragment and address of the next node |
//! | 16 | 8 | address | `back`: a node before this one; null stands for the head |
//! | 24 | 4 | u32 | bytes of the value |
//! | 28 | 2 | u16 | bytes of the user key; two bytes behind it are unused |
//! | 32 | n | bytes | user key, then the trailer: together the encoded internal key |
//! | … | n | bytes | value |
//! | … | 8 | address | only for `MergeFolded`, at the next multiple of 8: the chain's base |
//! | … | 4 | u32 | likewise: bytes of the operand before it was folded |
//! | … | n | bytes | likewise: that operand |
//!
//! Native byte order, memory only. Everything but `back` and the link is written once, before
//! the node can be found.
#![allow(unsafe_code)]

use std::marker::PhantomData;
use std::ptr::{self, NonNull};

use crate::base::types::entry::Entry;
use crate::base::types::key::{self, TRAILER_BYTES};
use crate::base::types::kind::{EXPIRY_MS_BYTES, Kind};
use crate::base::types::limits::{KEY_BYTES_MAX, VALUE_BYTES_MAX};
use crate::env::primitives::atomic::{AtomicPtr, AtomicU64, Ordering};
use crate::store::mem::arena::{self, Arena, ArenaWriter};

/// The fragment of a link that leads nowhere: no key's fragment is larger.
pub const FRAGMENT_OF_END: u64 = u64::MAX;

/// The fixed front of a node; see the table above.
#[repr(C)]
pub struct Node {
    link: Link,
    back: AtomicPtr<Node>,
    value_bytes: u32,
    key_bytes: u16,
}

/// The way to the next node.
///
/// The writer stores `next` and then `fragment`, each with Release; a reader loads `fragment` and
/// then `next`, each with Acquire. So a reader's `next` is never older than its `fragment`, and,
/// because every new `next` lies before the one it replaces, never behind the key of which the
/// reader has the fragment.
#[repr(C)]
pub struct Link {
    fragment: AtomicU64,
    next: AtomicPtr<Node>,
}

/// Bytes that the processor fetches at a time: a cache line.
pub const LINE_BYTES: usize = 64;

/// Lines of a node that are fetched together.
const LINES_TOUCHED_MAX: usize = 6;

/// Offset of the key in a node.
const KEY_OFFSET: usize = size_of::<Node>();

const _: () = assert!(align_of::<Node>() <= arena::ALIGN);
const _: () = assert!(KEY_BYTES_MAX <= u16::MAX as usize);
const _: () = assert!(VALUE_BYTES_MAX < (u32::MAX / 2) as usize);

/// A node, borrowed from the arena that holds it.
#[derive(Clone, Copy)]
pub struct NodeRef<'a> {
    node: NonNull<Node>,
    arena: PhantomData<&'a Arena>,
}

/// What a node of kind [`Kind::MergeFolded`] keeps beside its folded value.
pub struct BeforeFold<'a> {
    /// The newest older entry of the key that is no merge, or null.
    pub base: *mut Node,
    /// The operand before it was folded: a flush needs it where it must keep, for a snapshot,
    /// the older entries that the folded value holds too.
    pub operand: &'a [u8],
}

impl BeforeFold<'_> {
    fn size(&self) -> usize {
        size_of::<*mut Node>() + size_of::<u32>() + self.operand.len()
    }

    /// # Safety
    /// `place` is aligned for addresses and has room for `size` bytes that nobody else has.
    unsafe fn write(self, place: NonNull<u8>) {
        let len = u32::try_from(self.operand.len()).expect("an operand is at most 1 GiB");
        // SAFETY: the parts lie one behind the other in the room that the caller vouches for.
        unsafe {
            place.cast::<*mut Node>().write(self.base);
            let len_place = place.add(size_of::<*mut Node>());
            len_place.cast::<u32>().write(len);
            copy_to(len_place.add(size_of::<u32>()), self.operand);
        }
    }
}

/// # Safety
/// `place` has room for the bytes, and nobody else has it.
#[inline]
unsafe fn copy_to(place: NonNull<u8>, bytes: &[u8]) {
    // SAFETY: by the contract above; what is borrowed cannot lie in what nobody else has.
    unsafe { place.copy_from_nonoverlapping(NonNull::from(bytes).cast(), bytes.len()) };
}

impl Link {
    /// A link that leads nowhere.
    pub fn end() -> Link {
        Link {
            fragment: AtomicU64::new(FRAGMENT_OF_END),
            next: AtomicPtr::new(ptr::null_mut()),
        }
    }

    /// Fragment and next node, which may be newer than the fragment; see [`Link`].
    #[inline]
    pub fn load(&self) -> (u64, *mut Node) {
        // Acquire: `next` is read after it, and so is not older.
        let fragment = self.fragment.load(Ordering::Acquire);
        // Acquire: pairs with the Release in `store`, so the node's bytes are there to read.
        (fragment, self.next.load(Ordering::Acquire))
    }

    /// Leads to another node from now on; only for the writer.
    ///
    /// # Safety
    /// `next` is null or a node of the arena in which the link's own node lies, or of that whose
    /// list begins with the link: whoever loads it reads there.
    #[inline]
    pub unsafe fn store(&self, fragment: u64, next: *mut Node) {
        // Release: the node was written in full before.
        self.next.store(next, Ordering::Release);
        // Release: whoever sees this fragment also sees the `next` stored before it.
        self.fragment.store(fragment, Ordering::Release);
    }
}

impl<'a> NodeRef<'a> {
    /// The node at that address, or `None` for null.
    ///
    /// # Safety
    /// `node` is null, or came from [`NodeRef::write`] into an arena that lives for `'a`.
    #[inline]
    pub unsafe fn new(node: *mut Node) -> Option<NodeRef<'a>> {
        Some(NodeRef {
            node: NonNull::new(node)?,
            arena: PhantomData,
        })
    }

    /// Writes a node into the arena; nobody can find it yet, its link leads nowhere.
    ///
    /// `folded` is for [`Kind::MergeFolded`] and only for it.
    ///
    /// # Panics
    /// When key or value are beyond their limits.
    ///
    /// # Safety
    /// The base in `folded` is null or a node of the same arena.
    pub unsafe fn write(
        arena: &mut ArenaWriter,
        entry: Entry<'_>,
        folded: Option<BeforeFold<'_>>,
    ) -> *mut Node {
        let (key, value) = (entry.key, entry.value);
        assert!(key.len() <= KEY_BYTES_MAX);
        assert!(value.len() <= VALUE_BYTES_MAX + EXPIRY_MS_BYTES);
        assert!(folded.is_some() == (entry.kind() == Kind::MergeFolded));
        let head = Node {
            link: Link::end(),
            back: AtomicPtr::new(ptr::null_mut()),
            value_bytes: u32::try_from(value.len()).expect("checked above"),
            key_bytes: u16::try_from(key.len()).expect("checked above"),
        };
        let value_at = KEY_OFFSET + key.len() + TRAILER_BYTES;
        let end = value_at + value.len();
        let base_at = end.next_multiple_of(arena::ALIGN);
        let size = folded
            .as_ref()
            .map_or(end, |folded| base_at + folded.size());
        let place = arena.allocate(size);
        // SAFETY: the arena gave `size` bytes that nobody else has, aligned for heads and
        // addresses; every part lies inside them, by the offsets above.
        unsafe {
            place.cast::<Node>().write(head);
            copy_to(place.add(KEY_OFFSET), key);
            copy_to(
                place.add(KEY_OFFSET + key.len()),
                &entry.trailer.raw().to_le_bytes(),
            );
            copy_to(place.add(value_at), value);
            if let Some(folded) = folded {
                folded.write(place.add(base_at));
            }
        }
        place.cast::<Node>().as_ptr()
    }

    /// The address.
    #[inline]
    pub fn as_ptr(self) -> *mut Node {
        self.node.as_ptr()
    }

    /// The link to the next node.
    #[inline]
    pub fn link(self) -> &'a Link {
        &self.head().link
    }

    /// The node before it, or one further before; null for the head.
    #[inline]
    pub fn back(self) -> *mut Node {
        // Acquire: pairs with the Release in `set_back`, so the node's bytes are there to read.
        self.head().back.load(Ordering::Acquire)
    }

    /// Sets the node before it; only for the writer.
    ///
    /// # Safety
    /// `back` is null or a node of the same arena: whoever steps back reads there.
    #[inline]
    pub unsafe fn set_back(self, back: *mut Node) {
        // Release: the node was written in full before.
        self.head().back.store(back, Ordering::Release);
    }

    /// The user key and the trailer behind it.
    #[inline]
    pub fn internal_key(self) -> &'a [u8] {
        let key_bytes = usize::from(self.head().key_bytes);
        self.bytes(KEY_OFFSET, key_bytes + TRAILER_BYTES)
    }

    /// The raw value.
    #[inline]
    pub fn value(self) -> &'a [u8] {
        self.bytes(self.value_offset(), self.head().value_bytes as usize)
    }

    /// Bytes of key, trailer and value.
    #[inline]
    pub fn entry_bytes(self) -> usize {
        self.value_offset() - KEY_OFFSET + self.head().value_bytes as usize
    }

    /// Reads a byte of each of its lines, so that the processor has them; their sum. Of a long one
    /// it fetches what follows the first ones by itself.
    #[inline]
    pub fn touch(self) -> usize {
        let own = self.bytes(KEY_OFFSET, self.entry_bytes());
        let lines = own.chunks(LINE_BYTES).take(LINES_TOUCHED_MAX);
        let firsts = lines.filter_map(|line| line.first()).chain(own.last());
        firsts.map(|byte| usize::from(*byte)).sum()
    }

    /// The entry.
    #[inline]
    pub fn entry(self) -> Entry<'a> {
        Entry::from_internal(self.internal_key(), self.value())
    }

    /// The next entry, if it is one of the same user key: the next older one.
    #[inline]
    pub fn older(self) -> Option<NodeRef<'a>> {
        let (_, next) = self.link().load();
        // SAFETY: links lead only to nodes of the same arena.
        let next = unsafe { NodeRef::new(next) }?;
        let is_same_key = key::user_key(next.internal_key()) == key::user_key(self.internal_key());
        is_same_key.then_some(next)
    }

    /// For a [`Kind::MergeFolded`] entry the newest older entry of the key that is no merge,
    /// without walking over the merges; for any other entry the next older entry.
    pub fn older_unfolded(self) -> Option<NodeRef<'a>> {
        if self.entry().kind() != Kind::MergeFolded {
            return self.older();
        }
        // SAFETY: nodes of this kind have an address there: null or a node of the same arena.
        unsafe { NodeRef::new(self.before_fold().cast::<*mut Node>().read()) }
    }

    /// The value as it was before folding: for [`Kind::MergeFolded`] the operand alone, for any
    /// other entry its value.
    pub fn own_value(self) -> &'a [u8] {
        if self.entry().kind() != Kind::MergeFolded {
            return self.value();
        }
        // SAFETY: nodes of this kind have the operand's length and then the operand behind the
        // address, inside their own allocation, never changed.
        unsafe {
            let len_place = self.before_fold().add(size_of::<*mut Node>());
            let len = len_place.cast::<u32>().read() as usize;
            std::slice::from_raw_parts(len_place.add(size_of::<u32>()), len)
        }
    }

    /// Where a node of kind [`Kind::MergeFolded`] keeps its [`BeforeFold`].
    ///
    /// # Safety
    /// The node is of that kind.
    unsafe fn before_fold(self) -> *const u8 {
        let end = self.value_offset() + self.head().value_bytes as usize;
        // SAFETY: for that kind the allocation goes on behind the value, with this alignment.
        unsafe {
            self.as_ptr()
                .cast::<u8>()
                .add(end.next_multiple_of(arena::ALIGN))
        }
    }

    #[inline]
    fn head(self) -> &'a Node {
        // SAFETY: written before the node could be found, changed since only in its atomics, and
        // alive for `'a` by the contract of `new`.
        unsafe { self.node.as_ref() }
    }

    #[inline]
    fn value_offset(self) -> usize {
        KEY_OFFSET + usize::from(self.head().key_bytes) + TRAILER_BYTES
    }

    #[inline]
    fn bytes(self, offset: usize, len: usize) -> &'a [u8] {
        // SAFETY: key and value, at the offsets of `write`: bytes of the node's own allocation
        // that nobody changes, alive for `'a` by the contract of `new`.
        unsafe {
            let start = self.as_ptr().cast::<u8>().add(offset);
            std::slice::from_raw_parts(start, len)
        }
    }
}
