//! The segments of the log that may hold needed entries.

use crate::base::types::ids::FileNumber;

/// Segments that may hold needed entries, oldest first, and the bytes that each takes on the disk.
#[derive(Debug)]
pub struct UsedSegments(Vec<(FileNumber, u64)>);

impl UsedSegments {
    /// These, oldest first.
    pub fn new(segments: Vec<(FileNumber, u64)>) -> UsedSegments {
        UsedSegments(segments)
    }

    /// Adds the one that takes records from now on.
    pub fn add(&mut self, number: FileNumber, size_bytes: u64) {
        self.0.push((number, size_bytes));
    }

    /// Takes out those before `first_needed`, with the bytes of each: nothing in them is needed any
    /// more.
    pub fn take_before(&mut self, first_needed: FileNumber) -> Vec<(FileNumber, u64)> {
        let all = self.0.drain(..);
        let (gone, kept) = all.partition(|(number, _)| *number < first_needed);
        self.0 = kept;
        gone
    }

    /// Their numbers, oldest first.
    pub fn numbers(&self) -> impl DoubleEndedIterator<Item = FileNumber> {
        self.0.iter().map(|(number, _)| *number)
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// Bytes of all.
    pub fn size_bytes(&self) -> u64 {
        self.0.iter().map(|(_, bytes)| bytes).sum()
    }

    /// Bytes of those before that one.
    pub fn bytes_before(&self, segment: FileNumber) -> u64 {
        let before = self.0.iter().filter(|(number, _)| *number < segment);
        before.map(|(_, bytes)| bytes).sum()
    }
}
