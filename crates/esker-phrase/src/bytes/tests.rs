//! Tests of integers in bytes.

use super::*;

#[test]
fn a_varint_comes_back_and_has_one_spelling() {
    // Every length from both sides of its border; cut off, padded and overlong ones are refused.
    for bits in 0..35 {
        for number in [1_u64 << bits, (1 << bits) - 1] {
            let mut out = Vec::new();
            put_varint(&mut out, number);
            assert_eq!(varint_at_front(&out), Some((number, out.len())));
            assert_eq!(varint_at_front(&out[..out.len() - 1]), None);
            let mut padded = out.clone();
            *padded.last_mut().unwrap() |= 0x80;
            padded.push(0);
            assert_eq!(varint_at_front(&padded), None);
        }
    }
    assert_eq!(varint_at_front(&[0x80, 0x80, 0x80, 0x80, 0x80, 1]), None);
}

#[test]
fn what_is_not_there_is_not_read() {
    // Asking for more than there is takes nothing.
    let mut reader = ByteReader::new(&[1, 2, 3, 4, 5]);
    assert_eq!(reader.u32(), Some(0x0403_0201));
    assert_eq!((reader.u32(), reader.bytes(2)), (None, None));
    assert_eq!((reader.byte(), reader.byte()), (Some(5), None));
    assert!(reader.is_empty());
}
