//! Tests of the properties.

use super::*;
use crate::fail::FailureKind;

fn parse(text: &str) -> Properties {
    let mut properties = Properties::default();
    properties.add_text(text).unwrap();
    properties
}

#[test]
fn every_way_to_write_a_pair_is_read() {
    // Three separators, blanks around them, comments of both kinds, nothing behind a name.
    let text = "# a comment\n! another\n\na=1\nb: 2\nc 3\n  d = 4 \ne\nf==5\r\ng\t:\t6";
    let properties = parse(text);
    let all: Vec<_> = properties.iter().collect();
    assert_eq!(
        all,
        [
            ("a", "1"),
            ("b", "2"),
            ("c", "3"),
            ("d", "4 "),
            ("e", ""),
            ("f", "=5"),
            ("g", "6")
        ]
    );
    assert_eq!(properties.get("d"), Some("4"));
}

#[test]
fn lines_go_on_behind_a_backslash() {
    // An odd number of backslashes joins, an even one does not; a comment does not go on.
    let properties = parse("a=one\\\n    two\nb=x\\\\\nc=y\n# z\\\nd=1");
    assert_eq!(properties.get("a"), Some("onetwo"));
    assert_eq!(properties.get("b"), Some("x\\"));
    assert_eq!(properties.get("c"), Some("y"));
    assert_eq!(properties.get("d"), Some("1"));
}

#[test]
fn escapes_mean_what_java_means() {
    // A tab as delimiter is the case that matters; a colon in a name must be protected.
    let properties = parse("delimiter=\\t\na\\:b=\\u0041\\z\n");
    assert_eq!(properties.get_raw("delimiter"), Some("\t"));
    assert_eq!(properties.get("a:b"), Some("Az"));
    let failed = Properties::default().add_text("a=\\u00zz").unwrap_err();
    assert_eq!(failed.kind, FailureKind::Usage);
}

#[test]
fn the_last_word_wins() {
    // A file, then a pair.
    let mut properties = parse("recordcount=1\nrecordcount=2");
    assert_eq!(properties.count("recordcount", 0).unwrap(), 2);
    properties.set("recordcount", "3");
    assert_eq!(properties.count("recordcount", 0).unwrap(), 3);
}

#[test]
fn wrong_numbers_are_named() {
    // The message names the property, its value, and what it should be.
    let properties = parse("a=ten\nb=-1\nc=NaN");
    let told = properties.count("a", 0).unwrap_err();
    assert_eq!(told.kind, FailureKind::Usage);
    assert!(told.message.contains("a=ten"), "{told}");
    assert!(properties.count("b", 0).is_err());
    assert!(properties.number("c", 0.0).is_err());
    assert!(properties.number("b", 0.0).is_err());
}
