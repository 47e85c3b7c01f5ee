//! Tests of `readahead`.

use std::sync::atomic::{AtomicU64, Ordering};

use super::*;
use crate::env::random::Random;
use crate::store::sst::memory_file::MemoryBytes;

/// Counts what is read.
struct Counted {
    bytes: MemoryBytes,
    read_count: AtomicU64,
    read_bytes: AtomicU64,
}

impl Counted {
    fn new(random: &mut Random, len: usize) -> Counted {
        Counted {
            bytes: MemoryBytes(random.bytes(len)),
            read_count: AtomicU64::new(0),
            read_bytes: AtomicU64::new(0),
        }
    }

    fn part(&self, handle: BlockHandle) -> &[u8] {
        let start = usize::try_from(handle.offset).unwrap();
        &self.bytes.0[start..usize::try_from(handle.end().unwrap()).unwrap()]
    }

    fn taken(&self) -> (u64, u64) {
        let count = self.read_count.swap(0, Ordering::Relaxed);
        (count, self.read_bytes.swap(0, Ordering::Relaxed))
    }
}

impl ReadFile for Counted {
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<()> {
        self.read_count.fetch_add(1, Ordering::Relaxed);
        self.read_bytes
            .fetch_add(buffer.len() as u64, Ordering::Relaxed);
        self.bytes.read_at(offset, buffer)
    }

    fn size_bytes(&self) -> u64 {
        self.bytes.size_bytes()
    }

    fn prefetch(&self, offset: u64, len: u64) {
        assert!(len > 0);
        self.bytes.prefetch(offset, len);
    }
}

/// Blocks of about 2 KiB that fill the file.
fn handles(random: &mut Random, size_bytes: u64) -> Vec<BlockHandle> {
    let mut handles = Vec::new();
    let mut offset = 0;
    while offset + 4000 < size_bytes {
        let handle = BlockHandle {
            offset,
            compressed_len: 1000 + u32::try_from(random.below(2000)).unwrap(),
            plain_len: 4000,
        };
        offset = handle.end().unwrap();
        handles.push(handle);
    }
    handles
}

#[test]
fn windows_hold_what_blocks_hold() {
    // Walks both ways with jumps, turns and blocks that the cache had, beside the file's bytes.
    let mut random = Random::new(1);
    let file = Counted::new(&mut random, 1 << 20);
    let handles = handles(&mut random, 1 << 20);
    for _ in 0..40 {
        let mut ahead = Readahead::new([0, 3000, 100_000, 256 << 10][random.below(4) as usize]);
        let mut place = random.below(handles.len() as u64) as usize;
        let mut is_back = random.one_in(2);
        for _ in 0..400 {
            let handle = handles[place];
            if random.one_in(3) {
                ahead.pass(handle);
            } else if let Some(stored) = ahead.stored(&file, handle) {
                assert_eq!(stored.unwrap(), file.part(handle));
            }
            if random.one_in(60) {
                is_back = !is_back;
            }
            place = match random.one_in(80) {
                true => random.below(handles.len() as u64) as usize,
                false if is_back => place.saturating_sub(1),
                false => (place + 1).min(handles.len() - 1),
            };
        }
    }
}

#[test]
fn a_scan_either_way_reads_each_byte_once_in_few_calls() {
    // Three quarters of a megabyte, windows of 64, 128 and 256 KiB, the first two blocks alone.
    let mut random = Random::new(2);
    let file = Counted::new(&mut random, 768 << 10);
    let mut handles = handles(&mut random, 768 << 10);
    for way in ["forward", "back"] {
        let mut ahead = Readahead::new(256 << 10);
        let mut alone = 0;
        for handle in &handles {
            match ahead.stored(&file, *handle) {
                Some(stored) => assert_eq!(stored.unwrap(), file.part(*handle)),
                None => alone += 1,
            }
        }
        let (count, bytes) = file.taken();
        assert!(
            alone <= 2 && count <= 6,
            "{alone} alone, {count} reads {way}"
        );
        // Of a block that a window cuts the first part is read twice.
        assert!(bytes <= 790 << 10, "{bytes} {way}");
        handles.reverse();
    }
}

#[test]
fn blocks_that_the_cache_has_end_no_scan_and_shrink_windows() {
    // Every second block from the cache: still windows. One of thirty from the file: little more
    // is read than what is wanted.
    let mut random = Random::new(3);
    let file = Counted::new(&mut random, 4 << 20);
    let handles = handles(&mut random, 4 << 20);
    for (one_in, bytes_max) in [(2, 9 << 19), (30, 5 << 18)] {
        let mut ahead = Readahead::new(256 << 10);
        let mut wanted_count = 0;
        for (index, handle) in handles.iter().enumerate() {
            if index % one_in != 0 {
                ahead.pass(*handle);
            } else if ahead.stored(&file, *handle).is_some() {
                wanted_count += 1;
            }
        }
        let (count, bytes) = file.taken();
        assert!(bytes <= bytes_max, "{bytes} of one in {one_in}");
        assert!(count <= wanted_count, "{count} for {wanted_count}");
    }
}
