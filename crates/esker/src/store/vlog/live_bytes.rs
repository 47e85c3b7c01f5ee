//! How many bytes of which segments somebody points to.
//!
//! Encoded, for the manifest and for a sorted file's properties:
//!
//! | size | type | meaning |
//! |---|---|---|
//! | 1–10 | varint | count of segments |
//! | 1–10 | varint | number of the segment; from the second on less the one before |
//! | 1–10 | varint | bytes of its records that are pointed to |
//!
//! The last two are there for each segment. Valid if and only if the numbers ascend, no count of
//! bytes is 0, and nothing overflows 64 bits.

use crate::base::codec::reader::ByteReader;
use crate::base::codec::varint::put_varint;
use crate::base::types::ids::FileNumber;

/// Bytes of records of the value log, by segment. No segment is there with 0 bytes.
///
/// A sorted file has few: a sum over the files of a version tells what of each segment is live.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ValueLiveBytes(Vec<(FileNumber, u64)>);

impl ValueLiveBytes {
    /// Counts a record of `bytes` in `segment`.
    pub fn add(&mut self, segment: FileNumber, bytes: u64) {
        if bytes == 0 {
            return;
        }
        match self.0.binary_search_by_key(&segment, |(number, _)| *number) {
            Ok(index) => self.0[index].1 += bytes,
            Err(index) => self.0.insert(index, (segment, bytes)),
        }
    }

    /// Bytes in `segment`.
    pub fn of(&self, segment: FileNumber) -> u64 {
        let found = self.0.binary_search_by_key(&segment, |(number, _)| *number);
        found.map_or(0, |index| self.0[index].1)
    }

    /// The segments, ascending, and the bytes in each.
    pub fn iter(&self) -> impl Iterator<Item = (FileNumber, u64)> + '_ {
        self.0.iter().copied()
    }

    /// Whether nothing is pointed to.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Bytes in all segments.
    pub fn total_bytes(&self) -> u64 {
        self.iter().map(|(_, bytes)| bytes).sum()
    }

    /// Appends the encoding.
    pub fn put(&self, out: &mut Vec<u8>) {
        put_varint(out, self.0.len() as u64);
        let mut before = 0;
        for (segment, bytes) in self.iter() {
            put_varint(out, segment.0 - before);
            put_varint(out, bytes);
            before = segment.0;
        }
    }

    /// Takes an encoding off the front; `None` when it is not valid.
    pub fn take(reader: &mut ByteReader<'_>) -> Option<ValueLiveBytes> {
        let count = reader.varint()?;
        let mut live = Vec::new();
        let mut before = 0_u64;
        let mut total = 0_u64;
        for index in 0..count {
            let step = reader.varint()?;
            let bytes = reader.varint()?;
            let segment = before.checked_add(step)?;
            total = total.checked_add(bytes)?;
            if (index > 0 && step == 0) || bytes == 0 {
                return None;
            }
            live.push((FileNumber(segment), bytes));
            before = segment;
        }
        Some(ValueLiveBytes(live))
    }
}

impl FromIterator<(FileNumber, u64)> for ValueLiveBytes {
    fn from_iter<I: IntoIterator<Item = (FileNumber, u64)>>(all: I) -> ValueLiveBytes {
        let mut live = ValueLiveBytes::default();
        all.into_iter()
            .for_each(|(segment, bytes)| live.add(segment, bytes));
        live
    }
}

#[cfg(test)]
mod tests;
