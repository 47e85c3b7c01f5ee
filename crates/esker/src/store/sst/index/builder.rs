//! Collects the separators of a file, and cuts them into index blocks.

use std::ops::Range;

use crate::base::codec::varint::put_varint;
use crate::base::types::comparator::Comparator;
use crate::base::types::key;
use crate::base::types::prefix::common_len;
use crate::store::sst::format::BlockHandle;

/// Separators and handles of blocks that lie one behind the other.
///
/// Shape: about 30 bytes and the separator for each block, until the file is finished.
#[derive(Debug, Default)]
pub struct IndexBuilder {
    keys: Vec<u8>,
    key_ends: Vec<usize>,
    trailers: Vec<u64>,
    handles: Vec<BlockHandle>,
}

impl IndexBuilder {
    /// Adds the block behind the last one, with its separator: user key and raw trailer.
    ///
    /// # Panics
    /// When the block does not lie right behind the last one.
    pub fn add(&mut self, user_key: &[u8], trailer: u64, handle: BlockHandle) {
        if let Some(last) = self.handles.last() {
            assert_eq!(last.end(), Some(handle.offset));
        }
        self.keys.extend_from_slice(user_key);
        self.key_ends.push(self.keys.len());
        self.trailers.push(trailer);
        self.handles.push(handle);
    }

    /// How many blocks were added.
    pub fn len(&self) -> usize {
        self.handles.len()
    }

    /// Whether none was.
    pub fn is_empty(&self) -> bool {
        self.handles.is_empty()
    }

    /// Separator of block number `index`: user key and raw trailer.
    pub fn separator(&self, index: usize) -> (&[u8], u64) {
        let start = match index {
            0 => 0,
            _ => self.key_ends[index - 1],
        };
        let key = &self.keys[start..self.key_ends[index]];
        (key, self.trailers[index])
    }

    /// Bytes that the index will take at most, before compression.
    pub fn size_estimate(&self) -> usize {
        // Two lengths of a key, two of a block, a trailer: their usual sizes.
        self.keys.len() + self.len() * (2 + 6 + 2)
    }

    /// The plain bytes of an index block over a part of the blocks.
    pub fn encode(&self, part: Range<usize>) -> Vec<u8> {
        let mut out = Vec::new();
        let first = self.handles.get(part.start);
        put_varint(&mut out, first.map_or(0, |handle| handle.offset));
        let mut last: &[u8] = &[];
        for index in part {
            let (key, trailer) = self.separator(index);
            let shared = common_len(last, key);
            put_varint(&mut out, shared as u64);
            put_varint(&mut out, (key.len() - shared) as u64);
            out.extend_from_slice(&key[shared..]);
            put_varint(&mut out, trailer);
            put_varint(&mut out, u64::from(self.handles[index].compressed_len));
            put_varint(&mut out, u64::from(self.handles[index].plain_len));
            last = key;
        }
        out
    }
}

/// The separator between a block that ends with the internal key `last` and a block that begins
/// with `next`: user key and raw trailer. As short as the order allows.
pub fn separator(comparator: &Comparator, last: &[u8], next: &[u8]) -> (Vec<u8>, u64) {
    let (last_key, last_trailer) = key::split(last);
    let next_key = key::user_key(next);
    if last_key == next_key {
        return (last_key.to_vec(), last_trailer.raw());
    }
    let short = match comparator {
        Comparator::Bytewise => short_between(last_key, next_key),
        Comparator::Custom(_) => last_key.to_vec(),
    };
    (short, BEHIND_ALL)
}

/// The separator behind the last block of a file, which ends with the internal key `last`.
pub fn last_separator(last: &[u8]) -> (Vec<u8>, u64) {
    (key::user_key(last).to_vec(), BEHIND_ALL)
}

/// The raw trailer behind all entries of a user key: no entry has a smaller one.
const BEHIND_ALL: u64 = 0;

// The shortest key that is not before `lower` and before `upper`, where one byte decides.
fn short_between(lower: &[u8], upper: &[u8]) -> Vec<u8> {
    let shared = common_len(lower, upper);
    let mut short = upper[..shared].to_vec();
    let (Some(&low), Some(&high)) = (lower.get(shared), upper.get(shared)) else {
        // The lower key begins the upper one: nothing shorter lies between.
        return lower.to_vec();
    };
    assert!(low < high);
    // With bytes behind it, `high` itself is before the upper key, and behind the lower one.
    if upper.len() > shared + 1 {
        short.push(high);
        return short;
    }
    if high - low > 1 {
        short.push(low + 1);
        return short;
    }
    // One byte apart: go on inside the lower key to the first byte that can be raised.
    let rest = &lower[shared + 1..];
    match rest.iter().position(|byte| *byte != 0xff) {
        Some(index) if index + 1 < rest.len() => {
            short.extend_from_slice(&lower[shared..shared + 1 + index]);
            short.push(rest[index] + 1);
            short
        }
        _ => lower.to_vec(),
    }
}

#[cfg(test)]
mod tests;
