//! The range deletes of a file, as stored in one block.
//!
//! The plain bytes of the block are the range deletes, one behind the other, by ascending start
//! and, for equal starts, descending sequence number:
//!
//! | size | type | meaning |
//! |---|---|---|
//! | 1 to 10, n | varint, bytes | start key, its length in front |
//! | 1 to 10, n | varint, bytes | end key, exclusive, its length in front |
//! | 1 to 10 | varint | sequence number, below 2^56 |
//!
//! Valid if and only if every record is whole, every start is before its end, and the records
//! are in order.

use std::cmp::Ordering;

use crate::base::codec::reader::{ByteReader, put_prefixed};
use crate::base::codec::varint::put_varint;
use crate::base::types::bytes::Bytes;
use crate::base::types::comparator::Comparator;
use crate::base::types::error::{Error, Result};
use crate::base::types::range_delete::RangeDelete;
use crate::base::types::seqno::SeqNo;

/// The order of range deletes in a file.
fn compare(comparator: &Comparator, left: &RangeDelete, right: &RangeDelete) -> Ordering {
    comparator
        .compare(&left.start, &right.start)
        .then_with(|| right.seqno.cmp(&left.seqno))
}

/// Sorts `list` and returns the plain bytes of the block.
pub fn encode(comparator: &Comparator, list: &mut [RangeDelete]) -> Vec<u8> {
    list.sort_by(|left, right| compare(comparator, left, right));
    let mut out = Vec::new();
    for range in list {
        put_prefixed(&mut out, &range.start);
        put_prefixed(&mut out, &range.end);
        put_varint(&mut out, range.seqno.get());
    }
    out
}

/// Reads the plain bytes of a block. `Corruption` when they are not valid.
pub fn decode(comparator: &Comparator, bytes: &[u8]) -> Result<Vec<RangeDelete>> {
    let mut reader = ByteReader::new(bytes);
    let mut list: Vec<RangeDelete> = Vec::new();
    while !reader.is_empty() {
        let range = read_one(&mut reader)
            .ok_or_else(|| Error::corruption("a range delete is cut short"))?;
        let is_in_comparator = list
            .last()
            .is_none_or(|last| compare(comparator, last, &range) != Ordering::Greater);
        if !is_in_comparator || comparator.compare(&range.start, &range.end) != Ordering::Less {
            return Err(Error::corruption("range deletes are out of order"));
        }
        list.push(range);
    }
    Ok(list)
}

/// Bytes of memory that a list takes.
pub fn size_bytes(list: &[RangeDelete]) -> usize {
    let keys = list.iter().map(|range| range.start.len() + range.end.len());
    size_of_val(list) + keys.sum::<usize>()
}

fn read_one(reader: &mut ByteReader<'_>) -> Option<RangeDelete> {
    Some(RangeDelete {
        start: Bytes::copy_of(reader.prefixed()?),
        end: Bytes::copy_of(reader.prefixed()?),
        seqno: SeqNo::checked(reader.varint()?)?,
    })
}

#[cfg(test)]
mod tests;
