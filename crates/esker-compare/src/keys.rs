//! Keys as LevelDB's db_bench writes them: sixteen decimal digits.

/// Bytes of a key.
pub const KEY_BYTES: usize = 16;

/// The key of a number below 10^16.
pub fn key(mut number: u64) -> [u8; KEY_BYTES] {
    let mut digits = [b'0'; KEY_BYTES];
    for digit in digits.iter_mut().rev() {
        *digit = b'0' + (number % 10) as u8;
        number /= 10;
    }
    digits
}

/// Random numbers below a bound, by splitmix64: the same for every engine and run.
pub struct Random(u64);

impl Random {
    /// The numbers of a seed.
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    /// The next number below `bound`.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % bound
    }
}

#[cfg(test)]
mod tests;
