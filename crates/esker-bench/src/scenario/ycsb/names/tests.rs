//! Tests of hashes and keys.

use super::*;

#[test]
fn the_first_keys_are_those_of_every_ycsb() {
    // Whoever has seen a table that YCSB loaded knows the first of these.
    let mut key = b"old".to_vec();
    for (number, wanted) in [
        (0, "user6284781860667377211"),
        (1, "user8517097267634966620"),
    ] {
        write_key(number, &mut key);
        assert_eq!(String::from_utf8_lossy(&key), wanted);
    }
}

#[test]
fn hashes_are_never_negative_in_practice() {
    // A million numbers, each with its sign gone.
    assert!((0..1_000_000).all(|number| fnv64(number) >= 0));
}
