//! A text to its phrases: the cheapest ones, or good ones fast.
//!
//! `Best` is a shortest path: from every position each phrase that the text has there leads
//! further, and costs what its code takes. With classes a code's length depends on the class
//! before; the path keeps, for each position, the cheapest way there and its class only, which
//! was measured to give 1 % over prices without context.
//!
//! `Fast` goes phrase by phrase, and looks one phrase ahead.
//!
//! Bound: at most 15 loads of the trie for each byte in `Best`, and 60 for each phrase in `Fast`.

use crate::base::phrase::text::PHRASE_BYTES_MAX;
use crate::base::phrase::trie::{Mark, Trie};

/// How hard an encoder tries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Effort {
    /// The cheapest phrases.
    #[default]
    Best,
    /// More than twice as fast, and about 4 % larger.
    Fast,
}

/// Bytes that are parsed at once, in `Best`: what the path keeps for them stays in a cache of
/// the second level, and longer texts lose a phrase's cut in each of these pieces.
const PIECE_BYTES: usize = 1 << 14;

/// Lengths that `Fast` compares at a position: the longest ones.
const TRIED: usize = 3;

/// What a byte of text costs about, in eighths of a bit: what `Fast` holds against phrases of
/// different lengths. 2.25 bits is what prose takes.
const BYTE_PRICE: i64 = 18;

/// What a class costs behind a class, in eighths of a bit; row 64 is for a record's first phrase.
pub type ContextPrices = [[u8; 64]; 65];

/// The row of [`ContextPrices`] for a record's first phrase.
pub const FIRST_CONTEXT: usize = 64;

/// Finds the phrases of texts. Keeps its memory from one text to the next.
#[derive(Clone, Debug, Default)]
pub struct Parser {
    /// The cheapest way to each position: price (28 bits), length (4 bits) and mark (32 bits) of
    /// its last phrase.
    ways: Vec<u64>,
    /// The phrases found.
    marks: Vec<Mark>,
    /// Loads of the trie, for tests of the bound.
    #[cfg(test)]
    pub steps: u64,
}

impl Parser {
    /// The phrases of `text`, whose texts joined are `text`. `contexts` are the prices of
    /// classes, or `None` when there is one class.
    ///
    /// # Panics
    /// When the trie lacks a byte of the text as a phrase.
    pub fn parse(
        &mut self,
        trie: &Trie,
        contexts: Option<&ContextPrices>,
        effort: Effort,
        text: &[u8],
    ) -> &[Mark] {
        self.marks.clear();
        match (effort, contexts) {
            (Effort::Best, None) => self.best::<false>(trie, &[[0; 64]; 65], text),
            (Effort::Best, Some(contexts)) => self.best::<true>(trie, contexts, text),
            (Effort::Fast, None) => self.fast(trie, &[[0; 64]; 65], text),
            (Effort::Fast, Some(contexts)) => self.fast(trie, contexts, text),
        }
        &self.marks
    }

    fn best<const HAS_CLASSES: bool>(
        &mut self,
        trie: &Trie,
        contexts: &ContextPrices,
        text: &[u8],
    ) {
        let mut context = FIRST_CONTEXT;
        for piece in text.chunks(PIECE_BYTES) {
            self.best_of_piece::<HAS_CLASSES>(trie, contexts, context, piece);
            context = self.marks.last().map_or(FIRST_CONTEXT, |mark| mark.class());
        }
    }

    fn best_of_piece<const HAS_CLASSES: bool>(
        &mut self,
        trie: &Trie,
        contexts: &ContextPrices,
        first_context: usize,
        text: &[u8],
    ) {
        self.ways.clear();
        self.ways.resize(text.len() + 1, u64::MAX);
        let mut here = 0;
        let mut context = first_context;
        for at in 0..text.len() {
            let row = &contexts[context];
            let rest = &text[at..];
            let ways = &mut self.ways[at..];
            #[cfg(test)]
            let steps = &mut self.steps;
            trie.each_prefix(rest, |len, mark| {
                #[cfg(test)]
                {
                    *steps += 1;
                }
                let mut price = here + mark.price();
                if HAS_CLASSES {
                    price += u32::from(row[mark.class()]);
                }
                let way = u64::from(price) << 36 | (len as u64) << 32 | u64::from(mark.bits());
                ways[len] = ways[len].min(way);
            });
            let next = ways[1];
            assert!(next != u64::MAX, "every byte is a phrase");
            here = (next >> 36) as u32;
            context = Mark::from_bits(next as u32).class();
        }
        let start = self.marks.len();
        let mut at = text.len();
        while at > 0 {
            let way = self.ways[at];
            self.marks.push(Mark::from_bits(way as u32));
            at -= (way >> 32) as usize & PHRASE_BYTES_MAX;
        }
        self.marks[start..].reverse();
    }

    fn fast(&mut self, trie: &Trie, contexts: &ContextPrices, text: &[u8]) {
        let mut context = FIRST_CONTEXT;
        let mut rest = text;
        let mut found = Found::at(trie, rest);
        while !rest.is_empty() {
            let mut best: Option<(i64, usize, Mark, Found)> = None;
            for &(len, mark) in found.longest() {
                let next = Found::at(trie, &rest[len..]);
                let score = mark_score(contexts, context, len, mark)
                    + next.best_score(contexts, mark.class());
                if best.as_ref().is_none_or(|(other, ..)| score < *other) {
                    best = Some((score, len, mark, next));
                }
            }
            let (_, len, mark, next) = best.expect("every byte is a phrase");
            self.marks.push(mark);
            context = mark.class();
            rest = &rest[len..];
            found = next;
        }
    }
}

// What a phrase costs beyond what its bytes cost about.
fn mark_score(contexts: &ContextPrices, context: usize, len: usize, mark: Mark) -> i64 {
    let price = mark.price() + u32::from(contexts[context][mark.class()]);
    i64::from(price) - BYTE_PRICE * len as i64
}

/// The longest phrases at a position.
struct Found {
    phrases: [(usize, Mark); TRIED],
    count: usize,
}

impl Found {
    fn at(trie: &Trie, text: &[u8]) -> Found {
        let mut phrases = [(0, Mark::from_bits(0)); TRIED];
        let mut count = 0;
        trie.each_prefix(text, |len, mark| {
            phrases[count % TRIED] = (len, mark);
            count += 1;
        });
        Found {
            phrases,
            count: count.min(TRIED),
        }
    }

    fn longest(&self) -> &[(usize, Mark)] {
        &self.phrases[..self.count]
    }

    // Of the best of these phrases behind `context`; 0 at the end of a text.
    fn best_score(&self, contexts: &ContextPrices, context: usize) -> i64 {
        let score = |&(len, mark): &(usize, Mark)| mark_score(contexts, context, len, mark);
        self.longest().iter().map(score).min().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests;
