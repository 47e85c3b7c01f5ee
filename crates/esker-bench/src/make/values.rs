//! Values of a wished size and compressibility.

use crate::fail::{Failure, Outcome};
use crate::make::random::Random;

/// Bytes of the pool that values are cut from, where values are not longer: many times the window
/// of any compressor that packs blocks of up to 64 KiB.
const POOL_BYTES: usize = 4 << 20;

/// How long a run of repeated bytes is. Compressors find it, and it is longer than what they
/// spend on saying so.
const PIECE_BYTES: usize = 100;

/// Random bytes of which about `1 - ratio` can be packed away.
#[derive(Clone, Debug)]
pub struct Values {
    pool: Vec<u8>,
    at: usize,
    bytes: usize,
}

impl Values {
    /// Values of so many bytes; `ratio`, from above 0 to 1, is the share that is left after
    /// packing.
    pub fn new(bytes: usize, ratio: f64, seed: u64) -> Outcome<Values> {
        if !(ratio > 0.0 && ratio <= 1.0) {
            return Err(Failure::usage(format!(
                "a compression ratio of {ratio} cannot be made; it lies above 0 and up to 1"
            )));
        }
        let mut random = Random::new(seed);
        let fresh = ((PIECE_BYTES as f64 * ratio) as usize).clamp(1, PIECE_BYTES);
        let wanted = POOL_BYTES.max(bytes + PIECE_BYTES);
        let mut pool = Vec::with_capacity(wanted + PIECE_BYTES);
        let mut piece = [0_u8; PIECE_BYTES];
        while pool.len() < wanted {
            random.fill(&mut piece[..fresh]);
            pool.extend(piece[..fresh].iter().cycle().take(PIECE_BYTES));
        }
        Ok(Values { pool, at: 0, bytes })
    }

    /// The next value.
    pub fn next_value(&mut self) -> &[u8] {
        if self.at + self.bytes > self.pool.len() {
            self.at = 0;
        }
        let start = self.at;
        self.at += self.bytes;
        &self.pool[start..self.at]
    }
}

#[cfg(test)]
mod tests;
