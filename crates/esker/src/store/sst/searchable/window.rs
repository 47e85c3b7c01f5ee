//! Reads records for a walk: one by itself, and in larger pieces once the walk goes on.

use std::ops::Range;

use crate::base::types::error::Result;
use crate::store::sst::block::fetch::BlockSource;
use crate::store::sst::searchable::page::{RecordPlace, no_place};

/// First piece of a walk, in bytes: some ten usual records, and one access for most disks.
const WINDOW_BYTES_MIN: u64 = 16 << 10;

/// A part of a file's records in memory.
///
/// A record that lies beside the one before, on either side, is read with those that a walk in
/// that direction meets next, twice as many bytes each time. Where the file is mapped nothing is
/// read into memory of our own: the system is told of those bytes, and of as many behind them.
#[derive(Debug)]
pub struct Window {
    /// Largest piece, in bytes, unless a record is larger.
    bytes_max: u64,
    /// Whether a map of the file is looked at.
    may_map: bool,
    start: u64,
    /// Where the piece ends.
    end: u64,
    /// The piece, unless it is mapped.
    bytes: Vec<u8>,
    /// The record asked for last.
    last: Option<RecordPlace>,
    /// Bytes of the next piece.
    next_bytes: u64,
}

impl Window {
    /// Nothing read yet, and later at most so much at once.
    pub fn new(bytes_max: usize) -> Window {
        Window {
            bytes_max: bytes_max as u64,
            may_map: true,
            start: 0,
            end: 0,
            bytes: Vec::new(),
            last: None,
            next_bytes: WINDOW_BYTES_MIN,
        }
    }

    /// The same, by calls though the file is mapped: what cannot be read is then an error.
    pub fn by_calls(bytes_max: usize) -> Window {
        Window {
            may_map: false,
            ..Window::new(bytes_max)
        }
    }

    /// Reads at most so much at once from now on; the piece that is here stays until the next.
    pub fn set_bytes_max(&mut self, bytes_max: usize) {
        self.bytes_max = bytes_max as u64;
    }

    /// The bytes of the record at `place`. Errors name the file.
    pub fn record<'a>(
        &'a mut self,
        source: &'a BlockSource,
        place: RecordPlace,
    ) -> Result<&'a [u8]> {
        let last = self.last.replace(place);
        if self.range_of(place).is_none() {
            self.move_to(source, place, last)?;
        }
        self.held(source, place).ok_or_else(no_place)
    }

    /// The bytes of the record at `place`, if they are here: those asked for last are.
    pub fn held<'a>(&'a self, source: &'a BlockSource, place: RecordPlace) -> Option<&'a [u8]> {
        match self.mapped(source, place) {
            Some(mapped) => Some(mapped),
            None => self.bytes.get(self.range_of(place)?),
        }
    }

    fn mapped<'a>(&self, source: &'a BlockSource, place: RecordPlace) -> Option<&'a [u8]> {
        let mapped = || source.mapped(place.offset, place.len as usize);
        self.may_map.then(mapped).flatten()
    }

    fn range_of(&self, place: RecordPlace) -> Option<Range<usize>> {
        let start = usize::try_from(place.offset.checked_sub(self.start)?).ok()?;
        (place.end()? <= self.end).then_some(start..start + place.len as usize)
    }

    fn move_to(
        &mut self,
        source: &BlockSource,
        place: RecordPlace,
        last: Option<RecordPlace>,
    ) -> Result<()> {
        let record_end = place.end().ok_or_else(no_place)?;
        let goes_on = last.is_some_and(|last| last.end() == Some(place.offset));
        let goes_back = last.is_some_and(|last| last.offset == record_end);
        let (mut start, mut end) = (place.offset, record_end);
        if goes_on || goes_back {
            let bytes = self.next_bytes.min(self.bytes_max);
            self.next_bytes = self.next_bytes.saturating_mul(2).min(self.bytes_max);
            if goes_on {
                end = end.max((start + bytes).min(source.size_bytes()));
            } else {
                start = start.min(end.saturating_sub(bytes));
            }
        } else {
            self.next_bytes = WINDOW_BYTES_MIN;
        }
        (self.start, self.end) = (start, end);
        if self.mapped(source, place).is_some() {
            // A record by itself is brought by looking at it.
            if goes_on {
                let beyond = (end + (end - start)).min(source.size_bytes());
                source.prefetch(start, beyond - start);
            } else if goes_back {
                let beyond = start.saturating_sub(end - start);
                source.prefetch(beyond, end - beyond);
            }
            return Ok(());
        }
        if self.bytes.capacity() as u64 > self.bytes_max.max(WINDOW_BYTES_MIN) {
            // Read when it was allowed more.
            self.bytes = Vec::new();
        }
        self.bytes.clear();
        let read = source.read_bare(start, end - start, &mut self.bytes);
        if read.is_err() {
            self.end = self.start;
            self.bytes.clear();
        }
        read
    }
}

#[cfg(test)]
mod tests;
