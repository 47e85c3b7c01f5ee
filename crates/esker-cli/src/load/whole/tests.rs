//! Heads of dumps, and what is none.

use std::io::Cursor;

use crate::load::lines::{Bounds, Line, Lines};

use super::Head;

const BOUNDS: Bounds = Bounds {
    piece: 100,
    line: 10_000,
    key: 20,
    value: 200,
};

fn taken(text: &str) -> (Option<Result<Head, String>>, Option<String>) {
    let mut lines = Lines::new(Box::new(Cursor::new(text.to_owned())), BOUNDS);
    let head = Head::take(&mut lines).unwrap();
    let next = lines.next_line().unwrap().map(|line| match line {
        Line::Text(text) => String::from_utf8(text.to_vec()).unwrap(),
        Line::Long(_) => "long".into(),
    });
    (head, next)
}

#[test]
fn a_head_reads_back_as_it_was_written() {
    // Keyspaces with settings and without; the line behind it is the next.
    let pairs = vec![("ttl".to_owned(), "7d".to_owned())];
    let head = Head(vec![("a\tb".into(), pairs), ("default".into(), Vec::new())]);
    let (found, next) = taken(&format!("{}\nnext\n", head.to_line()));
    assert_eq!(found, Some(Ok(head.clone())));
    assert_eq!(next.as_deref(), Some("next"));
    assert_eq!(head.settings_of("default"), Some(&Vec::new()));
    assert_eq!(head.settings_of("other"), None);
}

#[test]
fn a_head_of_many_keyspaces_is_read_in_pieces() {
    // And what begins so and is none is told.
    let keyspaces = (0..100).map(|n| (format!("keyspace {n:03}"), Vec::new()));
    let head = Head(keyspaces.collect());
    let (found, next) = taken(&format!("{}\nnext\n", head.to_line()));
    assert_eq!((found, next.as_deref()), (Some(Ok(head)), Some("next")));
    let (found, next) = taken(&format!("{{\"esker_dump\":{}\nnext\n", "1".repeat(200)));
    assert!(found.unwrap().unwrap_err().contains("is broken"));
    assert_eq!(next.as_deref(), Some("next"));
}

#[test]
fn other_lines_are_left_alone() {
    // No dump, a record with the word in its value, an empty input; another version is told.
    for text in ["k\tv", r#"{"key":"esker_dump"}"#, r#"{"esker_dump":"#, "{"] {
        let (found, next) = taken(text);
        assert_eq!((found, next.as_deref()), (None, Some(text)));
    }
    assert_eq!(taken(""), (None, None));
    let wrong = |text| taken(text).0.unwrap().unwrap_err();
    assert!(wrong(r#"{"esker_dump":2}"#).contains("version 2"));
    assert!(wrong(r#"{"esker_dump":1,"keyspaces":{"a":{"ttl":7}}}"#).contains("no text"));
}
