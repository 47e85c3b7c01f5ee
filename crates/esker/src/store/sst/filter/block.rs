//! Filters as stored in a file: one filter over all keys.
//!
//! The plain bytes of a filter block:
//!
//! | offset | size | type | meaning |
//! |---|---|---|---|
//! | 0 | 64 × n | u64, little-endian | the lines of the filter |
//! | 64 × n | 1 | u8 | kind of filter: 1, the blocked Bloom filter of `bloom.rs` |
//! | 64 × n + 1 | 1 | u8 | probes per key, 1 to 16 |
//!
//! Of the `hash64` of a user key the high 32 bits, × n / 2^32, are the number of its line. A line
//! has 512 bits, of which bit b is bit b modulo 64 of word b / 64. The first probe is the low 32
//! bits of the hash, each further one the one before × 0x9e3779b9 modulo 2^32, and the highest nine
//! bits of a probe are the number of a bit. All bits of all keys of the file are set.
//!
//! Valid if and only if the kind is 1, the probes are in bounds and there are whole lines, at least
//! one.

use crate::base::types::error::{Error, ErrorKind, Result};
use crate::store::sst::filter::bloom::{
    Bloom, LINE_BYTES, best_probe_count, key_count_max, line_count,
};

/// The kind of filter that `bloom.rs` makes.
const KIND_BLOCKED_BLOOM: u8 = 1;

/// Collects the keys of a file for its filter.
///
/// Shape: 8 bytes per key until the file is finished; only then is it known how many bits the
/// filter needs.
#[derive(Debug)]
pub struct FilterBuilder {
    hashes: Vec<u64>,
    bits_per_key: f64,
    /// Bytes that the filter will take, and the number of keys up to which that surely holds: asked
    /// for at every entry, and reckoned anew once a line.
    size_bytes: usize,
    holds_up_to: usize,
}

impl FilterBuilder {
    /// A filter with that many bits per key, or `None` when there are to be none.
    pub fn new(bits_per_key: f64) -> Option<FilterBuilder> {
        (bits_per_key > 0.0).then_some(FilterBuilder {
            hashes: Vec::new(),
            bits_per_key,
            size_bytes: line_count(0, bits_per_key) * LINE_BYTES,
            holds_up_to: 0,
        })
    }

    /// Adds the user key with that hash; each key once.
    pub fn add(&mut self, hash: u64) {
        self.hashes.push(hash);
        let count = self.hashes.len();
        if count > self.holds_up_to {
            let lines = line_count(count, self.bits_per_key);
            self.size_bytes = lines * LINE_BYTES;
            self.holds_up_to = key_count_max(lines, self.bits_per_key).max(count);
        }
    }

    /// Bytes that the filter will take in the file.
    pub fn size_estimate(&self) -> usize {
        self.size_bytes
    }

    /// The plain bytes of the filter block.
    pub fn finish(self) -> Vec<u8> {
        let lines = line_count(self.hashes.len(), self.bits_per_key);
        let probe_count = best_probe_count(self.bits_per_key);
        let mut bloom = Bloom::new(lines, probe_count);
        self.hashes.iter().for_each(|hash| bloom.add(*hash));
        let mut out = Vec::with_capacity(bloom.size_bytes() + 2);
        bloom.write_into(&mut out);
        out.push(KIND_BLOCKED_BLOOM);
        out.push(u8::try_from(probe_count).expect("at most 16 probes"));
        out
    }
}

/// Reads the plain bytes of a filter block.
///
/// Errors: `Unsupported` for another kind of filter, else `Corruption`.
pub fn read_filter(bytes: &[u8]) -> Result<Bloom> {
    let Some((lines, [kind, probe_count])) = bytes.split_last_chunk::<2>() else {
        return Err(Error::corruption("filter is cut short"));
    };
    if *kind != KIND_BLOCKED_BLOOM {
        return Err(Error::new(
            ErrorKind::Unsupported,
            format!("filter of kind {kind}: open the file with a newer release"),
        ));
    }
    Bloom::read(lines, u32::from(*probe_count))
        .ok_or_else(|| Error::corruption("filter does not make sense"))
}

#[cfg(test)]
mod tests;
