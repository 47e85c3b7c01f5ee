//! One segment seen block by block: what lies at an offset.

use std::ops::Range;
use std::sync::Arc;

use crate::base::types::error::{Error, Result};
use crate::env::fs::ReadFile;
use crate::store::names::FileName;
use crate::store::wal::format::{
    BLOCK_BYTES, BLOCK_SPAN, FragmentKind, HEADER_BYTES, Header, SEGMENT_BYTES_MAX, log_tag,
};

/// Bytes that are announced to the system ahead of reading them: large enough to keep a disk
/// busy, small beside a segment.
const PREFETCH_BYTES: u64 = 1 << 20;

/// A block of zeros, to tell an unused block by one comparison.
static ZERO_BLOCK: [u8; BLOCK_BYTES] = [0; BLOCK_BYTES];

/// What lies at an offset where a header may stand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Seen {
    /// A valid fragment of this log.
    Ours(Fragment),
    /// A valid fragment of an earlier life of the segment; it ends at that offset.
    Stale(u64),
    /// Zeros, or the end of the file.
    Nothing,
    /// Anything else.
    Damaged,
}

/// A valid fragment of this log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fragment {
    /// Which part of its record it holds.
    pub kind: FragmentKind,
    /// Its payload, as a range of the block that was looked at.
    pub payload: Range<usize>,
    /// Offset behind it.
    pub end: u64,
    /// Offset up to which the segment was known to be durable.
    pub durable_mark: u64,
}

/// A segment, of which one block at a time is in memory.
pub struct Segment {
    file: Arc<dyn ReadFile>,
    name: FileName,
    log: u32,
    size: u64,
    block: Vec<u8>,
    block_start: Option<u64>,
}

impl Segment {
    /// The segment in `file`; `name` tells its number and is named in errors.
    ///
    /// # Panics
    /// When files of that name have no number.
    pub fn new(file: Arc<dyn ReadFile>, name: FileName) -> Segment {
        let number = name.number().expect("a log has a number");
        let size = file.size_bytes().min(SEGMENT_BYTES_MAX);
        Segment {
            file,
            name,
            log: log_tag(number),
            size,
            block: Vec::new(),
            block_start: None,
        }
    }

    /// Bytes of the segment.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Name of the segment's file.
    pub fn name(&self) -> FileName {
        self.name
    }

    /// What lies at `offset`. Errors: what reading the file gives.
    pub fn look(&mut self, offset: u64) -> Result<Seen> {
        if offset >= self.size {
            return Ok(Seen::Nothing);
        }
        self.load(offset)?;
        let rest = self.rest_of_block(offset);
        if let Some(header) = Header::decode(rest)
            && let Some(payload) = rest[HEADER_BYTES..].get(..usize::from(header.payload_len))
            && header.is_intact(offset, payload)
        {
            let end = offset + (HEADER_BYTES + payload.len()) as u64;
            if header.log != self.log {
                return Ok(Seen::Stale(end));
            }
            let start = position_in_block(offset) + HEADER_BYTES;
            return Ok(Seen::Ours(Fragment {
                kind: header.kind,
                payload: start..start + payload.len(),
                end,
                durable_mark: u64::from(header.durable_mark),
            }));
        }
        let front = &rest[..rest.len().min(HEADER_BYTES)];
        if front.iter().all(|&byte| byte == 0) {
            return Ok(Seen::Nothing);
        }
        Ok(Seen::Damaged)
    }

    /// Bytes of the block that was looked at last.
    pub fn block(&self) -> &[u8] {
        &self.block
    }

    /// The byte at `offset`, which must lie in the block that was looked at last.
    pub fn byte(&self, offset: u64) -> u8 {
        self.rest_of_block(offset).first().copied().unwrap_or(0)
    }

    /// Whether the block that was looked at last holds nothing but zeros.
    pub fn is_zero_block(&self) -> bool {
        self.block == ZERO_BLOCK[..self.block.len()]
    }

    fn rest_of_block(&self, offset: u64) -> &[u8] {
        debug_assert!(self.block_start == Some(offset - offset % BLOCK_SPAN));
        self.block.get(position_in_block(offset)..).unwrap_or(&[])
    }

    fn load(&mut self, offset: u64) -> Result<()> {
        let start = offset - offset % BLOCK_SPAN;
        if self.block_start == Some(start) {
            return Ok(());
        }
        let len = usize::try_from((self.size - start).min(BLOCK_SPAN))
            .expect("a block's length fits memory");
        self.block_start = None;
        self.block.resize(len, 0);
        if start.is_multiple_of(PREFETCH_BYTES) {
            self.file.prefetch(start, PREFETCH_BYTES);
        }
        let read = self.file.read_at(start, &mut self.block);
        read.map_err(|error: Error| error.in_file(self.name).at_offset(start))?;
        self.block_start = Some(start);
        Ok(())
    }
}

fn position_in_block(offset: u64) -> usize {
    (offset % BLOCK_SPAN) as usize
}
