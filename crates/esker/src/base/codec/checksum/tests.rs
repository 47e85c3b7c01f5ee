//! Tests of `checksum`.

use super::*;

#[test]
fn published_vectors_hold() {
    // RFC 3720 B.4 for CRC32C; the reference implementation's value for the empty XXH3.
    assert_eq!(crc32c(&[0; 32]), 0x8a91_36aa);
    assert_eq!(crc32c(&[0xff; 32]), 0x62a8_ab43);
    assert_eq!(hash64(b""), 0x2d06_8005_38d3_94c2);
}

#[test]
fn pieces_sum_up_to_the_whole() {
    // A record's checksum is computed over header and payload without joining them.
    assert_eq!(
        crc32c_more(crc32c(b"hello "), b"world"),
        crc32c(b"hello world")
    );
}

#[test]
fn masks_come_off() {
    // And a masked checksum is never the checksum itself.
    for crc in [0, 1, 0xdead_beef, u32::MAX] {
        let unmasked = mask(crc).wrapping_sub(MASK_DELTA).rotate_left(15);
        assert_eq!(unmasked, crc);
        assert_ne!(mask(crc), crc);
    }
}
