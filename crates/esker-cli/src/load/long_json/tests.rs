//! Lines in pieces are what they are in one.

use serde_json::{Map, Value, json};

use super::{LongJson, LongStrings};

fn in_pieces(line: &[u8], size: usize, long: usize) -> Result<Map<String, Value>, String> {
    let mut json = LongJson::new(long, LongStrings::Kept(400));
    for piece in line.chunks(size) {
        json.add(piece)?;
    }
    json.finish()
}

#[test]
fn pieces_of_every_size_read_alike() {
    // Escapes of every kind, pairs that are one character, characters of several bytes, strings
    // that look like marks, and what is broken: as in one piece, wherever it is cut.
    let mut lines: Vec<Vec<u8>> = vec![
        json!({"key": "k", "value": {"base64": "AAAA".repeat(20)}})
            .to_string()
            .into(),
        json!({"key": "\0 0", "value": "\u{0}1", "more": [1, {"a": "x".repeat(40)}]})
            .to_string()
            .into(),
        r#" { "key" : "ä€🦀 aäääääääääää€€€€€€€€€€€🦀🦀🦀🦀🦀🦀🦀🦀" , "value" : -1.5e3 } "#.into(),
        r#"{"key":"\ud83e\udd80\u00e4\\\"\/\b\f\n\r\t\u0041\uD83E\uDD80 \\\\\\\\\\\\\\\\\\"}"#
            .into(),
        r#"{"key":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\ud83e and nothing more"}"#.into(),
        r#"{"key":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\q"}"#.into(),
        r#"{"key":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"#.into(),
        r#"{"key":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"#.into(),
        r#"["aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"]"#.into(),
    ];
    lines.push(
        [
            &br#"{"key":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaa"#[..],
            b"\xc3(\"}",
        ]
        .concat(),
    );
    for line in lines {
        let whole = serde_json::from_slice::<Map<String, Value>>(&line);
        for size in 1..=line.len() {
            for long in [60, 80, 200] {
                let found = in_pieces(&line, size, long);
                let text = String::from_utf8_lossy(&line);
                match &whole {
                    Err(_) => assert!(found.is_err(), "{text} by {size}"),
                    // Deep inside lists nothing is put back: no field of an entry is there.
                    Ok(whole) => {
                        let found = found.unwrap();
                        for name in ["key", "value"] {
                            assert_eq!(found.get(name), whole.get(name), "{text} by {size}");
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn memory_is_bounded() {
    // Strings beyond the bound, and anything but strings.
    let mut json = LongJson::new(100, LongStrings::Kept(400));
    json.add(br#"{"key":""#).unwrap();
    let count = (0..100)
        .take_while(|_| json.add(&[b'x'; 50]).is_ok())
        .count();
    assert!((8..12).contains(&count), "{count}");
    let mut json = LongJson::new(100, LongStrings::Kept(400));
    json.add(br#"{"key":["#).unwrap();
    let count = (0..100)
        .take_while(|_| json.add(b"12345678,").is_ok())
        .count();
    assert!(count < 30);

    // Forgotten strings take none.
    let mut json = LongJson::new(100, LongStrings::Forgotten);
    json.add(br#"{"id":7,"text":""#).unwrap();
    for _ in 0..100 {
        json.add(&[b'x'; 50]).unwrap();
        assert!(json.rest.len() + json.short.len() < 300);
        assert!(json.string.as_ref().is_none_or(Vec::is_empty));
    }
    json.add(b"\"}").unwrap();
    assert_eq!(json.finish().unwrap()["id"], 7);
}
