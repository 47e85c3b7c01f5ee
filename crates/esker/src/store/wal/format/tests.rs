//! Tests of the layout's arithmetic and of what a checksum covers.

use super::*;

#[test]
fn a_header_reads_back() {
    // Every field lies where the table says.
    let header = Header::seal(100, FragmentKind::Last, 0x0a0b_0c0d, 99, b"abc");
    let bytes = header.encode();
    assert_eq!(Header::decode(&bytes), Some(header));
    assert_eq!(bytes[4..], [3, 0, 4, 0x0d, 0x0c, 0x0b, 0x0a, 99, 0, 0, 0]);
    assert!(header.is_intact(100, b"abc"));
}

#[test]
fn a_fragment_is_intact_only_where_and_as_it_was_written() {
    // A copy at another offset, another payload and a mark from the future are refused.
    let header = Header::seal(100, FragmentKind::Full, 7, 100, b"abc");
    assert!(header.is_intact(100, b"abc"));
    assert!(!header.is_intact(101, b"abc"));
    assert!(!header.is_intact(100, b"abd"));
    assert!(!header.is_intact(100, b"ab"));
    assert!(!Header::seal(100, FragmentKind::Full, 7, 101, b"").is_intact(100, b""));
}

#[test]
fn decoding_needs_a_known_kind_and_all_bytes() {
    // Zeros and short bytes are no header.
    assert_eq!(Header::decode(&[0; HEADER_BYTES]), None);
    assert_eq!(Header::decode(&[1; HEADER_BYTES - 1]), None);
    for byte in 0..=255 {
        let kind = FragmentKind::from_byte(byte);
        assert_eq!(kind.is_some(), (1..=4).contains(&byte));
        assert!(kind.is_none_or(|kind| kind as u8 == byte));
    }
}

#[test]
fn a_block_that_cannot_hold_a_header_ends() {
    // Exactly a header's room is used, one byte less is skipped.
    assert_eq!(next_header(0), 0);
    assert_eq!(
        next_header(BLOCK_SPAN - HEADER_SPAN),
        BLOCK_SPAN - HEADER_SPAN
    );
    assert_eq!(next_header(BLOCK_SPAN - HEADER_SPAN + 1), BLOCK_SPAN);
    assert_eq!(next_header(BLOCK_SPAN), BLOCK_SPAN);
}

#[test]
fn framed_len_is_an_upper_bound() {
    // Wherever a record starts, it takes no more than the caller reserved, nor much less.
    let border = FRAGMENT_BYTES_MAX;
    for len in [
        0,
        1,
        100,
        border - 1,
        border,
        border + 1,
        3 * border,
        3 * border + 1,
    ] {
        for start in (0..BLOCK_SPAN)
            .step_by(7)
            .chain(BLOCK_SPAN - 40..BLOCK_SPAN)
        {
            let taken = end_behind(start, len) - start;
            assert!(taken <= framed_len(len), "{len} at {start}");
            assert!(
                taken + 2 * HEADER_SPAN >= framed_len(len),
                "{len} at {start}"
            );
        }
    }
    assert_eq!(end_behind(0, border), BLOCK_SPAN);
    assert_eq!(
        end_behind(BLOCK_SPAN - HEADER_SPAN, 1),
        BLOCK_SPAN + HEADER_SPAN + 1
    );
}
