//! CRC32C and XXH3.
//!
//! CRC32C guards records and blocks: hardware computes it at 10 GB/s and more, and it detects
//! every burst of up to 32 bits. XXH3 hashes keys for filters, caches and hash indexes.

use crate::base::codec::short_crc::{SHORT_BYTES, short_crc};
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

/// What `mask` adds; any constant far from 0 does, this is LevelDB's.
const MASK_DELTA: u32 = 0xa282_ead8;

/// The CRC32C (Castagnoli) of `bytes`.
#[inline]
pub fn crc32c(bytes: &[u8]) -> u32 {
    crc32c_more(0, bytes)
}

/// The CRC32C of what `crc` already covers followed by `bytes`.
#[inline]
pub fn crc32c_more(crc: u32, bytes: &[u8]) -> u32 {
    if bytes.len() < SHORT_BYTES
        && let Some(crc) = short_crc(crc, bytes)
    {
        return crc;
    }
    crc32c::crc32c_append(crc, bytes)
}

/// Makes a checksum fit to be stored next to data that is itself checksummed: the CRC of bytes
/// that hold their own CRC is a constant, which would hide damage. Source: LevelDB.
pub fn mask(crc: u32) -> u32 {
    crc.rotate_right(15).wrapping_add(MASK_DELTA)
}

/// The 64-bit XXH3 hash of `bytes`; stable, part of the file formats.
#[inline]
pub fn hash64(bytes: &[u8]) -> u64 {
    xxh3_64(bytes)
}

/// The seeded 64-bit XXH3 hash of `bytes`.
#[inline]
pub fn hash64_seeded(bytes: &[u8], seed: u64) -> u64 {
    xxh3_64_with_seed(bytes, seed)
}

#[cfg(test)]
mod tests;
