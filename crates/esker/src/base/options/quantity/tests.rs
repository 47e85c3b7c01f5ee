//! Tests of `quantity`.

use super::*;

#[test]
fn sizes_are_read_as_people_write_them() {
    // All common spellings of one size mean the same, in powers of 1024.
    for text in ["64MiB", "64mb", "64 M", " 67108864 ", "65536k", "0.0625GiB"] {
        assert_eq!(parse_size(text), Some(64 << 20), "{text}");
    }
    assert_eq!(parse_size("1.5GiB"), Some(3 << 29));
    assert_eq!(parse_size("0"), Some(0));
    assert_eq!(parse_size("16777215TiB"), Some(16_777_215 << 40));
}

#[test]
fn what_is_no_size_is_refused() {
    // Signs, second points, strange units, parts of bytes and overflow.
    let wrong = [
        "",
        "MiB",
        "-1",
        "1.2.3",
        "1.",
        ".5k",
        "4 potatoes",
        "0.3b",
        "1e6",
        "16777216TiB",
    ];
    for text in wrong {
        assert_eq!(parse_size(text), None, "{text}");
    }
    assert_eq!(parse_size("99999999999999999999999"), None);
    assert_eq!(parse_size("1.0000000000000000000001k"), None);
}

#[test]
fn durations_are_read_as_people_write_them() {
    // A plain number is in seconds; fractions are exact.
    for (text, ns) in [
        ("5s", 5 * SECOND),
        ("250ms", SECOND / 4),
        ("2h", 7_200 * SECOND),
        ("30", 30 * SECOND),
        ("1.1s", 1_100_000_000),
        ("3us", 3_000),
        ("7ns", 7),
        ("1.5min", 90 * SECOND),
        ("2w", 14 * 86_400 * SECOND),
    ] {
        assert_eq!(parse_duration_ns(text), Some(ns), "{text}");
    }
    assert_eq!(parse_duration_ns("5 fortnights"), None);
    assert_eq!(parse_seconds("1500ms"), None);
    assert_eq!(parse_seconds("2000ms"), Some(2));
    assert_eq!(parse_millis("1.5s"), Some(1_500));
    assert_eq!(parse_millis("30"), Some(30_000));
    assert_eq!(parse_millis("1us"), None);
}

#[test]
fn what_is_shown_reads_back_exactly() {
    // The shown text is short where it can be, and never rounds.
    for (bytes, text) in [
        (0, "0B"),
        (1_000, "1000B"),
        (4_096, "4KiB"),
        (1_536 << 10, "1536KiB"),
        (64 << 20, "64MiB"),
        (1 << 40, "1TiB"),
    ] {
        assert_eq!(show_size(bytes), text);
        assert_eq!(parse_size(text), Some(bytes));
    }
    for (seconds, text) in [
        (0, "0s"),
        (90, "90s"),
        (120, "2min"),
        (7_200, "2h"),
        (604_800, "7d"),
    ] {
        assert_eq!(show_seconds(seconds), text);
        assert_eq!(parse_seconds(text), Some(seconds));
        assert_eq!(show_millis(1_000 * seconds), text);
    }
    assert_eq!(show_millis(1_500), "1500ms");
    assert_eq!(parse_millis("1500ms"), Some(1_500));
}
