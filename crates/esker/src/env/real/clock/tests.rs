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

#[test]
fn whole_seconds_are_those_of_the_wall_clock() {
    // They may be of the tick before, and no older.
    let clock = RealClock::default();
    let before = clock.unix_time() - Duration::from_millis(100);
    let seconds = clock.unix_seconds();
    let after = clock.unix_time();
    assert!((before.as_secs()..=after.as_secs()).contains(&seconds));
}
