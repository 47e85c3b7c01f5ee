//! Fields in pieces are what they are in one.

use crate::text::Format;

use super::{Coding, Field};

fn in_pieces(coding: Coding, spelled: &[u8], size: usize) -> Result<Vec<u8>, String> {
    let mut field = Field::new("value", coding, 64);
    for piece in spelled.chunks(size) {
        field.add(piece)?;
    }
    field.finish()
}

#[test]
fn pieces_of_every_size_decode_alike() {
    // Escapes, hex and base64, whole and broken, cut at every place.
    let texts: [&[u8]; 14] = [
        b"",
        b"plain",
        b"a\\\\x41\\x41\\t\\n\\r\\\\\\\\x",
        b"\\q",
        b"\\x4",
        b"\\",
        b"\\xzz",
        b"00ff1",
        b"00ff10",
        b"Zm9v",
        b"Zm8=",
        b"Zg==",
        b"Zg==Zg==",
        b"Zm9vZm9vZg",
    ];
    for format in [Format::Text, Format::Hex, Format::Base64] {
        for text in texts {
            let whole = format.parse_field(text);
            for size in 1..=text.len().max(1) {
                let found = in_pieces(Coding::Field(format), text, size);
                assert_eq!(
                    found.as_ref().ok(),
                    whole.as_ref().ok(),
                    "{text:?} by {size}"
                );
            }
        }
    }
    let plain = in_pieces(Coding::Plain, b"C:\\new", 2);
    assert_eq!(plain.unwrap(), b"C:\\new");
}

#[test]
fn the_bound_is_that_of_the_bytes() {
    // As many escapes as there may be bytes, and one more.
    let coding = Coding::Field(Format::Text);
    let escapes = |count: usize| "\\x00".repeat(count).into_bytes();
    assert_eq!(in_pieces(coding, &escapes(64), 7), Ok(vec![0; 64]));
    let error = in_pieces(coding, &escapes(65), 7).unwrap_err();
    assert_eq!(error, "the value is too long: a value has 64 bytes at most");
}
