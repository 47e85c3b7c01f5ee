//! Tests of `range`.

use super::*;

#[test]
fn prefix_range_holds_exactly_its_keys() {
    // The bound after a prefix must be right even where the last bytes cannot be counted up.
    let order = KeyOrder::Bytewise;
    let range = KeyRange::prefix(b"a\xff");
    assert!(range.contains(&order, b"a\xff"));
    assert!(range.contains(&order, b"a\xff\xff\xff"));
    assert!(!range.contains(&order, b"b"));
    assert!(!range.contains(&order, b"a\xfe"));
    assert_eq!(KeyRange::prefix(b"\xff\xff").upper, Bound::Unbounded);
    assert_eq!(
        KeyRange::prefix(b""),
        KeyRange {
            lower: Bound::Included(vec![]),
            ..KeyRange::ALL
        }
    );
}

#[test]
fn bounds_are_kept_as_given() {
    // Inclusive and exclusive at both ends.
    let order = KeyOrder::Bytewise;
    let half_open = KeyRange::new(b"b".as_slice()..b"d".as_slice());
    assert!(!half_open.contains(&order, b"a") && half_open.contains(&order, b"b"));
    assert!(half_open.contains(&order, b"c\xff") && !half_open.contains(&order, b"d"));
    let open = KeyRange {
        lower: Bound::Excluded(b"b".to_vec()),
        upper: Bound::Unbounded,
    };
    assert!(open.is_below(&order, b"b") && !open.is_below(&order, b"b\0"));
    let closed = KeyRange::new(..=b"d".as_slice());
    assert!(!closed.is_above(&order, b"d") && closed.is_above(&order, b"d\0"));
}
