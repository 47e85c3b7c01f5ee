//! Each line rule fires on a planted line, and on nothing else.

use crate::tidy::text::{check, looks_like_code};
use crate::tidy::tree::tests::planted;

const PATH: &str = "crates/esker/src/a.rs";

/// The rules that fire on `text`, with their lines.
fn fired(text: &str) -> Vec<(&'static str, usize)> {
    check(&planted(&[(PATH, text)]))
        .into_iter()
        .map(|found| (found.rule, found.line))
        .collect()
}

#[test]
fn a_file_without_caption_is_found() {
    // No doc, a doc that is no sentence, a sentence that runs over the line, and a good one.
    assert_eq!(fired("fn a() {}\n"), [("caption", 1)]);
    assert_eq!(fired("//! a thing\n"), [("caption", 1)]);
    assert_eq!(fired("\n//! Late.\n"), [("caption", 1)]);
    assert_eq!(fired(""), [("caption", 1)]);
    assert_eq!(fired("//! A sentence.\n"), []);
}

#[test]
fn a_wide_line_is_found() {
    // One column too many; characters count, not bytes, and an address may stick out.
    let wide = "x".repeat(98);
    assert_eq!(fired(&format!("//! A.\n// {wide}\n")), [("line width", 2)]);
    assert_eq!(fired(&format!("//! A.\n// {}\n", "é".repeat(97))), []);
    assert_eq!(fired(&format!("//! A.\n// https://{wide}\n")), []);
}

#[test]
fn unnumbered_work_is_found() {
    // A mark needs the number of its issue; the word inside a string is no mark.
    assert_eq!(fired("//! A.\n// TODO: later\n"), [("unnumbered work", 2)]);
    assert_eq!(
        fired("//! A.\n/* one\n FIXME two */\n"),
        [("unnumbered work", 3)]
    );
    assert_eq!(fired("//! A.\n// TODO #12: later\nlet a = \"TODO\";\n"), []);
}

#[test]
fn commented_out_code_is_found() {
    // What only code looks like.
    for code in [
        "let x = 1;",
        "let (a, b) = pair;",
        "self.sync()?;",
        "writer.append(&record, true);",
        "assert_eq!(a, b);",
        "return self.len();",
        "use crate::base::types;",
        "pub mod x;",
        "self.count += 1;",
        "if x > 1 {",
        "} else {",
        "});",
        "fn f(x: u8) -> u8 {",
        "#[derive(Debug)]",
    ] {
        assert!(looks_like_code(code), "{code}");
        assert_eq!(
            fired(&format!("//! A.\n// {code}\n")),
            [("commented-out code", 2)],
            "{code}"
        );
    }
}

#[test]
fn prose_is_no_code() {
    // Sentences that end in a semicolon, speak of code, or draw with brackets.
    for prose in [
        "take the lock first;",
        "let the writer finish;",
        "use the shorter one;",
        "the writer calls flush();",
        "return early when nothing is left;",
        "type and length come first;",
        "one record (two fragments);",
        "x = 1 and y = 2, see below. Then;",
        "for example:",
        "level 1: [a..c] [d..f];",
        "",
    ] {
        assert!(!looks_like_code(prose), "{prose}");
    }
    // Examples in docs are code on purpose.
    assert_eq!(fired("//! A.\n/// let x = 1;\nfn f() {}\n"), []);
}

#[test]
fn a_result_thrown_away_without_a_word_is_found() {
    // A comment on the line or just above is the word asked for; a named binding is no throw.
    assert_eq!(
        fired("//! A.\nfn a() {\n    let _ = b();\n}\n"),
        [("result thrown away", 3)]
    );
    assert_eq!(
        fired("//! A.\nfn a() {\n    let _: u8 = b();\n}\n"),
        [("result thrown away", 3)]
    );
    assert_eq!(fired("//! A.\nlet _ = b(); // best effort\n"), []);
    assert_eq!(
        fired("//! A.\n// Best effort.\nlet _ = b();\nlet _guard = c();\n"),
        []
    );
}
