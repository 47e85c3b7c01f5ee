//! Takes numbers and strings off the front of bytes that may be damaged.

use crate::base::codec::varint::varint_at_front;

/// Bytes still to be read. Every method returns `None`, and takes nothing, when the bytes do not
/// hold what is asked for.
#[derive(Clone, Copy, Debug)]
pub struct ByteReader<'a> {
    rest: &'a [u8],
}

impl<'a> ByteReader<'a> {
    /// A reader of all of `bytes`.
    pub fn new(bytes: &'a [u8]) -> ByteReader<'a> {
        ByteReader { rest: bytes }
    }

    /// What was not read yet.
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// Whether everything was read.
    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// One byte.
    pub fn byte(&mut self) -> Option<u8> {
        let (&first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(first)
    }

    /// A little-endian `u32`.
    pub fn u32(&mut self) -> Option<u32> {
        let (bytes, rest) = self.rest.split_first_chunk()?;
        self.rest = rest;
        Some(u32::from_le_bytes(*bytes))
    }

    /// A little-endian `u64`.
    pub fn u64(&mut self) -> Option<u64> {
        let (bytes, rest) = self.rest.split_first_chunk()?;
        self.rest = rest;
        Some(u64::from_le_bytes(*bytes))
    }

    /// A varint of up to 64 bits.
    #[inline]
    pub fn varint(&mut self) -> Option<u64> {
        let (number, len) = varint_at_front(self.rest)?;
        self.rest = self.rest.get(len..)?;
        Some(number)
    }

    /// A varint that must fit 32 bits.
    #[inline]
    pub fn varint_u32(&mut self) -> Option<u32> {
        let mut ahead = *self;
        let number = u32::try_from(ahead.varint()?).ok()?;
        *self = ahead;
        Some(number)
    }

    /// A varint that must fit `usize`.
    #[inline]
    pub fn varint_usize(&mut self) -> Option<usize> {
        let mut ahead = *self;
        let number = usize::try_from(ahead.varint()?).ok()?;
        *self = ahead;
        Some(number)
    }

    /// The next `len` bytes.
    #[inline]
    pub fn bytes(&mut self, len: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(len)?;
        self.rest = rest;
        Some(taken)
    }

    /// A varint length and that many bytes.
    #[inline]
    pub fn prefixed(&mut self) -> Option<&'a [u8]> {
        let mut ahead = *self;
        let len = ahead.varint_usize()?;
        let taken = ahead.bytes(len)?;
        *self = ahead;
        Some(taken)
    }
}

/// Appends a varint length and the bytes: what [`ByteReader::prefixed`] takes back.
pub fn put_prefixed(out: &mut Vec<u8>, bytes: &[u8]) {
    crate::base::codec::varint::put_varint(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}
