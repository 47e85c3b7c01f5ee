//! Reads all intact records of a segment, also behind damage, and reports each gap.

use std::ops::Range;
use std::sync::Arc;

use crate::base::types::error::Result;
use crate::base::types::limits::BATCH_BYTES_MAX;
use crate::env::fs::ReadFile;
use crate::store::names::FileName;
use crate::store::wal::format::{BLOCK_SPAN, next_header};
use crate::store::wal::segment::{Fragment, Seen, Segment};

/// Bytes that belong, or may belong, to this log and are no intact record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gap {
    /// Where the record starts that should be here.
    pub offset: u64,
    /// Where the first bytes are that are not what was written; inside the gap or at its end.
    pub damaged_at: u64,
    /// Offset behind the gap: the next intact record, or behind the last byte that may be ours.
    pub end: u64,
}

/// One thing found in a damaged segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Salvaged<'a> {
    /// An intact record.
    Record {
        /// Where its first fragment stands.
        offset: u64,
        /// What was appended.
        payload: &'a [u8],
    },
    /// Bytes that are no intact record.
    Gap(Gap),
}

/// What the next step came to. The record's payload is had from [`WalSalvage::payload`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// An intact record.
    Record,
    /// Bytes that are no intact record.
    Gap(Gap),
    /// Nothing of this log lies further on.
    End,
}

/// A walk over everything in a segment that is intact.
///
/// What it yields is always a part of what was appended, in the same order. It never stops at
/// damage; [`crate::store::wal::reader`] says whether damage may be passed over.
pub struct WalSalvage {
    segment: Segment,
    end: u64,
    record_start: u64,
    place: Place,
    joined: Vec<u8>,
    durable_mark: u64,
}

enum Place {
    Block(Range<usize>),
    Joined,
}

/// Whether a whole record starts at an offset.
enum Taken {
    Whole { end: u64 },
    Broken { at: u64, seen: Seen },
}

impl WalSalvage {
    /// A walk over the segment in `file` whose name is `name`.
    pub fn new(file: Arc<dyn ReadFile>, name: FileName) -> WalSalvage {
        WalSalvage {
            segment: Segment::new(file, name),
            end: 0,
            record_start: 0,
            place: Place::Joined,
            joined: Vec::new(),
            durable_mark: 0,
        }
    }

    /// The next record or gap, or `None` at the end. Errors: what reading the file gives; the
    /// same call may be tried again.
    #[expect(
        clippy::should_implement_trait,
        reason = "what it yields borrows from the walk"
    )]
    pub fn next(&mut self) -> Result<Option<Salvaged<'_>>> {
        Ok(match self.step()? {
            Step::Record => Some(Salvaged::Record {
                offset: self.record_start,
                payload: self.payload(),
            }),
            Step::Gap(gap) => Some(Salvaged::Gap(gap)),
            Step::End => None,
        })
    }

    /// Goes on to the next record or gap.
    pub fn step(&mut self) -> Result<Step> {
        let start = next_header(self.end);
        match self.take_record(start)? {
            Taken::Whole { end } => {
                self.record_start = start;
                self.end = end;
                Ok(Step::Record)
            }
            Taken::Broken { at, seen } => self.cross_gap(start, at, &seen),
        }
    }

    /// Goes to the record that begins at that offset; says whether it is there and whole.
    pub fn find_at(&mut self, offset: u64) -> Result<bool> {
        let Taken::Whole { end } = self.take_record(offset)? else {
            return Ok(false);
        };
        self.record_start = offset;
        self.end = end;
        Ok(true)
    }

    /// The record that the last step found.
    pub fn payload(&self) -> &[u8] {
        match &self.place {
            Place::Block(range) => &self.segment.block()[range.clone()],
            Place::Joined => &self.joined,
        }
    }

    /// Where the record starts that the last step found.
    pub fn record_offset(&self) -> u64 {
        self.record_start
    }

    /// Offset behind the last record or gap.
    pub fn end_offset(&self) -> u64 {
        self.end
    }

    /// The largest durable mark of all fragments seen so far.
    pub fn durable_mark(&self) -> u64 {
        self.durable_mark
    }

    /// Name of the segment's file.
    pub fn name(&self) -> FileName {
        self.segment.name()
    }

    fn look(&mut self, offset: u64) -> Result<Seen> {
        let seen = self.segment.look(offset)?;
        if let Seen::Ours(fragment) = &seen {
            self.durable_mark = self.durable_mark.max(fragment.durable_mark);
        }
        Ok(seen)
    }

    fn take_record(&mut self, start: u64) -> Result<Taken> {
        let mut at = start;
        let mut is_first = true;
        loop {
            let fragment = match self.look(at)? {
                Seen::Ours(fragment) if fragment.kind.is_start() == is_first => fragment,
                seen => return Ok(Taken::Broken { at, seen }),
            };
            let Fragment {
                kind, payload, end, ..
            } = fragment;
            if is_first && kind.is_end() {
                self.place = Place::Block(payload);
                return Ok(Taken::Whole { end });
            }
            if is_first {
                self.joined.clear();
            }
            if self.joined.len() + payload.len() > BATCH_BYTES_MAX {
                return Ok(Taken::Broken {
                    at,
                    seen: Seen::Damaged,
                });
            }
            self.joined
                .extend_from_slice(&self.segment.block()[payload]);
            if kind.is_end() {
                self.place = Place::Joined;
                return Ok(Taken::Whole { end });
            }
            at = next_header(end);
            is_first = false;
        }
    }

    // Looks for the next whole record behind `damaged_at`, trying every offset: pages reach the
    // disk in any order, so a hole may end in the middle of a block.
    fn cross_gap(&mut self, start: u64, damaged_at: u64, seen: &Seen) -> Result<Step> {
        let is_partial_record = damaged_at > start;
        let is_clean_end = !is_partial_record && matches!(seen, Seen::Nothing | Seen::Stale(_));
        let mut ours_end = if is_partial_record { damaged_at } else { start };
        let mut junk_end = ours_end;
        let mut at = damaged_at;
        while at < self.segment.size() {
            match self.look(at)? {
                Seen::Ours(fragment) => {
                    if fragment.kind.is_start() && at > start && self.is_whole(at)? {
                        return Ok(self.gap(start, damaged_at, at));
                    }
                    ours_end = fragment.end;
                    at = fragment.end;
                }
                Seen::Stale(end) => at = end,
                Seen::Nothing if self.is_unused_block(at) => at += BLOCK_SPAN,
                Seen::Nothing | Seen::Damaged => {
                    at += 1;
                    if self.segment.byte(at - 1) != 0 {
                        junk_end = at;
                    }
                }
            }
        }
        // Behind a clean end the rest of an overwritten old fragment may lie: no loss of ours.
        let gap_end = if is_clean_end {
            ours_end
        } else {
            ours_end.max(junk_end)
        };
        if gap_end == start {
            return Ok(Step::End);
        }
        Ok(self.gap(start, damaged_at, gap_end))
    }

    fn gap(&mut self, offset: u64, damaged_at: u64, end: u64) -> Step {
        self.end = end;
        Step::Gap(Gap {
            offset,
            damaged_at,
            end,
        })
    }

    fn is_whole(&mut self, offset: u64) -> Result<bool> {
        Ok(matches!(self.take_record(offset)?, Taken::Whole { .. }))
    }

    fn is_unused_block(&self, at: u64) -> bool {
        at.is_multiple_of(BLOCK_SPAN) && self.segment.is_zero_block()
    }
}

#[cfg(test)]
mod tests;
