//! Appends records to one segment.

use std::fmt;
use std::sync::Arc;

use crate::base::types::error::{Error, ErrorKind, Result};
use crate::base::types::ids::FileNumber;
use crate::env::fs::{LogFile, LogSync};
use crate::store::wal::format::{
    BLOCK_BYTES, BLOCK_SPAN, FragmentKind, HEADER_BYTES, HEADER_SPAN, Header, SEGMENT_BYTES_MAX,
    end_behind, framed_len, log_tag, next_header,
};

/// What is written behind each record; see "Recycled segments" in `wal/format`.
const END_ZEROS: [u8; HEADER_BYTES] = [0; HEADER_BYTES];

/// Appends records to one segment of a log.
///
/// One owner writes; any thread may sync through [`WalWriter::syncer`]. Each fragment goes to the
/// file in one call, by way of a buffer. Measured on 2 cores against three calls (payload, zeros,
/// header) without a copy: over `pwrite` 7 µs instead of 20 µs for records up to 4 KiB, and 13 µs
/// instead of 27 µs for 32 KB; over a mapped file 16 ns instead of 11 ns for 30 bytes, and 10 to
/// 17 % more for kilobytes.
pub struct WalWriter {
    file: Box<dyn LogFile>,
    syncer: Arc<dyn LogSync>,
    number: FileNumber,
    capacity: u64,
    end: u64,
    durable_mark: u32,
    has_failed: bool,
    buffer: Vec<u8>,
}

impl WalWriter {
    /// A writer that starts at the front of `file`, as the log with that number.
    ///
    /// Two lives of a recycled file need different numbers.
    pub fn new(file: Box<dyn LogFile>, number: FileNumber) -> WalWriter {
        WalWriter {
            syncer: file.syncer(),
            capacity: file.capacity_bytes().min(SEGMENT_BYTES_MAX),
            file,
            number,
            end: 0,
            durable_mark: 0,
            has_failed: false,
            buffer: Vec::with_capacity(BLOCK_BYTES),
        }
    }

    /// Appends a record and returns the offset behind it. When this returns, the record survives
    /// a killed process; it survives a power cut after a sync that starts later.
    ///
    /// Errors: what the file gives; from then on `Faulted`, because a second try over bytes of
    /// the first could mix with them (see `wal/format`).
    ///
    /// # Panics
    /// When the record does not fit: ask [`WalWriter::fits`] and open a larger segment.
    pub fn append(&mut self, payload: &[u8]) -> Result<u64> {
        assert!(self.fits(payload.len()));
        if self.has_failed {
            return Err(Error::new(
                ErrorKind::Faulted,
                "an earlier write to this log segment failed; reopen the database",
            ));
        }
        let mut at = next_header(self.end);
        let mut rest = payload;
        let mut is_first = true;
        loop {
            let room = BLOCK_BYTES - HEADER_BYTES - (at % BLOCK_SPAN) as usize;
            let (piece, behind) = rest.split_at(rest.len().min(room));
            let kind = FragmentKind::of(is_first, behind.is_empty());
            self.write_fragment(at, kind, piece)?;
            at += (HEADER_BYTES + piece.len()) as u64;
            if behind.is_empty() {
                break;
            }
            rest = behind;
            is_first = false;
        }
        assert!(at == end_behind(self.end, payload.len()));
        self.end = at;
        Ok(at)
    }

    /// Whether a record of `payload_len` bytes still fits.
    #[inline]
    pub fn fits(&self, payload_len: usize) -> bool {
        self.fits_beside(payload_len, 0)
    }

    /// Whether a record of `payload_len` bytes fits and leaves `room_bytes` behind it.
    #[inline]
    pub fn fits_beside(&self, payload_len: usize, room_bytes: u64) -> bool {
        end_behind(self.end, payload_len) + room_bytes <= self.capacity
    }

    /// Bytes that a record of `payload_len` bytes takes, at most: a segment of that capacity
    /// holds it.
    pub fn framed_len(payload_len: usize) -> u64 {
        framed_len(payload_len)
    }

    /// Says that everything before `offset` is known to be durable: a sync that started when
    /// [`WalWriter::end_offset`] was at least `offset` has succeeded. Later records carry this
    /// as proof. A smaller offset than an earlier one changes nothing, since syncs of several
    /// threads may be reported in any order.
    ///
    /// # Panics
    /// When nothing was written there yet.
    pub fn set_synced(&mut self, offset: u64) {
        assert!(offset <= self.end);
        let mark = u32::try_from(offset).expect("offsets of a segment fit 32 bits");
        self.durable_mark = self.durable_mark.max(mark);
    }

    /// Puts an empty record behind the last one if it fits, so that the mark of the last sync
    /// stands in the log and damage before it will not pass for a torn tail. For closing a log
    /// and for idle times. Errors: as [`WalWriter::append`].
    pub fn append_mark(&mut self) -> Result<()> {
        if self.fits(0) {
            self.append(&[])?;
        }
        Ok(())
    }

    /// Where the next record will begin.
    pub fn next_offset(&self) -> u64 {
        next_header(self.end)
    }

    /// Offset behind the last record.
    pub fn end_offset(&self) -> u64 {
        self.end
    }

    /// A handle by which any thread can sync the segment.
    pub fn syncer(&self) -> Arc<dyn LogSync> {
        Arc::clone(&self.syncer)
    }

    /// The number of the log.
    pub fn number(&self) -> FileNumber {
        self.number
    }

    /// Bytes that the segment has room for.
    pub fn capacity_bytes(&self) -> u64 {
        self.capacity
    }

    #[inline]
    fn write_fragment(&mut self, at: u64, kind: FragmentKind, piece: &[u8]) -> Result<()> {
        let log = log_tag(self.number);
        let header = Header::seal(at, kind, log, self.durable_mark, piece);
        self.buffer.clear();
        self.buffer.extend_from_slice(&header.encode());
        self.buffer.extend_from_slice(piece);
        if kind.is_end() {
            let end = at + self.buffer.len() as u64;
            let left_in_block = next_block(at) - end;
            let len = left_in_block.min(self.capacity - end).min(HEADER_SPAN);
            self.buffer.extend_from_slice(&END_ZEROS[..len as usize]);
        }
        let written = self.file.write_at(at, &self.buffer);
        self.has_failed = written.is_err();
        written
    }
}

impl fmt::Debug for WalWriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let WalWriter {
            number,
            end,
            capacity,
            ..
        } = self;
        write!(f, "WalWriter({number}, {end} of {capacity} bytes)")
    }
}

fn next_block(offset: u64) -> u64 {
    offset - offset % BLOCK_SPAN + BLOCK_SPAN
}

#[cfg(test)]
mod tests;
