//! Tests of `clock`.

use super::*;

#[test]
fn monotonic_time_does_not_go_back() {
    // Durations are differences of this clock.
    let clock = RealClock::default();
    let first = clock.monotonic();
    assert!(clock.monotonic() >= first);
    assert!(clock.unix_seconds() > 1_700_000_000);
}
