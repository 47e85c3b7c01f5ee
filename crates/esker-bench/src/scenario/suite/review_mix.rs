//! More reviews than a file has: new ones, put together from two of the same kind each.
//!
//! A recombined review has the product of one review and the reviewer, score, time and summary of
//! another; its text is the front half of the one's and the back half of the other's, cut between
//! sentences. In each round every review meets another partner, so that no two texts are alike and
//! none is a copy, while words, lengths and reviews for each product stay as they were. Identifiers
//! keep their shape and change in each round: a product has as many reviews as in the file.
//!
//! What is not new is every sentence: it comes once in each round. A dictionary that was trained
//! from a part of the file has therefore seen more of what it packs than it would of as much text
//! that people wrote.

use crate::make::random::{coprime, scramble};

/// What stands before the text.
const TEXT: &[u8] = b"\nreview/text:";

/// Bytes at the front of an identifier that stay: they tell what kind it is.
const KIND_BYTES: usize = 2;

/// A key and what stands under it.
type Pair = (Vec<u8>, Vec<u8>);

/// Recombined reviews one after another.
#[derive(Debug)]
pub struct Mix {
    reviews: Vec<Pair>,
    /// By kind, the places in `reviews`.
    kinds: Vec<Vec<usize>>,
    /// The round, from 1.
    round: usize,
    /// The kind and the place in it that come next.
    next: (usize, usize),
}

impl Mix {
    /// Recombines these. Reviews are of one kind whose product identifiers begin alike: with a
    /// digit, a capital or a small letter.
    pub fn new(reviews: Vec<Pair>) -> Mix {
        let kind = |(key, text): &Pair| match key.first() {
            _ if halves(text).is_none() => None,
            Some(b'0'..=b'9') => Some(0),
            Some(b'A'..=b'Z') => Some(1),
            Some(b'a'..=b'z') => Some(2),
            _ => Some(3),
        };
        let mut kinds = vec![Vec::new(); 4];
        for (place, review) in reviews.iter().enumerate() {
            if let Some(kind) = kind(review) {
                kinds[kind].push(place);
            }
        }
        Mix {
            reviews,
            kinds,
            round: 1,
            next: (0, 0),
        }
    }

    /// The next one; `None` when every review has met every other of its kind.
    pub fn next_review(&mut self) -> Option<Pair> {
        let largest = self.kinds.iter().map(Vec::len).max().unwrap_or(0);
        while self.round < largest {
            let (kind, place) = self.next;
            let Some(places) = self.kinds.get(kind) else {
                self.round += 1;
                self.next = (0, 0);
                continue;
            };
            // A kind whose reviews have all met rests.
            if place >= places.len() || self.round >= places.len() {
                self.next = (kind + 1, 0);
                continue;
            }
            self.next.1 += 1;
            let other = (place + self.round * stride(places.len())) % places.len();
            let (front, back) = (&self.reviews[places[place]], &self.reviews[places[other]]);
            if let Some(mixed) = mixed(front, back, self.round as u64) {
                return Some(mixed);
            }
        }
        None
    }
}

/// A step that visits each of so many places once before it comes back, far from one to the next:
/// the first without a common divisor behind the golden section.
fn stride(count: usize) -> usize {
    let stride = coprime((count * 618 / 1000) as u64, count as u64);
    usize::try_from(stride).expect("about a place")
}

/// The product and front half of the one, the rest of the other; `None` where the text would be
/// a copy, because both had the same.
fn mixed(front: &Pair, back: &Pair, round: u64) -> Option<Pair> {
    let (product, _, _) = key_parts(&front.0)?;
    let (_, user, time) = key_parts(&back.0)?;
    let (new_product, new_user) = (renamed(product, round), renamed(user, round));
    let (front_head, front_text) = split(&front.1)?;
    let (back_head, back_text) = split(&back.1)?;
    let mut text = halves(&front.1)?.0.to_vec();
    text.extend_from_slice(halves(&back.1)?.1);
    if text == front_text || text == back_text {
        return None;
    }
    let mut value = Vec::with_capacity(front.1.len() + back.1.len());
    add_fields(front_head, b"product/", (product, &new_product), &mut value);
    add_fields(back_head, b"review/", (user, &new_user), &mut value);
    value.extend_from_slice(&TEXT[usize::from(value.is_empty())..]);
    value.extend_from_slice(&text);
    let key = [&new_product, &new_user[..], time].join(&b'/');
    Some((key, value))
}

/// Product, user and time of a key.
fn key_parts(key: &[u8]) -> Option<(&[u8], &[u8], &[u8])> {
    let first = key.iter().position(|byte| *byte == b'/')?;
    let last = key.iter().rposition(|byte| *byte == b'/')?;
    (first < last).then(|| (&key[..first], &key[first + 1..last], &key[last + 1..]))
}

/// The fields before the text, and the text with what parts it from its name.
fn split(value: &[u8]) -> Option<(&[u8], &[u8])> {
    let start = value.windows(TEXT.len()).position(|part| part == TEXT)?;
    Some((&value[..start], &value[start + TEXT.len()..]))
}

/// The text in two halves: cut behind the sentence, else the word, that ends nearest to the middle.
fn halves(value: &[u8]) -> Option<(&[u8], &[u8])> {
    let (_, text) = split(value)?;
    let middle = text.len() / 2;
    let nearest = |is_end: &dyn Fn(&[u8]) -> bool| {
        let cuts = 2..text.len();
        let ends = cuts.filter(|cut| is_end(&text[cut - 2..*cut]));
        ends.min_by_key(|cut| cut.abs_diff(middle))
    };
    let sentence = nearest(&|end| matches!(end, [b'.' | b'!' | b'?', b' ']));
    // The first of all blanks parts the text from its name.
    let word = || nearest(&|end| end[0] != b':' && end[0] != b' ' && end[1] == b' ');
    let cut = sentence.or_else(word)?;
    Some(text.split_at(cut))
}

/// Adds the fields whose names begin so, with lines that belong to them; an identifier is replaced.
fn add_fields(head: &[u8], prefix: &[u8], id: (&[u8], &[u8]), value: &mut Vec<u8>) {
    let mut is_wanted = false;
    for line in head.split(|byte| *byte == b'\n') {
        let is_field = line.starts_with(b"product/") || line.starts_with(b"review/");
        if is_field {
            is_wanted = line.starts_with(prefix);
        }
        if !is_wanted {
            continue;
        }
        if !value.is_empty() {
            value.push(b'\n');
        }
        let is_id = line.starts_with(b"product/productId:") || line.starts_with(b"review/userId:");
        match line.strip_suffix(id.0) {
            Some(name) if is_id => {
                value.extend_from_slice(name);
                value.extend_from_slice(id.1);
            }
            _ => value.extend_from_slice(line),
        }
    }
}

/// Another identifier of the same shape, another one for another: each digit and capital behind the
/// first bytes moves on by a number of the round and its place.
fn renamed(id: &[u8], round: u64) -> Vec<u8> {
    let moved = |(place, byte): (usize, &u8)| {
        // Below 256, and of it only a remainder is taken.
        let by = scramble((round << 16) + place as u64).to_le_bytes()[0];
        match byte {
            _ if place < KIND_BYTES => *byte,
            b'0'..=b'9' => b'0' + (byte - b'0' + by % 10) % 10,
            b'A'..=b'Z' => b'A' + (byte - b'A' + by % 26) % 26,
            _ => *byte,
        }
    };
    id.iter().enumerate().map(moved).collect()
}

#[cfg(test)]
mod tests;
