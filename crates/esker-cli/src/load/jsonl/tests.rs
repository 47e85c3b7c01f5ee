//! JSON lines, good and malformed.

use std::io::Cursor;

use esker::Expiry;

use crate::load::entry::{Entry, Found, Parsed};
use crate::load::lines::{Bounds, Lines};
use crate::text::Format;

use super::{Shape, next};

/// Small, so that short texts show what long ones meet.
const BOUNDS: Bounds = Bounds {
    piece: 100,
    line: 10_000,
    key: 20,
    value: 200,
};

const PAIR: Shape = Shape::KeyAndValue {
    key: Format::Text,
    value: Format::Text,
};

fn parse(text: &str, shape: &Shape) -> Vec<Parsed> {
    let mut lines = Lines::new(Box::new(Cursor::new(text.to_owned())), BOUNDS);
    std::iter::from_fn(|| next(&mut lines, shape).unwrap()).collect()
}

fn entry(parsed: &Parsed) -> &Entry {
    match parsed {
        Ok(Found::Entry(entry)) => entry,
        other => panic!("no entry: {other:?}"),
    }
}

#[test]
fn chosen_field_is_the_key() {
    // The value is the line as it stands, spaces and order of fields included.
    let line = r#"{"name": "Anna",  "id": 7}"#;
    let found = parse(&format!("{line}\n\n"), &Shape::Field("id".into()));
    let record = entry(&found[0]);
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
    assert_eq!(entry(&found[0]).value, [255]);
    let hex = Shape::KeyAndValue {
        key: Format::Hex,
        value: Format::Text,
    };
    let found = parse(r#"{"key":"ff00","value":"x"}"#, &hex);
    assert_eq!(entry(&found[0]).key, [255, 0]);
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
        (r#"{"key":"k","value":"v","expires":-1}"#, "field `expires`"),
        (
            r#"{"key":"k","value":"v","expires":4294967296}"#,
            "field `expires`",
        ),
        (
            r#"{"key":"k","value":"v","expires":4294967295.001}"#,
            "field `expires`",
        ),
        (
            r#"{"key":"k","value":"v","expires":1.2345}"#,
            "field `expires`",
        ),
        (
            r#"{"key":"k","value":"v","expires":"1"}"#,
            "field `expires`",
        ),
        (
            r#"{"key":"k","value":"v","keyspace":7}"#,
            "field `keyspace`",
        ),
        (r#"{"esker_dump_end":"x"}"#, "no count"),
        (
            &format!(r#"{{"key":"{}"}}"#, "x".repeat(400)),
            "the line is too long: its texts",
        ),
        (
            &format!(r#"{{"key":[{}]}}"#, "1,".repeat(100)),
            "the line is too long",
        ),
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

#[test]
fn keyspace_expiry_and_end_are_read() {
    // As a dump of a whole database has them; under a chosen field they are the line's own.
    let line = r#"{"keyspace":"a","key":"k","value":"v","expires":4000000000}"#;
    let found = parse(&format!("{line}\n{{\"esker_dump_end\":1}}\n"), &PAIR);
    let first = entry(&found[0]);
    assert_eq!(first.keyspace.as_deref(), Some("a"));
    assert_eq!(first.expiry, Some(Expiry::from_unix_s(4_000_000_000)));
    for unix_ms in [1, 1_100, 4_000_000_000_250, 4_294_967_294_999] {
        let expiry = Expiry::from_unix_ms(unix_ms);
        let expires = crate::json::expiry(expiry);
        let line = format!(r#"{{"key":"k","value":"v","expires":{expires}}}"#);
        let found = parse(&format!("{line}\n"), &PAIR);
        assert_eq!(entry(&found[0]).expiry, Some(expiry), "{line}");
    }
    assert_eq!(
        found[1],
        Ok(Found::End {
            line: 2,
            entries: 1
        })
    );
    let found = parse(line, &Shape::Field("key".into()));
    assert_eq!(entry(&found[0]).keyspace, None);
}

#[test]
fn long_lines_read_as_short_ones() {
    // Values of more than a piece, text and base64, with a keyspace; and a line that is the value.
    let value = "ä\n".repeat(60);
    let line = serde_json::json!({"key": "k", "value": value, "keyspace": "a"}).to_string();
    let found = parse(&format!("{line}\n{line}"), &PAIR);
    for (parsed, number) in found.iter().zip(1..) {
        let found = entry(parsed);
        assert_eq!((found.line, &found.value[..]), (number, value.as_bytes()));
        assert_eq!(found.keyspace.as_deref(), Some("a"));
    }
    assert_eq!(found.len(), 2);
    let base64 = "////".repeat(40);
    let line = format!(r#"{{"value":{{"base64":"{base64}"}},"key":"k"}}"#);
    assert_eq!(entry(&parse(&line, &PAIR)[0]).value, [255; 120]);

    let line = format!(r#"{{"text":"{}","id":7}}"#, "x".repeat(150));
    let shape = Shape::Field("id".into());
    let found = parse(&line, &shape);
    let record = entry(&found[0]);
    assert_eq!(
        (&record.key[..], &record.value[..]),
        (&b"7"[..], line.as_bytes())
    );
    let line = format!(r#"{{"id":"\u0000 7","text":"{}"}}"#, "x".repeat(150));
    assert_eq!(entry(&parse(&line, &shape)[0]).key, b"\0 7");
    // A key that is longer than any, a line that is longer than a value.
    for (line, reason) in [
        (
            format!(r#"{{"id":"{}"}}"#, "x".repeat(120)),
            "field `id` is too long",
        ),
        (
            format!(r#"{{"id":7,"a":"{}"}}"#, "x".repeat(220)),
            "the line is too long",
        ),
    ] {
        let found = parse(&line, &shape);
        let wrong = found[0].as_ref().unwrap_err();
        assert!(wrong.reason.contains(reason), "{}", wrong.reason);
    }
}
