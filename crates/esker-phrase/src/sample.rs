//! Records kept to learn from: a fair choice of all that were offered.

use std::collections::BinaryHeap;

use crate::bytes::lot;

/// Most bytes kept of one record: what is longer would crowd out others, and its front tells as
/// much about it as the rest.
pub const RECORD_BYTES_MAX: usize = 64 << 10;

/// A random choice of the records offered, within a budget of bytes.
///
/// Each record draws a lot from the seed and its place in the order of offers; the lowest lots
/// stay. So the same offers give the same sample, and any front part of it is a fair sample too.
#[derive(Clone, Debug)]
pub struct Sample {
    seed: u64,
    bytes_max: usize,
    size_bytes: usize,
    offered: u64,
    /// The highest lot on top.
    kept: BinaryHeap<(u64, u64, Box<[u8]>)>,
}

impl Sample {
    /// An empty sample that will keep up to `bytes_max` bytes of records.
    pub fn new(seed: u64, bytes_max: usize) -> Sample {
        Sample {
            seed,
            bytes_max,
            size_bytes: 0,
            offered: 0,
            kept: BinaryHeap::new(),
        }
    }

    /// A sample of all these records.
    pub fn of<'a>(records: impl IntoIterator<Item = &'a [u8]>) -> Sample {
        let mut sample = Sample::new(0, usize::MAX);
        for record in records {
            sample.offer(record);
        }
        sample
    }

    /// Keeps the record, perhaps, and perhaps lets go of others. A record that stays out costs a
    /// hash. Of a long record the first 64 KiB are kept.
    pub fn offer(&mut self, record: &[u8]) {
        let index = self.offered;
        self.offered += 1;
        let record = &record[..record.len().min(RECORD_BYTES_MAX)];
        let lot = lot(index, self.seed);
        let is_low = |(highest, ..): &(u64, u64, Box<[u8]>)| lot < *highest;
        let has_room = record.len() <= self.bytes_max - self.size_bytes;
        if record.is_empty() || !(has_room || self.kept.peek().is_some_and(is_low)) {
            return;
        }
        self.size_bytes += record.len();
        self.kept.push((lot, index, record.into()));
        while self.size_bytes > self.bytes_max {
            let (.., dropped) = self.kept.pop().expect("the bytes are those of records");
            self.size_bytes -= dropped.len();
        }
    }

    /// Bytes of the records kept.
    pub fn size_bytes(&self) -> usize {
        self.size_bytes
    }

    /// Records kept.
    pub fn record_count(&self) -> usize {
        self.kept.len()
    }

    /// The records, in the order of their lots.
    pub fn records(&self) -> Vec<&[u8]> {
        let mut kept: Vec<_> = self.kept.iter().collect();
        kept.sort_unstable_by_key(|(lot, index, _)| (*lot, *index));
        kept.into_iter().map(|(.., record)| &record[..]).collect()
    }
}

#[cfg(test)]
mod tests;
