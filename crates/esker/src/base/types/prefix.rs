//! What two keys begin with alike, and the first bytes of a key as a number.

/// How many bytes two keys begin with alike.
#[inline]
pub fn common_len(left: &[u8], right: &[u8]) -> usize {
    let (left_words, _) = left.as_chunks::<8>();
    let (right_words, _) = right.as_chunks::<8>();
    let mut len = 0;
    for (left_word, right_word) in left_words.iter().zip(right_words) {
        let differing = u64::from_le_bytes(*left_word) ^ u64::from_le_bytes(*right_word);
        if differing != 0 {
            return len + differing.trailing_zeros() as usize / 8;
        }
        len += 8;
    }
    let rest = left[len..].iter().zip(&right[len..]);
    len + rest.take_while(|(l, r)| l == r).count()
}

/// The first eight bytes as a number that compares like them; short keys are filled with zeros,
/// so that a key and the same key with zeros behind give one number.
#[inline]
pub fn prefix_number(key: &[u8]) -> u64 {
    if let Some(bytes) = key.first_chunk::<8>() {
        return u64::from_be_bytes(*bytes);
    }
    let mut bytes = [0; 8];
    bytes[..key.len()].copy_from_slice(key);
    u64::from_be_bytes(bytes)
}

/// As [`prefix_number`], of sixteen bytes: eight are the same in all keys of a small number
/// written in decimal.
#[inline]
pub fn prefix_number_16(key: &[u8]) -> u128 {
    match key.first_chunk::<16>() {
        Some(bytes) => u128::from_be_bytes(*bytes),
        None => {
            let mut bytes = [0; 16];
            bytes[..key.len()].copy_from_slice(key);
            u128::from_be_bytes(bytes)
        }
    }
}

/// Bytes of a key that its head holds.
const HEAD_BYTES: usize = size_of::<u128>();

/// The first sixteen bytes of a key and its length: all of a short key, so that most keys are
/// compared and told apart without looking at them.
#[derive(Clone, Copy, Debug)]
pub struct KeyHead {
    /// The bytes as [`prefix_number_16`] has them.
    pub prefix: u128,
    /// Bytes of the key.
    pub len: usize,
}

impl KeyHead {
    /// The head of that key.
    #[inline]
    pub fn of(key: &[u8]) -> KeyHead {
        KeyHead {
            prefix: prefix_number_16(key),
            len: key.len(),
        }
    }

    /// Whether it is all of the key.
    #[inline]
    pub fn is_whole(&self) -> bool {
        self.len <= HEAD_BYTES
    }

    /// Whether the two are heads of the same key, if they can tell.
    #[inline]
    pub fn is_same(&self, other: &KeyHead) -> Option<bool> {
        match self.prefix == other.prefix {
            false => Some(false),
            // A key that is longer than its head is another than one that is not.
            true => (self.is_whole() || other.is_whole()).then_some(self.len == other.len),
        }
    }
}

#[cfg(test)]
mod tests;
