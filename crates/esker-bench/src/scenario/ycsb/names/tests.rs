//! Tests of hashes and keys.

use super::*;

fn key(number: u64, is_ordered: bool, digits: usize) -> String {
    let mut key = Vec::new();
    KeyShape { is_ordered, digits }.write(number, &mut key);
    String::from_utf8(key).unwrap()
}

#[test]
fn the_first_keys_are_those_of_every_ycsb() {
    // Whoever has seen a table that YCSB loaded knows the first of these.
    assert_eq!(key(0, false, 1), "user6284781860667377211");
    assert_eq!(key(1, false, 1), "user8517097267634966620");
    assert_eq!(fnv64(0), 6_284_781_860_667_377_211);
}

#[test]
fn ordered_keys_are_filled_with_zeros() {
    // Padding keeps the order of text that of numbers; longer numbers are not cut.
    assert_eq!(key(42, true, 1), "user42");
    assert_eq!(key(42, true, 6), "user000042");
    assert_eq!(key(1_234_567, true, 6), "user1234567");
    assert_eq!(key(0, false, 22), "user0006284781860667377211");
}

#[test]
fn hashes_are_never_negative_in_practice() {
    // A million numbers, each with its sign gone.
    assert!((0..1_000_000).all(|number| fnv64(number) >= 0));
}
