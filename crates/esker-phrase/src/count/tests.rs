//! Tests of counting.

use super::*;
use crate::text::PHRASE_BYTES_MAX;

fn counted(texts: &[&[u8]]) -> Vec<Counted> {
    let counted = |text: &&[u8]| Counted {
        phrase: Phrase::new(text).unwrap(),
        count: 1,
    };
    texts.iter().map(counted).collect()
}

#[test]
fn phrases_first_ones_and_pairs_are_counted() {
    // Two texts over three phrases: no pair goes from one text to the next.
    let phrases = counted(&[b"a", b"ab", b"b"]);
    let mut counter = Counter::new(&phrases, true);
    counter.add(b"abab");
    counter.add(b"bab");
    counter.add(b"");
    let (_, counts) = counter.finish();
    assert_eq!(counts.phrases, [0, 3, 1]);
    assert_eq!(counts.firsts, [0, 1, 1]);
    let pair = |left, right, count| Pair { left, right, count };
    assert_eq!(counts.pairs, [pair(1, 1, 1), pair(2, 1, 1)]);
}

#[test]
fn a_sample_of_one_letter_takes_no_more_steps_than_any_other() {
    // Phrases of every length match everywhere, and the work is still 15 loads for each byte.
    let zeros = [0; PHRASE_BYTES_MAX];
    let texts: Vec<&[u8]> = (1..=PHRASE_BYTES_MAX).map(|len| &zeros[..len]).collect();
    let mut counter = Counter::new(&counted(&texts), true);
    counter.add(&[0; 50_000]);
    assert!(counter.parser.steps <= 15 * 50_000);
    // A pair for each two phrases, and phrases are as long as can be.
    assert!(counter.pairs.len() < 50_000 / 14);
}
