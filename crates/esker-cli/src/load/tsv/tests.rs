//! Tab-separated lines, good and malformed.

use std::io::Cursor;

use crate::load::lines::Lines;
use crate::load::record::Parsed;
use crate::text::Format;

use super::{Spelling, next};

const TEXT: Spelling = Spelling {
    key: Format::Text,
    value: Format::Text,
    is_literal: false,
};

fn parse(text: &str, spelling: Spelling) -> Vec<Parsed> {
    let mut lines = Lines::new(Box::new(Cursor::new(text.to_owned())), 100);
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
    let long = format!("k\t{}", "x".repeat(100));
    let cases = [
        ("no tab here", "no tab"),
        ("a\\q\tv", "key: `\\q` is no escape"),
        ("k\tv\\", "value: a backslash ends"),
        (&long, "too long"),
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
