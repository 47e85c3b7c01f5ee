//! The choice of a parser, and every parser on random bytes.

use std::io::Cursor;

use crate::load::lines::{Bounds, Lines};
use crate::text::Format;

use super::{InputFormat, Parser, Wishes};

const BOUNDS: Bounds = Bounds {
    piece: 100,
    line: 10_000,
    key: 20,
    value: 200,
};

fn wishes() -> Wishes {
    Wishes {
        format: InputFormat::Auto,
        key_field: None,
        is_literal: false,
        key_format: Format::Text,
        value_format: Format::Text,
    }
}

fn lines(bytes: impl Into<Vec<u8>>) -> Lines {
    Lines::new(Box::new(Cursor::new(bytes.into())), BOUNDS)
}

fn chosen(name: &str, text: &str) -> Option<&'static str> {
    let parser = Parser::choose(&wishes(), name, &mut lines(text)).unwrap();
    parser.map(|parser| match parser {
        Parser::Snap => "snap",
        Parser::Tsv(_) => "tsv",
        Parser::Jsonl(_) => "jsonl",
    })
}

#[test]
fn format_is_known_by_name_or_first_line() {
    // The name wins where it says something; else the first line that is not blank decides.
    assert_eq!(chosen("a.tsv.gz", "{}"), Some("tsv"));
    assert_eq!(chosen("A.NDJSON", "k\tv"), Some("jsonl"));
    assert_eq!(
        chosen("reviews.txt.zst", "\nproduct/productId: B"),
        Some("snap")
    );
    assert_eq!(chosen("-", "  {\"key\":1}"), Some("jsonl"));
    assert_eq!(chosen("-", "k\tv"), Some("tsv"));
    assert_eq!(chosen("-", "neither"), None);
    assert_eq!(chosen("-", ""), Some("tsv"));
}

#[test]
fn guessing_loses_no_line() {
    // The line that was looked at is the first record.
    let mut lines = lines("k\tv\n");
    let parser = Parser::choose(&wishes(), "-", &mut lines).unwrap().unwrap();
    assert_eq!(parser.next(&mut lines).unwrap().unwrap().unwrap().line(), 1);
    assert!(parser.next(&mut lines).unwrap().is_none());
}

#[test]
fn no_bytes_make_a_parser_panic() {
    // Random bytes out of the letters that matter; every parser reads to the end, and the lines
    // it names lie inside the input and never go backwards.
    let letters: &[&[u8]] = &[
        b"\n",
        b"\r",
        b"\t",
        b"\\",
        b"\\x4",
        b"{",
        b"}",
        b"\"key\":",
        b"\"value\":",
        b"\"a\"",
        b",",
        b"product/productId: B\n",
        b"review/userId: A\n",
        b"review/time: 1\n",
        b"\xff",
        b"\0",
    ];
    let mut state: u64 = 1;
    let mut random = |below: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 33) as usize % below
    };
    for _ in 0..3000 {
        let length = random(40);
        let text: Vec<u8> = (0..length)
            .flat_map(|_| letters[random(letters.len())].to_vec())
            .collect();
        let line_count = text.split(|byte| *byte == b'\n').count() as u64;
        for format in [InputFormat::Snap, InputFormat::Tsv, InputFormat::Jsonl] {
            let wishes = Wishes { format, ..wishes() };
            let mut lines = lines(text.clone());
            let parser = Parser::choose(&wishes, "-", &mut lines).unwrap().unwrap();
            let mut last = 0;
            while let Some(found) = parser.next(&mut lines).unwrap() {
                let line = found.map_or_else(|wrong| wrong.line, |found| found.line());
                assert!(last < line && line <= line_count);
                last = line;
            }
        }
    }
}
