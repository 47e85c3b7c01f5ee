//! A buffer that each thread keeps from one use to the next.

use std::cell::Cell;
use std::thread::LocalKey;

/// Where a thread keeps a buffer. What it holds does not matter.
pub type SpareCell = Cell<Vec<u8>>;

/// A buffer that each thread keeps from one use to the next, where making one would cost as much
/// as what is done with it.
pub struct SpareBuffer {
    cell: &'static LocalKey<SpareCell>,
    bytes_max: usize,
}

impl SpareBuffer {
    /// The buffers in `cell`, of up to `bytes_max` bytes: larger ones are rare, and their memory
    /// would lie idle in every thread that ever had one.
    pub const fn new(cell: &'static LocalKey<SpareCell>, bytes_max: usize) -> SpareBuffer {
        SpareBuffer { cell, bytes_max }
    }

    /// Whether a buffer of so many bytes is kept.
    pub fn keeps(&self, bytes: usize) -> bool {
        bytes <= self.bytes_max
    }

    /// The calling thread's buffer, with whatever it held; a new one if it is in use, or was never
    /// given back.
    pub fn take(&self) -> Vec<u8> {
        // A thread near its end has no buffer any more.
        self.cell.try_with(Cell::take).unwrap_or_default()
    }

    /// Keeps `buffer` for the next use of this thread, unless it is large.
    pub fn give_back(&self, buffer: Vec<u8>) {
        if self.keeps(buffer.capacity()) {
            // As above: then it is simply dropped.
            let _ = self.cell.try_with(|spare| spare.set(buffer));
        }
    }
}

#[cfg(test)]
mod tests;
