//! Lines, their ends, numbers and bounds.

use std::io::{BufReader, Cursor};

use super::{Line, Lines};

fn read(text: &'static str, bytes_max: usize) -> Vec<(u64, Option<Vec<u8>>)> {
    // A buffer of three bytes makes every line cross its edge.
    let input = BufReader::with_capacity(3, Cursor::new(text));
    let mut lines = Lines::new(Box::new(input), bytes_max);
    let mut found = Vec::new();
    while let Some(line) = lines.next_line().unwrap() {
        let line = match line {
            Line::Text(bytes) => Some(bytes.to_vec()),
            Line::TooLong => None,
        };
        found.push((lines.number(), line));
    }
    found
}

#[test]
fn lines_end_in_several_ways() {
    // Unix ends, Windows ends, an empty line, and a last line without an end.
    let lines = read("one\ntwo\r\n\nlast", 100);
    let texts: Vec<_> = lines
        .iter()
        .map(|(_, line)| line.clone().unwrap())
        .collect();
    assert_eq!(texts, [&b"one"[..], b"two", b"", b"last"]);
    assert_eq!(lines.last().unwrap().0, 4);
    assert!(read("", 100).is_empty());
}

#[test]
fn long_line_is_passed_over() {
    // A line beyond the bound costs no memory and does not hide the next one.
    let lines = read("short\nmuch too long\nshort", 5);
    assert_eq!(lines[1], (2, None));
    assert_eq!(lines[2], (3, Some(b"short".to_vec())));
}

#[test]
fn line_can_be_given_back() {
    // Whoever guesses the format looks at the first line and gives it back.
    let mut lines = Lines::new(Box::new(Cursor::new("a\nb\n")), 10);
    assert_eq!(lines.next_line().unwrap(), Some(Line::Text(b"a")));
    lines.unread();
    assert_eq!(lines.next_line().unwrap(), Some(Line::Text(b"a")));
    assert_eq!(lines.number(), 1);
    assert_eq!(lines.next_line().unwrap(), Some(Line::Text(b"b")));
    assert_eq!(lines.next_line().unwrap(), None);
}
