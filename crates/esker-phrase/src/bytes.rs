//! Integers and checksums to bytes and back.

use xxhash_rust::xxh3::xxh3_64_with_seed;

/// Longest length that is written as a varint, in bytes: 35 bits.
const VARINT_BYTES_MAX: usize = 5;

/// What `stored_crc` adds; any constant far from 0 does, this is LevelDB's.
const MASK_DELTA: u32 = 0xa282_ead8;

/// Appends a `u32`, little-endian.
pub(crate) fn put_u32(out: &mut Vec<u8>, number: u32) {
    out.extend_from_slice(&number.to_le_bytes());
}

/// Appends `number`: seven bits a byte, low bits first, the high bit says "more".
///
/// # Panics
/// When it does not fit 35 bits.
#[inline]
pub(crate) fn put_varint(out: &mut Vec<u8>, mut number: u64) {
    assert!(number >> (7 * VARINT_BYTES_MAX) == 0);
    while number >= 0x80 {
        out.push((number as u8 & 0x7f) | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// The number at the front of `bytes` and how many bytes it took; `None` when the bytes end too
/// early, go on for too long, or are not the shortest form.
#[inline]
pub(crate) fn varint_at_front(bytes: &[u8]) -> Option<(u64, usize)> {
    let mut number = 0;
    for (index, &byte) in bytes.iter().take(VARINT_BYTES_MAX).enumerate() {
        number |= u64::from(byte & 0x7f) << (7 * index);
        if byte < 0x80 {
            let is_shortest = byte != 0 || index == 0;
            return is_shortest.then_some((number, index + 1));
        }
    }
    None
}

/// The CRC32C of `bytes`, masked: the CRC of bytes that hold their own CRC is a constant, which
/// would hide damage. Source: LevelDB.
pub(crate) fn stored_crc(bytes: &[u8]) -> u32 {
    let crc = crc32c::crc32c(bytes);
    crc.rotate_right(15).wrapping_add(MASK_DELTA)
}

/// A number that looks random and follows from both: the same on every machine.
pub(crate) fn lot(number: u64, seed: u64) -> u64 {
    xxh3_64_with_seed(&number.to_le_bytes(), seed)
}

/// Bytes still to be read. Every method returns `None` when the bytes do not hold what is asked
/// for.
#[derive(Debug)]
pub(crate) struct ByteReader<'a> {
    rest: &'a [u8],
}

impl<'a> ByteReader<'a> {
    /// A reader of all of `bytes`.
    pub(crate) fn new(bytes: &'a [u8]) -> ByteReader<'a> {
        ByteReader { rest: bytes }
    }

    /// Whether everything was read.
    pub(crate) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// One byte.
    pub(crate) fn byte(&mut self) -> Option<u8> {
        self.bytes(1).map(|bytes| bytes[0])
    }

    /// A little-endian `u32`.
    pub(crate) fn u32(&mut self) -> Option<u32> {
        let (bytes, rest) = self.rest.split_first_chunk()?;
        self.rest = rest;
        Some(u32::from_le_bytes(*bytes))
    }

    /// The next `len` bytes.
    pub(crate) fn bytes(&mut self, len: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(len)?;
        self.rest = rest;
        Some(taken)
    }
}

#[cfg(test)]
mod tests;
