//! Tests of `compressed`.

use super::*;
use crate::env::random::Random;

#[test]
fn numbers_of_every_width_come_back() {
    // From numbers without a bit to the widest, in lists of every length up to a group and more.
    let mut random = Random::new(3);
    for width in 0..=WIDTH_MAX {
        for count in [1, 2, 7, 8, 32, 33, 255] {
            let mut numbers: Vec<u64> = (0..count)
                .map(|_| random.next_u64() & ((1 << width) - 1))
                .collect();
            // One of them as wide as it may be.
            numbers[count / 2] = (1 << width) - 1;
            let mut bytes = Vec::new();
            put_compressed(&mut bytes, numbers.iter().copied());
            assert_eq!(bytes.len(), 1 + (count * width as usize).div_ceil(8));
            bytes.push(0xff);
            let mut reader = ByteReader::new(&bytes);
            let compressed = Compressed::take(&mut reader, count).unwrap();
            assert_eq!(reader.rest(), [0xff]);
            let back: Vec<u64> = (0..count).map(|index| compressed.get(index)).collect();
            assert_eq!(back, numbers);
            assert_eq!(compressed.get(count + 8 * 64), 0);
        }
    }
}

#[test]
fn damaged_numbers_are_refused() {
    // A width that is none, and bytes that end too early.
    assert!(Compressed::take(&mut ByteReader::new(&[57, 0, 0, 0, 0, 0, 0, 0, 0]), 1).is_none());
    assert!(Compressed::take(&mut ByteReader::new(&[9, 0]), 1).is_none());
    assert!(Compressed::take(&mut ByteReader::new(&[]), 0).is_none());
}
