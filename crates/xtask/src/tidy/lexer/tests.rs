//! What the lexer must never mistake.

use crate::tidy::lexer::{closing, line_of, split, words};

#[test]
fn comments_are_blank_in_code_and_kept_aside() {
    // A line comment, a doc comment and a nested block comment: none of their words is code.
    let text = "//! Caption.\nlet a = 1; // why\n/* x /* y */ fn z */ let b = 2;\n";
    let split = split(text);
    assert_eq!(split.code.len(), text.len());
    assert!(!split.code.contains("fn"));
    assert!(split.code.contains("let b = 2;"));
    let told: Vec<(usize, &str, bool, bool)> = split
        .comments
        .iter()
        .map(|c| (c.line, c.text.trim(), c.is_doc, c.is_line))
        .collect();
    assert_eq!(told[0], (1, "Caption.", true, true));
    assert_eq!(told[1], (2, "why", false, true));
    assert_eq!(told[2], (3, "x /* y */ fn z", false, false));
}

#[test]
fn strings_hide_what_they_hold() {
    // Each literal holds a word that a naive reader would take for code or for a comment.
    for literal in [
        r#""unsafe // no comment""#,
        r#""a quote \" unsafe""#,
        r##"r#"unsafe " unsafe"#"##,
        r#"r"unsafe \""#,
        r###"br##"unsafe "# "##"###,
        r#"b"unsafe""#,
        r#"c"unsafe""#,
        "\"two\nlines unsafe\"",
    ] {
        let text = format!("let a = {literal};\nlet after = 1;");
        let split = split(&text);
        assert!(!split.code.contains("unsafe"), "{literal}");
        assert!(split.code.contains("let after = 1;"), "{literal}");
        assert!(split.comments.is_empty(), "{literal}");
        assert_eq!(split.code.matches('\n').count(), text.matches('\n').count());
    }
}

#[test]
fn a_quote_is_a_character_or_a_lifetime() {
    // A character literal may hold a brace or a quote; a lifetime opens nothing.
    let text = "fn f<'a>(x: &'a str) { match c { '{' | '\\'' | '\"' | b'}' | 'é' => '\\u{7d}' } }";
    let split = split(text);
    assert_eq!(split.code.matches('{').count(), 2);
    assert_eq!(split.code.matches('}').count(), 2);
    assert!(split.code.contains("<'a>(x: &'a str)"));
}

#[test]
fn a_raw_identifier_is_code() {
    // `r#fn` starts like a raw string and is none.
    assert_eq!(split("let r#fn = 1;").code, "let r#fn = 1;");
}

#[test]
fn an_open_end_is_not_a_crash() {
    // Half-written files are read too.
    for text in [
        "\"open", "r#\"open", "/* open", "'", "'\\", "\"\\", "b'", "/*", "/**/", "/**",
    ] {
        assert_eq!(split(text).code.len(), text.len(), "{text}");
    }
}

#[test]
fn words_stand_alone() {
    // Part of a longer name is not the word.
    let found: Vec<usize> = words("unsafe_code unsafe {} my_unsafe", "unsafe").collect();
    assert_eq!(found, [12]);
}

#[test]
fn brackets_close_in_pairs() {
    // The bracket that closes is the one at the same depth; a missing one ends the file.
    assert_eq!(closing("a { (b) [c] } d", 2), 12);
    assert_eq!(closing("{ {", 0), 3);
    assert_eq!(line_of("a\nb\nc", 4), 3);
}
