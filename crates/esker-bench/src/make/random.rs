//! Seeded random numbers for neutral workloads.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// A generator of 64-bit numbers: xoshiro256++, seeded through SplitMix64.
#[derive(Clone, Debug)]
pub struct Random(pub(crate) Xoshiro256PlusPlus);

/// SplitMix64's step: the golden ratio in 64 bits, made odd.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// A permutation of all numbers that leaves nothing of their order: one step of SplitMix64.
pub fn scramble(number: u64) -> u64 {
    let mut mixed = number.wrapping_add(GOLDEN);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// The first number from `from` on, and from 1, that has no divisor in common with `count`: steps
/// of it meet every one of `count` places before they come back.
pub fn coprime(from: u64, count: u64) -> u64 {
    fn divisor(left: u64, right: u64) -> u64 {
        match right {
            0 => left,
            _ => divisor(right, left % right),
        }
    }
    let mut step = from.max(1);
    while divisor(step, count) != 1 {
        step += 1;
    }
    step
}

impl Random {
    /// The generator of that seed.
    pub fn new(seed: u64) -> Random {
        Random(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    /// The next number.
    pub fn next_u64(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A number below `bound`, which is not 0. All are equally likely to 1 in 2^64.
    pub fn below(&mut self, bound: u64) -> u64 {
        assert!(bound > 0, "there is no number below 0");
        let wide = u128::from(self.next_u64()) * u128::from(bound);
        u64::try_from(wide >> 64).expect("the upper half of 128 bits has 64")
    }

    /// A number from 0 up to 1, exclusive, of 53 random bits.
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Fills `bytes`.
    pub fn fill(&mut self, bytes: &mut [u8]) {
        self.0.fill_bytes(bytes);
    }
}

#[cfg(test)]
mod tests;
