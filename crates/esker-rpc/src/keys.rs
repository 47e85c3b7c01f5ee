//! Raw keys: hash key and sort key in one byte string; and which partition a key belongs to.
//!
//! | offset | size | what |
//! |---|---|---|
//! | 0 | 2 | length of the hash key, big-endian |
//! | 2 | that length | hash key |
//! | then | the rest | sort key |
//!
//! Valid if and only if there are two bytes at least, the length is below 65 535, and so many bytes
//! follow. Raw keys are ordered by their bytes, so all sort keys of a hash key stand together.

use crc::{CRC_64_NVME, Crc, Table};

/// Most bytes of a hash key.
pub const HASH_KEY_LEN_MAX: usize = 65_534;

// Sixteen tables (32 KiB) take sixteen bytes a step; one table takes four times as long.
const CRC: Crc<u64, Table<16>> = Crc::<u64, Table<16>>::new(&CRC_64_NVME);

/// The raw key of both; `None` if the hash key is too long.
pub fn raw_key(hash_key: &[u8], sort_key: &[u8]) -> Option<Vec<u8>> {
    let mut raw = Vec::with_capacity(2 + hash_key.len() + sort_key.len());
    put_raw_key(&mut raw, hash_key, sort_key).then_some(raw)
}

/// Appends the raw key of both to `out`; false, and nothing, if the hash key is too long.
#[must_use]
pub fn put_raw_key(out: &mut Vec<u8>, hash_key: &[u8], sort_key: &[u8]) -> bool {
    let len = u16::try_from(hash_key.len()).ok();
    let Some(len) = len.filter(|_| hash_key.len() <= HASH_KEY_LEN_MAX) else {
        return false;
    };
    out.extend_from_slice(&len.to_be_bytes());
    out.extend_from_slice(hash_key);
    out.extend_from_slice(sort_key);
    true
}

/// What all raw keys of `hash_key` begin with; `None` if the hash key is too long.
pub fn hash_key_prefix(hash_key: &[u8]) -> Option<Vec<u8>> {
    raw_key(hash_key, b"")
}

/// Hash key and sort key of a raw key; `None` if it is not valid.
pub fn split_raw_key(raw: &[u8]) -> Option<(&[u8], &[u8])> {
    let (len, rest) = raw.split_first_chunk::<2>()?;
    let len = usize::from(u16::from_be_bytes(*len));
    if len > HASH_KEY_LEN_MAX {
        return None;
    }
    rest.split_at_checked(len)
}

/// The first key behind all those that begin with `prefix`; `None` if there is none, since the
/// prefix is empty or has no byte but FF.
pub fn next_key(prefix: &[u8]) -> Option<Vec<u8>> {
    let last = prefix.iter().rposition(|byte| *byte != 0xff)?;
    let mut next = prefix[..=last].to_vec();
    next[last] += 1;
    Some(next)
}

/// Hash of bytes as partitions are chosen by: CRC-64/NVME.
pub fn hash(bytes: &[u8]) -> u64 {
    CRC.checksum(bytes)
}

/// Hash of a key: of its hash key, or of its sort key if the hash key is empty.
pub fn key_hash(hash_key: &[u8], sort_key: &[u8]) -> u64 {
    match hash_key {
        [] => hash(sort_key),
        _ => hash(hash_key),
    }
}

/// The partition that has keys of that hash, of `partition_count`, which is not 0.
pub fn partition_of(hash: u64, partition_count: u32) -> u32 {
    let index = hash % u64::from(partition_count);
    u32::try_from(index).expect("less than a number of 32 bits")
}

#[cfg(test)]
mod tests;
