//! Tests of `read_set`.

use super::*;
use crate::db::txn::test_keyspace::keyspace;

fn ranges(reads: &ReadSet) -> Vec<KeyRange> {
    reads.with_conditions(SeqNo::ZERO, Vec::new(), |conditions| {
        let targets = conditions.iter().map(|condition| condition.target);
        let ranges = targets.filter_map(|target| match target {
            Target::Range(range) => Some(range.clone()),
            Target::Key(_) => None,
        });
        ranges.collect()
    })
}

/// Keys and ranges.
fn count(reads: &ReadSet) -> usize {
    reads.with_conditions(SeqNo::ZERO, Vec::new(), |conditions| conditions.len())
}

#[test]
fn a_cursor_counts_as_far_as_it_came() {
    let (reads, parts) = (ReadSet::default(), keyspace(1));
    let whole = KeyRange::new(&b"b"[..]..&b"y"[..]);
    let mut recorder = reads.recorder(&parts, whole.clone());
    assert_eq!(count(&reads), 0);
    recorder.moved(None);
    assert_eq!(count(&reads), 0, "it was never placed");
    recorder.sought(None, Some(b"c"));
    assert_eq!(ranges(&reads), [KeyRange::new(&b"b"[..]..=&b"c"[..])]);
    recorder.moved(Some(b"e"));
    recorder.moved_back(Some(b"c"));
    assert_eq!(ranges(&reads), [KeyRange::new(&b"b"[..]..=&b"e"[..])]);
    // Another way, far from the first one.
    recorder.sought(Some(b"m"), Some(b"n"));
    recorder.moved_back(Some(b"k"));
    let both = [
        KeyRange::new(&b"b"[..]..=&b"e"[..]),
        KeyRange::new(&b"k"[..]..=&b"n"[..]),
    ];
    assert_eq!(ranges(&reads), both);
    recorder.moved(None);
    recorder.moved_back(None);
    assert_eq!(ranges(&reads)[1], whole);
    let mut back = reads.recorder(&parts, KeyRange::ALL);
    back.sought_back(None, Some(b"x"));
    let after = KeyRange {
        lower: Bound::Included(b"x".to_vec()),
        upper: Bound::Unbounded,
    };
    assert_eq!(ranges(&reads)[2], after);
}

#[test]
fn much_that_was_read_becomes_one_range() {
    let (reads, parts) = (ReadSet::default(), keyspace(1));
    let mut recorder = reads.recorder(&parts, KeyRange::ALL);
    recorder.sought(Some(b"c"), Some(b"d"));
    let long = |number: u32| [&b"m"[..], &number.to_be_bytes(), &[0; 8_000]].concat();
    for number in 0..600 {
        reads.add_key(&parts, &long(number));
    }
    let last = long(599);
    assert_eq!(ranges(&reads), [KeyRange::new(&b"c"[..]..=&last[..])]);
    assert_eq!(count(&reads), 1);
    // Who is under way goes on in it, and single keys make it wider.
    recorder.moved(Some(b"z"));
    reads.add_key(&parts, b"a");
    assert_eq!(ranges(&reads), [KeyRange::new(&b"a"[..]..=&b"z"[..])]);
}
