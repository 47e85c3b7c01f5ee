//! Tests of `rank`.

use super::*;

#[test]
fn parts_of_large_numbers_are_told_without_overflow() {
    // All of it, none of it, halves of what fits just so, and a file without data.
    assert_eq!(scaled(u64::MAX, 1, 2), u64::MAX / 2);
    assert_eq!(scaled(u64::MAX, u64::MAX - 1, u64::MAX), u64::MAX - 1);
    assert_eq!(scaled(7, 0, 3), 0);
    assert_eq!(scaled(7, 3, 3), 7);
    assert_eq!(scaled(7, 4, 3), 7);
    assert_eq!(scaled(7, 0, 0), 7);
}

#[test]
fn a_gap_before_a_key_lies_before_its_newest_entry() {
    // Of one key's entries the newer one, with the larger trailer, comes first.
    assert!(Gap::Before(b"k").trailer() > Gap::Behind(b"k").trailer());
    assert_eq!(Gap::Behind(b"k").user_key(), b"k");
}
