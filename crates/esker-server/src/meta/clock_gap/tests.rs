//! Clocks that are wrong, and reports that came late.

use super::*;

const FAR: i64 = 3_600_000;

#[test]
fn a_clock_is_apart_once_that_was_told_for_some_seconds() {
    for ahead_ms in [FAR, -FAR] {
        let mut gap = ClockGap::default();
        gap.hear(ahead_ms, 10_000);
        gap.hear(ahead_ms, 10_000 + CLOCKS_SURE_MS - 1);
        assert_eq!(gap.apart_ms(), None);
        gap.hear(ahead_ms, 10_000 + CLOCKS_SURE_MS);
        assert_eq!(gap.apart_ms(), Some(ahead_ms));
        gap.hear(3, 20_000);
        assert_eq!(gap.apart_ms(), None);
    }
}

#[test]
fn reports_that_waited_for_this_process_say_nothing_of_a_clock() {
    let mut gap = ClockGap::default();
    // It was stopped for a minute; what came meanwhile is read in one go.
    for late_ms in [-60_000, -58_000, -20_000, -5_000, -10] {
        gap.hear(late_ms, 1000);
        assert_eq!(gap.apart_ms(), None);
    }
    gap.hear(-10, 1000 + CLOCKS_SURE_MS);
    assert_eq!(gap.apart_ms(), None);
}

#[test]
fn a_clock_at_the_limit_is_not_told_of_again_and_again() {
    let limit = i64::try_from(CLOCKS_APART_MS).unwrap();
    let mut gap = ClockGap::default();
    gap.hear(limit - 1, 0);
    gap.hear(limit - 1, 10_000);
    assert_eq!(gap.apart_ms(), None);
    gap.hear(limit, 20_000);
    gap.hear(limit, 30_000);
    assert_eq!(gap.apart_ms(), Some(limit));
    gap.hear(limit - 1, 40_000);
    assert_eq!(gap.apart_ms(), Some(limit - 1));
    gap.hear(limit / 2 - 1, 50_000);
    assert_eq!(gap.apart_ms(), None);
}
