//! Tests of `range`.

use super::*;

#[test]
fn prefix_range_holds_exactly_its_keys() {
    // The bound after a prefix must be right even where the last bytes cannot be counted up.
    let comparator = Comparator::Bytewise;
    let range = KeyRange::prefix(b"a\xff");
    assert!(range.contains(&comparator, b"a\xff"));
    assert!(range.contains(&comparator, b"a\xff\xff\xff"));
    assert!(!range.contains(&comparator, b"b"));
    assert!(!range.contains(&comparator, b"a\xfe"));
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
    let comparator = Comparator::Bytewise;
    let half_open = KeyRange::new(b"b".as_slice()..b"d".as_slice());
    assert!(!half_open.contains(&comparator, b"a") && half_open.contains(&comparator, b"b"));
    assert!(half_open.contains(&comparator, b"c\xff") && !half_open.contains(&comparator, b"d"));
    let open = KeyRange {
        lower: Bound::Excluded(b"b".to_vec()),
        upper: Bound::Unbounded,
    };
    assert!(open.is_below(&comparator, b"b") && !open.is_below(&comparator, b"b\0"));
    let closed = KeyRange::new(..=b"d".as_slice());
    assert!(!closed.is_above(&comparator, b"d") && closed.is_above(&comparator, b"d\0"));
}
