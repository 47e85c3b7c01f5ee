//! Tests of `expiry`.

use super::*;

#[test]
fn an_end_is_reached_by_its_own_millisecond() {
    let end = Expiry::from_unix_s(1_000);
    assert!(!end.is_past(999_999));
    assert!(end.is_past(1_000_000));
    assert!(Expiry::from_unix_s(0).is_past(0));
    assert!(!Expiry::MAX.is_past(Expiry::MAX.unix_ms() - 1));
}

#[test]
fn ends_are_in_the_order_of_time() {
    let ends = [0, 1, 999, u32::MAX].map(Expiry::from_unix_s);
    assert!(ends.is_sorted());
    assert_eq!(Expiry::MAX.whole_second(), Some(u32::MAX));
    assert_eq!(Expiry::MAX.unix_s_up(), u32::MAX);
}
