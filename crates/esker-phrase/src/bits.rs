//! Bit streams that are written apart and read from both ends of one string of bytes.
//!
//! A stream fills each byte from its lowest bit. Two streams share a body: the first lies there
//! as written, the second with its bytes in reverse order, so that its first byte is the body's
//! last. Nothing says where they meet: who reads both to their ends knows.

/// Bits that a window shows at least: 64 without what is left of the byte it begins in.
pub const WINDOW_BITS_MIN: u32 = 57;

/// Takes codes and gives bytes.
#[derive(Clone, Debug, Default)]
pub struct BitWriter {
    bytes: Vec<u8>,
    word: u64,
    filled: u32,
}

impl BitWriter {
    /// Forgets what was written.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.word = 0;
        self.filled = 0;
    }

    /// Appends the lowest `len` bits of `code`, which has no others.
    ///
    /// # Panics
    /// When a code is longer than 32 bits.
    #[inline]
    pub fn put(&mut self, code: u32, len: u32) {
        assert!(len <= 32);
        debug_assert!(u64::from(code) >> len == 0);
        self.word |= u64::from(code) << self.filled;
        self.filled += len;
        if self.filled >= 32 {
            let low = u32::try_from(self.word & u64::from(u32::MAX)).expect("32 bits");
            self.bytes.extend_from_slice(&low.to_le_bytes());
            self.word >>= 32;
            self.filled -= 32;
        }
    }

    /// Appends the stream to `out`, its last byte filled up with zeros, and forgets it.
    pub fn finish_forward(&mut self, out: &mut Vec<u8>) {
        self.flush();
        out.extend_from_slice(&self.bytes);
        self.clear();
    }

    /// As [`BitWriter::finish_forward`], with the bytes in reverse order.
    pub fn finish_backward(&mut self, out: &mut Vec<u8>) {
        self.flush();
        out.extend(self.bytes.iter().rev());
        self.clear();
    }

    fn flush(&mut self) {
        let len = self.filled.div_ceil(8) as usize;
        self.bytes
            .extend_from_slice(&self.word.to_le_bytes()[..len]);
    }
}

/// What the stream that begins at the front of `body` shows from bit `bit` on: at least
/// [`WINDOW_BITS_MIN`] bits, the next one lowest; zeros beyond the end.
#[inline(always)]
pub fn window_forward(body: &[u8], bit: usize) -> u64 {
    let at = bit >> 3;
    // In this form there is one comparison; no body is so long that the sum overflows.
    let word = match body.get(at..at + 8).and_then(|rest| rest.first_chunk()) {
        Some(chunk) => u64::from_le_bytes(*chunk),
        None => word_at_end(body.get(at..).unwrap_or(&[]).iter()),
    };
    word >> (bit & 7)
}

/// As [`window_forward`], of the stream that begins at the back.
#[inline(always)]
pub fn window_backward(body: &[u8], bit: usize) -> u64 {
    let at = bit >> 3;
    let start = body.len().checked_sub(at + 8);
    let word = match start.and_then(|start| body.get(start..)?.first_chunk()) {
        Some(chunk) => u64::from_be_bytes(*chunk),
        None => {
            let end = body.len().saturating_sub(at);
            word_at_end(body.get(..end).unwrap_or(&[]).iter().rev())
        }
    };
    word >> (bit & 7)
}

// Fewer than eight bytes are left.
#[cold]
fn word_at_end<'a>(bytes: impl Iterator<Item = &'a u8>) -> u64 {
    let mut word = [0; 8];
    for (place, byte) in word.iter_mut().zip(bytes) {
        *place = *byte;
    }
    u64::from_le_bytes(word)
}

/// Whether two streams of that many bits fill `body` and nothing else: they meet without a byte
/// between them, and the bits behind their ends are zero.
pub fn meet(body: &[u8], forward_bits: usize, backward_bits: usize) -> bool {
    let (forward, backward) = (forward_bits.div_ceil(8), backward_bits.div_ceil(8));
    if forward.checked_add(backward) != Some(body.len()) {
        return false;
    }
    let is_rest_zero = |at: usize, bits: usize| {
        let rest = body
            .get(at)
            .map_or(0, |byte| u32::from(*byte) >> (bits & 7));
        bits & 7 == 0 || rest == 0
    };
    is_rest_zero(forward.wrapping_sub(1), forward_bits) && is_rest_zero(forward, backward_bits)
}

#[cfg(test)]
mod tests;
