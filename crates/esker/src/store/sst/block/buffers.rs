//! Memory of blocks that comes round: what the cache lets go becomes the next block that is read.
//!
//! Allocating a block, clearing it and freeing another was a tenth of the time of a read that
//! missed the cache.

use std::cell::Cell;

use crate::base::types::spare::{SpareBuffer, SpareCell};

/// Most bytes of a buffer that a thread keeps: blocks of values that are not large.
const SPARE_BYTES_MAX: usize = 64 << 10;

/// Blocks get memory in steps of this many bytes, so that the memory of nearly every one fits the
/// next; on average half a step is left over.
const STEP_BYTES: usize = 128;

thread_local! {
    static PLAIN: SpareCell = const { Cell::new(Vec::new()) };
    static STORED: SpareCell = const { Cell::new(Vec::new()) };
}

/// For the bytes of a block as the file has it, which nobody needs once it is unpacked.
pub const STORED_BUFFER: SpareBuffer = SpareBuffer::new(&STORED, SPARE_BYTES_MAX);

/// What was a block that nobody has any more.
pub const PLAIN_BUFFER: SpareBuffer = SpareBuffer::new(&PLAIN, SPARE_BYTES_MAX);

/// Memory for a plain block of `len` bytes, with whatever it holds: that of an earlier block if it
/// is just large enough, else new.
pub fn for_plain(len: usize) -> Vec<u8> {
    let capacity = len.next_multiple_of(STEP_BYTES);
    let spare = PLAIN_BUFFER.take();
    match spare.capacity() == capacity {
        true => spare,
        false => Vec::with_capacity(capacity),
    }
}

#[cfg(test)]
mod tests;
