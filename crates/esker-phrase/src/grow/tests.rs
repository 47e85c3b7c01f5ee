//! Tests of selecting phrases.

use super::*;
use crate::count::Counter;

// Every byte, and these phrases.
fn with_bytes(texts: &[&[u8]]) -> Vec<Counted> {
    let mut phrases: Vec<Phrase> = (0..=u8::MAX).map(Phrase::of_byte).collect();
    phrases.extend(texts.iter().filter_map(|text| Phrase::new(text)));
    phrases.sort();
    let counted = |phrase| Counted { phrase, count: 1 };
    phrases.into_iter().map(counted).collect()
}

fn selected(phrases: &[Counted], text: &[u8], wanted: usize, may_join: bool) -> Vec<Counted> {
    let mut counter = Counter::new(phrases, true);
    counter.add(text);
    let (trie, counts) = counter.finish();
    select(phrases, &trie, &counts, wanted, may_join)
}

fn long_texts(phrases: &[Counted]) -> Vec<&[u8]> {
    let texts = phrases.iter().map(|counted| counted.phrase.text());
    texts.filter(|text| text.len() > 1).collect()
}

#[test]
fn what_saves_most_is_chosen_and_all_bytes_stay() {
    // A pair that comes all the time, one that comes now and then; room for one, and for more.
    let text = [&b"xyxyxyxyxyxyxyxy".repeat(9)[..], &b"pq".repeat(40)].concat();
    let bytes = with_bytes(&[]);
    let one = selected(&bytes, &text, 1, true);
    assert_eq!(one.len(), 257);
    assert!(one.is_sorted_by_key(|counted| counted.phrase));
    assert_eq!(long_texts(&one).len(), 1);
    let more = selected(&bytes, &text, 10, true);
    assert!(long_texts(&more).contains(&&b"pq"[..]));
    assert!(long_texts(&selected(&bytes, &text, 10, false)).is_empty());
}

#[test]
fn what_never_came_goes() {
    // One phrase of the text and one of another.
    let phrases = with_bytes(&[b"here", b"gone"]);
    let kept = selected(&phrases, &b"here, ".repeat(50), 10, false);
    assert_eq!(long_texts(&kept), [b"here"]);
}

#[test]
fn a_pair_takes_its_count_from_its_parts() {
    // "xy" is to be a phrase of its own; nothing is expected of x and y any more.
    let text = b"xy,".repeat(100);
    let chosen = selected(&with_bytes(&[]), &text, 1, true);
    let count = |text: &[u8]| {
        let found = chosen.iter().find(|counted| counted.phrase.text() == text);
        found.map(|counted| counted.count)
    };
    let pair = long_texts(&chosen)[0];
    assert!(count(pair).is_some_and(|count| count >= 99));
    assert!(count(&pair[..1]).is_some_and(|count| count <= 1));
    assert!(count(b"z").is_some_and(|count| count == 0));
}
