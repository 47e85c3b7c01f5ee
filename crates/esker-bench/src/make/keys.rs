//! Which key comes next: neutral distributions over a set.

use crate::make::random::{Random, scramble};
use crate::make::zipf::Zipf;

/// How keys are chosen, by number from 0 up to the size of the set.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Distribution {
    /// Each alike.
    Uniform,
    /// By rank under an exponent, popular ones strewn over the set.
    Scrambled(f64),
}

/// Chooses keys by a distribution, from a seed.
#[derive(Clone, Debug)]
pub struct Chooser {
    distribution: Distribution,
    random: Random,
    zipf: Option<Zipf>,
}

impl Chooser {
    /// The chooser of that seed.
    pub fn new(distribution: Distribution, seed: u64) -> Chooser {
        Chooser {
            distribution,
            random: Random::new(seed),
            zipf: None,
        }
    }

    /// The number of the next key in a set of `count` keys, which is not 0.
    pub fn choose(&mut self, count: u64) -> u64 {
        assert!(count > 0, "nothing to choose from");
        match self.distribution {
            Distribution::Uniform => self.random.below(count),
            Distribution::Scrambled(theta) => {
                if self.zipf.as_ref().is_none_or(|zipf| zipf.count() != count) {
                    self.zipf = Some(Zipf::new(count, theta));
                }
                let zipf = self.zipf.as_ref().expect("was just made");
                scramble(zipf.draw(&mut self.random)) % count
            }
        }
    }
}

#[cfg(test)]
mod tests;
