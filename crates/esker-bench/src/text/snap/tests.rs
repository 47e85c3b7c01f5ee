//! Review records, good and malformed.

use std::io::Cursor;

use crate::text::lines::{Bounds, Lines};
use crate::text::record::Parsed;

use super::next;

fn parse(text: &str) -> Vec<Parsed> {
    let bounds = Bounds {
        piece: 300,
        line: 3000,
        key: 50,
        value: 1000,
    };
    let mut lines = Lines::new(Box::new(Cursor::new(text.to_owned())), bounds);
    std::iter::from_fn(|| next(&mut lines).unwrap()).collect()
}

fn review(product: &str, user: &str, time: &str) -> String {
    format!(
        "product/productId: {product}\nproduct/title: A title\nreview/userId: {user}\n\
         review/score: 5.0\nreview/time: {time}\nreview/text: Good."
    )
}

#[test]
fn record_becomes_key_and_value() {
    // Two records with more than one blank line around them and no line feed at the end.
    let (first, second) = (review("B00", "A1", "100"), review("B01", "A2", "200"));
    let found = parse(&format!("\n{first}\n\n\n{second}"));
    assert_eq!(found.len(), 2);
    let record = found[0].as_ref().unwrap();
    assert_eq!(record.key, b"B00/A1/100");
    assert_eq!(record.value, first.as_bytes());
    assert_eq!(record.line, 2);
    assert_eq!(found[1].as_ref().unwrap().line, 10);
}

#[test]
fn lines_without_a_field_continue_the_text() {
    // Some review texts hold line feeds of their own.
    let text = format!("{}\nand a second line\n", review("B00", "A1", "1"));
    let found = parse(&text);
    assert!(
        found[0]
            .as_ref()
            .unwrap()
            .value
            .ends_with(b"Good.\nand a second line")
    );
}

#[test]
fn text_may_be_longer_than_a_piece() {
    // Put together again, with the line feeds between its lines.
    let text = format!("{}{}\nmore", review("B00", "A1", "1"), "long ".repeat(100));
    let found = parse(&format!("{text}\n\n"));
    assert_eq!(found[0].as_ref().unwrap().value, text.as_bytes());
}

#[test]
fn malformed_records_are_told_with_their_lines() {
    // Each story: the text, the line blamed, a word of the reason. A good record follows each.
    let cases = [
        (
            "review/userId: A\nreview/time: 1",
            1,
            "no product/productId",
        ),
        (
            "product/productId: B\nreview/time: 1",
            1,
            "no review/userId",
        ),
        (
            "product/productId: B\nreview/userId: A",
            1,
            "no review/time",
        ),
        (
            "product/productId:\nreview/userId: A\nreview/time: 1",
            1,
            "productId is empty",
        ),
        (
            "product/productId: B\nreview/userId: A\nreview/time: May",
            1,
            "no number: May",
        ),
        (
            &format!("{}\n{}", review("B", "A", "1"), review("C", "A", "1")),
            7,
            "blank line",
        ),
        ("chaos", 1, "no product/productId"),
        (&"x".repeat(1001), 1, "record is too long"),
        (&"x\n".repeat(501), 1, "record is too long"),
        (
            &format!("review/userId: {}", "x".repeat(51)),
            1,
            "a field of the key is too long",
        ),
        (
            &format!("review/userId: {}", "x".repeat(400)),
            1,
            "a field of the key is too long",
        ),
    ];
    for (text, line, reason) in cases {
        let found = parse(&format!("{text}\n\n{}\n", review("Z", "Z", "9")));
        assert_eq!(found.len(), 2, "{text}");
        let wrong = found[0].as_ref().unwrap_err();
        assert_eq!(wrong.line, line, "{text}");
        assert!(wrong.reason.contains(reason), "{}", wrong.reason);
        assert_eq!(found[1].as_ref().unwrap().key, b"Z/Z/9");
    }
}
