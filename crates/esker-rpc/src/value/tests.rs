//! The header of a stored value.

use super::{HEADER_LEN, StoredValue, TimeTag};
use crate::time::WireSecond;

fn value() -> StoredValue<'static> {
    StoredValue {
        expiry: WireSecond(0x0102_0304),
        time_tag: TimeTag::new(1_700_000_000_123_456, 3, true),
        user: b"user",
    }
}

#[test]
fn a_header_is_as_its_table_says() {
    let bytes = value().to_bytes();
    assert_eq!(bytes[0], 1);
    assert_eq!(bytes[1..5], [4, 3, 2, 1]);
    assert_eq!(
        bytes[5..13],
        ((1_700_000_000_123_456_u64 << 8) | 7).to_le_bytes()
    );
    assert_eq!(&bytes[HEADER_LEN..], b"user");
}

#[test]
fn a_value_comes_apart_again() {
    let bytes = value().to_bytes();
    assert_eq!(StoredValue::read(&bytes), Some(value()));
    let empty = StoredValue {
        user: b"",
        ..value()
    };
    assert_eq!(StoredValue::read(&empty.to_bytes()), Some(empty));
}

#[test]
fn other_versions_and_short_bytes_are_refused() {
    let mut bytes = value().to_bytes();
    for len in 0..HEADER_LEN {
        assert_eq!(StoredValue::read(&bytes[..len]), None);
    }
    bytes[0] = 2;
    assert_eq!(StoredValue::read(&bytes), None);
}

#[test]
fn time_tags_are_ordered_by_time_then_by_cluster() {
    let tag = TimeTag::new(9, 3, true);
    assert_eq!(
        (tag.unix_us(), tag.cluster(), tag.is_delete()),
        (9, 3, true)
    );
    assert!(TimeTag::new(9, 4, false) > tag && TimeTag::new(10, 0, false) > tag);
    assert!(TimeTag::new(9, 3, false) < tag);
}
