//! YCSB's other numbers: hot spots, exponentials, lengths by a histogram, weighted choices.

use std::fs;
use std::path::Path;

use crate::fail::{Failure, Outcome};
use crate::make::random::Random;

/// A share of the draws goes to the first share of a range.
#[derive(Clone, Copy, Debug)]
pub struct Hotspot {
    first: u64,
    hot: u64,
    cold: u64,
    draw_share: f64,
}

impl Hotspot {
    /// Of the range from `first` to `last`, both included, the first `item_share` is hot and gets
    /// `draw_share` of the draws. Shares outside 0 to 1 count as 0, as in YCSB.
    pub fn new(first: u64, last: u64, item_share: f64, draw_share: f64) -> Hotspot {
        assert!(first <= last, "an empty range has no numbers");
        let within = |share: f64| {
            if (0.0..=1.0).contains(&share) {
                share
            } else {
                0.0
            }
        };
        let count = last - first + 1;
        // The cast of a float keeps to the range of the integer.
        let hot = ((count as f64 * within(item_share)) as u64).min(count);
        Hotspot {
            first,
            hot,
            cold: count - hot,
            draw_share: within(draw_share),
        }
    }

    /// Draws a number. Where one part is empty the other gets all; YCSB would divide by zero.
    pub fn draw(&self, random: &mut Random) -> u64 {
        let is_hot = random.unit() < self.draw_share;
        if (is_hot && self.hot > 0) || self.cold == 0 {
            self.first + random.below(self.hot)
        } else {
            self.first + self.hot + random.below(self.cold)
        }
    }
}

/// Distances that become rarer exponentially.
#[derive(Clone, Copy, Debug)]
pub struct Exponential {
    gamma: f64,
}

impl Exponential {
    /// `percent` of the draws are below `range`.
    pub fn new(percent: f64, range: f64) -> Exponential {
        Exponential {
            gamma: -(1.0 - percent / 100.0).ln() / range,
        }
    }

    /// Draws a distance.
    pub fn draw(&self, random: &mut Random) -> u64 {
        self.distance(random.unit())
    }

    /// The distance that the number `unit`, from 0 up to 1, stands for.
    pub fn distance(&self, unit: f64) -> u64 {
        // The cast of a float keeps to the range of the integer.
        (-unit.ln() / self.gamma) as u64
    }
}

/// Lengths by a histogram: how often each multiple of a block occurs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LengthHistogram {
    block_size: u64,
    buckets: Vec<u64>,
}

impl LengthHistogram {
    /// Reads the file: `BlockSize` and its bytes, then in each line a bucket, counted from 0, and
    /// how often it occurs, all with tabs between them.
    ///
    /// Errors: `Usage` when the file is missing or is not so.
    pub fn load(path: &Path) -> Outcome<LengthHistogram> {
        let name = path.display();
        let text = fs::read_to_string(path).map_err(|error| {
            Failure::usage(format!(
                "cannot read the histogram of lengths {name}: {error}"
            ))
        })?;
        LengthHistogram::parse(&text).ok_or_else(|| {
            Failure::usage(format!(
                "{name} is no histogram of lengths: its first line is `BlockSize`, a tab and a \
                 number, each other line a bucket (0, 1, 2 …), a tab and a count"
            ))
        })
    }

    /// The histogram in `text`, if it is one.
    pub fn parse(text: &str) -> Option<LengthHistogram> {
        let mut lines = text.lines();
        let block_size = lines.next()?.strip_prefix("BlockSize\t")?;
        let block_size = block_size.trim().parse().ok()?;
        let mut buckets = Vec::new();
        for line in lines.filter(|line| !line.trim().is_empty()) {
            let (bucket, count) = line.split_once('\t')?;
            if bucket.trim().parse() != Ok(buckets.len()) {
                return None;
            }
            buckets.push(count.trim().parse().ok()?);
        }
        let total = buckets
            .iter()
            .try_fold(0_u64, |sum, count| sum.checked_add(*count));
        let is_sound = total? > 0 && block_size > 0;
        is_sound.then_some(LengthHistogram {
            block_size,
            buckets,
        })
    }

    /// The longest length there is.
    pub fn longest(&self) -> u64 {
        let last = self.buckets.len() as u64;
        last.max(1).saturating_mul(self.block_size)
    }

    /// Draws a length, by YCSB's rule: bucket `b` stands for `b + 1` blocks, the last one for as
    /// many as the one before it.
    pub fn draw(&self, random: &mut Random) -> u64 {
        let total = self.buckets.iter().sum();
        self.length_at(random.below(total))
    }

    /// The length that a number below the sum of all counts stands for.
    pub fn length_at(&self, number: u64) -> u64 {
        let last = self.buckets.len() - 1;
        let mut left = number;
        for (bucket, count) in self.buckets[..last].iter().enumerate() {
            if left <= *count {
                return (bucket as u64 + 1) * self.block_size;
            }
            left -= count;
        }
        last as u64 * self.block_size
    }
}

/// One of several, each with its weight.
#[derive(Clone, Debug)]
pub struct Weighted<T> {
    choices: Vec<(f64, T)>,
    sum: f64,
}

impl<T: Copy> Weighted<T> {
    /// A choice among those of positive weight; `None` if there is none.
    pub fn new(choices: &[(f64, T)]) -> Option<Weighted<T>> {
        let choices: Vec<(f64, T)> = choices
            .iter()
            .copied()
            .filter(|(weight, _)| *weight > 0.0)
            .collect();
        let sum = choices.iter().map(|(weight, _)| weight).sum();
        (!choices.is_empty()).then_some(Weighted { choices, sum })
    }

    /// Draws one.
    pub fn draw(&self, random: &mut Random) -> T {
        let mut left = random.unit();
        for (weight, choice) in &self.choices {
            let share = weight / self.sum;
            if left < share {
                return *choice;
            }
            left -= share;
        }
        // Rounding may leave a crumb behind the last one.
        self.choices[self.choices.len() - 1].1
    }
}

#[cfg(test)]
mod tests;
