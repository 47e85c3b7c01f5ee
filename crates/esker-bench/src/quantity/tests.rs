//! Numbers and what people are shown of them.

use super::*;

#[test]
fn numbers_keep_three_digits_in_the_unit_that_suits() {
    // Where one unit ends and the next begins, no number shows as 1000.
    assert_eq!(count(864.0), "864");
    assert_eq!(count(0.5), "0.50");
    assert_eq!(count(999_499.0), "999 k");
    assert_eq!(count(999_600.0), "1.00 M");
    assert_eq!(bytes(999.0), "999 B");
    assert_eq!(bytes(62_900_000.0), "62.9 MB");
    assert_eq!(nanos(8500.0), "8.50 µs");
    assert_eq!(nanos(0.25), "0.25 ns");
    assert_eq!(seconds(0.0), "0 s");
    assert_eq!(seconds(3.2), "3.20 s");
    assert_eq!(ratio(0.0012), "0.0012");
    assert_eq!(ratio(12.44), "12.4");
    assert_eq!(exact(1_234_567), "1\u{202f}234\u{202f}567");
    assert_eq!(
        [grouped(0), grouped(999), grouped(1_234_567)],
        ["0", "999", "1 234 567"]
    );
    assert_eq!(
        [99.94, 122.0, 33_498.4].map(rate),
        ["99.9", "122", "33 498"]
    );
}

#[test]
fn nouns_have_a_plural_only_where_there_is_one() {
    // One, several, and a noun that ends in an s by itself.
    assert_eq!(counted(1, "record"), "1 record");
    assert_eq!(counted(2, "record"), "2 records");
    assert_eq!(counted(1, "class"), "1 class");
    assert_eq!(counted(64, "class"), "64 classes");
}

#[test]
fn scales_have_no_idle_zeros() {
    // Zeros before the point stay.
    let texts = ["10.0 µs", "1.00 M", "2.50", "100", "0", "1.05 k"].map(on_scale);
    assert_eq!(texts, ["10 µs", "1 M", "2.5", "100", "0", "1.05 k"]);
}

#[test]
fn what_is_no_number_shows_as_a_dash() {
    // A division by nothing somewhere upstream must not read like a result.
    for text in [count, bytes, nanos, seconds, ratio].map(|text| text(f64::NAN)) {
        assert_eq!(text, NONE);
    }
    assert_eq!(ratio(f64::INFINITY), NONE);
}
