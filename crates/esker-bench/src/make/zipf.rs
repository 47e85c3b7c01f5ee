//! Zipfian ranks of any exponent, by rejection-inversion.

use rand_distr::Distribution;

use crate::make::random::Random;

/// Draws ranks `0..count`, rank `r` with a probability proportional to `1 / (r + 1)^theta`.
///
/// Setting up costs a few powers whatever `count` is, so that a growing set of items is no
/// hindrance.
#[derive(Clone, Debug)]
pub struct Zipf {
    count: u64,
    law: rand_distr::Zipf<f64>,
}

impl Zipf {
    /// Ranks below `count`, which is not 0, with exponent `theta`, which is positive.
    pub fn new(count: u64, theta: f64) -> Zipf {
        assert!(theta > 0.0, "without skew, draw uniformly");
        let law = rand_distr::Zipf::new(count as f64, theta);
        Zipf {
            count,
            law: law.expect("there are items, and the exponent is positive"),
        }
    }

    /// How many items there are.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Draws a rank.
    pub fn draw(&self, random: &mut Random) -> u64 {
        // A cast of a float keeps to the range of the integer.
        let rank = self.law.sample(&mut random.0) as u64;
        rank.clamp(1, self.count) - 1
    }
}

#[cfg(test)]
mod tests;
