//! Ranges of keys, some hot and some cold, as `mixgraph` models them.
//!
//! Source: Cao and others, "Characterizing, Modeling, and Benchmarking RocksDB Key-Value Workloads
//! at Facebook", 2020: the heat of a range follows two exponential curves, that of a key in it a
//! power.

use crate::make::dice::Twister;

/// A probability below this counts as none.
const TINY: f64 = 1e-16;

/// Which range a random number falls into, by heat.
#[derive(Clone, Debug)]
pub struct HotRanges {
    /// Where each range begins on the line of heat; ranges in the order of their keys.
    starts: Vec<u64>,
    heat: u64,
    range_keys: u64,
}

impl HotRanges {
    /// `count` ranges of `keys` keys in all; range `x`, counted from 1, is as hot as
    /// `a·e^(b·x) + c·e^(d·x)`. Which range of keys has which heat is drawn, the same for the same
    /// parameters.
    pub fn new(keys: u64, count: u64, [a, b, c, d]: [f64; 4]) -> HotRanges {
        let count = count.clamp(1, keys.max(1));
        let mut amplify = 0.0;
        let mut heats: Vec<u64> = Vec::new();
        for range in (1..=count).rev() {
            let x = range as f64;
            let heat = a * (b * x).exp() + c * (d * x).exp();
            let heat = if heat < TINY { 0.0 } else { heat };
            // The coldest range that is asked for at all is one unit wide, or nearly.
            if amplify == 0.0 && heat > 0.0 {
                amplify = (1.0 / heat).floor() + 1.0;
            }
            // A cast of a float keeps to the range of the integer.
            heats.push((amplify * heat).floor() as u64);
        }
        let sum: u64 = heats.iter().fold(0, |sum, heat| sum.saturating_add(*heat));
        let mut dice = Twister::new(sum);
        for place in 0..heats.len() {
            let other = dice.next_u64() % heats.len() as u64;
            heats.swap(place, usize::try_from(other).expect("a place"));
        }
        let mut starts = Vec::with_capacity(heats.len());
        let mut heat = 0_u64;
        for one in heats {
            starts.push(heat);
            heat = heat.saturating_add(one);
        }
        HotRanges {
            starts,
            heat: heat.max(1),
            range_keys: (keys / count).max(1),
        }
    }

    /// The key that a random number asks for; `key_heat` are the parameters of the power.
    pub fn key(&self, random: u64, key_heat: (f64, f64)) -> u64 {
        let at = random % self.heat;
        // The last range that begins at or before it.
        let range = self.starts.partition_point(|start| *start <= at).max(1) - 1;
        let place = random % self.range_keys;
        let offset = match key_heat {
            (0.0, _) | (_, 0.0) => place,
            heat => strewn(place as f64 / self.range_keys as f64, heat, self.range_keys),
        };
        range as u64 * self.range_keys + offset
    }
}

/// The key below `keys` that a share between 0 and 1 asks for, by the power `a·x^b`: keys of one
/// rank lie anywhere.
pub fn strewn(share: f64, (a, b): (f64, f64), keys: u64) -> u64 {
    let rank = (share / a).powf(1.0 / b).ceil();
    // A cast of a float keeps to the range of the integer.
    let mut dice = Twister::new(rank as u64);
    dice.next_u64() % keys
}

#[cfg(test)]
mod tests;
