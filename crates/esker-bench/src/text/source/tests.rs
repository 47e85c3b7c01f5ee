//! Inputs plain and packed.

use std::io::{Cursor, Write};

use crate::text::lines::Line;

use super::Source;

const TEXT: &str = "one\ntwo\nthree\n";

fn lines_of(bytes: Vec<u8>) -> std::io::Result<Vec<String>> {
    let mut source = Source::new("test", Box::new(Cursor::new(bytes)), None).unwrap();
    let mut found = Vec::new();
    while let Some(line) = source.lines.next_line()? {
        let Line::Text(text) = line else {
            panic!("no line here is long")
        };
        found.push(String::from_utf8(text.to_vec()).unwrap());
    }
    Ok(found)
}

fn gzip(text: &str) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn compression_is_known_by_its_first_bytes() {
    // The same text three times, and gzip and zstd of several members one after the other.
    let zstd = zstd::encode_all(TEXT.as_bytes(), 1).unwrap();
    for bytes in [TEXT.as_bytes().to_vec(), gzip(TEXT), zstd.clone()] {
        assert_eq!(lines_of(bytes).unwrap(), ["one", "two", "three"]);
    }
    assert_eq!(
        lines_of([gzip(TEXT), gzip(TEXT)].concat()).unwrap().len(),
        6
    );
    assert_eq!(lines_of([zstd.clone(), zstd].concat()).unwrap().len(), 6);
}

#[test]
fn cut_archive_is_an_error() {
    // Half an archive must not pass for a short file.
    let text = "a line that repeats itself\n".repeat(10_000);
    let zstd = zstd::encode_all(text.as_bytes(), 1).unwrap();
    for whole in [gzip(&text), zstd] {
        assert!(lines_of(whole[..whole.len() - 6].to_vec()).is_err());
    }
}

#[test]
fn short_inputs_are_no_archives() {
    // Less than the magic number of anything, and nothing at all.
    assert_eq!(lines_of(b"a".to_vec()).unwrap(), ["a"]);
    assert!(lines_of(Vec::new()).unwrap().is_empty());
}
