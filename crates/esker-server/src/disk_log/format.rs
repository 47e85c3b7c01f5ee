//! Byte layout of what lies in a segment behind its head.
//!
//! A segment is one of the engine's log: blocks, fragments, checksums and the durable mark are
//! those of `esker::internals::store::wal::format`, and its first record is the head that names the
//! segment before. Every other record is one of these:
//!
//! | offset | size | type | meaning |
//! |---|---|---|---|
//! | 0 | 1 | u8 | 1 records, 2 checkpoint |
//! | 1 | 1 | u8 | of a checkpoint only: version of the layout, 1 |
//! | 2 | 8 | u64, little-endian | of a checkpoint only: the oldest segment of the log |
//! | 1 or 10 | … | parts | one behind the other to the end |
//!
//! A part is a length (u32, little-endian) and as many bytes: a record as `esker_raft::Record` has
//! it. In a checkpoint each group has four, in this order: its begin, a compaction, its hard state,
//! and 16 bytes for its last entry: index and term (u64, little-endian, at most 2^62). Groups that
//! were destroyed have one part, a destroy; of a group that is here again under a larger replica id
//! it stands before the four.
//!
//! Valid if and only if kind and version are known, the parts fill the record, and each is valid.
//! The second record of every segment is a checkpoint, and no other is. A segment without one was
//! never begun: it says nothing of those before it.
//!
//! What has a right checksum and cannot be read was written by another version: the log is not
//! opened then, and nothing of it is changed.

use esker::internals::base::types::error::{Error, ErrorKind, Result};
use esker::internals::base::types::ids::FileNumber;
use esker_raft::{DecodeError, GroupId, Point, Record};

/// What follows are records.
pub const RECORDS: u8 = 1;

/// What follows is all that is known of every group.
const CHECKPOINT: u8 = 2;

/// Version of the layout, in every checkpoint.
const VERSION: u8 = 1;

/// Where a checkpoint names the oldest segment.
const OLDEST: std::ops::Range<usize> = 2..10;

/// Entries of one append: a quarter of what reading one back allows.
const ENTRIES_MAX: usize = 1 << 14;

/// Largest index and term.
const NUMBER_MAX: u64 = 1 << 62;

/// Bytes of parts after which a record is ended: an entry is read with all that lies in its record.
pub const RECORD_BYTES: usize = 256 << 10;

/// Bytes of a place in a checkpoint.
const POINT_BYTES: usize = 16;

/// Appends a record as a part, or as several: an append of very many entries is several appends.
pub fn put_records(out: &mut Vec<u8>, record: &Record) {
    match record {
        Record::Append { group, entries } if entries.len() > ENTRIES_MAX => {
            for entries in entries.chunks(ENTRIES_MAX) {
                let (group, entries) = (*group, entries.to_vec());
                put_record(out, &Record::Append { group, entries });
            }
        }
        record => put_record(out, record),
    }
}

/// Appends a part that is a record.
pub fn put_record(out: &mut Vec<u8>, record: &Record) {
    let at = out.len();
    out.extend_from_slice(&[0; 4]);
    record.encode(out);
    let len = u32::try_from(out.len() - at - 4).expect("limits of esker-raft are far below");
    out[at..at + 4].copy_from_slice(&len.to_le_bytes());
}

/// Appends a part that is the place of a group's last entry.
pub fn put_point(out: &mut Vec<u8>, point: Point) {
    out.extend_from_slice(&(POINT_BYTES as u32).to_le_bytes());
    out.extend_from_slice(&point.index.to_le_bytes());
    out.extend_from_slice(&point.term.to_le_bytes());
}

/// The beginning of a checkpoint; [`set_oldest`] completes it.
pub fn begin_checkpoint() -> Vec<u8> {
    let mut out = vec![CHECKPOINT, VERSION];
    out.resize(OLDEST.end, 0);
    out
}

/// Says in a checkpoint with which segment the log begins.
pub fn set_oldest(checkpoint: &mut [u8], oldest: FileNumber) {
    checkpoint[OLDEST].copy_from_slice(&oldest.0.to_le_bytes());
}

/// What a record of a segment is.
pub enum Kind {
    /// Records.
    Records,
    /// All that is known of every group; of the log that segment is the oldest one.
    Checkpoint(FileNumber),
}

/// The parts of a record of a segment.
pub struct Parts<'a> {
    left: &'a [u8],
}

impl<'a> Parts<'a> {
    /// The kind of a record, and its parts.
    pub fn of(payload: &'a [u8]) -> Result<(Kind, Parts<'a>)> {
        match payload.split_first() {
            Some((&RECORDS, left)) => Ok((Kind::Records, Parts { left })),
            Some((&CHECKPOINT, left)) => {
                let (&version, left) = left.split_first().ok_or_else(unreadable)?;
                if version != VERSION {
                    return Err(unreadable());
                }
                let (oldest, left) = left.split_first_chunk::<8>().ok_or_else(unreadable)?;
                let oldest = FileNumber(u64::from_le_bytes(*oldest));
                Ok((Kind::Checkpoint(oldest), Parts { left }))
            }
            _ => Err(unreadable()),
        }
    }

    /// Whether there is one more.
    pub fn is_at_end(&self) -> bool {
        self.left.is_empty()
    }

    /// The next part, a record.
    pub fn record(&mut self) -> Result<Record> {
        Record::decode(self.part()?).map_err(|error| unreadable().caused_by(told(&error)))
    }

    /// The next part, a record, if it is about `group`. Records of others are passed over unread:
    /// one save has those of all groups.
    pub fn record_of(&mut self, group: GroupId) -> Result<Option<Record>> {
        let part = self.part()?;
        let read = |error: DecodeError| unreadable().caused_by(told(&error));
        match Record::peek_group(part).map_err(read)? == group {
            true => Record::decode(part).map(Some).map_err(read),
            false => Ok(None),
        }
    }

    /// The next part, a place.
    pub fn point(&mut self) -> Result<Point> {
        let (index, term) = self
            .part()?
            .split_first_chunk::<8>()
            .ok_or_else(unreadable)?;
        let term = <&[u8; 8]>::try_from(term).map_err(|_| unreadable())?;
        let (index, term) = (u64::from_le_bytes(*index), u64::from_le_bytes(*term));
        match index.max(term) <= NUMBER_MAX {
            true => Ok(Point { index, term }),
            false => Err(unreadable()),
        }
    }

    fn part(&mut self) -> Result<&'a [u8]> {
        let (len, rest) = self.left.split_first_chunk::<4>().ok_or_else(unreadable)?;
        let len = u32::from_le_bytes(*len) as usize;
        let (part, rest) = rest.split_at_checked(len).ok_or_else(unreadable)?;
        self.left = rest;
        Ok(part)
    }
}

// Its checksum is right, so it is what somebody wrote.
fn unreadable() -> Error {
    let message = "the raft log was written by another version of Esker; open it with that one";
    Error::new(ErrorKind::Unsupported, message)
}

fn told(error: &DecodeError) -> Error {
    Error::new(ErrorKind::Unsupported, error.to_string())
}

#[cfg(test)]
mod tests;
