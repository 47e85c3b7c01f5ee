//! Tests of `range_deletes`.

use super::*;

fn range(start: &[u8], end: &[u8], seqno: u64) -> RangeDelete {
    RangeDelete {
        start: Bytes::copy_of(start),
        end: Bytes::copy_of(end),
        seqno: SeqNo::new(seqno),
    }
}

#[test]
fn range_deletes_come_back_sorted() {
    // Given in the order in which they were written, stored in the order of their starts.
    let comparator = Comparator::Bytewise;
    let mut list = vec![
        range(b"m", b"z", 4),
        range(b"a", b"c", 2),
        range(b"a", b"b", 9),
    ];
    let bytes = encode(&comparator, &mut list);
    let back = decode(&comparator, &bytes).unwrap();
    assert_eq!(
        back,
        [
            range(b"a", b"b", 9),
            range(b"a", b"c", 2),
            range(b"m", b"z", 4)
        ]
    );
    for len in 1..bytes.len() {
        // A cut between two records leaves fewer, which the count in the properties tells.
        let fewer = decode(&comparator, &bytes[..len]);
        assert!(fewer.is_err() || fewer.unwrap().len() < 3);
    }
}

#[test]
fn backward_ranges_are_refused() {
    // Bytes with a right checksum that no builder writes.
    let comparator = Comparator::Bytewise;
    let bytes = encode(&comparator, &mut [range(b"b", b"a", 1)]);
    assert!(decode(&comparator, &bytes).is_err());
    let mut bytes = encode(&comparator, &mut [range(b"b", b"c", 1)]);
    bytes.extend(encode(&comparator, &mut [range(b"a", b"c", 1)]));
    assert!(decode(&comparator, &bytes).is_err());
}
