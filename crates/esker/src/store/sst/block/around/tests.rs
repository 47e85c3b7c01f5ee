//! Tests of `around`.

use std::sync::Mutex;

use super::*;
use crate::base::types::error::Result;

/// Remembers what it was told to read ahead.
struct Told {
    size_bytes: u64,
    ranges: Mutex<Vec<(u64, u64)>>,
}

impl ReadFile for Told {
    fn read_at(&self, _offset: u64, _buffer: &mut [u8]) -> Result<()> {
        unreachable!("only hints are given")
    }

    fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    fn prefetch(&self, offset: u64, len: u64) {
        self.ranges.lock().unwrap().push((offset, len));
    }
}

fn file(size_bytes: u64) -> (Told, Around) {
    let ranges = Mutex::default();
    (Told { size_bytes, ranges }, Around::new(size_bytes))
}

#[test]
fn the_first_touch_of_a_region_reads_all_of_it() {
    // Three touches in two regions, the last of which is cut short by the end of the file.
    let (told, around) = file(REGION_BYTES + 100);
    for offset in [5, 70_000, REGION_BYTES + 50] {
        around.touch(&told, offset);
    }
    // Behind the end there is nothing to read, also where the bits of the last word still reach.
    for offset in [100, 2, 63].map(|region| region * REGION_BYTES) {
        around.touch(&told, offset);
    }
    around.touch(&told, u64::MAX);
    let ranges = told.ranges.lock().unwrap().clone();
    assert_eq!(ranges, [(0, REGION_BYTES), (REGION_BYTES, 100)]);
}

#[test]
fn where_reads_never_return_it_soon_ends() {
    // A large file of which each region is touched once: most of it is never read around.
    let (told, around) = file(1000 * REGION_BYTES);
    (0..500).for_each(|region| around.touch(&told, region * REGION_BYTES));
    assert_eq!(told.ranges.lock().unwrap().len() as u64, REGIONS_ON_TRUST);
    // Reads that return to what was read earn further regions.
    (0..50).for_each(|_| around.touch(&told, 1));
    (500..1000).for_each(|region| around.touch(&told, region * REGION_BYTES));
    let earned = 50 * REGIONS_PER_RETURN;
    let count = told.ranges.lock().unwrap().len() as u64;
    assert_eq!(count, REGIONS_ON_TRUST + earned);
}

#[test]
fn what_lies_behind_the_end_is_no_region() {
    // Found by fuzzing: a damaged handle pointed behind the end of a file of one byte, and the
    // length to read there was below zero. It costs no region its turn either.
    let (told, around) = file(1);
    for region in 1..1000 {
        around.touch(&told, region * REGION_BYTES);
    }
    assert_eq!(*told.ranges.lock().unwrap(), []);
    around.touch(&told, 0);
    assert_eq!(*told.ranges.lock().unwrap(), [(0, 1)]);
}
