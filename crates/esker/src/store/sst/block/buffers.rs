//! Memory of blocks that comes round: what the cache lets go becomes the next block that is read.
//!
//! Allocating a block, clearing it and freeing another was a tenth of the time of a read that
//! missed the cache.

use std::cell::Cell;
use std::hint::black_box;
use std::iter;
use std::sync::Arc;

use crate::base::types::spare::{SpareBuffer, SpareCell};

/// Most bytes of a buffer that a thread keeps: blocks of values that are not large.
const SPARE_BYTES_MAX: usize = 64 << 10;

/// Blocks get memory in steps of this many bytes, so that the memory of nearly every one fits the
/// next; on average half a step is left over.
const STEP_BYTES: usize = 128;

/// A scan uncompresses into the memory of the block that it left even if that is larger by so much.
const SLACK_BYTES_MAX: usize = 512;

/// Heaps grow by so much for blocks to come. From 64 KiB on the C library gives back what is free
/// at the end of a heap.
const AHEAD_BYTES: usize = 60 << 10;

thread_local! {
    static PLAIN: Cell<Option<Arc<[u8]>>> = const { Cell::new(None) };
    static AHEAD_BYTES_LEFT: Cell<usize> = const { Cell::new(0) };
    static STORED: SpareCell = const { Cell::new(Vec::new()) };
}

/// For the bytes of a block as the file has it, which nobody needs once it is uncompressed.
pub const STORED_BUFFER: SpareBuffer = SpareBuffer::new(&STORED, SPARE_BYTES_MAX);

/// Memory for a plain block of `len` bytes, with whatever is in it: `spare`, or what the thread
/// kept, if it is just large enough, else new. Nobody else holds it, if nobody holds `spare`.
pub fn for_plain(len: usize, spare: Option<Arc<[u8]>>) -> Arc<[u8]> {
    let size = len.next_multiple_of(STEP_BYTES);
    let is_fit = |memory: &Arc<[u8]>| (len..=size + SLACK_BYTES_MAX).contains(&memory.len());
    if let Some(spare) = spare.filter(is_fit) {
        return spare;
    }
    // A thread near its end has none any more.
    let kept = PLAIN.try_with(Cell::take).ok().flatten();
    match kept {
        Some(kept) if kept.len() == size => return kept,
        // Of another size: it goes, and is what the next one is cut from.
        Some(other) => drop(other),
        None => grow_ahead(size),
    }
    iter::repeat_n(0, size).collect()
}

/// Has the allocator come to memory for many blocks at once, before one of `bytes` is allocated.
///
/// The C library grows the heap of a thread that is not the first by what is asked for, in whole
/// pages: a call of the system for nearly every block, while a cache fills. What is allocated here
/// and given back at once stays in the heap, and the next blocks are cut from it.
fn grow_ahead(bytes: usize) {
    let is_due = AHEAD_BYTES_LEFT.try_with(|left| {
        let rest = left.get().checked_sub(bytes);
        left.set(rest.unwrap_or(AHEAD_BYTES.saturating_sub(bytes)));
        rest.is_none()
    });
    // A thread near its end grows nothing.
    if bytes < AHEAD_BYTES && is_due == Ok(true) {
        // Nobody looks at it, so without the box it would not be allocated at all.
        drop(black_box(Vec::<u8>::with_capacity(AHEAD_BYTES)));
    }
}

/// Keeps the memory of a block, which nobody else holds, for the next one of this thread, unless
/// it is large.
pub fn give_back(memory: Arc<[u8]>) {
    if memory.len() <= SPARE_BYTES_MAX {
        // As above: then it is simply dropped.
        let _ = PLAIN.try_with(|spare| spare.set(Some(memory)));
    }
}

#[cfg(test)]
mod tests;
