//! Tests of decoding, against a decoder that is slow and plain.

use std::collections::HashMap;

use super::*;
use crate::corpus::{self, Dice};
use crate::dictionary::Dictionary;
use crate::encoder::Encoder;
use crate::format::{Head, Method};
use crate::parse::Effort;

/// A decoder as slow and plain as the format is told: bit by bit, out of maps.
struct Naive {
    /// By class and bits: the phrase.
    phrases: HashMap<(usize, Vec<bool>), Vec<u8>>,
    /// By context and bits: the class.
    classes: HashMap<(usize, Vec<bool>), usize>,
    class_count: usize,
}

/// The codes of things with these lengths, in their order.
fn naive_codes(lens: &[u8], top_bits: u32) -> Vec<Vec<bool>> {
    let mut entry = 0u32;
    let mut group = 0u32;
    let mut codes = Vec::new();
    for &len in lens {
        let len = u32::from(len);
        let top = (0..len.min(top_bits)).map(|bit| entry >> (top_bits - 1 - bit) & 1 == 1);
        let suffix_len = len.saturating_sub(top_bits);
        let suffix = (0..suffix_len).map(|bit| group >> bit & 1 == 1);
        codes.push(top.chain(suffix).collect());
        group += 1;
        if group == 1 << suffix_len {
            group = 0;
            entry += 1 << top_bits.saturating_sub(len);
        }
    }
    codes
}

impl Naive {
    fn new(dictionary: &Dictionary) -> Naive {
        let parts = dictionary.parts();
        let class_count = parts.class_count;
        let mut naive = Naive {
            phrases: HashMap::new(),
            classes: HashMap::new(),
            class_count,
        };
        for class in 0..class_count {
            let ids = 0..parts.count();
            let mut ids: Vec<_> = ids
                .filter(|id| usize::from(parts.class(*id)) == class)
                .collect();
            ids.sort_by_key(|id| parts.lengths[*id]);
            let lens: Vec<u8> = ids.iter().map(|id| parts.lengths[*id]).collect();
            let top_bits = if class_count == 1 { 10 } else { 8 };
            for (id, code) in ids.iter().zip(naive_codes(&lens, top_bits)) {
                let text = parts.phrase(*id).text().to_vec();
                naive.phrases.insert((class, code), text);
            }
        }
        for (context, row) in parts.contexts.chunks(class_count).enumerate() {
            let mut classes: Vec<usize> = (0..class_count).collect();
            classes.sort_by_key(|class| row[*class]);
            let lens: Vec<u8> = classes.iter().map(|class| row[*class]).collect();
            for (class, code) in classes.iter().zip(naive_codes(&lens, 9)) {
                naive.classes.insert((context, code), *class);
            }
        }
        naive
    }

    fn phrase(&self, class: usize, bits: &mut Bits) -> Option<&[u8]> {
        let found = |code: &[bool]| self.phrases.get(&(class, code.to_vec()));
        bits.code(26, found).map(Vec::as_slice)
    }

    fn class(&self, context: usize, bits: &mut Bits) -> Option<usize> {
        bits.code(9, |code| self.classes.get(&(context, code.to_vec())))
            .copied()
    }

    fn decode(&self, body: &[u8], raw_len: usize) -> Option<Vec<u8>> {
        let mut streams = [Bits::new(body.iter()), Bits::new(body.iter().rev())];
        let mut front = Vec::new();
        let mut back: Vec<Vec<u8>> = Vec::new();
        let mut len = 0;
        let mut context = self.class_count;
        for turn in 0.. {
            if len >= raw_len {
                break;
            }
            let is_split = raw_len >= 128;
            let is_back = is_split && self.class_count == 1 && turn % 2 == 1;
            let mut class = 0;
            if self.class_count > 1 {
                class = self.class(context, &mut streams[0])?;
                context = class;
            }
            let is_second = is_split && (self.class_count > 1 || is_back);
            let text = self.phrase(class, &mut streams[usize::from(is_second)])?;
            len += text.len();
            match is_back {
                true => back.push(text.to_vec()),
                false => front.extend_from_slice(text),
            }
        }
        front.extend(back.into_iter().rev().flatten());
        let [first, second] = streams.each_ref().map(|bits| bits.at.div_ceil(8));
        let is_whole = first + second == body.len() && streams.iter().all(Bits::is_rest_zero);
        (len == raw_len && is_whole).then_some(front)
    }
}

struct Bits {
    bits: Vec<bool>,
    at: usize,
}

impl Bits {
    fn new<'a>(bytes: impl Iterator<Item = &'a u8>) -> Bits {
        let bits = |byte: &u8| (0..8).map(|bit| byte >> bit & 1 == 1).collect::<Vec<_>>();
        Bits {
            bits: bytes.flat_map(bits).collect(),
            at: 0,
        }
    }

    // A code of at most that many bits; behind the end there are zeros.
    fn code<T>(&mut self, bits_max: usize, found: impl Fn(&[bool]) -> Option<T>) -> Option<T> {
        self.bits
            .resize(self.bits.len().max(self.at + bits_max), false);
        let at = self.at;
        let (len, thing) =
            (0..=bits_max).find_map(|len| Some((len, found(&self.bits[at..at + len])?)))?;
        self.at += len;
        Some(thing)
    }

    fn is_rest_zero(&self) -> bool {
        let end = self.at.next_multiple_of(8).min(self.bits.len());
        !self.bits[self.at.min(end)..end].contains(&true)
    }
}

fn decoded(decoder: &Decoder, body: &[u8], raw_len: usize) -> Option<Vec<u8>> {
    let mut out = vec![0xaa; raw_len + SLACK_BYTES];
    decoder.decode(body, &mut out)?;
    out.truncate(raw_len);
    Some(out)
}

#[test]
fn good_bodies_decode_as_the_naive_decoder_says() {
    // Every sort of text, written by an encoder.
    for dictionary in corpus::dictionaries() {
        let naive = Naive::new(&dictionary);
        let mut encoder = Encoder::new(&dictionary, Effort::Fast);
        let mut tried = 0;
        for text in corpus::texts().iter().filter(|text| text.len() < 5000) {
            let mut payload = Vec::new();
            encoder.encode(text, &mut payload);
            let (head, body) = Head::split(&payload).unwrap();
            if head.method == Method::Phrases {
                tried += 1;
                assert_eq!(naive.decode(body, text.len()).as_ref(), Some(text));
                assert_eq!(
                    decoded(dictionary.decoder(), body, text.len()).as_ref(),
                    Some(text)
                );
            }
        }
        assert!(tried > 300);
    }
}

#[test]
fn any_body_decodes_as_the_naive_decoder_says() {
    // Random bytes, and good bodies with some changed, cut or with a wrong length: both decoders
    // give the same text, or both say that there is none.
    let mut dice = Dice::new(8);
    for dictionary in corpus::dictionaries() {
        let naive = Naive::new(&dictionary);
        let mut encoder = Encoder::new(&dictionary, Effort::Best);
        let mut texts = [0, 0];
        for round in 0..1500 {
            let (mut body, mut raw_len) = (dice.bytes(round % 90), dice.below(400));
            if round % 3 > 0 {
                let len = 40 + dice.below(200);
                let text = corpus::prose(&mut dice, len);
                let mut payload = Vec::new();
                encoder.encode(&text, &mut payload);
                body = Head::split(&payload).unwrap().1.to_vec();
                raw_len = text.len();
                match dice.below(4) {
                    0 => body.truncate(dice.below(body.len())),
                    1 => raw_len = (raw_len + dice.below(3)).saturating_sub(1),
                    _ => {
                        let at = dice.below(body.len());
                        body[at] ^= 1 << dice.below(8);
                    }
                }
            }
            let wanted = naive.decode(&body, raw_len);
            texts[usize::from(wanted.is_some())] += 1;
            assert_eq!(decoded(dictionary.decoder(), &body, raw_len), wanted);
        }
        // Both happen, so both were compared.
        assert!(texts.iter().all(|count| *count > 50), "{texts:?}");
    }
}

#[test]
fn nothing_around_a_text_is_touched() {
    // The slack may hold anything afterwards; a decoder is given no more, and needs no more.
    let [dictionary, _] = corpus::dictionaries();
    assert!(
        dictionary
            .decoder()
            .decode(&[], &mut [0; SLACK_BYTES])
            .is_some()
    );
    assert!(
        dictionary
            .decoder()
            .decode(&[], &mut [0; SLACK_BYTES - 1])
            .is_none()
    );
    assert!(
        dictionary
            .decoder()
            .decode(&[0], &mut [0; SLACK_BYTES])
            .is_none()
    );
}
