//! JSON lines, good and malformed.

use std::io::Cursor;

use crate::load::lines::Lines;
use crate::load::record::Parsed;
use crate::text::Format;

use super::{Shape, next};

const PAIR: Shape = Shape::KeyAndValue {
    key: Format::Text,
    value: Format::Text,
};

fn parse(text: &str, shape: &Shape) -> Vec<Parsed> {
    let mut lines = Lines::new(Box::new(Cursor::new(text.to_owned())), 100);
    std::iter::from_fn(|| next(&mut lines, shape).unwrap()).collect()
}

#[test]
fn chosen_field_is_the_key() {
    // The value is the line as it stands, spaces and order of fields included.
    let line = r#"{"name": "Anna",  "id": 7}"#;
    let found = parse(&format!("{line}\n\n"), &Shape::Field("id".into()));
    let record = found[0].as_ref().unwrap();
    assert_eq!(
        (&record.key[..], &record.value[..]),
        (&b"7"[..], line.as_bytes())
    );
    assert_eq!(found.len(), 1);
}

#[test]
fn key_and_value_come_as_dump_writes_them() {
    // Text as strings, bytes that are no text as base64, everything else by the chosen format.
    let found = parse(r#"{"key":"a","value":{"base64":"/w=="}}"#, &PAIR);
    assert_eq!(found[0].as_ref().unwrap().value, [255]);
    let hex = Shape::KeyAndValue {
        key: Format::Hex,
        value: Format::Text,
    };
    let found = parse(r#"{"key":"ff00","value":"x"}"#, &hex);
    assert_eq!(found[0].as_ref().unwrap().key, [255, 0]);
}

#[test]
fn malformed_lines_are_told_with_their_numbers() {
    // What is not JSON, no object, lacks the field, or has one that cannot be a key.
    let cases = [
        ("{", "no JSON object"),
        ("[1]", "no JSON object"),
        ("7", "no JSON object"),
        (r#"{"value":"v"}"#, "no field `key`"),
        (r#"{"key":"k"}"#, "no field `value`"),
        (r#"{"key":null,"value":"v"}"#, "field `key`: it is null"),
        (r#"{"key":["k"],"value":"v"}"#, "field `key`: it is a list"),
        (r#"{"key":{"base64":"????"},"value":"v"}"#, "is not base64"),
        (r#"{"key":{"hex":"00"},"value":"v"}"#, "one field, `base64`"),
        (&format!(r#"{{"key":"{}"}}"#, "x".repeat(100)), "too long"),
    ];
    for (line, reason) in cases {
        let good = r#"{"key":"k","value":"v"}"#;
        let found = parse(&format!("{good}\n{line}\n{good}\n"), &PAIR);
        let wrong = found[1].as_ref().unwrap_err();
        assert_eq!(wrong.line, 2);
        assert!(wrong.reason.contains(reason), "{}", wrong.reason);
        assert!(found[2].is_ok());
    }
}
