//! Expiry after writes.

use super::{after_increment, after_write, ttl_s};
use crate::time::WireSecond;

const NOW: WireSecond = WireSecond(1000);

#[test]
fn a_write_without_an_expiry_takes_the_default_of_its_table() {
    assert_eq!(after_write(0, 0, NOW), WireSecond::NONE);
    assert_eq!(after_write(0, 60, NOW), WireSecond(1060));
    assert_eq!(after_write(5, 60, NOW), WireSecond(5));
    assert_eq!(after_write(-1, 60, NOW), WireSecond(u32::MAX));
}

#[test]
fn an_increment_keeps_sets_or_clears() {
    let old = WireSecond(2000);
    assert_eq!(after_increment(0, old, 0, NOW), old);
    assert_eq!(after_increment(0, old, 60, NOW), old);
    assert_eq!(after_increment(3000, old, 60, NOW), WireSecond(3000));
    assert_eq!(after_increment(-1, old, 0, NOW), WireSecond::NONE);
    assert_eq!(after_increment(-1, old, 60, NOW), WireSecond(1060));
    assert_eq!(after_increment(0, NOW, 0, NOW), WireSecond::NONE);
    assert_eq!(
        after_increment(0, WireSecond::NONE, 60, NOW),
        WireSecond(1060)
    );
}

#[test]
fn what_is_left_is_in_whole_seconds() {
    assert_eq!(ttl_s(WireSecond::NONE, NOW), -1);
    assert_eq!(ttl_s(WireSecond(1007), NOW), 7);
    assert_eq!(ttl_s(WireSecond(u32::MAX), WireSecond(0)), i32::MAX);
}
