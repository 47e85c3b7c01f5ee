//! Maps keyed by numbers that the engine gives out itself, hashed by one multiplication.
//!
//! The standard library's hash withstands keys that an attacker chose, and takes 140 instructions
//! for a number; a put looked up three such numbers, a get one. Nobody chooses these keys: they are
//! counted up. One multiplication spreads them over the bits that a map looks at.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A map whose keys are file numbers, keyspaces or the like.
pub type IdMap<K, V> = HashMap<K, V, BuildHasherDefault<IdHasher>>;

/// 2^64 divided by the golden ratio, made odd: neighbours come to lie far apart (Knuth, The Art of
/// Computer Programming 3, 6.4).
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

/// Hashes one number, or several one after the other.
#[derive(Clone, Copy, Debug, Default)]
pub struct IdHasher(u64);

impl Hasher for IdHasher {
    #[inline]
    fn write_u64(&mut self, number: u64) {
        self.0 = (self.0 ^ number).wrapping_mul(SPREAD);
    }

    #[inline]
    fn write_u32(&mut self, number: u32) {
        self.write_u64(u64::from(number));
    }

    // Ids are whole numbers; anything else is hashed too, byte by byte.
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    #[inline]
    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests;
