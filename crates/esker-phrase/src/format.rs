//! The bytes of a dictionary and of a record.
//!
//! A dictionary:
//!
//! | offset | size | type | meaning |
//! |---|---|---|---|
//! | 0 | 8 | u64 | magic, "eskrphrs" in a dump |
//! | 8 | 4 | u32 | format version |
//! | 12 | 4 | u32 | n: phrases of more than one byte, 0 to 261 888 |
//! | 16 | 4 | u32 | c: classes, 1 to 64; with one there are no contexts |
//! | 20 | 4 | u32 | s: bytes of the spellings |
//! | 24 | s | spelling\[n\] | the phrases in rising order |
//! | 24 + s | 256 + n | u8\[\] | length of each code inside its class, in bits |
//! | … | 256 + n if c > 1 | u8\[\] | class of each phrase |
//! | … | c · (c + 1) if c > 1 | u8\[\] | lengths of the codes of classes, in bits |
//! | end - 4 | 4 | u32 | masked CRC32C of everything before |
//!
//! A spelling is a byte, and bytes of text: the high four bits of the first say how many bytes
//! the phrase shares with the front of the one before, the low four how many follow. Lengths and
//! classes come in the order of numbers: phrases 0 to 255 are the single bytes, the others follow
//! as they are spelled. Lengths of the codes of classes come in c + 1 rows of c, one row for each
//! class before, and the last for a record's first phrase.
//!
//! The codes follow from their lengths. Codes inside a class, and those of a row, are given from
//! the shortest on; what has the same length, in the order of numbers. Each kind of code has T top
//! bits: 10 with one class, 8 inside one of several, 9 for a class. There are 2^T places, given out
//! from 0 on: a code of L ≤ T bits takes 2^(T - L) places, and is the highest L bits of its first
//! place, the highest bit first; of codes of T + S bits (S is at most 16, and 0 for classes) each
//! 2^S that follow one another share one place, and have its T bits, the highest first, and then
//! their number among them in S bits, the lowest first. That the places suffice, and that codes of
//! T + S bits are a multiple of 2^S, is the law of lengths (`prefix.rs`).
//!
//! Valid if and only if the checksum is right, the version is known, nothing is left over, the
//! phrases rise and have 2 to 15 bytes, each is said to share as much as it does, all classes are
//! below c, and the lengths of each class and of each row obey the law of lengths. So there is one
//! way to write a dictionary.
//!
//! A record, as an encoder writes it, and its head:
//!
//! | offset | size | type | meaning |
//! |---|---|---|---|
//! | 0 | 1 to 5 | varint | bytes of the text · 4 + method |
//! | … | | bytes | the body |
//!
//! | method | body |
//! |---|---|
//! | 0 | the text |
//! | 1 | its phrases |
//! | 2, 3 | none yet: an error |
//!
//! A body of phrases is one or two streams of bits (`bits.rs`):
//!
//! | text | classes | first stream | second stream |
//! |---|---|---|---|
//! | below 128 bytes | 1 | all phrases | none |
//! | | several | each phrase's class and the phrase inside it | none |
//! | 128 bytes and more | 1 | phrases 0, 1, 2, … up to the middle | the last, the one before, … |
//! | | several | the classes of all phrases | the phrases inside their classes |
//!
//! With one class and two streams the first has one phrase more when their number is odd. The
//! first stream begins at the body's first byte; the second at its last, and goes on with the byte
//! before. Each fills its bytes from the lowest bit on.
//!
//! Valid if and only if the method is known, the text has at most 16 MiB with method 1, every
//! code is one of the dictionary's, the texts of the phrases have the length of the text, and the
//! streams fill the body with less than a byte of zeros behind each.
//!
//! All integers are little-endian.

use crate::bytes::{ByteReader, put_u32, put_varint, stored_crc, varint_at_front};
use crate::error::{Error, Result};
use crate::text::{PHRASE_BYTES_MAX, Phrase};
use crate::trie::ID_BITS;

/// First eight bytes of every dictionary.
pub const MAGIC: [u8; 8] = *b"eskrphrs";

/// The format this program writes, and the newest it reads.
pub const FORMAT_VERSION: u32 = 1;

/// Phrases of one byte: all of them, so that every text has phrases.
pub const BYTE_COUNT: usize = 256;

/// Most phrases of more than one byte: with the single bytes their numbers fill 18 bits.
pub const PHRASE_COUNT_MAX: usize = (1 << ID_BITS) - BYTE_COUNT;

/// Most classes: 128 were measured to save 1 % more and to cost a quarter more time.
pub const CLASS_COUNT_MAX: usize = 64;

/// Texts below this have one stream: two of them waste half a byte more, and the shorter the text
/// the less time there is to win.
pub const SPLIT_BYTES_MIN: usize = 128;

/// Longest text that is written as phrases, in bytes: an encoder keeps up to 4 bytes for each
/// byte of a text, and what is so long packs well by other means.
pub const TEXT_BYTES_MAX: usize = 16 << 20;

/// Bytes before the spellings.
const HEAD_BYTES: usize = 24;

const _: () = assert!(HEAD_BYTES == MAGIC.len() + 4 * 4);
const _: () = assert!(PHRASE_BYTES_MAX < 16);

/// What a dictionary is made of; everything else follows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parts {
    /// Phrases of more than one byte, rising.
    pub phrases: Vec<Phrase>,
    /// Bits of each phrase's code inside its class, by number.
    pub lengths: Vec<u8>,
    /// How many classes there are.
    pub class_count: usize,
    /// Class of each phrase, by number; empty with one class.
    pub classes: Vec<u8>,
    /// Bits of each class's code, in a row for each class before, and a last one for the first
    /// phrase; empty with one class.
    pub contexts: Vec<u8>,
}

impl Parts {
    /// The phrase of that number.
    ///
    /// # Panics
    /// When there is none.
    pub fn phrase(&self, id: usize) -> Phrase {
        match u8::try_from(id) {
            Ok(byte) => Phrase::of_byte(byte),
            Err(_) => self.phrases[id - BYTE_COUNT],
        }
    }

    /// All phrases, the single bytes too.
    pub fn count(&self) -> usize {
        BYTE_COUNT + self.phrases.len()
    }

    /// The class of the phrase of that number.
    pub fn class(&self, id: usize) -> u8 {
        self.classes.get(id).copied().unwrap_or(0)
    }

    /// The bytes of the dictionary.
    pub fn encode(&self) -> Vec<u8> {
        let mut spellings = Vec::new();
        let mut before: &[u8] = &[];
        for phrase in &self.phrases {
            let text = phrase.text();
            let shared = shared_len(before, text);
            let new = &text[shared..];
            spellings.push(u8::try_from(shared << 4 | new.len()).expect("two times four bits"));
            spellings.extend_from_slice(new);
            before = text;
        }
        let number = |len: usize| u32::try_from(len).expect("at most 2^18 phrases");
        let mut out = MAGIC.to_vec();
        put_u32(&mut out, FORMAT_VERSION);
        put_u32(&mut out, number(self.phrases.len()));
        put_u32(&mut out, number(self.class_count));
        put_u32(&mut out, number(spellings.len()));
        assert_eq!(out.len(), HEAD_BYTES);
        out.extend_from_slice(&spellings);
        out.extend_from_slice(&self.lengths);
        out.extend_from_slice(&self.classes);
        out.extend_from_slice(&self.contexts);
        let checksum = stored_crc(&out);
        put_u32(&mut out, checksum);
        out
    }

    /// Reads a dictionary. The law of lengths is left to whoever makes codes of them.
    ///
    /// Errors: `Newer`, else `Damaged`.
    pub fn decode(bytes: &[u8]) -> Result<Parts> {
        let Some((covered, checksum)) = bytes.split_last_chunk() else {
            return Err(Error::damaged("too short for a phrase dictionary"));
        };
        let mut reader = ByteReader::new(covered);
        if reader.bytes(MAGIC.len()) != Some(&MAGIC[..]) {
            return Err(Error::damaged("does not begin like a phrase dictionary"));
        }
        let version = reader.u32().unwrap_or(0);
        if version > FORMAT_VERSION {
            return Err(Error::Newer(version));
        }
        if version == 0 || u32::from_le_bytes(*checksum) != stored_crc(covered) {
            return Err(Error::damaged("checksum of a phrase dictionary differs"));
        }
        Parts::fields(&mut reader)
            .filter(|_| reader.is_empty())
            .ok_or_else(|| Error::damaged("phrase dictionary does not make sense"))
    }

    fn fields(reader: &mut ByteReader<'_>) -> Option<Parts> {
        let mut number = || Some(reader.u32()? as usize);
        let (phrase_count, class_count, spelling_bytes) = (number()?, number()?, number()?);
        if phrase_count > PHRASE_COUNT_MAX || !(1..=CLASS_COUNT_MAX).contains(&class_count) {
            return None;
        }
        let phrases = spelled(reader.bytes(spelling_bytes)?, phrase_count)?;
        let count = BYTE_COUNT + phrase_count;
        let lengths = reader.bytes(count)?.to_vec();
        let (mut classes, mut contexts) = (Vec::new(), Vec::new());
        if class_count > 1 {
            classes = reader.bytes(count)?.to_vec();
            contexts = reader.bytes(class_count * (class_count + 1))?.to_vec();
        }
        let are_below = |class: &u8| usize::from(*class) < class_count;
        classes.iter().all(are_below).then_some(Parts {
            phrases,
            lengths,
            class_count,
            classes,
            contexts,
        })
    }
}

// Bytes that both begin with.
fn shared_len(left: &[u8], right: &[u8]) -> usize {
    let pairs = left.iter().zip(right);
    pairs.take_while(|(left, right)| left == right).count()
}

fn spelled(bytes: &[u8], count: usize) -> Option<Vec<Phrase>> {
    let mut reader = ByteReader::new(bytes);
    let mut phrases: Vec<Phrase> = Vec::with_capacity(count.min(bytes.len()));
    for _ in 0..count {
        let lens = reader.byte()?;
        let new = reader.bytes(usize::from(lens & 15))?;
        let before = phrases.last().map_or(&[][..], Phrase::text);
        let shared = usize::from(lens >> 4);
        let text = [before.get(..shared)?, new].concat();
        let phrase = Phrase::new(&text).filter(|phrase| phrase.len() > 1)?;
        let rises = phrases.last().is_none_or(|last| *last < phrase);
        if !rises || shared_len(before, &text) != shared {
            return None;
        }
        phrases.push(phrase);
    }
    reader.is_empty().then_some(phrases)
}

/// How a record's body is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Method {
    /// As it is.
    Raw = 0,
    /// As phrases.
    Phrases = 1,
}

/// What stands before a record's body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// Bytes of the text.
    pub raw_len: usize,
    /// How the body is written.
    pub method: Method,
}

impl Head {
    /// Appends the head.
    pub fn put(self, out: &mut Vec<u8>) {
        put_varint(out, (self.raw_len as u64) << 2 | self.method as u64);
    }

    /// The head of a record, and its body. `Damaged` when there is none.
    #[inline]
    pub fn split(payload: &[u8]) -> Result<(Head, &[u8])> {
        Head::at_front(payload).ok_or_else(|| Error::damaged("a record's head does not make sense"))
    }

    #[inline]
    fn at_front(payload: &[u8]) -> Option<(Head, &[u8])> {
        let (number, len) = varint_at_front(payload)?;
        let head = Head {
            raw_len: usize::try_from(number >> 2).ok()?,
            method: match number & 3 {
                0 => Method::Raw,
                1 => Method::Phrases,
                _ => return None,
            },
        };
        Some((head, payload.get(len..)?))
    }
}

#[cfg(test)]
mod tests;
