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
    // Two separators, blanks around them, comments of both kinds, nothing behind a name.
    let text = "# a comment\n! another\n\na=1\nb: 2\n  d = 4 \ne\nf==5\r\ng\t:\t6";
    let properties = parse(text);
    let all: Vec<_> = properties.iter().collect();
    let wanted = [
        ("a", "1"),
        ("b", "2"),
        ("d", "4"),
        ("e", ""),
        ("f", "=5"),
        ("g", "6"),
    ];
    assert_eq!(all, wanted);
}

#[test]
fn what_java_would_read_otherwise_is_refused() {
    // An escape, and a line that goes on: never taken for what they are not.
    for text in ["delimiter=\\t", "a=one\\\n    two"] {
        let failed = Properties::default().add_text(text).unwrap_err();
        assert_eq!(failed.kind, FailureKind::Usage);
    }
}

#[test]
fn the_last_word_wins_and_only_true_is_true() {
    // A file, then a pair; a published example says `flase`, and means false.
    let mut properties = parse("recordcount=1\nrecordcount=2\na=TRUE\nb=flase");
    assert_eq!(properties.count("recordcount", 0).unwrap(), 2);
    properties.set("recordcount", "3");
    assert_eq!(properties.count("recordcount", 0).unwrap(), 3);
    assert!(properties.flag("a", false) && !properties.flag("b", true));
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
