//! Tests of `clock`.

use super::*;

#[test]
fn time_stands_still_unless_told() {
    // Both clocks move together; the wall clock can also be set.
    let clock = SimClock::default();
    assert_eq!(clock.monotonic(), Duration::ZERO);
    let start = clock.unix_seconds();
    clock.advance(Duration::from_millis(2_500));
    assert_eq!(clock.monotonic(), Duration::from_millis(2_500));
    assert_eq!(clock.unix_seconds(), start + 2);
    clock.set_unix_time(Duration::from_secs(7));
    assert_eq!(clock.unix_seconds(), 7);
    assert_eq!(clock.monotonic(), Duration::from_millis(2_500));
}
