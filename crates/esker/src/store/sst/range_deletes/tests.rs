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
    let order = KeyOrder::Bytewise;
    let mut list = vec![
        range(b"m", b"z", 4),
        range(b"a", b"c", 2),
        range(b"a", b"b", 9),
    ];
    let bytes = encode(&order, &mut list);
    let back = decode(&order, &bytes).unwrap();
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
        let fewer = decode(&order, &bytes[..len]);
        assert!(fewer.is_err() || fewer.unwrap().len() < 3);
    }
}

#[test]
fn backward_ranges_are_refused() {
    // Bytes with a right checksum that no builder writes.
    let order = KeyOrder::Bytewise;
    let bytes = encode(&order, &mut [range(b"b", b"a", 1)]);
    assert!(decode(&order, &bytes).is_err());
    let mut bytes = encode(&order, &mut [range(b"b", b"c", 1)]);
    bytes.extend(encode(&order, &mut [range(b"a", b"c", 1)]));
    assert!(decode(&order, &bytes).is_err());
}
