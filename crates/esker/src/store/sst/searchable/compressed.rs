//! Small numbers in as few bits as the largest of them needs.
//!
//! A byte w, and then the numbers in w bits each, the first in the lowest bits of the first byte,
//! filled up to whole bytes with zeros.

use crate::base::codec::reader::ByteReader;

/// Most bits of a number: with up to seven bits in front it still lies within eight bytes. A
/// sequence number has as many.
pub const WIDTH_MAX: u32 = 56;

/// Appends `numbers`.
///
/// # Panics
/// When one of them needs more than [`WIDTH_MAX`] bits.
pub fn put_compressed(out: &mut Vec<u8>, numbers: impl Iterator<Item = u64> + Clone) {
    let all = numbers.clone().fold(0, |all, number| all | number);
    let width = u64::BITS - all.leading_zeros();
    assert!(width <= WIDTH_MAX);
    out.push(width as u8);
    let (mut waiting, mut bits) = (0u64, 0);
    for number in numbers {
        waiting |= number << bits;
        bits += width;
        while bits >= 8 {
            out.push(waiting as u8);
            waiting >>= 8;
            bits -= 8;
        }
    }
    if bits > 0 {
        out.push(waiting as u8);
    }
}

/// Numbers that lie compressed in bytes which may be damaged: then they are other numbers.
#[derive(Clone, Copy, Debug)]
pub struct Compressed<'a> {
    bytes: &'a [u8],
    width: u32,
}

impl<'a> Compressed<'a> {
    /// Takes `count` numbers off the front of `reader`; `None` when they are not whole.
    pub fn take(reader: &mut ByteReader<'a>, count: usize) -> Option<Compressed<'a>> {
        let width = u32::from(reader.byte()?);
        if width > WIDTH_MAX {
            return None;
        }
        let bytes = reader.bytes((count * width as usize).div_ceil(8))?;
        Some(Compressed { bytes, width })
    }

    /// Number `index`; 0 beyond the end.
    #[inline]
    pub fn get(&self, index: usize) -> u64 {
        let bit = index * self.width as usize;
        let word = self.word(bit / 8);
        (word >> (bit % 8)) & ((1 << self.width) - 1)
    }

    // Eight bytes from `at` on, zeros behind the end.
    #[inline]
    fn word(&self, at: usize) -> u64 {
        let rest = self.bytes.get(at..).unwrap_or_default();
        if let Some(word) = rest.first_chunk::<8>() {
            return u64::from_le_bytes(*word);
        }
        let mut word = [0; 8];
        word[..rest.len()].copy_from_slice(rest);
        u64::from_le_bytes(word)
    }
}

#[cfg(test)]
mod tests;
