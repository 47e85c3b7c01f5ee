//! A text to its phrases: the cheapest ones, or good ones fast.
//!
//! Both are a shortest path: from every position phrases that the text has there lead further, and
//! cost what their codes take. `Best` goes with all of them. `Fast` goes with the two longest, and
//! passes over positions that promise less than one ahead.
//!
//! With classes a code's length depends on the class before; the path keeps, for each position, the
//! cheapest way there and its class only.
//!
//! Bound: at most 15 loads of the trie for each byte.

use crate::text::PHRASE_BYTES_MAX;
use crate::trie::{Mark, Trie};

/// How hard an encoder tries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Effort {
    /// The cheapest phrases.
    #[default]
    Best,
    /// Nearly twice as fast, and about 4.5 % larger.
    Fast,
}

/// Bytes that are parsed at once, in `Best`: what the path keeps for them stays in a cache of
/// the second level, and longer texts lose a phrase's cut in each of these pieces.
const PIECE_BYTES: usize = 1 << 14;

/// What a byte of text costs about, in eighths of a bit: 2.25 bits is what prose takes.
const BYTE_PRICE: i64 = 18;

/// How much less promising a position may be than the best one ahead, and still be looked at, in
/// eighths of a bit. Measured on reviews: with 0 a text is 9 % larger than with `Best`, with 32
/// 4.5 %, with 64 3 %; without a limit 2.3 %, but only a quarter faster than `Best`.
const PATIENCE: i64 = 32;

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
        let without = [[0; 64]; 65];
        let mut context = FIRST_CONTEXT;
        for piece in text.chunks(PIECE_BYTES) {
            self.ways.clear();
            self.ways.resize(piece.len() + 1, NO_WAY);
            self.ways[0] = 0;
            match (effort, contexts) {
                (Effort::Best, None) => self.all_ways::<false>(trie, &without, context, piece),
                (Effort::Best, Some(prices)) => self.all_ways::<true>(trie, prices, context, piece),
                (Effort::Fast, prices) => {
                    self.some_ways(trie, prices.unwrap_or(&without), context, piece);
                }
            }
            self.walk_back(piece.len());
            context = self.marks.last().map_or(FIRST_CONTEXT, |mark| mark.class());
        }
        &self.marks
    }

    // Ways over all phrases.
    fn all_ways<const HAS_CLASSES: bool>(
        &mut self,
        trie: &Trie,
        contexts: &ContextPrices,
        first_context: usize,
        text: &[u8],
    ) {
        let mut context = first_context;
        for at in 0..text.len() {
            let (here, row) = (price_of(self.ways[at]), &contexts[context]);
            let ways = &mut self.ways[at..];
            #[cfg(test)]
            let steps = &mut self.steps;
            trie.each_node(&text[at..], |len, mark| {
                #[cfg(test)]
                {
                    *steps += 1;
                }
                let mut price = here + mark.price();
                if HAS_CLASSES {
                    price += u32::from(row[mark.class()]);
                }
                let way = way_over(mark, len, price);
                let way = if mark == Mark::NONE { NO_WAY } else { way };
                ways[len] = ways[len].min(way);
            });
            let next = ways[1];
            assert!(next != NO_WAY, "every byte is a phrase");
            context = mark_of(next).class();
        }
    }

    // Ways over the two longest phrases of promising positions.
    fn some_ways(
        &mut self,
        trie: &Trie,
        contexts: &ContextPrices,
        first_context: usize,
        text: &[u8],
    ) {
        // The most promising of the positions ahead: where it is, and what leads there.
        let (mut ahead, mut least) = (0, 0);
        for at in 0..text.len() {
            let way = self.ways[at];
            if way == NO_WAY || ahead > at && promise(way, at) > least + PATIENCE {
                continue;
            }
            let context = if at == 0 {
                first_context
            } else {
                mark_of(way).class()
            };
            let (here, row) = (price_of(way), &contexts[context]);
            let mut longest = [(0, Mark::NONE); 2];
            #[cfg(test)]
            let steps = &mut self.steps;
            trie.each_prefix(&text[at..], |len, mark| {
                #[cfg(test)]
                {
                    *steps += 1;
                }
                longest = [(len, mark), longest[0]];
            });
            assert!(longest[0].0 > 0, "every byte is a phrase");
            for (len, mark) in longest.into_iter().filter(|(len, _)| *len > 0) {
                let price = here + mark.price() + u32::from(row[mark.class()]);
                let (way, end) = (way_over(mark, len, price), at + len);
                self.ways[end] = self.ways[end].min(way);
                if ahead <= at || promise(way, end) < least {
                    (ahead, least) = (end, promise(way, end));
                }
            }
        }
    }

    // Appends the phrases of the cheapest way to the end.
    fn walk_back(&mut self, text_len: usize) {
        let start = self.marks.len();
        let mut at = text_len;
        while at > 0 {
            let way = self.ways[at];
            self.marks.push(mark_of(way));
            at -= (way >> 32) as usize & PHRASE_BYTES_MAX;
        }
        self.marks[start..].reverse();
    }
}

/// A position that nothing leads to.
const NO_WAY: u64 = u64::MAX;

// The cheaper of two ways is the smaller number.
#[inline(always)]
fn way_over(mark: Mark, len: usize, price: u32) -> u64 {
    u64::from(price) << 36 | (len as u64) << 32 | u64::from(mark.bits())
}

// How much more a way has cost than so many bytes do: the less, the better.
#[inline(always)]
fn promise(way: u64, at: usize) -> i64 {
    i64::from(price_of(way)) - BYTE_PRICE * at as i64
}

#[inline(always)]
fn price_of(way: u64) -> u32 {
    (way >> 36) as u32
}

#[inline(always)]
fn mark_of(way: u64) -> Mark {
    Mark::from_bits(way as u32)
}

#[cfg(test)]
mod tests;
