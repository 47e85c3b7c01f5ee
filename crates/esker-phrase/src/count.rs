//! How often phrases and neighbours come in texts.

use crate::log2::price;
use crate::parse::{Effort, Parser};
use crate::text::Phrase;
use crate::trie::{Mark, Trie};

/// A phrase and how often it comes, or is expected to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counted {
    /// The phrase.
    pub phrase: Phrase,
    /// How often.
    pub count: u64,
}

/// Two phrases, by number, one behind the other, and how often they come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    /// Number of the first.
    pub left: u32,
    /// Number of the second.
    pub right: u32,
    /// How often.
    pub count: u64,
}

/// Parses texts and counts.
#[derive(Debug)]
pub struct Counter {
    trie: Trie,
    parser: Parser,
    /// By number.
    counts: Vec<u64>,
    /// By number: how often a phrase is the first of its text.
    firsts: Vec<u64>,
    /// Left and right number of every pair that came, in 32 bits each; empty if not wanted.
    pairs: Vec<u64>,
    wants_pairs: bool,
}

/// What was counted.
#[derive(Debug)]
pub struct Counts {
    /// By number.
    pub phrases: Vec<u64>,
    /// By number: how often a phrase is the first of its text.
    pub firsts: Vec<u64>,
    /// Rising by left and right number.
    pub pairs: Vec<Pair>,
}

impl Counter {
    /// A counter of phrases, which rise; a phrase's place is its number.
    pub fn new(phrases: &[Counted], wants_pairs: bool) -> Counter {
        let total = phrases.iter().map(|phrase| phrase.count).sum();
        let marked: Vec<_> = (0..)
            .zip(phrases)
            .map(|(id, counted)| {
                let mark = Mark::new(id, 0, price(counted.count, total));
                (counted.phrase, mark)
            })
            .collect();
        Counter {
            trie: Trie::new(&marked),
            parser: Parser::default(),
            counts: vec![0; phrases.len()],
            firsts: vec![0; phrases.len()],
            pairs: Vec::new(),
            wants_pairs,
        }
    }

    /// Counts the phrases of one text.
    pub fn add(&mut self, text: &[u8]) {
        let marks = self.parser.parse(&self.trie, None, Effort::Best, text);
        for mark in marks {
            self.counts[mark.id() as usize] += 1;
        }
        if let Some(first) = marks.first() {
            self.firsts[first.id() as usize] += 1;
        }
        if self.wants_pairs {
            let pair = |pair: &[Mark]| u64::from(pair[0].id()) << 32 | u64::from(pair[1].id());
            self.pairs.extend(marks.windows(2).map(pair));
        }
    }

    /// The trie that found the phrases, and what was counted.
    pub fn finish(mut self) -> (Trie, Counts) {
        self.pairs.sort_unstable();
        let pair = |same: &[u64]| Pair {
            left: (same[0] >> 32) as u32,
            right: same[0] as u32,
            count: same.len() as u64,
        };
        let pairs = self.pairs.chunk_by(|left, right| left == right);
        let counts = Counts {
            pairs: pairs.map(pair).collect(),
            phrases: self.counts,
            firsts: self.firsts,
        };
        (self.trie, counts)
    }
}

#[cfg(test)]
mod tests;
