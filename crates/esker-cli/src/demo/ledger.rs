//! What the writer that gets killed writes: batches that anyone can compute again.
//!
//! Batch `n` has one to eight entries; keys, values and how many follow from `n` alone. So the
//! prover needs no list of what was written, and nothing can be invented unnoticed.

use std::ops::RangeInclusive;

use esker_bench::make::random::{Random, scramble};

/// Entries of a batch.
const ENTRIES: RangeInclusive<u64> = 1..=8;

/// Bytes of a value: short ones, and some beyond a block.
const SHORT_BYTES: u64 = 200;
const LONG_BYTES: u64 = 6000;
/// One value in so many is long.
const LONG_EVERY: u64 = 64;

/// How many entries batch `number` has.
pub fn entry_count(number: u64) -> u64 {
    ENTRIES.start() + scramble(number) % (ENTRIES.end() - ENTRIES.start() + 1)
}

/// The key of an entry: in the order of batches, and of entries within a batch.
pub fn key(number: u64, index: u64) -> Vec<u8> {
    format!("{number:012}/{index}").into_bytes()
}

/// The batch and the entry that a key names; `None` for a key that no batch has.
pub fn parse_key(bytes: &[u8]) -> Option<(u64, u64)> {
    let text = std::str::from_utf8(bytes).ok()?;
    let (number, index) = text.split_once('/')?;
    let (number, index) = (number.parse().ok()?, index.parse().ok()?);
    (index < entry_count(number) && key(number, index) == bytes).then_some((number, index))
}

/// The value of an entry.
pub fn value(number: u64, index: u64) -> Vec<u8> {
    let mut random = Random::new(scramble(number) ^ index);
    let is_long = random.below(LONG_EVERY) == 0;
    let length = random.below(if is_long { LONG_BYTES } else { SHORT_BYTES });
    let length = usize::try_from(length).expect("lengths are small");
    let mut bytes = Vec::with_capacity(length + 8);
    while bytes.len() < length {
        bytes.extend_from_slice(&random.next_u64().to_le_bytes());
    }
    bytes.truncate(length);
    bytes
}

#[cfg(test)]
mod tests;
