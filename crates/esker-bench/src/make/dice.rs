//! The random numbers that db_bench's dialects prescribe to the bit.

use rand_mt::Mt64;

/// LevelDB's generator: Park and Miller's, `seed = seed * 16807 mod 2^31 - 1`.
#[derive(Clone, Debug)]
pub struct ParkMiller(u32);

/// The modulus, a prime.
const M31: u64 = (1 << 31) - 1;

impl ParkMiller {
    /// The generator of that seed; 0 and the modulus, from which nothing moves, become 1.
    pub fn new(seed: u32) -> ParkMiller {
        let seed = seed & 0x7fff_ffff;
        let is_stuck = seed == 0 || u64::from(seed) == M31;
        ParkMiller(if is_stuck { 1 } else { seed })
    }

    /// The next number, below 2^31.
    pub fn next_u32(&mut self) -> u32 {
        let product = u64::from(self.0) * 16807;
        // The remainder without a division: 2^31 is 1 more than the modulus.
        let mut sum = (product >> 31) + (product & M31);
        if sum > M31 {
            sum -= M31;
        }
        self.0 = u32::try_from(sum).expect("at most the modulus");
        self.0
    }

    /// A number below `bound`, as LevelDB draws it.
    pub fn uniform(&mut self, bound: u32) -> u32 {
        self.next_u32() % bound
    }
}

/// The generator of a thread, by dialect.
#[derive(Clone, Debug)]
pub enum Dice {
    /// LevelDB's.
    Park(ParkMiller),
    /// RocksDB's, old and new: the 64-bit Mersenne Twister of the C++ library.
    Twister(Box<Mt64>),
}

impl Dice {
    /// The next number as the dialect has it.
    pub fn next_u64(&mut self) -> u64 {
        match self {
            Dice::Park(park) => u64::from(park.next_u32()),
            Dice::Twister(twister) => twister.next_u64(),
        }
    }

    /// A number below `bound`: the remainder, in every dialect.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.next_u64() % bound
    }
}

#[cfg(test)]
mod tests;
