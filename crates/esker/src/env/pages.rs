//! Trait: memory in large pieces that go back to the system when they are let go.
//!
//! What comes and goes in pieces of hundreds of KiB, as memtables do, leaves holes in a heap that
//! also holds small things: measured with the C library's allocator under a limit of 64 MiB, a
//! sixth of the limit stayed resident after the memtables were gone.
#![allow(unsafe_code)]

use std::fmt;
use std::ptr::NonNull;

/// A piece of memory that nobody else has, for as long as the value lives.
///
/// # Safety
/// [`Piece::address`] and [`Piece::size_bytes`] always return the same. The address is aligned to
/// [`PIECE_ALIGN`], and from it on so many bytes are valid to read and write until the value is
/// dropped; nothing else refers to them.
pub unsafe trait Piece: Send + Sync {
    /// Where it begins.
    fn address(&self) -> NonNull<u8>;

    /// Its bytes: as many as were asked for.
    fn size_bytes(&self) -> usize;
}

/// Every piece begins at a multiple of this many bytes.
pub const PIECE_ALIGN: usize = 16;

/// Where large pieces of memory come from. Any thread may call anything.
///
/// Only a piece itself vouches for its size: who writes into one asks it, whoever made it.
pub trait Pages: Send + Sync + fmt::Debug {
    /// A piece of so many bytes, more than 0, of any content; `None` when there is no memory.
    fn take(&self, bytes: usize) -> Option<Box<dyn Piece>>;

    /// Takes a piece back: it may serve who asks next. One that is only dropped goes back to the
    /// system.
    fn give_back(&self, piece: Box<dyn Piece>) {
        drop(piece);
    }

    /// Lets pieces of up to `_bytes_max` in all wait for who asks next; others that were given back
    /// go to the system.
    fn keep_spare(&self, _bytes_max: usize) {}

    /// Bytes of pieces that wait so.
    fn spare_bytes(&self) -> usize {
        0
    }

    /// Gives what the process's heap has free back to the system, where the heap can. Takes some
    /// milliseconds; for the end of work on this thread that took, and has freed, about
    /// `_used_bytes`.
    fn trim_heap(&self, _used_bytes: u64) {}
}

/// Pieces of the heap, full of a pattern so that nobody comes to rely on zeros: for tests and
/// simulations.
#[derive(Clone, Copy, Debug, Default)]
pub struct HeapPages;

/// What they are full of.
const PATTERN: u128 = u128::from_ne_bytes([0xa5; PIECE_ALIGN]);

struct HeapPiece {
    slice: NonNull<[u128]>,
    /// Bytes that were asked for; the slice has them, and is filled up to whole elements.
    bytes: usize,
}

// SAFETY: the piece owns its memory; the address is only handed out, and never read here.
unsafe impl Send for HeapPiece {}
// SAFETY: as above.
unsafe impl Sync for HeapPiece {}

// SAFETY: the boxed slice was leaked into the address, so nothing else refers to it until `drop`
// takes it back; its elements have the alignment promised, and are as many as the bytes need.
unsafe impl Piece for HeapPiece {
    fn address(&self) -> NonNull<u8> {
        self.slice.cast()
    }

    fn size_bytes(&self) -> usize {
        self.bytes
    }
}

impl Drop for HeapPiece {
    fn drop(&mut self) {
        // SAFETY: the address of a box that was leaked in `take`, and taken back once.
        drop(unsafe { Box::from_raw(self.slice.as_ptr()) });
    }
}

impl Pages for HeapPages {
    fn take(&self, bytes: usize) -> Option<Box<dyn Piece>> {
        let slice = vec![PATTERN; bytes.div_ceil(PIECE_ALIGN)].into_boxed_slice();
        let slice = NonNull::from(Box::leak(slice));
        Some(Box::new(HeapPiece { slice, bytes }))
    }
}

const _: () = assert!(align_of::<u128>() == PIECE_ALIGN);

#[cfg(test)]
mod tests;
