//! Bytes and durations in words.

use super::*;

#[test]
fn what_is_shown_is_read_back() {
    for bytes in [
        0,
        1,
        1000,
        1024,
        1 << 20,
        3 << 30,
        5_000_000,
        64 << 20,
        u64::MAX,
    ] {
        assert_eq!(parse_bytes(&show_bytes(bytes)), Ok(bytes));
    }
    for millis in [0, 1, 250, 1000, 5000, 60_000, 90_000, 3_600_000, 86_400_000] {
        let duration = Duration::from_millis(millis);
        assert_eq!(parse_duration(&show_duration(duration)), Ok(duration));
    }
    assert_eq!(show_bytes(64 << 20), "64MiB");
    assert_eq!(show_duration(Duration::from_secs(90)), "90s");
}

#[test]
fn nonsense_is_refused_with_an_example() {
    for text in ["", "MiB", "-1", "1.5GiB", "64 parsecs", "99999999999TiB"] {
        assert!(parse_bytes(text).unwrap_err().contains("64MiB"), "{text}");
    }
    for text in ["", "5", "s", "5 years", "-1s", "1.5s"] {
        assert!(parse_duration(text).unwrap_err().contains("5s"), "{text}");
    }
    assert_eq!(parse_bytes("64 mib"), Ok(64 << 20));
}
