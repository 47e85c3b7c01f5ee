//! Seconds since 2016.

use super::{EPOCH_UNIX_S, WireSecond};

#[test]
fn the_count_begins_with_2016() {
    // 46 years of 365 days and 11 leap days (1972 to 2012).
    assert_eq!(EPOCH_UNIX_S, (46 * 365 + 11) * 86_400);
    assert_eq!(WireSecond::of_unix(EPOCH_UNIX_S + 5), WireSecond(5));
    assert_eq!(WireSecond(5).to_unix(), EPOCH_UNIX_S + 5);
}

#[test]
fn seconds_that_the_wire_cannot_say_are_the_nearest_it_can() {
    assert_eq!(WireSecond::of_unix(7), WireSecond(0));
    assert_eq!(WireSecond::of_unix(u64::MAX), WireSecond(u32::MAX));
    assert_eq!(WireSecond(u32::MAX - 1).after(9), WireSecond(u32::MAX));
}

#[test]
fn a_value_ends_at_its_second_and_never_without_one() {
    let now = WireSecond(100);
    assert!(WireSecond(100).is_expired(now));
    assert!(WireSecond(1).is_expired(now));
    assert!(!WireSecond(101).is_expired(now));
    assert!(!WireSecond::NONE.is_expired(now));
    assert_eq!(now.after(0), WireSecond::NONE);
    assert_eq!(now.after(3), WireSecond(103));
}

#[test]
fn signed_numbers_of_the_wire_keep_their_bits() {
    assert_eq!(WireSecond::of_bits(-1), WireSecond(u32::MAX));
    assert_eq!(WireSecond(u32::MAX).to_bits(), -1);
}
