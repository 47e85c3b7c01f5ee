//! Values of a wished size and compressibility.

use crate::fail::{Failure, Outcome};
use crate::make::random::Random;

/// Bytes of the pool that values are cut from, where values are not longer: many times the window
/// of any compressor that packs blocks of up to 64 KiB.
const POOL_BYTES: usize = 4 << 20;

/// How long a run of repeated bytes is. Compressors find it, and it is longer than what they
/// spend on saying so.
const PIECE_BYTES: usize = 100;

/// How long values are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueSize {
    /// All alike.
    Fixed(usize),
    /// Evenly spread, both ends included.
    Uniform {
        /// The shortest.
        min: usize,
        /// The longest.
        max: usize,
    },
    /// A bell between two ends, with its middle halfway and a sixth of the width as deviation.
    Normal {
        /// The shortest.
        min: usize,
        /// The longest.
        max: usize,
    },
}

impl ValueSize {
    /// The longest value.
    pub fn max(self) -> usize {
        match self {
            ValueSize::Fixed(size) => size,
            ValueSize::Uniform { max, .. } | ValueSize::Normal { max, .. } => max,
        }
    }

    /// Draws a length.
    pub fn draw(self, random: &mut Random) -> usize {
        match self {
            ValueSize::Fixed(size) => size,
            ValueSize::Uniform { min, max } => {
                let span = (max - min) as u64 + 1;
                min + usize::try_from(random.below(span)).expect("below a usize")
            }
            ValueSize::Normal { min, max } => {
                // The sum of twelve units less six is normal enough, with a deviation of 1.
                let bell: f64 = (0..12).map(|_| random.unit()).sum::<f64>() - 6.0;
                let middle = (min + max) as f64 / 2.0;
                let size = middle + bell * (max - min) as f64 / 6.0;
                (size.max(0.0) as usize).clamp(min, max)
            }
        }
    }
}

/// Random bytes of which about `1 - ratio` can be packed away.
#[derive(Clone, Debug)]
pub struct Values {
    pool: Vec<u8>,
    at: usize,
    size: ValueSize,
    random: Random,
}

impl Values {
    /// Values of `size`; `ratio`, from above 0 to 1, is the share that is left after packing.
    pub fn new(size: ValueSize, ratio: f64, seed: u64) -> Outcome<Values> {
        if !(ratio > 0.0 && ratio <= 1.0) {
            return Err(Failure::usage(format!(
                "a compression ratio of {ratio} cannot be made; it lies above 0 and up to 1"
            )));
        }
        let mut random = Random::new(seed);
        let fresh = ((PIECE_BYTES as f64 * ratio) as usize).clamp(1, PIECE_BYTES);
        let wanted = POOL_BYTES.max(size.max() + PIECE_BYTES);
        let mut pool = Vec::with_capacity(wanted + PIECE_BYTES);
        let mut piece = [0_u8; PIECE_BYTES];
        while pool.len() < wanted {
            random.fill(&mut piece[..fresh]);
            pool.extend(piece[..fresh].iter().cycle().take(PIECE_BYTES));
        }
        Ok(Values {
            pool,
            at: 0,
            size,
            random,
        })
    }

    /// The next value.
    pub fn next_value(&mut self) -> &[u8] {
        let size = self.size.draw(&mut self.random);
        if self.at + size > self.pool.len() {
            self.at = 0;
        }
        let start = self.at;
        self.at += size;
        &self.pool[start..start + size]
    }
}

#[cfg(test)]
mod tests;
