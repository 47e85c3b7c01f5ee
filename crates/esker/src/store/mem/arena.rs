//! Memory that is freed all at once.
//!
//! A memtable's entries live and die together, so their memory is taken in chunks and handed out
//! front to back: an allocation is an addition, nothing is freed singly, and dropping the arena
//! frees the chunks. Addresses never move.
//!
//! There is one [`ArenaWriter`] for each [`Arena`], and only it allocates; any number of threads
//! may hold the [`Arena`] and read what was allocated.
//!
//! An empty arena owns no chunk: thousands of keyspaces that are never written cost nothing here.
//! The first chunk is small, and each further one is a quarter of all so far, up to a limit; so
//! the part that is reserved but not yet handed out stays below a fifth of the whole beyond the
//! first chunks.
#![allow(unsafe_code)]

use std::alloc::{self, Layout};
use std::ptr::{self, NonNull};
use std::sync::Arc;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

use crate::env::pages::{PIECE_ALIGN, Pages, Piece};

/// Bytes of the first chunk: one page, the least that a keyspace with a single key costs.
const FIRST_CHUNK_BYTES: usize = 4 << 10;

/// Bytes of the largest chunk that serves several allocations: at this size a chunk is filled by
/// thousands of entries, so the price of asking the system for it is lost in theirs.
pub const CHUNK_BYTES_MAX: usize = 1 << 20;

/// A new chunk is all chunks so far divided by this.
const GROWTH_DIVISOR: usize = 4;

/// An allocation larger than a full chunk divided by this gets a chunk of its own, so that it
/// does not throw away the rest of the current one.
const OWN_CHUNK_DIVISOR: usize = 4;

/// Every allocation begins at a multiple of this many bytes: enough for pointers and 64-bit
/// atomics.
pub const ALIGN: usize = 8;

/// A chunk from this size on is a piece of pages of its own: it goes back to the system when the
/// memtable goes, whatever else the heap holds by then. Smaller ones would waste parts of pages,
/// and there may be thousands of them.
const PIECE_BYTES_MIN: usize = 64 << 10;

/// Head of every chunk: the chunks form a chain, newest first, by which they are freed.
#[repr(C)]
struct ChunkHead {
    older: *mut ChunkHead,
    layout: Layout,
    /// What the chunk lies in; `None` for one of the heap.
    piece: Option<Box<dyn Piece>>,
}

const HEAD_BYTES: usize = size_of::<ChunkHead>();
const _: () = assert!(HEAD_BYTES.is_multiple_of(ALIGN));
const _: () = assert!(align_of::<ChunkHead>() <= ALIGN);
const _: () = assert!(ALIGN <= PIECE_ALIGN);

/// The memory: owns the chunks and frees them when dropped. Shared by any number of threads.
pub struct Arena {
    newest_chunk: AtomicPtr<ChunkHead>,
    reserved_bytes: AtomicUsize,
    pages: Arc<dyn Pages>,
}

/// The one who allocates. Used by one thread at a time, as `&mut` makes sure.
pub struct ArenaWriter {
    arena: Arc<Arena>,
    free: *mut u8,
    free_bytes: usize,
}

// SAFETY: the free part of the current chunk is reached only through this writer, and the chunk
// lives as long as the arena that the writer keeps alive.
unsafe impl Send for ArenaWriter {}
// SAFETY: a shared writer offers no method that touches the free part.
unsafe impl Sync for ArenaWriter {}

impl Arena {
    /// An empty arena, whose large chunks will be of `pages`, and its writer.
    pub fn create(pages: Arc<dyn Pages>) -> ArenaWriter {
        ArenaWriter {
            arena: Arc::new(Arena {
                newest_chunk: AtomicPtr::new(ptr::null_mut()),
                reserved_bytes: AtomicUsize::new(0),
                pages,
            }),
            free: ptr::null_mut(),
            free_bytes: 0,
        }
    }

    /// Bytes taken from the system: whole chunks, handed out or not.
    pub fn reserved_bytes(&self) -> usize {
        // Relaxed: a number for accounting, nothing is reached through it.
        self.reserved_bytes.load(Ordering::Relaxed)
    }

    /// Takes a chunk with room for `bytes` from the system and returns where the room begins.
    fn add_chunk(&self, bytes: usize) -> NonNull<u8> {
        let total = bytes + HEAD_BYTES;
        let layout = Layout::from_size_align(total, ALIGN).expect("an entry is far below 2^63");
        let (chunk, piece) = if total < PIECE_BYTES_MIN {
            // SAFETY: the layout is not empty, it holds at least the head.
            (NonNull::new(unsafe { alloc::alloc(layout) }), None)
        } else {
            let piece = self.pages.take(total);
            // Whoever made the pages, only what the piece itself vouches for is written to.
            let address = piece.as_ref().map(|piece| {
                assert!(
                    piece.size_bytes() >= total,
                    "pages gave less than was asked for"
                );
                piece.address()
            });
            (address, piece)
        };
        let Some(chunk) = chunk else {
            alloc::handle_alloc_error(layout)
        };
        // Relaxed here and below: only the one writer adds chunks, and only `drop`, which comes
        // after every use of the arena, follows the chain.
        let head = ChunkHead {
            older: self.newest_chunk.load(Ordering::Relaxed),
            layout,
            piece,
        };
        let place = chunk.cast::<ChunkHead>();
        // SAFETY: the chunk was just allocated with room and alignment for its head: of the heap
        // with this layout, or as a piece of at least as many bytes.
        unsafe { place.write(head) };
        self.newest_chunk.store(place.as_ptr(), Ordering::Relaxed);
        self.reserved_bytes.fetch_add(total, Ordering::Relaxed);
        // SAFETY: the room begins behind the head, inside the allocation.
        unsafe { chunk.add(HEAD_BYTES) }
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        let mut chunk = *self.newest_chunk.get_mut();
        while !chunk.is_null() {
            // SAFETY: the chain holds only chunks that `add_chunk` wrote and nobody freed.
            let head = unsafe { chunk.read() };
            match head.piece {
                // SAFETY: allocated with this layout; whoever reads entries keeps the arena
                // alive, so nobody does now.
                None => unsafe { alloc::dealloc(chunk.cast(), head.layout) },
                // The head was taken out of the chunk, and with it its owner.
                Some(piece) => self.pages.give_back(piece),
            }
            chunk = head.older;
        }
    }
}

impl ArenaWriter {
    /// The arena in which this writer allocates.
    pub fn arena(&self) -> &Arc<Arena> {
        &self.arena
    }

    /// Room for `bytes` bytes, not initialised, at a multiple of [`ALIGN`], which stays where it
    /// is as long as the arena lives. Nobody else has it.
    pub fn allocate(&mut self, bytes: usize) -> NonNull<u8> {
        let bytes = bytes.next_multiple_of(ALIGN);
        if bytes > self.free_bytes {
            if bytes > CHUNK_BYTES_MAX / OWN_CHUNK_DIVISOR {
                return self.arena.add_chunk(bytes);
            }
            self.refill(bytes);
        }
        let place = self.free;
        // SAFETY: at least `bytes` bytes of the current chunk lie behind `free`.
        self.free = unsafe { place.add(bytes) };
        self.free_bytes -= bytes;
        NonNull::new(place).expect("a chunk with free bytes has an address")
    }

    /// Replaces the current chunk with a new one that has room for `bytes`.
    fn refill(&mut self, bytes: usize) {
        let grown = (self.arena.reserved_bytes() / GROWTH_DIVISOR)
            .clamp(FIRST_CHUNK_BYTES, CHUNK_BYTES_MAX)
            .next_multiple_of(FIRST_CHUNK_BYTES);
        let room = (grown - HEAD_BYTES).max(bytes);
        self.free = self.arena.add_chunk(room).as_ptr();
        self.free_bytes = room;
    }
}

#[cfg(test)]
mod tests;
