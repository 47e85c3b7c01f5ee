//! Bytes to text and back.

use super::{Format, escape, parse_base64, show_base64, tame, tame_json, unescape};

const FORMATS: [Format; 3] = [Format::Text, Format::Hex, Format::Base64];

#[test]
fn every_byte_survives_every_format() {
    // All bytes, all pairs around the edges, and text of several scripts go out and come back.
    let mut samples: Vec<Vec<u8>> = (0..=255).map(|byte| vec![byte]).collect();
    samples.push((0..=255).collect());
    samples.push(Vec::new());
    samples.push("tab\tline\nreturn\rback\\slash \\x41 ümlaut 漢字 \u{7f}".into());
    samples.push(b"cut \xe6\xbc in the middle".to_vec());
    for bytes in &samples {
        for format in FORMATS {
            let field = format.show_field(bytes);
            assert!(!field.contains(['\t', '\n', '\r']), "{field:?}");
            assert_eq!(&format.parse_field(field.as_bytes()).unwrap(), bytes);
        }
    }
}

#[test]
fn base64_agrees_with_the_standard() {
    // The examples of RFC 4648, section 10, and the same without padding.
    let examples = [
        ("", ""),
        ("f", "Zg=="),
        ("fo", "Zm8="),
        ("foo", "Zm9v"),
        ("foob", "Zm9vYg=="),
        ("fooba", "Zm9vYmE="),
        ("foobar", "Zm9vYmFy"),
    ];
    for (plain, coded) in examples {
        assert_eq!(show_base64(plain.as_bytes()), coded);
        assert_eq!(parse_base64(coded.as_bytes()).unwrap(), plain.as_bytes());
        let bare = coded.trim_end_matches('=');
        assert_eq!(parse_base64(bare.as_bytes()).unwrap(), plain.as_bytes());
    }
}

#[test]
fn nonsense_is_refused() {
    // Broken escapes, odd hex, base64 with loose bits: each is told, none is guessed at.
    for field in ["\\", "\\q", "\\x", "\\x4", "\\xzz", "a\\"] {
        assert!(unescape(field.as_bytes()).is_err(), "{field}");
    }
    for word in ["a", "zz", "0x41", "4 1"] {
        assert!(Format::Hex.parse(word).is_err(), "{word}");
    }
    for word in [
        "Z", "Zh==", "Zg=", "Zg===", "Z===", "Zm9=", "Zm 9", "====", "=Zg=",
    ] {
        assert!(Format::Base64.parse(word).is_err(), "{word}");
    }
}

#[test]
fn what_is_shown_is_read_back() {
    // Keys as `scan` prints them are keys as `get` reads them; a value is what the shell gave.
    assert_eq!(escape(br"C:\temp"), r"C:\\temp");
    assert_eq!(Format::Text.parse_field(br"C:\\temp").unwrap(), br"C:\temp");
    assert_eq!(Format::Text.parse(r"C:\temp").unwrap(), br"C:\temp");
}

#[test]
fn nothing_that_a_terminal_obeys_gets_through() {
    // Escape sequences, carriage returns, C1, bidirectional marks, by every way out.
    let wild = "\u{1b}[2J\r\u{9b}31m\u{202e}\u{2066}\u{200f}\u{feff}\u{2028}\u{7f}ü漢👩‍🚀";
    let is_wild = |char: char| char.is_control() || ('\u{2028}'..='\u{202e}').contains(&char);
    let shown = escape(wild.as_bytes());
    assert!(
        !shown.contains(is_wild) && shown.ends_with("ü漢👩‍🚀"),
        "{shown}"
    );
    assert_eq!(unescape(shown.as_bytes()).unwrap(), wild.as_bytes());
    let told = tame(wild);
    assert!(!told.contains(is_wild), "{told}");
    assert_eq!(tame("a\tb\nc\\"), "a\tb\nc\\");
    let json = serde_json::Value::from(wild);
    let tamed = tame_json(json.to_string());
    assert!(!tamed.contains(is_wild), "{tamed}");
    assert_eq!(
        serde_json::from_str::<serde_json::Value>(&tamed).unwrap(),
        json
    );
}
