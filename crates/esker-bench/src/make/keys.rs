//! Which key comes next: neutral distributions over a set that may grow.

use std::fmt;
use std::str::FromStr;

use crate::fail::{Failure, Outcome};
use crate::make::random::{Random, scramble};
use crate::make::zipf::Zipf;

/// YCSB's exponent, which most published figures use.
const THETA: f64 = 0.99;

/// How keys are chosen, by number from 0 up to the size of the set.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Distribution {
    /// Each alike.
    Uniform,
    /// By rank, low numbers first.
    Zipfian(f64),
    /// By rank, popular ones strewn over the set.
    Scrambled(f64),
    /// By rank, the newest first.
    Latest(f64),
}

impl Distribution {
    /// How the distributions are spelled, for messages.
    pub const SPELLINGS: &str = "uniform, zipfian[:theta], scrambled[:theta], latest[:theta]";
}

/// Spelled as in [`Distribution::SPELLINGS`].
impl FromStr for Distribution {
    type Err = Failure;

    fn from_str(text: &str) -> Outcome<Distribution> {
        let (name, theta) = match text.split_once(':') {
            Some((name, theta)) => (name, theta.parse().ok()),
            None => (text, Some(THETA)),
        };
        let theta = theta.filter(|theta: &f64| *theta > 0.0 && theta.is_finite());
        let chosen = match (name, theta) {
            ("uniform", _) if text == name => Some(Distribution::Uniform),
            ("zipfian", Some(theta)) => Some(Distribution::Zipfian(theta)),
            ("scrambled", Some(theta)) => Some(Distribution::Scrambled(theta)),
            ("latest", Some(theta)) => Some(Distribution::Latest(theta)),
            _ => None,
        };
        let wrong = || {
            let all = Distribution::SPELLINGS;
            Failure::usage(format!(
                "`{text}` is no key distribution; it is one of {all}"
            ))
        };
        chosen.ok_or_else(wrong)
    }
}

impl fmt::Display for Distribution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Distribution::Uniform => write!(f, "uniform"),
            Distribution::Zipfian(theta) => write!(f, "zipfian:{theta}"),
            Distribution::Scrambled(theta) => write!(f, "scrambled:{theta}"),
            Distribution::Latest(theta) => write!(f, "latest:{theta}"),
        }
    }
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

    /// The number of the next key in a set of `count` keys, which is not 0 and may grow from call
    /// to call.
    pub fn choose(&mut self, count: u64) -> u64 {
        assert!(count > 0, "nothing to choose from");
        match self.distribution {
            Distribution::Uniform => self.random.below(count),
            Distribution::Zipfian(theta) => self.rank(theta, count),
            Distribution::Scrambled(theta) => scramble(self.rank(theta, count)) % count,
            Distribution::Latest(theta) => count - 1 - self.rank(theta, count),
        }
    }

    fn rank(&mut self, theta: f64, count: u64) -> u64 {
        if self.zipf.as_ref().is_none_or(|zipf| zipf.count() != count) {
            self.zipf = Some(Zipf::new(count, theta));
        }
        let zipf = self.zipf.as_ref().expect("was just made");
        zipf.draw(&mut self.random)
    }
}

#[cfg(test)]
mod tests;
