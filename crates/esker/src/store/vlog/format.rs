//! Byte layout of a segment of the value log.
//!
//! The head:
//!
//! | offset | size | type | meaning |
//! |---|---|---|---|
//! | 0 | 8 | bytes | `eskervl\n`: this is a value log of Esker |
//! | 8 | 4 | u32 | format version of the segment, 1 |
//! | 12 | 8 | u64 | number of the segment |
//! | 20 | 16 | bytes | id of the database that wrote it |
//! | 36 | 4 | u32 | masked CRC32C of the bytes before |
//!
//! Behind it records, one behind the other:
//!
//! | offset | size | type | meaning |
//! |---|---|---|---|
//! | 0 | 4 | u32 | masked checksum, see below |
//! | 4 | 4 | u32 | CRC32C of the value; the pointer has it too |
//! | 8 | 4 | u32 | keyspace |
//! | 12 | 2 | u16 | length of the key, k |
//! | 14 | 4 | u32 | length of the value, v |
//! | 18 | k | bytes | the user's key |
//! | 18 + k | v | bytes | the user's value |
//!
//! Integers are little-endian. The checksum is the CRC32C of: the segment's number (u64), the
//! record's offset (u64), the bytes from offset 4 up to the value. The key is there so that a
//! segment can be understood alone; reads go by pointers (`vlog/pointer`) to the value, and check
//! that. So is the id of the database: no read compares it.
//!
//! A segment is allocated with its full length, and reads as zeros where nothing was written; once
//! it is full its end is cut off behind the last record. A
//! record is written at once, but several threads write at the same time, and what is longer than
//! 512 KiB takes several calls: so a killed process may leave zeros between whole records and, of
//! those that nobody was told of, the front; and a power cut any part of any record. Nothing is
//! ever written behind a segment's records again once another one was begun.
//!
//! Valid if and only if the head is as above, and a record that is pointed to lies inside the
//! file, has lengths within `base/types/limits`, and both checksums match. What no pointer leads
//! to need not be valid.

use crate::base::codec::checksum::{crc32c, crc32c_more, mask};
use crate::base::codec::fixed::{u16_at, u32_at, u64_at};
use crate::base::types::error::{Error, ErrorKind, Result};
use crate::base::types::ids::{FileNumber, KeyspaceId};
use crate::base::types::limits::{KEY_BYTES_MAX, VALUE_BYTES_MAX};

/// What a segment begins with. The line feed shows a copy that was treated as text.
pub const SEGMENT_MAGIC: [u8; 8] = *b"eskervl\n";

/// The format that this program writes, and the newest it reads.
pub const SEGMENT_VERSION: u32 = 1;

/// Bytes of a segment's head.
pub const SEGMENT_HEAD_BYTES: u64 = 40;

/// Bytes of a record before its key.
pub const RECORD_HEAD_BYTES: usize = 18;

/// Longest segment, in bytes: pointers have 32 bits for the offset. A segment that is allocated
/// for one largest value has room to spare.
pub const SEGMENT_BYTES_MAX: u64 = u32::MAX as u64;

const _: () = assert!(
    SEGMENT_HEAD_BYTES as usize + RECORD_HEAD_BYTES + KEY_BYTES_MAX + VALUE_BYTES_MAX
        <= SEGMENT_BYTES_MAX as usize
);

/// Bytes of a record.
pub fn record_len(key_len: usize, value_len: usize) -> u64 {
    (RECORD_HEAD_BYTES + key_len + value_len) as u64
}

/// The head of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SegmentHead {
    /// Its number.
    pub number: FileNumber,
    /// The database that wrote it.
    pub database_id: [u8; 16],
}

impl SegmentHead {
    /// The head's bytes.
    pub fn encode(&self) -> [u8; SEGMENT_HEAD_BYTES as usize] {
        let mut bytes = [0; SEGMENT_HEAD_BYTES as usize];
        bytes[..8].copy_from_slice(&SEGMENT_MAGIC);
        bytes[8..12].copy_from_slice(&SEGMENT_VERSION.to_le_bytes());
        bytes[12..20].copy_from_slice(&self.number.0.to_le_bytes());
        bytes[20..36].copy_from_slice(&self.database_id);
        let crc = mask(crc32c(&bytes[..36]));
        bytes[36..].copy_from_slice(&crc.to_le_bytes());
        bytes
    }

    /// The head in the first bytes of the segment with that number.
    ///
    /// Errors: `Corruption`; `Unsupported` for a newer version.
    pub fn decode(bytes: &[u8], number: FileNumber) -> Result<SegmentHead> {
        let broken = |what: &str| Err(Error::corruption(format!("the segment's head {what}")));
        let (Some(front), Some(crc)) = (bytes.get(..36), u32_at(bytes, 36)) else {
            return broken("is cut short");
        };
        if mask(crc32c(front)) != crc {
            return broken("does not match its checksum");
        }
        let (magic, id) = (front.get(..8), front.get(20..36));
        let (Some(version), Some(found), Some(id)) = (u32_at(front, 8), u64_at(front, 12), id)
        else {
            return broken("is cut short");
        };
        if magic != Some(&SEGMENT_MAGIC) || version == 0 {
            return broken("is none of a value log");
        }
        if version > SEGMENT_VERSION {
            let message = format!(
                "the segment has format {version}, and this program reads up to \
                 {SEGMENT_VERSION}; use a newer one"
            );
            return Err(Error::new(ErrorKind::Unsupported, message));
        }
        if found != number.0 {
            return broken("names another segment");
        }
        let database_id = id.try_into().expect("16 bytes were cut out");
        Ok(SegmentHead {
            number,
            database_id,
        })
    }
}

/// What stands before the key of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordHead {
    /// CRC32C of the value.
    pub value_crc: u32,
    /// Whose value it is.
    pub keyspace: KeyspaceId,
    /// Bytes of the key.
    pub key_len: u16,
    /// Bytes of the value.
    pub value_len: u32,
}

impl RecordHead {
    /// The head's bytes, for a record of `key` at `offset` of segment `number`.
    pub fn encode(&self, number: FileNumber, offset: u64, key: &[u8]) -> [u8; RECORD_HEAD_BYTES] {
        assert!(key.len() == usize::from(self.key_len));
        let mut bytes = [0; RECORD_HEAD_BYTES];
        bytes[4..8].copy_from_slice(&self.value_crc.to_le_bytes());
        bytes[8..12].copy_from_slice(&self.keyspace.0.to_le_bytes());
        bytes[12..14].copy_from_slice(&self.key_len.to_le_bytes());
        bytes[14..].copy_from_slice(&self.value_len.to_le_bytes());
        let crc = record_crc(number, offset, &bytes[4..], key);
        bytes[..4].copy_from_slice(&crc.to_le_bytes());
        bytes
    }

    /// The head in `bytes`, its checksum not looked at yet. `None` when the lengths cannot be.
    pub fn parse(bytes: &[u8]) -> Option<RecordHead> {
        let head = RecordHead {
            value_crc: u32_at(bytes, 4)?,
            keyspace: KeyspaceId(u32_at(bytes, 8)?),
            key_len: u16_at(bytes, 12)?,
            value_len: u32_at(bytes, 14)?,
        };
        (head.value_len as usize <= VALUE_BYTES_MAX).then_some(head)
    }

    /// Whether the head in `bytes` belongs to that place and key.
    pub fn matches(bytes: &[u8], number: FileNumber, offset: u64, key: &[u8]) -> bool {
        let (Some(stored), Some(rest)) = (u32_at(bytes, 0), bytes.get(4..RECORD_HEAD_BYTES)) else {
            return false;
        };
        stored == record_crc(number, offset, rest, key)
    }

    /// Bytes of the record.
    pub fn record_bytes(&self) -> u64 {
        record_len(usize::from(self.key_len), self.value_len as usize)
    }
}

fn record_crc(number: FileNumber, offset: u64, rest: &[u8], key: &[u8]) -> u32 {
    let crc = crc32c(&number.0.to_le_bytes());
    let crc = crc32c_more(crc, &offset.to_le_bytes());
    let crc = crc32c_more(crc, rest);
    mask(crc32c_more(crc, key))
}

#[cfg(test)]
mod tests;
