//! Where a large value lies: what the tree keeps instead of it.
//!
//! | offset | size | type | meaning |
//! |---|---|---|---|
//! | 0 | 8 | u64 | number of the segment |
//! | 8 | 4 | u32 | offset of the value's first byte in the segment |
//! | 12 | 4 | u32 | length of the value |
//! | 16 | 4 | u32 | CRC32C of the value |
//!
//! Integers are little-endian. Valid if and only if it is 20 bytes long, the offset lies behind a
//! segment's head and a record's, and the length is within `base/types/limits`.
//!
//! The size is fixed, so that a batch has room for the pointer before anybody knows where its
//! value will lie; and 20 bytes fit into a handle of `base/types/bytes` without memory of their
//! own.

use crate::base::codec::reader::ByteReader;
use crate::base::types::bytes::Bytes;
use crate::base::types::entry::Entry;
use crate::base::types::error::{Error, Result};
use crate::base::types::ids::FileNumber;
use crate::base::types::limits::VALUE_BYTES_MAX;
use crate::store::vlog::format::{RECORD_HEAD_BYTES, SEGMENT_HEAD_BYTES, record_len};

/// Bytes of an encoded pointer.
pub const POINTER_BYTES: usize = 20;

/// Set in the number of a segment that is none: see [`ValuePointer::to_no_place`]. Numbers of files
/// count up from 1, and never come here.
const NO_PLACE: u64 = 1 << 63;

/// The smallest offset that a value can have.
const OFFSET_MIN: u64 = SEGMENT_HEAD_BYTES + RECORD_HEAD_BYTES as u64;

/// Where a large value lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ValuePointer {
    /// The segment.
    pub segment: FileNumber,
    /// Offset of the value's first byte in it.
    pub offset: u32,
    /// Bytes of the value.
    pub len: u32,
    /// CRC32C of the value.
    pub crc: u32,
}

impl ValuePointer {
    /// A pointer to a value that was not written anywhere yet: what a memtable has of it, and no
    /// file ever. By `ticket` the pool knows which value it is.
    pub fn to_no_place(ticket: u64, len: u32, crc: u32) -> ValuePointer {
        assert!(ticket < NO_PLACE);
        ValuePointer {
            segment: FileNumber(NO_PLACE | ticket),
            offset: u32::try_from(OFFSET_MIN).expect("heads are some bytes long"),
            len,
            crc,
        }
    }

    /// Whether it leads to a value that was not written when its entry was.
    pub fn is_to_no_place(&self) -> bool {
        self.segment.0 & NO_PLACE != 0
    }

    /// The pointer's bytes.
    pub fn encode(&self) -> [u8; POINTER_BYTES] {
        let mut bytes = [0; POINTER_BYTES];
        bytes[..8].copy_from_slice(&self.segment.0.to_le_bytes());
        bytes[8..12].copy_from_slice(&self.offset.to_le_bytes());
        bytes[12..16].copy_from_slice(&self.len.to_le_bytes());
        bytes[16..].copy_from_slice(&self.crc.to_le_bytes());
        bytes
    }

    /// The pointer in those bytes. `Corruption` when they hold none.
    pub fn decode(bytes: &[u8]) -> Result<ValuePointer> {
        ValuePointer::parse(bytes)
            .ok_or_else(|| Error::corruption("a pointer into the value log that is none"))
    }

    fn parse(bytes: &[u8]) -> Option<ValuePointer> {
        let mut reader = ByteReader::new(bytes);
        let pointer = ValuePointer {
            segment: FileNumber(reader.u64()?),
            offset: reader.u32()?,
            len: reader.u32()?,
            crc: reader.u32()?,
        };
        let is_valid = reader.is_empty()
            && u64::from(pointer.offset) >= OFFSET_MIN
            && pointer.len as usize <= VALUE_BYTES_MAX;
        is_valid.then_some(pointer)
    }

    /// The pointer of an entry whose value is separated; `None` for any other entry.
    pub fn of(entry: &Entry<'_>) -> Result<Option<ValuePointer>> {
        if !entry.kind().is_separated() {
            return Ok(None);
        }
        let start = entry.kind().expiry_bytes();
        ValuePointer::decode(entry.value.get(start..).unwrap_or_default()).map(Some)
    }

    /// Bytes that the value takes in its segment under a key of that length.
    pub fn record_bytes(&self, key_len: usize) -> u64 {
        record_len(key_len, self.len as usize)
    }
}

/// The raw value of an entry with its pointer replaced.
pub fn repointed(entry: &Entry<'_>, pointer: &ValuePointer) -> Bytes {
    let expiry = entry.value.len().saturating_sub(POINTER_BYTES);
    let mut raw = entry.value.get(..expiry).unwrap_or_default().to_vec();
    raw.extend_from_slice(&pointer.encode());
    Bytes::from(raw)
}

#[cfg(test)]
mod tests;
