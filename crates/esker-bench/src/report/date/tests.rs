//! Tests of dates.

use super::*;

#[test]
fn moments_are_spelled_as_the_dialects_do() {
    // The first second, a leap day, and LevelDB's own example.
    assert_eq!(ctime(0), "Thu Jan  1 00:00:00 1970");
    assert_eq!(ctime(1_709_210_096), "Thu Feb 29 12:34:56 2024");
    assert_eq!(ctime(1_736_088_005), "Sun Jan  5 14:40:05 2025");
    assert_eq!(stamp(1_736_088_005), "2025/01/05-14:40:05");
    assert_eq!(utc(1_736_088_005), "2025-01-05 14:40 UTC");
}

#[test]
fn no_number_breaks_a_date() {
    // A file may hold any: none of them overflows.
    assert_eq!(utc(0), "");
    assert!(utc(u64::MAX).starts_with("9999-12-31"));
}

#[test]
fn log_lines_have_milliseconds() {
    for (unix_ms, written) in [
        (0, "1970-01-01T00:00:00.000Z"),
        (951_782_400_000, "2000-02-29T00:00:00.000Z"),
        (951_868_800_000, "2000-03-01T00:00:00.000Z"),
        (1_451_606_400_000, "2016-01-01T00:00:00.000Z"),
        (1_798_761_599_999, "2026-12-31T23:59:59.999Z"),
        (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
    ] {
        assert_eq!(millis(unix_ms), written);
    }
}
