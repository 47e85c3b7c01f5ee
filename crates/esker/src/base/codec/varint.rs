//! Variable-length integers: seven bits a byte, low bits first, the high bit says "more".
//!
//! Source: the base-128 varints of Protocol Buffers. Only the shortest form is accepted back,
//! so that equal values have equal bytes.

/// Longest encoding of a `u64`, in bytes.
pub const VARINT_BYTES_MAX: usize = 10;

/// Appends `number`.
#[inline]
pub fn put_varint(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push((number as u8 & 0x7f) | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Bytes that `number` takes.
pub fn varint_len(number: u64) -> usize {
    let bits = 64 - (number | 1).leading_zeros() as usize;
    bits.div_ceil(7)
}

/// The number at the front of `bytes` and how many bytes it took; `None` when the bytes end too
/// early, do not fit 64 bits, or are not the shortest form.
#[inline]
pub fn varint_at_front(bytes: &[u8]) -> Option<(u64, usize)> {
    let first = *bytes.first()?;
    if first < 0x80 {
        return Some((u64::from(first), 1));
    }
    long_varint(bytes)
}

fn long_varint(bytes: &[u8]) -> Option<(u64, usize)> {
    let mut number = 0u64;
    for (index, &byte) in bytes.iter().take(VARINT_BYTES_MAX).enumerate() {
        let part = u64::from(byte & 0x7f);
        if index == VARINT_BYTES_MAX - 1 && byte > 1 {
            return None;
        }
        number |= part << (7 * index);
        if byte < 0x80 {
            let is_shortest = byte != 0 || index == 0;
            return is_shortest.then_some((number, index + 1));
        }
    }
    None
}

#[cfg(test)]
mod tests;
