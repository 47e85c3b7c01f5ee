//! Bytes that a connection has brought, until they are taken.

/// Room that a connection keeps: idle ones are many.
const KEPT_BYTES: usize = 64 * 1024;

/// Bytes of a connection that nobody has taken yet.
#[derive(Debug, Default)]
pub struct Incoming {
    bytes: Vec<u8>,
    taken: usize,
}

impl Incoming {
    /// Those bytes.
    pub fn rest(&self) -> &[u8] {
        &self.bytes[self.taken..]
    }

    /// Takes the first `len` of them.
    pub fn take(&mut self, len: usize) {
        self.taken += len;
        assert!(self.taken <= self.bytes.len());
    }

    /// Where more are appended. What was taken is let go once it is more than half, so that each
    /// byte is moved twice at most; and so is the room that a long message needed, once it has
    /// gone.
    pub fn buffer(&mut self) -> &mut Vec<u8> {
        if self.taken * 2 >= self.bytes.len() {
            self.bytes.drain(..self.taken);
            self.taken = 0;
            if self.bytes.len() < KEPT_BYTES {
                self.bytes.shrink_to(KEPT_BYTES);
            }
        }
        &mut self.bytes
    }
}

/// Reads words of 32 bits while there are any.
pub struct Words<'a>(pub &'a [u8]);

impl Words<'_> {
    /// The next one.
    pub fn word(&mut self) -> Option<u32> {
        let (word, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u32::from_be_bytes(*word))
    }
}
