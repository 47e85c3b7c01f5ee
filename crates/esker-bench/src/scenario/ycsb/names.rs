//! Keys of records: YCSB's hash and its way to write a number as a key.

/// FNV's start for 64 bits.
const FNV_OFFSET: u64 = 0xcbf2_9ce4_8422_2325;

/// FNV's prime for 64 bits.
const FNV_PRIME: u64 = 1_099_511_628_211;

/// FNV-1a of the eight bytes of `number`, little-endian, made positive as YCSB does it: as a signed
/// number without its sign. The one number that has no positive twin stays as it is.
pub fn fnv64(number: u64) -> i64 {
    let hash = number.to_le_bytes().iter().fold(FNV_OFFSET, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(FNV_PRIME)
    });
    hash.cast_signed().wrapping_abs()
}

/// How numbers of records become keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyShape {
    /// Whether keys are in the order of their numbers; else a hash strews them.
    pub is_ordered: bool,
    /// Digits that a number is filled up to with zeros.
    pub digits: usize,
}

impl KeyShape {
    /// Writes the key of record `number` into `key`: `user`, zeros, and the number or its hash.
    pub fn write(self, number: u64, key: &mut Vec<u8>) {
        let text = if self.is_ordered {
            number.to_string()
        } else {
            fnv64(number).to_string()
        };
        key.clear();
        key.extend_from_slice(b"user");
        key.extend(std::iter::repeat_n(
            b'0',
            self.digits.saturating_sub(text.len()),
        ));
        key.extend_from_slice(text.as_bytes());
    }
}

#[cfg(test)]
mod tests;
