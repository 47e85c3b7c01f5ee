//! The random numbers that db_bench's dialects prescribe to the bit.

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

/// Words of the Mersenne Twister's state, and the distance of the word mixed in.
const WORDS: usize = 312;
const MIDDLE: usize = 156;

/// RocksDB's generator: the 64-bit Mersenne Twister of the C++ library.
///
/// Source: Nishimura and Matsumoto, `mt19937-64`.
#[derive(Clone, Debug)]
pub struct Twister {
    state: [u64; WORDS],
    at: usize,
}

impl Twister {
    /// The generator of that seed.
    pub fn new(seed: u64) -> Twister {
        let mut state = [seed; WORDS];
        let mut last = seed;
        for (place, word) in (1_u64..).zip(state[1..].iter_mut()) {
            last = (last ^ (last >> 62))
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(place);
            *word = last;
        }
        Twister { state, at: WORDS }
    }

    /// The next number.
    pub fn next_u64(&mut self) -> u64 {
        if self.at == WORDS {
            self.turn();
        }
        let mut word = self.state[self.at];
        self.at += 1;
        word ^= (word >> 29) & 0x5555_5555_5555_5555;
        word ^= (word << 17) & 0x71d6_7fff_eda6_0000;
        word ^= (word << 37) & 0xfff7_eee0_0000_0000;
        word ^ (word >> 43)
    }

    fn turn(&mut self) {
        for place in 0..WORDS {
            let next = self.state[(place + 1) % WORDS];
            let joined = (self.state[place] & 0xffff_ffff_8000_0000) | (next & 0x7fff_ffff);
            let odd = if joined & 1 == 1 {
                0xb502_6f5a_a966_19e9
            } else {
                0
            };
            self.state[place] = self.state[(place + MIDDLE) % WORDS] ^ (joined >> 1) ^ odd;
        }
        self.at = 0;
    }
}

/// The generator of a thread, by dialect.
#[derive(Clone, Debug)]
pub enum Dice {
    /// LevelDB's.
    Park(ParkMiller),
    /// RocksDB's, old and new.
    Twister(Box<Twister>),
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
