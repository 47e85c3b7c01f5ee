//! Tests of Java's ways.

use super::*;

#[test]
fn doubles_read_as_java_writes_them() {
    // The throughput of a run, a whole number, and both ends of the plain notation.
    assert_eq!(double_text(9891.25), "9891.25");
    assert_eq!(double_text(91.0), "91.0");
    assert_eq!(double_text(0.0), "0.0");
    assert_eq!(double_text(0.001), "0.001");
    assert_eq!(double_text(0.0005), "5.0E-4");
    assert_eq!(double_text(1e7), "1.0E7");
    assert_eq!(double_text(12_345_678.5), "1.23456785E7");
    assert_eq!(double_text(f64::NAN), "NaN");
}

#[test]
fn decimals_drop_what_is_nothing() {
    // As in the status line.
    assert_eq!(decimal_text(9876.5), "9876.5");
    assert_eq!(decimal_text(90.1234), "90.12");
    assert_eq!(decimal_text(80.0), "80");
    assert_eq!(decimal_text(0.0), "0");
}

#[test]
fn hashes_are_those_of_java() {
    // "Aa" and "BB" are Java's best known twins.
    assert_eq!(continue_hash(0, b"Aa"), 2112);
    assert_eq!(continue_hash(0, b"BB"), 2112);
    assert_eq!(continue_hash(0, b"user"), 3_599_307);
    assert_eq!(continue_hash(continue_hash(0, b"us"), b"er"), 3_599_307);
    assert_eq!(continue_hash(0, b"polygenelubricants"), i32::MIN);
}

#[test]
fn only_true_is_true() {
    // A published example says `flase`, and means false.
    assert!(is_true("true") && is_true("TRUE"));
    assert!(!is_true("flase") && !is_true("1") && !is_true(""));
}
