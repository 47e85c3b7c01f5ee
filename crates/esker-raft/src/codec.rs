//! Integers and bytes with their length, to bytes and back within limits.

use std::fmt;

/// Why bytes are refused: what was expected, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DecodeError {
    /// What these bytes are not.
    pub expected: &'static str,
    /// Offset in bytes from the beginning of what was decoded.
    pub offset: usize,
}

impl fmt::Display for DecodeError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "no {} at byte {}", self.expected, self.offset)
    }
}

impl std::error::Error for DecodeError {}

/// Appends integers, little-endian, and bytes.
pub trait Put {
    /// One byte.
    fn put_u8(&mut self, value: u8);
    /// Four bytes.
    fn put_u32(&mut self, value: u32);
    /// Eight bytes.
    fn put_u64(&mut self, value: u64);
    /// The length as u32, then the bytes.
    fn put_bytes(&mut self, bytes: &[u8]);
}

impl Put for Vec<u8> {
    fn put_u8(&mut self, value: u8) {
        self.push(value);
    }

    fn put_u32(&mut self, value: u32) {
        self.extend_from_slice(&value.to_le_bytes());
    }

    fn put_u64(&mut self, value: u64) {
        self.extend_from_slice(&value.to_le_bytes());
    }

    fn put_bytes(&mut self, bytes: &[u8]) {
        self.put_u32(count(bytes.len()));
        self.extend_from_slice(bytes);
    }
}

/// A count or a length as the codec stores it.
///
/// # Panics
///
/// Above 2^32 - 1: every list and every payload has a bound far below.
pub fn count(number: usize) -> u32 {
    u32::try_from(number).expect("every length has a bound below 4 GiB")
}

/// Reads what [`Put`] wrote, and never beyond the end.
///
/// Each call says what it expects, which is what an error tells.
pub struct Reader<'a> {
    bytes: &'a [u8],
    offset: usize,
}

impl<'a> Reader<'a> {
    /// At the beginning of `bytes`.
    pub fn new(bytes: &'a [u8]) -> Reader<'a> {
        Reader { bytes, offset: 0 }
    }

    /// The error that these are not what was expected, at this place.
    pub fn refuse(&self, expected: &'static str) -> DecodeError {
        let offset = self.offset;
        DecodeError { expected, offset }
    }

    /// The next `len` bytes.
    pub fn take(&mut self, len: usize, expected: &'static str) -> Result<&'a [u8], DecodeError> {
        let end = self.offset.checked_add(len);
        let found = end.and_then(|end| self.bytes.get(self.offset..end));
        let found = found.ok_or_else(|| self.refuse(expected))?;
        self.offset += len;
        Ok(found)
    }

    /// One byte.
    pub fn u8(&mut self, expected: &'static str) -> Result<u8, DecodeError> {
        let byte = self.take(1, expected)?;
        Ok(byte[0])
    }

    /// One byte that is 0 or 1.
    pub fn flag(&mut self, expected: &'static str) -> Result<bool, DecodeError> {
        match self.u8(expected)? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(self.refuse(expected)),
        }
    }

    /// Four bytes.
    pub fn u32(&mut self, expected: &'static str) -> Result<u32, DecodeError> {
        let bytes = self.take(4, expected)?;
        Ok(u32::from_le_bytes(bytes.try_into().expect("four bytes")))
    }

    /// Eight bytes.
    pub fn u64(&mut self, expected: &'static str) -> Result<u64, DecodeError> {
        let bytes = self.take(8, expected)?;
        Ok(u64::from_le_bytes(bytes.try_into().expect("eight bytes")))
    }

    /// A number of at most `max`.
    pub fn u64_to(&mut self, max: u64, expected: &'static str) -> Result<u64, DecodeError> {
        let value = self.u64(expected)?;
        if value > max {
            return Err(self.refuse(expected));
        }
        Ok(value)
    }

    /// How many follow: at most `max`, and no more than the bytes left can hold at `each` bytes.
    pub fn count(
        &mut self,
        max: usize,
        each: usize,
        expected: &'static str,
    ) -> Result<usize, DecodeError> {
        let value = usize::try_from(self.u32(expected)?).unwrap_or(usize::MAX);
        let left = self.bytes.len() - self.offset;
        if value > max || value > left / each {
            return Err(self.refuse(expected));
        }
        Ok(value)
    }

    /// Bytes behind their length, at most `max` of them.
    pub fn bytes(&mut self, max: usize, expected: &'static str) -> Result<&'a [u8], DecodeError> {
        let len = self.count(max, 1, expected)?;
        self.take(len, expected)
    }

    /// Refuses bytes that nothing has read.
    pub fn end(&self) -> Result<(), DecodeError> {
        if self.offset == self.bytes.len() {
            Ok(())
        } else {
            Err(self.refuse("end"))
        }
    }
}
