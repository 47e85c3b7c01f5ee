//! The codes of a dictionary, and the bodies that are written with them.
//!
//! With one class a phrase has one code. With several it has two: its class's, which depends on
//! the class of the phrase before, and its own inside the class.

use crate::bits::BitWriter;
use crate::error::{Error, Result};
use crate::format::{Parts, SPLIT_BYTES_MIN};
use crate::log2::PRICE_PER_BIT;
use crate::parse::{ContextPrices, FIRST_CONTEXT};
use crate::prefix::{Code, Lengths, Shape};
use crate::text::Phrase;
use crate::trie::Mark;

/// Codes of phrases when there is one class: 4 KB of table.
pub const ORDER0: Shape = Shape {
    top_bits: 10,
    suffix_bits_max: 16,
};

/// Codes of phrases inside one of several classes: 1 KB of table for each.
pub const INSIDE: Shape = Shape {
    top_bits: 8,
    suffix_bits_max: 16,
};

/// Codes of classes: all 65 tables together have 65 KB.
pub const CLASS: Shape = Shape {
    top_bits: 9,
    suffix_bits_max: 0,
};

/// The codes of a dictionary in the order in which they are counted.
#[derive(Debug)]
pub struct Ranking {
    /// Numbers of phrases, class by class, in each from the shortest code on.
    pub ids: Vec<u32>,
    /// For each class the rank of its first phrase, and the lengths of its codes.
    pub insides: Vec<(u32, Lengths)>,
    /// For each row of contexts its classes, from the shortest code on, and their lengths.
    pub rows: Vec<(Vec<u8>, Lengths)>,
}

impl Ranking {
    /// The order of the codes of `parts`. `Damaged` when lengths do not obey the law.
    pub fn new(parts: &Parts) -> Result<Ranking> {
        Ranking::checked(parts)
            .ok_or_else(|| Error::damaged("codes of a phrase dictionary do not make sense"))
    }

    fn checked(parts: &Parts) -> Option<Ranking> {
        let count = u32::try_from(parts.count()).ok()?;
        let key = |id: &u32| (parts.class(*id as usize), parts.lengths[*id as usize]);
        let mut ids: Vec<u32> = (0..count).collect();
        ids.sort_by_key(key);
        let mut insides = Vec::new();
        let mut rest = &ids[..];
        for class in 0..parts.class_count {
            let until = rest.partition_point(|id| usize::from(key(id).0) <= class);
            let (inside, behind) = rest.split_at(until);
            let lengths = inside.iter().map(|id| key(id).1);
            let first = count - u32::try_from(rest.len()).ok()?;
            insides.push((first, Lengths::from_lengths(shape(parts), lengths)?));
            rest = behind;
        }
        let mut rows = Vec::new();
        for row in parts.contexts.chunks(parts.class_count) {
            let mut classes: Vec<u8> = (0..).take(row.len()).collect();
            classes.sort_by_key(|class| row[usize::from(*class)]);
            let lengths = classes.iter().map(|class| row[usize::from(*class)]);
            let lengths = Lengths::from_lengths(CLASS, lengths)?;
            rows.push((classes, lengths));
        }
        Some(Ranking { ids, insides, rows })
    }
}

/// The shape of the codes of phrases.
pub fn shape(parts: &Parts) -> Shape {
    if parts.class_count == 1 {
        ORDER0
    } else {
        INSIDE
    }
}

/// Everything an encoder needs to know of the codes.
#[derive(Debug)]
pub struct Codebook {
    /// By number.
    phrases: Vec<Code>,
    /// By context and class; empty with one class.
    classes: Vec<[Code; 64]>,
}

impl Codebook {
    /// The codes of `parts`.
    pub fn new(parts: &Parts, ranking: &Ranking) -> Codebook {
        let mut phrases = vec![Code::default(); parts.count()];
        let codes = ranking
            .insides
            .iter()
            .flat_map(|(_, lengths)| lengths.codes());
        for (id, code) in ranking.ids.iter().zip(codes) {
            phrases[*id as usize] = code;
        }
        let mut classes = vec![[Code::default(); 64]; ranking.rows.len()];
        for (row, (order, lengths)) in classes.iter_mut().zip(&ranking.rows) {
            for (class, code) in order.iter().zip(lengths.codes()) {
                row[usize::from(*class)] = code;
            }
        }
        // The context of a first phrase is the last row of any number of classes.
        if let Some(first) = classes.last().copied() {
            classes.resize(FIRST_CONTEXT + 1, first);
        }
        Codebook { phrases, classes }
    }

    /// Every phrase with its price, rising.
    pub fn marked(&self, parts: &Parts) -> Vec<(Phrase, Mark)> {
        let mark = |id: usize| {
            let price = (u32::from(self.phrases[id].len) * PRICE_PER_BIT).max(1);
            let price = u8::try_from(price).expect("26 bits at most");
            let number = u32::try_from(id).expect("18 bits");
            (parts.phrase(id), Mark::new(number, parts.class(id), price))
        };
        let mut marked: Vec<_> = (0..parts.count()).map(mark).collect();
        marked.sort_unstable_by_key(|(phrase, _)| phrase.sort_key());
        marked
    }

    /// The prices of classes; `None` with one class.
    pub fn context_prices(&self) -> Option<Box<ContextPrices>> {
        if self.classes.is_empty() {
            return None;
        }
        let mut prices = Box::new([[0; 64]; 65]);
        for (row, codes) in prices.iter_mut().zip(&self.classes) {
            let codes = codes.iter().map(|code| u32::from(code.len) * PRICE_PER_BIT);
            for (price, code) in row.iter_mut().zip(codes) {
                *price = u8::try_from(code).expect("9 bits at most");
            }
        }
        Some(prices)
    }

    /// Appends the body of a text with these phrases.
    pub fn write_body(
        &self,
        marks: &[Mark],
        raw_len: usize,
        streams: &mut [BitWriter; 2],
        out: &mut Vec<u8>,
    ) {
        let [first, second] = streams;
        match (self.classes.is_empty(), raw_len < SPLIT_BYTES_MIN) {
            (true, true) => self.put_plain(marks.iter(), first),
            (true, false) => {
                let (front, back) = marks.split_at(marks.len().div_ceil(2));
                self.put_plain(front.iter(), first);
                self.put_plain(back.iter().rev(), second);
            }
            (false, true) => self.put_together(marks, first),
            (false, false) => self.put_apart(marks, first, second),
        }
        first.finish_forward(out);
        second.finish_backward(out);
    }

    fn put_plain<'a>(&self, marks: impl Iterator<Item = &'a Mark>, stream: &mut BitWriter) {
        for mark in marks {
            put(stream, self.phrases[mark.id() as usize]);
        }
    }

    fn put_together(&self, marks: &[Mark], stream: &mut BitWriter) {
        let mut context = FIRST_CONTEXT;
        for mark in marks {
            put(stream, self.classes[context][mark.class()]);
            put(stream, self.phrases[mark.id() as usize]);
            context = mark.class();
        }
    }

    fn put_apart(&self, marks: &[Mark], classes: &mut BitWriter, insides: &mut BitWriter) {
        let mut context = FIRST_CONTEXT;
        for mark in marks {
            put(classes, self.classes[context][mark.class()]);
            put(insides, self.phrases[mark.id() as usize]);
            context = mark.class();
        }
    }
}

#[inline]
fn put(stream: &mut BitWriter, code: Code) {
    stream.put(code.bits, u32::from(code.len));
}
