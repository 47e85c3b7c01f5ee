//! Tests of reviews from a file and made.

use std::collections::BTreeSet;

use super::*;

const TWO: &str = "product/productId: B1\nreview/userId: A1\nreview/time: 10\n\
    review/text: Good.\n\nproduct/productId: B2\nreview/text: no user\n\n\
    product/productId: B3\nreview/userId: A3\nreview/time: 30\nreview/text: Bad.\n";

#[test]
fn malformed_records_are_counted_and_passed_over() {
    // Three records, of which the second has no user.
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("reviews.txt");
    std::fs::write(&path, TWO).unwrap();
    let mut reviews = Reviews::open(Some(&path), 1 << 20, 1.0).unwrap();
    assert!(reviews.told().contains("reviews.txt"));
    let mut keys = Vec::new();
    while let Some((key, _)) = reviews.next_review().unwrap() {
        keys.push(String::from_utf8(key).unwrap());
    }
    assert_eq!(keys, ["B1/A1/10", "B3/A3/30"]);
    assert_eq!(reviews.malformed(), 1);
    assert!(Reviews::open(Some(&dir.path().join("none")), 1, 1.0).is_err());
}

#[test]
fn made_reviews_end_at_their_bound() {
    // Twenty kilobytes: one record goes over the edge, and none comes after it.
    let mut reviews = Reviews::open(None, 20_000, 1.0).unwrap();
    assert!(reviews.told().starts_with("made text"));
    let mut bytes = 0;
    while let Some((key, text)) = reviews.next_review().unwrap() {
        assert!(bytes < 20_000);
        bytes += key.len() + text.len();
    }
    assert!(bytes >= 20_000);
}

#[test]
fn a_file_is_followed_by_what_is_recombined_from_it() {
    // Sixty reviews, three times as many bytes wanted: new keys, and no text twice.
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("reviews.txt");
    let mut prose = Prose::new(60, 5);
    let mut text = String::new();
    for _ in 0..60 {
        text += std::str::from_utf8(&prose.next_record().1).unwrap();
        text += "\n\n";
    }
    std::fs::write(&path, text).unwrap();
    let mut reviews = Reviews::open(Some(&path), 1 << 30, 3.0).unwrap();
    assert!(reviews.told().contains("3 times"), "{}", reviews.told());
    let (mut keys, mut texts) = (BTreeSet::new(), BTreeSet::new());
    let (mut first, mut bytes, mut count) = (0, 0, 0);
    while let Some((key, text)) = reviews.next_review().unwrap() {
        bytes += key.len() + text.len();
        count += 1;
        if count == 60 {
            first = bytes;
        }
        let start = text.windows(12).position(|part| part == b"review/text:");
        texts.insert(text[start.unwrap()..].to_vec());
        keys.insert(key);
    }
    assert_eq!((keys.len(), texts.len()), (count, count));
    let factor = bytes as f64 / first as f64;
    assert!((2.95..3.1).contains(&factor), "{factor}");
}
