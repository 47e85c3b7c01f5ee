//! Tab-separated lines, good and malformed.

use std::io::Cursor;

use crate::load::lines::{Bounds, Lines};
use crate::load::record::Parsed;
use crate::text::Format;

use super::{Spelling, next};

/// Small, so that short texts show what long ones meet.
const BOUNDS: Bounds = Bounds {
    piece: 100,
    line: 10_000,
    key: 20,
    value: 200,
};

const TEXT: Spelling = Spelling {
    key: Format::Text,
    value: Format::Text,
    is_literal: false,
};

fn parse(text: &str, spelling: Spelling) -> Vec<Parsed> {
    let mut lines = Lines::new(Box::new(Cursor::new(text.to_owned())), BOUNDS);
    std::iter::from_fn(|| next(&mut lines, spelling).unwrap()).collect()
}

#[test]
fn first_tab_parts_key_and_value() {
    // An escaped tab in the key, plain tabs in the value, blank lines, empty fields.
    let found = parse("a\\tb\tc\td\n\n\t\nk\t\n", TEXT);
    let pairs: Vec<_> = found.iter().map(|one| one.as_ref().unwrap()).collect();
    assert_eq!(
        (&pairs[0].key[..], &pairs[0].value[..]),
        (&b"a\tb"[..], &b"c\td"[..])
    );
    assert_eq!(
        (&pairs[1].key[..], &pairs[1].value[..]),
        (&b""[..], &b""[..])
    );
    assert_eq!((pairs[2].line, &pairs[2].key[..]), (4, &b"k"[..]));
}

#[test]
fn malformed_lines_are_told_with_their_numbers() {
    // No tab, a broken escape on either side, a line beyond the bound; a good line after each.
    let long = format!("k\t{}", "x".repeat(201));
    let no_tab = "x".repeat(5000);
    let escape = format!("k\t{}\\q", "x".repeat(100));
    let cases = [
        ("no tab here", "no tab"),
        ("a\\q\tv", "key: `\\q` is no escape"),
        ("k\tv\\", "value: a backslash ends"),
        (&long, "the value is too long: a value has 200 bytes"),
        (&no_tab, "the key is too long: a key has 20 bytes"),
        (&escape, "value: `\\q` is no escape"),
    ];
    for (line, reason) in cases {
        let found = parse(&format!("good\t1\n{line}\ngood\t2\n"), TEXT);
        let wrong = found[1].as_ref().unwrap_err();
        assert_eq!(wrong.line, 2);
        assert!(wrong.reason.contains(reason), "{}", wrong.reason);
        assert_eq!(found[2].as_ref().unwrap().value, b"2");
    }
}

#[test]
fn long_lines_read_as_short_ones() {
    // A value of as many escapes as it may have bytes, in text and hex; and a literal one.
    let hex = Spelling {
        value: Format::Hex,
        ..TEXT
    };
    for (line, spelling) in [("\\x07".repeat(200), TEXT), ("07".repeat(200), hex)] {
        let found = parse(&format!("key\t{line}\nk\t\n"), spelling);
        let record = found[0].as_ref().unwrap();
        assert_eq!(
            (&record.key[..], &record.value[..]),
            (&b"key"[..], &[7; 200][..])
        );
        assert_eq!(found[1].as_ref().unwrap().line, 2);
    }
    let literal = Spelling {
        is_literal: true,
        ..TEXT
    };
    let found = parse(&format!("k\t\\{}", "\t\\".repeat(80)), literal);
    assert_eq!(
        found[0].as_ref().unwrap().value,
        format!("\\{}", "\t\\".repeat(80)).as_bytes()
    );
}

#[test]
fn spelling_is_by_choice() {
    // Hex keys with base64 values, and a path of Windows taken literally.
    let coded = Spelling {
        key: Format::Hex,
        value: Format::Base64,
        is_literal: true,
    };
    let found = parse("00ff\tZm9v\n0g\tZm9v\n", coded);
    assert_eq!(found[0].as_ref().unwrap().key, [0, 255]);
    assert_eq!(found[0].as_ref().unwrap().value, b"foo");
    assert!(found[1].is_err());
    let literal = Spelling {
        is_literal: true,
        ..TEXT
    };
    let found = parse("C:\\new\tx\\y\n", literal);
    assert_eq!(found[0].as_ref().unwrap().key, br"C:\new");
}
