//! Tests of parsing.

use super::*;
use crate::corpus::{self, Dice};
use crate::text::Phrase;

// The least that phrases of `text` cost, by trying every cut.
fn least(phrases: &[(Phrase, Mark)], text: &[u8]) -> u32 {
    let mut costs = vec![0];
    for end in 1..=text.len() {
        let ways = phrases
            .iter()
            .filter(|(phrase, _)| text[..end].ends_with(phrase.text()));
        let costs_of_ways = ways.map(|(phrase, mark)| costs[end - phrase.len()] + mark.price());
        costs.push(costs_of_ways.min().unwrap());
    }
    costs[text.len()]
}

#[test]
fn best_is_the_least_that_any_cut_costs() {
    // Random phrases of two letters with random prices, and random texts.
    let mut dice = Dice::new(2);
    for _ in 0..30 {
        let mut phrases = vec![];
        for id in 0..60 {
            let len = if id < 2 { 1 } else { 2 + dice.below(6) };
            let mut text: Vec<u8> = (0..len).map(|_| dice.below(2) as u8).collect();
            if id < 2 {
                text = vec![id as u8];
            }
            let mark = Mark::new(id, 0, 1 + dice.below(255) as u8);
            phrases.push((Phrase::new(&text).unwrap(), mark));
        }
        phrases.sort_by_key(|(phrase, _)| *phrase);
        phrases.dedup_by_key(|(phrase, _)| *phrase);
        let trie = Trie::new(&phrases);
        let mut parser = Parser::default();
        for _ in 0..20 {
            let len = dice.below(60);
            let text: Vec<u8> = (0..len).map(|_| dice.below(2) as u8).collect();
            let price = |marks: &[Mark]| marks.iter().map(|mark| mark.price()).sum::<u32>();
            let best = price(parser.parse(&trie, None, Effort::Best, &text));
            assert_eq!(best, least(&phrases, &text));
            let fast = price(parser.parse(&trie, None, Effort::Fast, &text));
            assert!(fast >= best);
        }
    }
}

#[test]
fn steps_are_bounded_whatever_the_text_is() {
    // Phrases of zeros of every length in a text of zeros: each position meets 15 phrases.
    let phrase = |len: usize| Phrase::new(&vec![0; len]).unwrap();
    let phrases: Vec<_> = (1..=15)
        .map(|len| (phrase(len), Mark::new(len as u32, 0, 9)))
        .collect();
    let trie = Trie::new(&phrases);
    let mut parser = Parser::default();
    let text = vec![0; 100_000];
    let count = parser.parse(&trie, None, Effort::Best, &text).len();
    assert!(parser.steps <= 15 * text.len() as u64);
    // A phrase more for each piece at most.
    assert!(count <= text.len() / 15 + text.len() / PIECE_BYTES + 2);
    let count = parser.parse(&trie, None, Effort::Fast, &text).len();
    assert!(count <= text.len() / 13);
}

#[test]
fn phrases_join_to_the_text() {
    // Every sort of text, with both dictionaries and both efforts.
    for dictionary in corpus::dictionaries() {
        let marked = dictionary.codebook().marked(dictionary.parts());
        let contexts = dictionary.codebook().context_prices();
        let trie = Trie::new(&marked);
        let mut parser = Parser::default();
        for text in corpus::texts() {
            for effort in [Effort::Best, Effort::Fast] {
                let marks = parser.parse(&trie, contexts.as_deref(), effort, &text);
                let mut joined: Vec<u8> = Vec::new();
                for mark in marks {
                    joined.extend(dictionary.parts().phrase(mark.id() as usize).text());
                }
                assert_eq!(joined, text);
            }
        }
    }
}
