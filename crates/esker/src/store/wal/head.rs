//! The first record of every segment: which segment came before, and where it ended.
//!
//! | offset | size | type | meaning |
//! |---|---|---|---|
//! | 0 | 8 | u64, little-endian | number of the segment before; 0 when this is the first |
//! | 8 | 8 | u64, little-endian | offset behind the last record of that segment |
//!
//! Valid if and only if it is 16 bytes long and, where the number is 0, the offset is 0 as well.
//! With it, replay knows whether the end of a segment is really its end, or whether records behind
//! it were lost; and that neither what lies behind that end nor any segment between the two is part
//! of the log, since a recovery has cut it off (`flow/write/chain`).

use crate::base::codec::fixed;
use crate::base::types::error::{Error, Result};
use crate::base::types::ids::FileNumber;

/// Bytes of an encoded head.
pub const SEGMENT_HEAD_BYTES: usize = 16;

/// The first record of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SegmentHead {
    /// The segment before, and the offset behind its last record.
    pub previous: Option<(FileNumber, u64)>,
}

impl SegmentHead {
    /// The record's bytes.
    pub fn encode(self) -> [u8; SEGMENT_HEAD_BYTES] {
        let (number, end) = self.previous.unwrap_or((FileNumber(0), 0));
        let mut bytes = [0; SEGMENT_HEAD_BYTES];
        bytes[..8].copy_from_slice(&number.0.to_le_bytes());
        bytes[8..].copy_from_slice(&end.to_le_bytes());
        bytes
    }

    /// The head in a segment's first record.
    pub fn decode(record: &[u8]) -> Result<SegmentHead> {
        let broken = || Error::corruption("the first record of a log segment is not its head");
        let (Some(number), Some(end), SEGMENT_HEAD_BYTES) = (
            fixed::u64_at(record, 0),
            fixed::u64_at(record, 8),
            record.len(),
        ) else {
            return Err(broken());
        };
        if number == 0 && end != 0 {
            return Err(broken());
        }
        Ok(SegmentHead {
            previous: (number != 0).then_some((FileNumber(number), end)),
        })
    }
}

#[cfg(test)]
mod tests;
