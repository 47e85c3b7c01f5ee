//! A long byte string whose zeros cost nothing and whose copies share memory.

use std::sync::Arc;

/// Sectors are what a disk writes whole or not at all.
pub const SECTOR_BYTES: usize = 512;

// Copies share chunks, so a crash image of a preallocated log costs one pointer for each. One
// page: what the page cache writes back as one.
const CHUNK_BYTES: usize = 4096;

/// How many sectors the page cache writes back together.
pub const PAGE_SECTORS: u64 = (CHUNK_BYTES / SECTOR_BYTES) as u64;

/// The bytes of one sector.
pub type Sector = [u8; SECTOR_BYTES];

type Chunk = [u8; CHUNK_BYTES];

/// A byte string of any length; never written parts are zeros.
///
/// Shape: a list of 4 KiB chunks, shared between copies until written; `None` is all zeros.
/// Bytes beyond the length are zeros too.
#[derive(Clone, Debug, Default)]
pub struct SparseBytes {
    len: u64,
    chunks: Vec<Option<Arc<Chunk>>>,
}

impl SparseBytes {
    /// Length in bytes.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether there are no bytes.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Cuts the end off, or adds zeros.
    pub fn resize(&mut self, len: u64) {
        let chunk_count = to_index(len.div_ceil(CHUNK_BYTES as u64));
        self.chunks.resize(chunk_count, None);
        let inner = to_index(len % CHUNK_BYTES as u64);
        if len < self.len
            && inner > 0
            && let Some(Some(last)) = self.chunks.last_mut()
        {
            Arc::make_mut(last)[inner..].fill(0);
        }
        self.len = len;
    }

    /// Fills `buffer` from `offset`.
    ///
    /// # Panics
    /// When the range is not inside.
    pub fn read(&self, offset: u64, buffer: &mut [u8]) {
        assert!(offset + buffer.len() as u64 <= self.len);
        for (chunk, inner, piece) in pieces(offset, buffer.len()) {
            let target = &mut buffer[piece];
            match &self.chunks[chunk] {
                Some(chunk) => target.copy_from_slice(&chunk[inner..inner + target.len()]),
                None => target.fill(0),
            }
        }
    }

    /// Puts `bytes` at `offset`, growing as needed.
    pub fn write(&mut self, offset: u64, bytes: &[u8]) {
        self.resize(self.len.max(offset + bytes.len() as u64));
        for (chunk, inner, piece) in pieces(offset, bytes.len()) {
            let source = &bytes[piece];
            let chunk = self.chunks[chunk].get_or_insert_with(|| Arc::new([0; CHUNK_BYTES]));
            Arc::make_mut(chunk)[inner..inner + source.len()].copy_from_slice(source);
        }
    }

    /// One sector; zeros where there is none.
    pub fn sector(&self, index: u64) -> Sector {
        let mut sector = [0; SECTOR_BYTES];
        let start = index * SECTOR_BYTES as u64;
        let len = self.len.saturating_sub(start).min(SECTOR_BYTES as u64);
        self.read(start.min(self.len), &mut sector[..to_index(len)]);
        sector
    }

    /// Replaces one sector, or the part of it that lies inside.
    pub fn set_sector(&mut self, index: u64, sector: &Sector) {
        let start = index * SECTOR_BYTES as u64;
        let len = self.len.saturating_sub(start).min(SECTOR_BYTES as u64);
        if len > 0 {
            self.write(start, &sector[..to_index(len)]);
        }
    }
}

// Cuts a range at the borders of chunks: chunk index, offset inside, part of the range.
fn pieces(offset: u64, len: usize) -> impl Iterator<Item = (usize, usize, std::ops::Range<usize>)> {
    let mut done = 0;
    std::iter::from_fn(move || {
        if done == len {
            return None;
        }
        let at = offset + done as u64;
        let inner = to_index(at % CHUNK_BYTES as u64);
        let piece = done..len.min(done + CHUNK_BYTES - inner);
        done = piece.end;
        Some((to_index(at / CHUNK_BYTES as u64), inner, piece))
    })
}

fn to_index(number: u64) -> usize {
    usize::try_from(number).expect("a simulated file fits into memory")
}

#[cfg(test)]
mod tests;
