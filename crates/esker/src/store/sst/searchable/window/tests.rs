//! Tests of `window`.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;
use crate::base::types::ids::FileNumber;
use crate::env::fs::ReadFile;
use crate::store::sst::block::fetch::BlockCache;

const RECORD_BYTES: u32 = 100;

/// A file of zeros that counts how often it is read, and how much.
struct Counted {
    reads: AtomicUsize,
    bytes: AtomicUsize,
}

impl ReadFile for Counted {
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<()> {
        assert!(offset + buffer.len() as u64 <= self.size_bytes());
        self.reads.fetch_add(1, Ordering::Relaxed);
        self.bytes.fetch_add(buffer.len(), Ordering::Relaxed);
        Ok(())
    }

    fn size_bytes(&self) -> u64 {
        1_000_000
    }

    fn prefetch(&self, _: u64, _: u64) {}
}

// Asks for records in that order; how many reads that took, and how many bytes.
fn walk(numbers: impl Iterator<Item = u64>) -> (usize, usize) {
    let file = Arc::new(Counted {
        reads: AtomicUsize::new(0),
        bytes: AtomicUsize::new(0),
    });
    let cache = Arc::new(BlockCache::new(1 << 10));
    let source = BlockSource::new(Arc::clone(&file) as _, FileNumber(1), cache);
    let mut window = Window::new(64 << 10);
    for number in numbers {
        let place = RecordPlace {
            offset: number * u64::from(RECORD_BYTES),
            len: RECORD_BYTES,
        };
        let bytes = window.record(&source, place).unwrap();
        assert_eq!(bytes.len(), RECORD_BYTES as usize);
    }
    let counts = [&file.reads, &file.bytes];
    let [reads, bytes] = counts.map(|count| count.load(Ordering::Relaxed));
    (reads, bytes)
}

#[test]
fn walks_read_large_pieces_both_ways() {
    // Ten thousand records: pieces of 16, 32 and then 64 KiB, each byte about once.
    let (reads, bytes) = walk(0..10_000);
    assert!(reads < 20 && bytes < 1_010_000, "{reads} {bytes}");
    let (reads, bytes) = walk((0..10_000).rev());
    assert!(reads < 20 && bytes < 1_010_000, "{reads} {bytes}");
}

#[test]
fn leaps_read_single_records() {
    // Records far from one another: nothing else is read.
    let (reads, bytes) = walk((0..100).map(|number| number * 7919 % 10_000));
    assert_eq!((reads, bytes), (100, 100 * RECORD_BYTES as usize));
}

#[test]
fn a_place_behind_the_end_is_an_error() {
    // A damaged length must not become memory.
    let file = Counted {
        reads: AtomicUsize::new(0),
        bytes: AtomicUsize::new(0),
    };
    let cache = Arc::new(BlockCache::new(1 << 10));
    let source = BlockSource::new(Arc::new(file), FileNumber(1), cache);
    for place in [(999_950, 100), (u64::MAX, 100), (0, u32::MAX)] {
        let (offset, len) = place;
        let mut window = Window::new(1 << 16);
        assert!(window.record(&source, RecordPlace { offset, len }).is_err());
    }
}
