//! Tests of reading ahead.

use std::sync::Mutex;

use super::*;
use crate::base::types::error::Result;

const SIZE_BYTES: u64 = 10 << 20;
const VALUE_BYTES: u64 = 100_000;

/// Remembers what it was told to read ahead.
#[derive(Default)]
struct Told(Mutex<Vec<(u64, u64)>>);

impl ReadFile for Told {
    fn read_at(&self, _offset: u64, _buffer: &mut [u8]) -> Result<()> {
        unreachable!("only hints are given")
    }

    fn size_bytes(&self) -> u64 {
        SIZE_BYTES
    }

    fn prefetch(&self, offset: u64, len: u64) {
        self.0.lock().unwrap().push((offset, len));
    }
}

#[test]
fn values_in_comparator_are_read_ahead() {
    // All of a segment but its first three values is asked for, each byte once and in time.
    let (file, ahead) = (Told::default(), Ahead::default());
    let count = SIZE_BYTES / (VALUE_BYTES + 30);
    let (mut end, mut asked_to) = (40, 0);
    for number in 0..count {
        let offset = end + 30;
        end = offset + VALUE_BYTES;
        ahead.reads(&file, offset, VALUE_BYTES);
        for (from, len) in file.0.lock().unwrap().drain(..) {
            assert!(from == asked_to || asked_to == 0);
            asked_to = from + len;
        }
        assert!(number < 3 || asked_to >= end.min(SIZE_BYTES - AHEAD_BYTES / 2));
        assert!(asked_to <= (end + AHEAD_BYTES).min(SIZE_BYTES));
    }
    assert!(asked_to + AHEAD_BYTES / 2 > SIZE_BYTES);
}

#[test]
fn values_anywhere_are_not() {
    // Neighbours in pairs, the other way round, and far from each other.
    let (file, ahead) = (Told::default(), Ahead::default());
    for number in [5, 6, 3, 4, 3, 2, 1, 0, 9, 7, 8] {
        ahead.reads(&file, 100 + number * VALUE_BYTES, VALUE_BYTES);
    }
    ahead.reads(&file, SIZE_BYTES, u64::MAX);
    assert!(file.0.lock().unwrap().is_empty());
}
