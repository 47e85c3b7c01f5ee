//! Tests of `varint`.

use super::*;

#[test]
fn every_width_comes_back() {
    // The edges of each length, both ways, with bytes behind that must be left alone.
    for shift in 0..64 {
        for number in [1u64 << shift, (1u64 << shift) - 1, u64::MAX >> shift] {
            let mut bytes = vec![];
            put_varint(&mut bytes, number);
            assert_eq!(bytes.len(), varint_len(number));
            bytes.extend_from_slice(b"\xff\xff");
            assert_eq!(varint_at_front(&bytes), Some((number, bytes.len() - 2)));
        }
    }
}

#[test]
fn damaged_numbers_are_refused() {
    // Cut off, too long for 64 bits, or not the shortest form.
    assert_eq!(varint_at_front(b""), None);
    assert_eq!(varint_at_front(b"\x80"), None);
    assert_eq!(varint_at_front(b"\x80\x00"), None);
    assert_eq!(
        varint_at_front(b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02"),
        None
    );
    assert_eq!(
        varint_at_front(b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"),
        None
    );
}
