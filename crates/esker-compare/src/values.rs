//! Values as LevelDB's db_bench makes them: printable, packing to half their size.
//!
//! Source: `util/testutil.cc` and `util/random.h` of LevelDB, in our own words.

/// Bytes of a value.
pub const VALUE_BYTES: usize = 100;

/// Bytes that are made once and handed out in slices.
const POOL_BYTES: usize = 1 << 20;

/// Random bytes in each piece of a hundred; the rest of the piece repeats them.
const RANDOM_BYTES: usize = VALUE_BYTES / 2;

/// The seed that db_bench always takes for values.
const SEED: u64 = 301;

/// Modulus and factor of the generator of Park and Miller (1988).
const MODULUS: u64 = (1 << 31) - 1;
const FACTOR: u64 = 16_807;

/// Hands out values.
pub struct Values {
    pool: Vec<u8>,
    at: usize,
}

impl Values {
    /// The values from the first one on.
    pub fn new() -> Values {
        let mut seed = SEED;
        let mut pool = Vec::with_capacity(POOL_BYTES + VALUE_BYTES);
        while pool.len() < POOL_BYTES {
            let start = pool.len();
            for _ in 0..RANDOM_BYTES {
                seed = seed * FACTOR % MODULUS;
                pool.push(b' ' + (seed % 95) as u8);
            }
            pool.extend_from_within(start..);
        }
        Values { pool, at: 0 }
    }

    /// The next value.
    #[inline]
    pub fn next(&mut self) -> &[u8] {
        if self.at + VALUE_BYTES > self.pool.len() {
            self.at = 0;
        }
        let start = self.at;
        self.at += VALUE_BYTES;
        &self.pool[start..self.at]
    }
}

#[cfg(test)]
mod tests;
