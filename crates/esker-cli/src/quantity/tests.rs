//! Amounts as people read and write them.

use std::time::Duration;

use super::{bytes, duration, parse_bytes, rate, seconds};

#[test]
fn bytes_keep_three_digits() {
    // Sizes from nothing to the largest there is, each short enough for a table.
    let cases = [
        (0, "0 B"),
        (1023, "1023 B"),
        (1024, "1.00 KiB"),
        (4321 * 1024, "4.22 MiB"),
        (1 << 40, "1.00 TiB"),
        (u64::MAX, "16777216 TiB"),
    ];
    for (amount, text) in cases {
        assert_eq!(bytes(amount), text);
    }
}

#[test]
fn durations_choose_their_unit() {
    // From nanoseconds to minutes; nothing done in no time has no rate.
    assert_eq!(duration(Duration::from_nanos(250)), "250 ns");
    assert_eq!(duration(Duration::from_nanos(1_250)), "1.25 µs");
    assert_eq!(duration(Duration::from_millis(38)), "38.0 ms");
    assert_eq!(duration(Duration::from_secs(125)), "2 min 05 s");
    assert_eq!(rate(10, Duration::ZERO), "-");
    assert_eq!(rate(1_000_000, Duration::from_secs(2)), "500 000/s");
}

#[test]
fn bytes_are_read_with_their_units() {
    // What people type, and what they cannot have meant.
    assert_eq!(parse_bytes("65536"), Some(65_536));
    assert_eq!(parse_bytes("64KiB"), Some(65_536));
    assert_eq!(parse_bytes("4 mib"), Some(4 << 20));
    assert_eq!(parse_bytes("1GB"), Some(1_000_000_000));
    for wrong in ["", "MiB", "-1", "1.5MiB", "9 parsecs", "99999999999G"] {
        assert_eq!(parse_bytes(wrong), None, "{wrong}");
    }
}

#[test]
fn seconds_have_up_to_three_digits_behind_the_point() {
    // As the tool writes them, and what is none.
    let millis = |text| seconds(text).map(|time| time.as_millis());
    assert_eq!(millis("0"), Some(0));
    assert_eq!(millis("90"), Some(90_000));
    assert_eq!(millis("1.5"), Some(1_500));
    assert_eq!(millis("4000000000.250"), Some(4_000_000_000_250));
    for wrong in [
        "", ".", "1.", ".5", "-1", "+1", "1e3", "1.0005", "1 ", "1.2.3",
    ] {
        assert_eq!(millis(wrong), None, "{wrong}");
    }
}
