//! The rest of a key beside its record: characters of a small alphabet in fewer bits than eight.
//!
//! What is left of a key behind its prefix is mostly an identifier or a time, which no phrases
//! are made of. It can be coded by what it is made of alone, so that a record goes from file to
//! file though its tail grows or shrinks with the keys around it.

use crate::base::codec::reader::ByteReader;
use crate::base::codec::varint::{put_varint, varint_len};

/// Sixteen characters: two in a byte.
const HEX: [u8; 16] = *b"0123456789abcdef";

/// Forty characters each: three in two bytes, for 40³ is 64 000.
const UPPER: [u8; 40] = *b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ-/:_";
const LOWER: [u8; 40] = *b"0123456789abcdefghijklmnopqrstuvwxyz-./_";

/// Characters of the alphabets of three in two bytes.
const FORTY: u16 = 40;

const _: () = assert!((FORTY as u32).pow(3) <= 1 << 16);

/// Bits of a tail's number that say its alphabet.
const ALPHABET_BITS: u32 = 2;

/// What a character is in an alphabet that lacks it: beyond every code.
const NO_CODE: u8 = u8::MAX;

/// The characters that a tail is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
enum Alphabet {
    /// Any bytes, as they are.
    Bytes = 0,
    Hex = 1,
    Upper = 2,
    Lower = 3,
}

/// Those in which something is compressed, in the order in which they are tried: the first takes
/// least.
const PACKED: [Alphabet; 3] = [Alphabet::Hex, Alphabet::Upper, Alphabet::Lower];

/// For each byte its code in each of [`PACKED`].
static CODES: [[u8; 256]; 3] = [codes(&HEX), codes(&UPPER), codes(&LOWER)];

const fn codes(characters: &[u8]) -> [u8; 256] {
    let mut codes = [NO_CODE; 256];
    let mut at = 0;
    while at < characters.len() {
        codes[characters[at] as usize] = at as u8;
        at += 1;
    }
    codes
}

/// The tail of a key as it lies in a record.
#[derive(Clone, Copy, Debug)]
pub struct Tail<'a> {
    len: usize,
    alphabet: Alphabet,
    stored: &'a [u8],
}

/// Appends a tail, compressed where that makes it shorter.
pub fn put_tail(out: &mut Vec<u8>, tail: &[u8]) {
    let fits = |alphabet: &Alphabet| {
        let codes = alphabet.codes();
        alphabet.stored_len(tail.len()) < tail.len()
            && tail.iter().all(|byte| codes[usize::from(*byte)] != NO_CODE)
    };
    let alphabet = PACKED.into_iter().find(fits).unwrap_or(Alphabet::Bytes);
    put_varint(out, (tail.len() as u64) << ALPHABET_BITS | alphabet as u64);
    alphabet.put(tail, out);
}

impl Alphabet {
    fn of_number(number: u64) -> Alphabet {
        match number & ((1 << ALPHABET_BITS) - 1) {
            1 => Alphabet::Hex,
            2 => Alphabet::Upper,
            3 => Alphabet::Lower,
            _ => Alphabet::Bytes,
        }
    }

    // Of none but those in which something is compressed.
    fn codes(self) -> &'static [u8; 256] {
        &CODES[(self as usize).saturating_sub(1)]
    }

    fn characters(self) -> &'static [u8; 40] {
        match self {
            Alphabet::Lower => &LOWER,
            _ => &UPPER,
        }
    }

    // Bytes that a tail of so many takes.
    fn stored_len(self, len: usize) -> usize {
        match self {
            Alphabet::Bytes => len,
            Alphabet::Hex => len.div_ceil(2),
            Alphabet::Upper | Alphabet::Lower => len / 3 * 2 + len % 3,
        }
    }

    fn put(self, tail: &[u8], out: &mut Vec<u8>) {
        let codes = self.codes();
        let code = |byte: &u8| codes[usize::from(*byte)];
        match self {
            Alphabet::Bytes => out.extend_from_slice(tail),
            Alphabet::Hex => out.extend(tail.chunks(2).map(|pair| hex_byte(pair, code))),
            Alphabet::Upper | Alphabet::Lower => {
                for three in tail.chunks(3) {
                    let word = word(three, code).to_le_bytes();
                    // One character alone is below 256.
                    out.extend_from_slice(&word[..three.len().min(2)]);
                }
            }
        }
    }
}

// Two characters in a byte, the first in its low half.
fn hex_byte(pair: &[u8], code: impl Fn(&u8) -> u8) -> u8 {
    let half = |at: usize| pair.get(at).map_or(0, &code);
    half(0) | half(1) << 4
}

// Up to three characters in a number, the first lowest.
fn word(three: &[u8], code: impl Fn(&u8) -> u8) -> u16 {
    let add = |word: u16, byte: &u8| word * FORTY + u16::from(code(byte));
    three.iter().rev().fold(0, add)
}

impl<'a> Tail<'a> {
    /// Takes a tail off the front of `reader`; `None` when it is not whole, or has characters
    /// that its alphabet has not.
    #[inline]
    pub fn take(reader: &mut ByteReader<'a>) -> Option<Tail<'a>> {
        let number = reader.varint_usize()?;
        let alphabet = Alphabet::of_number(number as u64);
        let len = number >> ALPHABET_BITS;
        let stored = reader.bytes(alphabet.stored_len(len))?;
        let tail = Tail {
            len,
            alphabet,
            stored,
        };
        tail.is_sound().then_some(tail)
    }

    fn is_sound(&self) -> bool {
        match self.alphabet {
            Alphabet::Bytes => true,
            Alphabet::Hex => {
                self.len.is_multiple_of(2) || self.stored.last().is_none_or(|last| *last < 16)
            }
            Alphabet::Upper | Alphabet::Lower => {
                let (words, rest) = self.stored.as_chunks();
                let is_sound = |word: &[u8; 2]| u16::from_le_bytes(*word) < FORTY * FORTY * FORTY;
                let is_last_sound = match (self.len % 3, words.last()) {
                    (2, Some(last)) => u16::from_le_bytes(*last) < FORTY * FORTY,
                    _ => true,
                };
                words.iter().all(is_sound)
                    && is_last_sound
                    && rest.iter().all(|one| u16::from(*one) < FORTY)
            }
        }
    }

    /// Bytes of the tail.
    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether the key stands whole in its page.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Bytes that it takes in its record.
    pub fn stored_len(&self) -> usize {
        varint_len((self.len as u64) << ALPHABET_BITS) + self.stored.len()
    }

    /// Whether it is these bytes.
    pub fn is(&self, bytes: &[u8]) -> bool {
        if self.len != bytes.len() {
            return false;
        }
        let codes = self.alphabet.codes();
        let is_known = |byte: &u8| codes[usize::from(*byte)] != NO_CODE;
        let code = |byte: &u8| codes[usize::from(*byte)];
        match self.alphabet {
            Alphabet::Bytes => self.stored == bytes,
            Alphabet::Hex => {
                let pairs = bytes.chunks(2).map(|pair| hex_byte(pair, code));
                bytes.iter().all(is_known) && pairs.eq(self.stored.iter().copied())
            }
            Alphabet::Upper | Alphabet::Lower => {
                let mut threes = bytes.chunks(3).zip(self.stored.chunks(2));
                bytes.iter().all(is_known)
                    && threes.all(|(three, stored)| word(three, code) == word_of(stored))
            }
        }
    }

    /// Appends its bytes.
    #[inline]
    pub fn put_into(&self, out: &mut Vec<u8>) {
        match self.alphabet {
            Alphabet::Bytes => out.extend_from_slice(self.stored),
            Alphabet::Hex => {
                let end = out.len() + self.len;
                for byte in self.stored {
                    out.push(HEX[usize::from(byte & 15)]);
                    out.push(HEX[usize::from(byte >> 4)]);
                }
                // The other half of a last byte.
                out.truncate(end);
            }
            Alphabet::Upper | Alphabet::Lower => {
                let characters = self.alphabet.characters();
                let end = out.len() + self.len;
                for stored in self.stored.chunks(2) {
                    let word = word_of(stored);
                    let codes = [word % FORTY, word / FORTY % FORTY, word / FORTY / FORTY];
                    // Below 40 all three: what is stored was looked at when it was taken.
                    let character = |code: u16| characters.get(usize::from(code)).copied();
                    out.extend(codes.map(|code| character(code).unwrap_or_default()));
                }
                out.truncate(end);
            }
        }
    }
}

// One or two bytes as a number.
fn word_of(stored: &[u8]) -> u16 {
    let byte = |at: usize| stored.get(at).copied().unwrap_or(0);
    u16::from_le_bytes([byte(0), byte(1)])
}

#[cfg(test)]
mod tests;
