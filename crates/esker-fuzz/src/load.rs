//! Any text as each kind of input of `esker load`: records or complaints, each at its line.
//!
//! The first byte chooses the parser and its spellings, the second how much of a line is in memory
//! at once.

use std::io::Cursor;

use esker_cli::json;
use esker_cli::load::entry::Found;
use esker_cli::load::lines::{Bounds, Lines};
use esker_cli::load::parser::{InputFormat, Parser, Wishes};
use esker_cli::load::whole::Head;
use esker_cli::text::Format;

const FORMATS: [Format; 3] = [Format::Text, Format::Hex, Format::Base64];

/// Runs the target on one input.
pub fn run(input: &[u8]) {
    let Some((&[choice, bytes_max], text)) = input.split_first_chunk::<2>() else {
        return;
    };
    let choice = usize::from(choice);
    let format = [
        InputFormat::Auto,
        InputFormat::Snap,
        InputFormat::Tsv,
        InputFormat::Jsonl,
    ][choice % 4];
    let wishes = Wishes {
        format,
        key_field: (choice / 4 % 2 == 1).then(|| "id".to_owned()),
        is_literal: choice / 8 % 2 == 1,
        key_format: FORMATS[choice / 16 % 3],
        value_format: FORMATS[choice / 48 % 3],
    };
    load(&wishes, text, usize::from(bytes_max) * 2);
    spell(text);
}

fn load(wishes: &Wishes, text: &[u8], bytes_max: usize) {
    // Small pieces make long lines of nearly all.
    let bounds = Bounds {
        piece: bytes_max + 4,
        key: 100,
        value: 2000,
        ..Bounds::default()
    };
    let mut lines = Lines::new(Box::new(Cursor::new(text.to_vec())), bounds);
    // What opens a dump is taken off; every other line stays.
    let _ = Head::take(&mut lines).expect("memory does not fail");
    let chosen = Parser::choose(wishes, "input", &mut lines).expect("memory does not fail");
    let Some(parser) = chosen else { return };
    let line_count = text.split(|byte| *byte == b'\n').count() as u64;
    let (mut last, mut parsed_count) = (0, 0);
    while let Some(parsed) = parser.next(&mut lines).expect("memory does not fail") {
        let line = match &parsed {
            Ok(found) => found.line(),
            Err(malformed) => malformed.line,
        };
        assert!(line > last && line <= line_count);
        last = line;
        if let Ok(Found::Entry(entry)) = &parsed {
            assert!(entry.key.len() <= text.len() && entry.value.len() <= text.len());
        }
        parsed_count += 1;
    }
    assert!(parsed_count <= line_count);
    assert!(matches!(parser.next(&mut lines), Ok(None)));
}

// What is shown is read back as it was, in every spelling.
fn spell(bytes: &[u8]) {
    for format in FORMATS {
        let shown = format.show_field(bytes);
        assert!(!shown.contains(['\t', '\n', '\r']));
        let read = format.parse_field(shown.as_bytes());
        assert_eq!(read.as_deref(), Ok(bytes));
        let value = json::spell(format, bytes);
        assert_eq!(json::parse(format, &value).as_deref(), Ok(bytes));
        // Any other spelling is bytes or a complaint.
        let _ = format.parse_field(bytes);
        if let Ok(word) = std::str::from_utf8(bytes) {
            // As above.
            let _ = format.parse(word);
        }
    }
}
