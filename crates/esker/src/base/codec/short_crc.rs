//! CRC32C of a few bytes, by the processor's instruction and nothing around it.
//!
//! The library splits at multiples of eight of the address, byte by byte on both sides, and looks
//! for runs that it can compute three at a time. Of a record of 150 bytes that is four parts of
//! five (experiment 0114); from [`SHORT_BYTES`] on it pays.
#![allow(unsafe_code)]

/// From so many bytes on the library computes three runs at a time.
pub const SHORT_BYTES: usize = 768;

/// The CRC32C of what `crc` already covers followed by `bytes`; `None` where the processor has no
/// instruction for it, or none that is called here.
#[inline]
pub fn short_crc(crc: u32, bytes: &[u8]) -> Option<u32> {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    if std::arch::is_x86_feature_detected!("sse4.2") {
        // SAFETY: the processor has the instruction, as asked in the line above. Nothing else is
        // unsafe in it: it touches memory by slices only.
        return Some(unsafe { by_instruction(crc, bytes) });
    }
    let _unused_without_an_instruction = (crc, bytes);
    None
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
#[target_feature(enable = "sse4.2")]
fn by_instruction(crc: u32, bytes: &[u8]) -> u32 {
    use std::arch::x86_64::{_mm_crc32_u8, _mm_crc32_u32, _mm_crc32_u64};

    let (words, rest) = bytes.as_chunks::<8>();
    let wide = words.iter().fold(u64::from(!crc), |crc, word| {
        _mm_crc32_u64(crc, u64::from_le_bytes(*word))
    });
    // The instruction leaves the upper half zero.
    let [a, b, c, d, ..] = wide.to_le_bytes();
    let mut crc = u32::from_le_bytes([a, b, c, d]);
    let mut rest = rest;
    if let Some((half, behind)) = rest.split_first_chunk::<4>() {
        crc = _mm_crc32_u32(crc, u32::from_le_bytes(*half));
        rest = behind;
    }
    !rest.iter().fold(crc, |crc, &byte| _mm_crc32_u8(crc, byte))
}

#[cfg(test)]
mod tests;
