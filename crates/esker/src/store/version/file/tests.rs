//! Tests of `file`.

use super::*;
use crate::store::version::plain_file;

fn record(smallest: &[u8], largest: &[u8], is_largest_exclusive: bool) -> FileRecord {
    FileRecord {
        is_largest_exclusive,
        smallest_seqno: SeqNo::new(1),
        largest_seqno: SeqNo::new(9),
        entry_count: 5,
        delete_count: 1,
        ..plain_file::record(1, smallest, largest)
    }
}

#[test]
fn an_exclusive_end_is_not_covered() {
    // A range delete up to `m` says nothing about `m`; a put of `m` does.
    let comparator = Comparator::Bytewise;
    let open = record(b"a", b"m", true);
    let closed = record(b"a", b"m", false);
    assert!(!open.covers(&comparator, b"m"));
    assert!(closed.covers(&comparator, b"m"));
    assert!(open.covers(&comparator, b"l\xff"));
    assert!(open.ends_before(&comparator, b"m") && !closed.ends_before(&comparator, b"m"));
}

#[test]
fn overlap_agrees_with_every_key_tried() {
    // The bounds of file and range are tried in all combinations against single keys.
    let comparator = Comparator::Bytewise;
    let keys: Vec<[u8; 1]> = (b'a'..=b'k').map(|byte| [byte]).collect();
    let bounds = |key: u8| {
        [
            Bound::Unbounded,
            Bound::Included(vec![key]),
            Bound::Excluded(vec![key]),
        ]
    };
    for file in [record(b"d", b"g", false), record(b"d", b"g", true)] {
        for (low, high) in (b'a'..=b'k').flat_map(|low| (low..=b'k').map(move |high| (low, high))) {
            for lower in bounds(low) {
                for upper in bounds(high) {
                    check_overlap(&comparator, &file, &keys, lower.clone(), upper);
                }
            }
        }
    }
}

fn check_overlap(
    comparator: &Comparator,
    file: &FileRecord,
    keys: &[[u8; 1]],
    lower: Bound<Vec<u8>>,
    upper: Bound<Vec<u8>>,
) {
    let range = KeyRange { lower, upper };
    let lower = range.lower.as_ref().map(Vec::as_slice);
    let upper = range.upper.as_ref().map(Vec::as_slice);
    let shares_key = keys
        .iter()
        .any(|key| range.contains(comparator, key) && file.covers(comparator, key));
    if shares_key {
        assert!(
            file.overlaps(comparator, lower, upper),
            "{range:?} {file:?}"
        );
    }
    assert_eq!(
        file.key_range().contains(comparator, b"g"),
        file.covers(comparator, b"g")
    );
}

#[test]
fn neighbours_do_not_overlap() {
    // A range that ends where the file begins, or begins where it ends, shares no key with it.
    let comparator = Comparator::Bytewise;
    let [d, g] = [b"d".as_slice(), b"g"];
    let open = record(d, g, true);
    let closed = record(d, g, false);
    assert!(!open.overlaps(&comparator, Bound::Unbounded, Bound::Excluded(d)));
    assert!(open.overlaps(&comparator, Bound::Unbounded, Bound::Included(d)));
    assert!(!open.overlaps(&comparator, Bound::Included(g), Bound::Unbounded));
    assert!(closed.overlaps(&comparator, Bound::Included(g), Bound::Unbounded));
    assert!(!closed.overlaps(&comparator, Bound::Excluded(g), Bound::Unbounded));
}

#[test]
fn a_range_delete_outlives_expired_entries() {
    // Dropping the file would bring back what its range delete hides.
    let mut file = record(b"a", b"m", true);
    file.newest_expiry_s = Some(100);
    assert!(!file.is_expired(99));
    assert!(file.is_expired(100));
    file.range_delete_count = 1;
    assert!(!file.is_expired(100));
}

#[test]
fn contradictions_are_refused() {
    // Each of these would make a search go wrong silently.
    let comparator = Comparator::Bytewise;
    let mut seqnos = record(b"a", b"b", false);
    seqnos.smallest_seqno = SeqNo::new(10);
    let mut deletes = record(b"a", b"b", false);
    deletes.delete_count = 6;
    for bad in [
        record(b"b", b"a", false),
        record(b"a", b"a", true),
        seqnos,
        deletes,
    ] {
        assert!(bad.check(&comparator).is_err(), "{bad:?}");
    }
    assert!(record(b"a", b"a", false).check(&comparator).is_ok());
}
