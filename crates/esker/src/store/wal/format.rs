//! Byte layout of a log segment: blocks, fragments, checksums, and the durable mark.
//!
//! A segment is a row of blocks of 32 KiB. A record lies in one fragment, or, where it does not
//! fit the rest of its block, in several: `first`, `middle`…, `last`, one behind the other and
//! each inside one block. A block in which fewer bytes than a header remain ends there; those
//! bytes are written as zeros and not looked at again. So every block starts with a header, and
//! damage never hides more than its block.
//!
//! A fragment:
//!
//! | offset | size | type | meaning |
//! |---|---|---|---|
//! | 0 | 4 | u32 | checksum, see below |
//! | 4 | 2 | u16 | length of the payload |
//! | 6 | 1 | u8 | 1 full, 2 first, 3 middle, 4 last |
//! | 7 | 4 | u32 | number of the log, its low 32 bits |
//! | 11 | 4 | u32 | durable mark: up to this offset the segment was known to be on the medium |
//! | 15 | n | bytes | payload |
//!
//! Integers are little-endian. The checksum is the masked CRC32C of: the fragment's offset in the
//! file (u64), the bytes from offset 4 to the header's end, the payload.
//!
//! Valid if and only if the fragment lies inside its block and its file, the type is 1 to 4, the
//! checksum matches, the log's number is the expected one, and the durable mark is not beyond
//! the fragment's own offset.
//!
//! # Recycled segments
//!
//! A segment is allocated whole and, when its records are flushed, used again under a new number.
//! Bytes of its earlier life then lie behind the newest record, checksums and all; the log's
//! number tells them apart. Behind every record the writer puts up to a header's length of zeros,
//! which the next record overwrites: so after a killed process the log ends in zeros, and never
//! in the middle of an old payload, which would look like a torn record. The offset is part of
//! the checksum, so neither a misdirected write nor a user's value that holds a copy of a log can
//! be taken for a fragment.
//!
//! A segment may have any size that holds its records: those of a session begin small and double,
//! and the log of a closed database is one segment of 46 bytes: its head, and a mark that says that
//! the head is durable. No file of the log says its format version: the manifest does, for all.
//!
//! # A torn tail, or damage?
//!
//! Let the reader meet, at offset P, bytes that are no valid fragment of this log. That may be
//! the harmless end of what a power cut let through, or the loss of records that a caller was
//! told are durable. The two look alike at P. They are told apart by what lies behind:
//!
//! - Each fragment carries the durable mark known when it was written. If any valid fragment
//!   behind P has a mark beyond P, the bytes at P were on the medium, as part of this log, before
//!   that fragment was written. No crash takes durable bytes away: this is `Corruption`.
//! - If there is none, nothing proves that P was ever durable, and the tail is torn: it is
//!   dropped and reported. Valid fragments behind P do not change that. The system may write
//!   pages back in any order, so a power cut can leave a hole with whole records behind it. None
//!   of them was durable, since a sync that covered them would have covered the hole as well; to
//!   keep them would be to replay a later write without an earlier one.
//!
//! The mark 1 is special: it proves that earlier segments are durable, and nothing of its own one,
//! of which even the first record may be lost.
//!
//! This holds for zeros and for bytes of an earlier life at P as for any others: a page that was
//! lost looks just like that. What remains undecidable is damage to records behind which no
//! later fragment with a mark was written: there the medium must be trusted, as after any crash.
//! So that a log that was synced and then closed or left idle has no such records, an empty record
//! is put behind what a sync made durable, unless something was written there meanwhile: it carries
//! the mark and nothing else, and needs no sync of its own. Readers of batches and of edits, which
//! are never empty, pass over it.
//!
//! Within one life each offset is written once (the zeros apart): after a failed write the writer
//! takes nothing more. Otherwise the pages of two attempts could mix, and a `first` of one be
//! followed by the `middle` of the other, each of them valid.

use crate::base::codec::checksum::{crc32c, crc32c_more, mask};
use crate::base::codec::fixed::{u16_at, u32_at};
use crate::base::types::ids::FileNumber;
use crate::base::types::limits::BATCH_BYTES_MAX;

/// Bytes of a block. As LevelDB's: small enough that damage costs little and a block stays in
/// the first-level cache, large enough that headers cost nothing (15 of 32 768).
pub const BLOCK_BYTES: usize = 32 << 10;

/// Bytes of a fragment's header.
pub const HEADER_BYTES: usize = 4 + 2 + 1 + 4 + 4;

/// Longest payload of one fragment, in bytes.
pub const FRAGMENT_BYTES_MAX: usize = BLOCK_BYTES - HEADER_BYTES;

/// The durable mark that says: every earlier segment of the log is on the medium. Of its own
/// segment it says nothing. No sync gives this offset, since a first record is longer.
pub const EARLIER_DURABLE: u64 = 1;

/// Longest segment, in bytes: durable marks have 32 bits.
pub const SEGMENT_BYTES_MAX: u64 = u32::MAX as u64;

/// [`BLOCK_BYTES`] for sums of offsets.
pub const BLOCK_SPAN: u64 = BLOCK_BYTES as u64;

/// [`HEADER_BYTES`] for sums of offsets.
pub const HEADER_SPAN: u64 = HEADER_BYTES as u64;

const _: () = assert!(FRAGMENT_BYTES_MAX <= u16::MAX as usize);
const _: () = assert!(framed_len(BATCH_BYTES_MAX) <= SEGMENT_BYTES_MAX);

/// What stands for the log's number in its fragments: the low 32 bits. Numbers count up, so two
/// lives of a segment could only agree four billion files apart.
pub fn log_tag(number: FileNumber) -> u32 {
    (number.0 & u64::from(u32::MAX)) as u32
}

/// Which part of its record a fragment holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum FragmentKind {
    /// All of it.
    Full = 1,
    /// The beginning.
    First = 2,
    /// Neither beginning nor end.
    Middle = 3,
    /// The end.
    Last = 4,
}

impl FragmentKind {
    /// The kind of a fragment by what it holds.
    pub fn of(is_first: bool, is_last: bool) -> FragmentKind {
        match (is_first, is_last) {
            (true, true) => FragmentKind::Full,
            (true, false) => FragmentKind::First,
            (false, false) => FragmentKind::Middle,
            (false, true) => FragmentKind::Last,
        }
    }

    /// The kind with that byte, or `None`. For bytes from disk.
    pub fn from_byte(byte: u8) -> Option<FragmentKind> {
        Some(match byte {
            1 => FragmentKind::Full,
            2 => FragmentKind::First,
            3 => FragmentKind::Middle,
            4 => FragmentKind::Last,
            _ => return None,
        })
    }

    /// Whether a record starts with this fragment.
    pub fn is_start(self) -> bool {
        matches!(self, FragmentKind::Full | FragmentKind::First)
    }

    /// Whether a record ends with this fragment.
    pub fn is_end(self) -> bool {
        matches!(self, FragmentKind::Full | FragmentKind::Last)
    }
}

/// The header of a fragment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The masked checksum.
    pub checksum: u32,
    /// Length of the payload, in bytes.
    pub payload_len: u16,
    /// Which part of the record follows.
    pub kind: FragmentKind,
    /// Low 32 bits of the log's number.
    pub log: u32,
    /// Offset up to which the segment was known to be durable.
    pub durable_mark: u32,
}

impl Header {
    /// The header of a fragment at `offset` with its checksum.
    ///
    /// # Panics
    /// When the payload does not fit a fragment.
    #[inline]
    pub fn seal(
        offset: u64,
        kind: FragmentKind,
        log: u32,
        durable_mark: u32,
        payload: &[u8],
    ) -> Header {
        let payload_len = u16::try_from(payload.len()).expect("a fragment fits its block");
        let mut header = Header {
            checksum: 0,
            payload_len,
            kind,
            log,
            durable_mark,
        };
        header.checksum = header.checksum_of(offset, payload);
        header
    }

    /// The header at the front of `bytes`; `None` when they are too few or the kind is unknown.
    /// Nothing else is checked.
    #[inline]
    pub fn decode(bytes: &[u8]) -> Option<Header> {
        let bytes = bytes.first_chunk::<HEADER_BYTES>()?;
        Some(Header {
            kind: FragmentKind::from_byte(bytes[6])?,
            checksum: u32_at(bytes, 0)?,
            payload_len: u16_at(bytes, 4)?,
            log: u32_at(bytes, 7)?,
            durable_mark: u32_at(bytes, 11)?,
        })
    }

    /// The header's bytes.
    #[inline]
    pub fn encode(&self) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        bytes[0..4].copy_from_slice(&self.checksum.to_le_bytes());
        bytes[4..6].copy_from_slice(&self.payload_len.to_le_bytes());
        bytes[6] = self.kind as u8;
        bytes[7..11].copy_from_slice(&self.log.to_le_bytes());
        bytes[11..15].copy_from_slice(&self.durable_mark.to_le_bytes());
        bytes
    }

    /// Whether header and payload are what was written at `offset`.
    #[inline]
    pub fn is_intact(&self, offset: u64, payload: &[u8]) -> bool {
        u64::from(self.durable_mark) <= offset
            && usize::from(self.payload_len) == payload.len()
            && self.checksum == self.checksum_of(offset, payload)
    }

    #[inline]
    fn checksum_of(&self, offset: u64, payload: &[u8]) -> u32 {
        let mut covered = [0; 8 + HEADER_BYTES - 4];
        covered[..8].copy_from_slice(&offset.to_le_bytes());
        covered[8..].copy_from_slice(&self.encode()[4..]);
        mask(crc32c_more(crc32c(&covered), payload))
    }
}

/// Where the next header stands when the last fragment ended at `offset`: there, or at the next
/// block when fewer bytes than a header remain.
#[inline]
pub const fn next_header(offset: u64) -> u64 {
    let left = BLOCK_SPAN - offset % BLOCK_SPAN;
    if left < HEADER_SPAN {
        offset + left
    } else {
        offset
    }
}

/// Where a record of `payload_len` bytes ends when it is put behind what ends at `offset`.
pub const fn end_behind(offset: u64, payload_len: usize) -> u64 {
    let start = next_header(offset);
    let room = BLOCK_SPAN - start % BLOCK_SPAN - HEADER_SPAN;
    let len = payload_len as u64;
    if len <= room {
        return start + HEADER_SPAN + len;
    }
    // The blocks that follow are filled; the last one may be full as well.
    let rest = len - room;
    let filled = (rest - 1) / FRAGMENT_BYTES_MAX as u64;
    let last = rest - filled * FRAGMENT_BYTES_MAX as u64;
    let next_block = start - start % BLOCK_SPAN + BLOCK_SPAN;
    next_block + filled * BLOCK_SPAN + HEADER_SPAN + last
}

/// Bytes that a record of `payload_len` bytes takes wherever it starts, at most.
pub const fn framed_len(payload_len: usize) -> u64 {
    // One header for each full fragment or part of one, and one for the beginning in a block
    // partly used. Where a block's end is skipped instead, fewer bytes than that are lost.
    let filled = payload_len.div_ceil(FRAGMENT_BYTES_MAX) as u64;
    let fragments = if filled == 0 { 2 } else { filled + 1 };
    payload_len as u64 + fragments * HEADER_SPAN
}

#[cfg(test)]
mod tests;
