//! Tests of phrases.

use super::*;

#[test]
fn order_of_slots_is_order_of_texts() {
    // Texts with zeros and prefixes of one another, sorted as texts and as slots.
    let mut texts: Vec<&[u8]> = vec![b"b", b"a", b"a\0", b"a\0\0", b"ab", b"\0", b"\xff", b"aa"];
    texts.sort_unstable();
    let phrases: Vec<Phrase> = texts.iter().filter_map(|text| Phrase::new(text)).collect();
    assert_eq!(phrases.len(), texts.len());
    assert!(phrases.is_sorted_by(|left, right| left < right));
    assert!(phrases.is_sorted_by_key(|phrase| phrase.sort_key()));
    assert!(
        phrases
            .iter()
            .zip(texts)
            .all(|(phrase, text)| phrase.text() == text)
    );
}

#[test]
fn only_1_to_15_bytes_are_a_phrase() {
    // The limits, made at once and by joining.
    assert_eq!(Phrase::new(b""), None);
    assert_eq!(Phrase::new(&[7; 16]), None);
    let eight = Phrase::new(&[7; 8]).unwrap();
    let seven = Phrase::new(&[7; 7]).unwrap();
    assert_eq!(eight.join(eight), None);
    assert_eq!(eight.join(seven), Phrase::new(&[7; 15]));
    assert_eq!(Phrase::of_byte(3), Phrase::new(&[3]).unwrap());
}
