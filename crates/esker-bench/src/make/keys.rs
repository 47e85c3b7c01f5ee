//! Which key comes next: neutral distributions over a set that may grow.

use std::fmt;
use std::str::FromStr;

use crate::fail::{Failure, Outcome};
use crate::make::random::{Random, scramble};
use crate::make::zipf::Zipf;

/// YCSB's exponent, which most published figures use.
const THETA: f64 = 0.99;

/// YCSB's hot spot: a fifth of the keys gets four fifths of the operations.
const HOT_SHARE: (f64, f64) = (0.2, 0.8);

/// YCSB's exponential: 95 % of the operations hit the first 85.7 % of the keys.
const EXPONENTIAL: (f64, f64) = (95.0, 0.857_142_857_1);

/// How keys are chosen, by number from 0 up to the size of the set.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Distribution {
    /// Each alike.
    Uniform,
    /// One after another, from the start again after the last.
    Sequential,
    /// By rank, low numbers first.
    Zipfian(f64),
    /// By rank, popular ones strewn over the set.
    Scrambled(f64),
    /// By rank, the newest first.
    Latest(f64),
    /// A share of the keys gets a share of the operations.
    Hotspot {
        /// Share of the keys that is hot.
        keys: f64,
        /// Share of the operations that goes there.
        operations: f64,
    },
    /// Exponentially falling popularity from the first key on.
    Exponential {
        /// So many percent of the operations …
        percent: f64,
        /// … hit this share of the keys.
        share: f64,
    },
}

impl Distribution {
    /// How the distributions are spelled, for messages.
    pub const SPELLINGS: &str = "uniform, sequential, zipfian[:theta], scrambled[:theta], \
         latest[:theta], hotspot[:keys:operations], exponential[:percent:share]";
}

/// Spelled as in [`Distribution::SPELLINGS`].
impl FromStr for Distribution {
    type Err = Failure;

    fn from_str(text: &str) -> Outcome<Distribution> {
        let (name, rest) = text.split_once(':').unwrap_or((text, ""));
        let numbers: Vec<f64> = rest
            .split(':')
            .filter(|part| !part.is_empty())
            .map(|part| part.parse().unwrap_or(f64::NAN))
            .collect();
        let wrong = || {
            let all = Distribution::SPELLINGS;
            Failure::usage(format!(
                "`{text}` is no key distribution; it is one of {all}"
            ))
        };
        let theta = match numbers[..] {
            [] => THETA,
            [theta] if theta > 0.0 && theta.is_finite() => theta,
            _ => f64::NAN,
        };
        let is_share = |share: f64| share > 0.0 && share <= 1.0;
        let pair = |default, is_good: fn(f64) -> bool| match numbers[..] {
            [] => Some(default),
            [first, second] if is_good(first) && is_share(second) => Some((first, second)),
            _ => None,
        };
        let chosen = match name {
            "uniform" if numbers.is_empty() => Some(Distribution::Uniform),
            "sequential" if numbers.is_empty() => Some(Distribution::Sequential),
            "zipfian" if theta > 0.0 => Some(Distribution::Zipfian(theta)),
            "scrambled" if theta > 0.0 => Some(Distribution::Scrambled(theta)),
            "latest" if theta > 0.0 => Some(Distribution::Latest(theta)),
            "hotspot" => pair(HOT_SHARE, |share| share > 0.0 && share <= 1.0)
                .map(|(keys, operations)| Distribution::Hotspot { keys, operations }),
            "exponential" => pair(EXPONENTIAL, |percent| percent > 0.0 && percent < 100.0)
                .map(|(percent, share)| Distribution::Exponential { percent, share }),
            _ => None,
        };
        chosen.ok_or_else(wrong)
    }
}

impl fmt::Display for Distribution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Distribution::Uniform => write!(f, "uniform"),
            Distribution::Sequential => write!(f, "sequential"),
            Distribution::Zipfian(theta) => write!(f, "zipfian:{theta}"),
            Distribution::Scrambled(theta) => write!(f, "scrambled:{theta}"),
            Distribution::Latest(theta) => write!(f, "latest:{theta}"),
            Distribution::Hotspot { keys, operations } => {
                write!(f, "hotspot:{keys}:{operations}")
            }
            Distribution::Exponential { percent, share } => {
                write!(f, "exponential:{percent}:{share}")
            }
        }
    }
}

/// Chooses keys by a distribution, from a seed.
#[derive(Clone, Debug)]
pub struct Chooser {
    distribution: Distribution,
    random: Random,
    zipf: Option<Zipf>,
    next: u64,
}

impl Chooser {
    /// The chooser of that seed.
    pub fn new(distribution: Distribution, seed: u64) -> Chooser {
        Chooser {
            distribution,
            random: Random::new(seed),
            zipf: None,
            next: 0,
        }
    }

    /// The number of the next key in a set of `count` keys, which is not 0 and may grow from call
    /// to call.
    pub fn choose(&mut self, count: u64) -> u64 {
        assert!(count > 0, "nothing to choose from");
        match self.distribution {
            Distribution::Uniform => self.random.below(count),
            Distribution::Sequential => {
                let number = self.next % count;
                self.next = number + 1;
                number
            }
            Distribution::Zipfian(theta) => self.rank(theta, count),
            Distribution::Scrambled(theta) => scramble(self.rank(theta, count)) % count,
            Distribution::Latest(theta) => count - 1 - self.rank(theta, count),
            Distribution::Hotspot { keys, operations } => {
                // At least one key is hot; the cast keeps to the range of the integer.
                let hot = ((count as f64 * keys) as u64).clamp(1, count);
                if hot == count || self.random.unit() < operations {
                    self.random.below(hot)
                } else {
                    hot + self.random.below(count - hot)
                }
            }
            Distribution::Exponential { percent, share } => self.exponential(percent, share, count),
        }
    }

    fn rank(&mut self, theta: f64, count: u64) -> u64 {
        if self.zipf.as_ref().is_none_or(|zipf| zipf.count() != count) {
            self.zipf = Some(Zipf::new(count, theta));
        }
        let zipf = self.zipf.as_ref().expect("was just made");
        zipf.draw(&mut self.random)
    }

    // The falling curve goes on for ever; what lies behind the set is drawn again.
    fn exponential(&mut self, percent: f64, share: f64, count: u64) -> u64 {
        let steepness = -(1.0 - percent / 100.0).ln() / (count as f64 * share);
        loop {
            let number = -(1.0 - self.random.unit()).ln() / steepness;
            if number < count as f64 {
                return (number as u64).min(count - 1);
            }
        }
    }
}

#[cfg(test)]
mod tests;
