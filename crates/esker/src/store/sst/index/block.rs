//! A checked index block in memory, laid out for searching.
//!
//! The plain bytes of an index block:
//!
//! | size | type | meaning |
//! |---|---|---|
//! | 1 to 10 | varint | offset of the first block; 0 when there is none |
//! | … | entries | one for each block, until the bytes end |
//!
//! and of an entry:
//!
//! | size | type | meaning |
//! |---|---|---|
//! | 1 to 5 | varint | bytes shared with the separator before |
//! | 1 to 5 | varint | further bytes, n |
//! | n | bytes | the rest of the separator, a user key |
//! | 1 to 10 | varint | trailer of the separator; 0 is behind all entries of the user key |
//! | 1 to 5 | varint | compressed length of the block, without its trailer |
//! | 1 to 5 | varint | plain length of the block |
//!
//! A separator is not before the last entry of its block, and before the first of the next
//! block. Blocks lie one behind the other, so their offsets follow from their lengths.
//!
//! Valid if and only if every entry is whole and shares no more than there is, no separator is
//! longer than a key may be, and no offset passes 2^64. Only a file without data
//! blocks, which holds nothing but range deletes, has an index block without entries.

use std::cmp::Ordering;

use crate::base::codec::reader::ByteReader;
use crate::base::types::comparator::Comparator;
use crate::base::types::error::{Error, Result};
use crate::base::types::limits::KEY_BYTES_MAX;
use crate::base::types::prefix::{common_len, prefix_number};
use crate::store::sst::format::BlockHandle;

/// Prefixes from one that is found in `strides` to the next: eight cache lines of them.
const STRIDE: usize = 64;

/// A checked index block.
///
/// Shape: about 30 bytes a block and the separators. The first eight bytes of every separator,
/// behind what all of them share, stand side by side as numbers: a search compares these, eight
/// to a cache line, and looks at whole separators only where they are equal.
#[derive(Debug)]
pub struct IndexBlock {
    /// Bytes that all separators begin with.
    shared_len: usize,
    prefixes: Vec<u64>,
    /// Every [`STRIDE`]-th prefix: few enough to stay in the processor's cache, where a search
    /// of all of them would miss it at nearly every step.
    strides: Vec<u64>,
    /// Separators one behind the other; number `i` ends at `key_ends[i]`.
    keys: Vec<u8>,
    key_ends: Vec<u32>,
    /// Empty when every trailer is 0, as it is unless one user key fills several blocks.
    trailers: Vec<u64>,
    handles: Vec<BlockHandle>,
}

impl IndexBlock {
    /// Checks and unfolds the plain bytes of an index block.
    pub fn read(bytes: &[u8]) -> Result<IndexBlock> {
        let mut reader = ByteReader::new(bytes);
        let mut block = IndexBlock {
            shared_len: 0,
            prefixes: Vec::new(),
            strides: Vec::new(),
            keys: Vec::new(),
            key_ends: Vec::new(),
            trailers: Vec::new(),
            handles: Vec::new(),
        };
        let first = reader.varint();
        let mut offset = first.ok_or_else(|| Error::corruption("an index block is empty"))?;
        let mut last_start = 0;
        while !reader.is_empty() {
            let start = block.keys.len();
            offset = block
                .read_entry(&mut reader, last_start, offset)
                .ok_or_else(|| Error::corruption("an index entry is damaged"))?;
            last_start = start;
        }
        if block.trailers.iter().all(|trailer| *trailer == 0) {
            block.trailers = Vec::new();
        }
        block.lay_out_prefixes();
        Ok(block)
    }

    // Returns the offset behind the entry's block.
    fn read_entry(
        &mut self,
        reader: &mut ByteReader<'_>,
        last_start: usize,
        offset: u64,
    ) -> Option<u64> {
        let shared = reader.varint_usize()?;
        let suffix = reader.prefixed()?;
        let trailer = reader.varint()?;
        let handle = BlockHandle {
            offset,
            compressed_len: reader.varint_u32()?,
            plain_len: reader.varint_u32()?,
        };
        let last_len = self.keys.len() - last_start;
        if shared > last_len || shared + suffix.len() > KEY_BYTES_MAX {
            return None;
        }
        self.keys
            .extend_from_within(last_start..last_start + shared);
        self.keys.extend_from_slice(suffix);
        self.key_ends.push(u32::try_from(self.keys.len()).ok()?);
        self.trailers.push(trailer);
        self.handles.push(handle);
        handle.end()
    }

    fn lay_out_prefixes(&mut self) {
        if self.is_empty() {
            return;
        }
        let first = self.key(0);
        let mut shared_len = first.len();
        for index in 1..self.len() {
            shared_len = shared_len.min(common_len(first, self.key(index)));
        }
        self.shared_len = shared_len;
        self.prefixes = (0..self.len())
            .map(|index| prefix_number(&self.key(index)[shared_len..]))
            .collect();
        self.strides = self.prefixes.iter().step_by(STRIDE).copied().collect();
        // What grew by doubling holds up to twice what it needs, for as long as the file is open.
        self.keys.shrink_to_fit();
        self.key_ends.shrink_to_fit();
        self.handles.shrink_to_fit();
    }

    /// How many blocks it points to.
    pub fn len(&self) -> usize {
        self.handles.len()
    }

    /// Whether it points to none.
    pub fn is_empty(&self) -> bool {
        self.handles.is_empty()
    }

    /// Where block number `index` lies.
    ///
    /// # Panics
    /// When there is no such block.
    pub fn handle(&self, index: usize) -> BlockHandle {
        self.handles[index]
    }

    /// Bytes of memory it takes.
    pub fn size_bytes(&self) -> usize {
        let fixed = std::mem::size_of::<BlockHandle>() + 8 + 4;
        let numbers = (self.trailers.len() + self.strides.len()) * 8;
        std::mem::size_of::<IndexBlock>() + self.keys.len() + numbers + self.len() * fixed
    }

    /// Whether no separator is before the one before it, as every search relies on.
    pub fn is_ascending(&self, comparator: &Comparator) -> bool {
        let trailer = |index: usize| self.trailers.get(index).copied().unwrap_or(0);
        (1..self.len()).all(|index| {
            let by_key = comparator.compare(self.key(index - 1), self.key(index));
            // A larger trailer is an earlier entry of the same key.
            by_key.then_with(|| trailer(index).cmp(&trailer(index - 1))) != Ordering::Greater
        })
    }

    /// Number of the first block whose separator is not before the internal key of `user_key`
    /// and the raw `trailer`; the number of blocks when there is none.
    pub fn first_not_before(
        &self,
        comparator: &Comparator,
        user_key: &[u8],
        trailer: u64,
    ) -> usize {
        let is_before = |index: usize| {
            let by_key = comparator.compare(self.key(index), user_key);
            // A larger trailer is an earlier entry of the same key.
            let own = self.trailers.get(index).copied().unwrap_or(0);
            by_key.then_with(|| trailer.cmp(&own)) == Ordering::Less
        };
        let (lower, upper) = if comparator.is_bytewise() {
            self.narrow(user_key)
        } else {
            (0, self.len())
        };
        lower + partition_point(upper - lower, |index| is_before(lower + index))
    }

    // The range of separators that the eight-byte prefixes cannot tell from `user_key`: those
    // below are before it, those behind are not.
    fn narrow(&self, user_key: &[u8]) -> (usize, usize) {
        if self.is_empty() {
            return (0, 0);
        }
        let shared = &self.key(0)[..self.shared_len];
        let head = &user_key[..self.shared_len.min(user_key.len())];
        match head.cmp(shared) {
            Ordering::Less => return (0, 0),
            Ordering::Greater => return (self.len(), self.len()),
            Ordering::Equal => {}
        }
        let number = prefix_number(&user_key[self.shared_len..]);
        let stride = self.strides.partition_point(|prefix| *prefix < number);
        let start = stride.saturating_sub(1) * STRIDE;
        let end = (stride * STRIDE).min(self.len());
        let lower = start + self.prefixes[start..end].partition_point(|prefix| *prefix < number);
        // Mostly there is none, or one.
        let mut upper = lower;
        if self.prefixes.get(lower) == Some(&number) {
            upper += self.prefixes[lower..].partition_point(|prefix| *prefix == number);
        }
        (lower, upper)
    }

    fn key(&self, index: usize) -> &[u8] {
        let start = match index {
            0 => 0,
            _ => self.key_ends[index - 1] as usize,
        };
        &self.keys[start..self.key_ends[index] as usize]
    }
}

// As `slice::partition_point`, over numbers.
fn partition_point(len: usize, is_before: impl Fn(usize) -> bool) -> usize {
    let (mut lower, mut upper) = (0, len);
    while lower < upper {
        let middle = lower + (upper - lower) / 2;
        if is_before(middle) {
            lower = middle + 1;
        } else {
            upper = middle;
        }
    }
    lower
}

/// Which of `count` equal parts `lot` 2^32nds of the way lie in, and how far in it, in the same
/// unit.
pub fn share(lot: u32, count: usize) -> (usize, u32) {
    let product = u64::from(lot) * count as u64;
    let part = usize::try_from(product >> 32).expect("below the count");
    let rest = u32::try_from(product & u64::from(u32::MAX)).expect("it was cut");
    (part, rest)
}

#[cfg(test)]
mod tests;
