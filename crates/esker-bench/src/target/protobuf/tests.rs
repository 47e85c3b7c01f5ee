//! Tests of `protobuf`.

use super::*;

#[test]
fn fields_are_found_by_their_numbers() {
    // A message of a text, numbers of one and of several bytes, and fixed fields that are passed.
    let mut message = vec![
        0x08, 0x96, 0x01, 0x15, 1, 2, 3, 4, 0x19, 1, 2, 3, 4, 5, 6, 7, 8,
    ];
    bytes_field(&mut message, 4, &[7; 300]);
    message.extend([0x28, 0x05]);
    assert_eq!(field_number(&message, 1), Some(150));
    assert_eq!(field_bytes(&message, 4), Some(&[7; 300][..]));
    assert_eq!(field_number(&message, 5), Some(5));
    assert_eq!(field_bytes(&message, 5), None);
    assert_eq!(field_number(&message, 6), None);
}

#[test]
fn what_is_cut_off_is_no_message() {
    // Every start of a message but the whole lacks its last field; none panics.
    let mut message = vec![0x08, 0x96, 0x01];
    bytes_field(&mut message, 2, b"value");
    for len in 0..message.len() {
        assert_eq!(field_bytes(&message[..len], 2), None, "{len}");
    }
    assert_eq!(field_bytes(&message, 2), Some(&b"value"[..]));
    assert_eq!(field_number(&[0xff; 20], 1), None);
}
