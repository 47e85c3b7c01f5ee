//! Encodes texts with a dictionary.

use std::sync::Arc;

use crate::bits::BitWriter;
use crate::dictionary::Dictionary;
use crate::format::{Head, Method, TEXT_BYTES_MAX};
use crate::parse::{ContextPrices, Effort, Parser};
use crate::sample::Sample;
use crate::trie::Trie;

/// Bytes of records that an estimate encodes: a tenth of a second, and enough to tell a per cent.
const ESTIMATE_BYTES: usize = 1 << 20;

/// Encodes one text after the other. A clone shares the trie and has its own memory, so that
/// several threads can encode with one dictionary.
///
/// Shape: making the first one builds the trie, which takes about 50 ms for 64 Ki phrases.
#[derive(Clone, Debug)]
pub struct Encoder {
    dictionary: Arc<Dictionary>,
    effort: Effort,
    trie: Arc<Trie>,
    contexts: Option<Box<ContextPrices>>,
    parser: Parser,
    streams: [BitWriter; 2],
}

impl Encoder {
    /// An encoder for texts of this dictionary.
    pub fn new(dictionary: &Arc<Dictionary>, effort: Effort) -> Encoder {
        let codebook = dictionary.codebook();
        Encoder {
            effort,
            trie: Arc::new(Trie::new(&codebook.marked(dictionary.parts()))),
            contexts: codebook.context_prices(),
            dictionary: Arc::clone(dictionary),
            parser: Parser::default(),
            streams: <[BitWriter; 2]>::default(),
        }
    }

    /// The dictionary.
    pub fn dictionary(&self) -> &Arc<Dictionary> {
        &self.dictionary
    }

    /// Another effort from the next text on. Records are decoded alike.
    pub fn set_effort(&mut self, effort: Effort) {
        self.effort = effort;
    }

    /// Appends the record of `raw`: at most 5 bytes more than `raw` has.
    pub fn encode(&mut self, raw: &[u8], out: &mut Vec<u8>) {
        let start = out.len();
        if raw.len() <= TEXT_BYTES_MAX && !raw.is_empty() {
            let (raw_len, method) = (raw.len(), Method::Phrases);
            Head { raw_len, method }.put(out);
            let body_start = out.len();
            let contexts = self.contexts.as_deref();
            let marks = self.parser.parse(&self.trie, contexts, self.effort, raw);
            let codebook = self.dictionary.codebook();
            codebook.write_body(marks, raw_len, &mut self.streams, out);
            if out.len() - body_start < raw_len {
                return;
            }
            out.truncate(start);
        }
        let (raw_len, method) = (raw.len(), Method::Raw);
        Head { raw_len, method }.put(out);
        out.extend_from_slice(raw);
    }
}

impl Dictionary {
    /// How many bytes of records the dictionary puts into one, with the better effort: below 1 it
    /// does harm. Looks at the first megabyte of the sample, which is as fair as the whole;
    /// records that the dictionary was trained from flatter it.
    pub fn estimate(self: &Arc<Dictionary>, sample: &Sample) -> f64 {
        let mut encoder = Encoder::new(self, Effort::Best);
        let (mut raw_bytes, mut payloads) = (0, Vec::new());
        for record in sample.records() {
            if raw_bytes > ESTIMATE_BYTES {
                break;
            }
            encoder.encode(record, &mut payloads);
            raw_bytes += record.len();
        }
        match payloads.len() {
            0 => 1.0,
            packed_bytes => raw_bytes as f64 / packed_bytes as f64,
        }
    }
}

#[cfg(test)]
mod tests;
