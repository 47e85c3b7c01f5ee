//! Numbers that follow from a seed, for tests.

/// A source of numbers: the same for the same seed.
pub struct Dice(u64);

impl Dice {
    /// What follows from `seed`.
    pub fn new(seed: u64) -> Dice {
        Dice(seed)
    }

    // SplitMix64, from Steele, Lea and Flood, "Fast splittable pseudorandom number generators".
    /// Any number.
    pub fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`, which is not 0.
    pub fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.draw() % end as u64).expect("less than a length")
    }

    /// Up to `len_max` bytes.
    pub fn bytes(&mut self, len_max: usize) -> Vec<u8> {
        let len = self.below(len_max + 1);
        (0..len).map(|_| self.draw().to_le_bytes()[3]).collect()
    }

    /// Up to `len_max` letters.
    pub fn text(&mut self, len_max: usize) -> String {
        let len = self.below(len_max + 1);
        let letters = ['a', 'Z', '0', '_', 'é', '漢'];
        (0..len)
            .map(|_| letters[self.below(letters.len())])
            .collect()
    }
}
