//! Several measurements of one thing as three numbers.

use serde::{Deserialize, Serialize};

/// Median and spread of some measurements.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Half of them are below it.
    pub median: f64,
    /// The smallest.
    pub min: f64,
    /// The largest.
    pub max: f64,
}

impl Summary {
    /// The summary; `None` of nothing.
    pub fn of(all: impl IntoIterator<Item = f64>) -> Option<Summary> {
        let mut all: Vec<f64> = all.into_iter().collect();
        all.sort_by(f64::total_cmp);
        let half = all.len() / 2;
        let upper = *all.get(half)?;
        let median = match all.len().is_multiple_of(2) {
            true => f64::midpoint(all[half - 1], upper),
            false => upper,
        };
        Some(Summary {
            median,
            min: *all.first()?,
            max: *all.last()?,
        })
    }

    /// One measurement.
    pub fn one(number: f64) -> Summary {
        Summary {
            median: number,
            min: number,
            max: number,
        }
    }

    /// The summary of the ratios of measurements that were made side by side.
    ///
    /// Where the machine's speed changes from minute to minute this says more than the ratio of
    /// two medians: both of a pair saw the same minute.
    pub fn of_ratios(ours: &[f64], theirs: &[f64]) -> Option<Summary> {
        let pairs = ours.iter().zip(theirs);
        Summary::of(
            pairs
                .filter(|(_, theirs)| **theirs > 0.0)
                .map(|(ours, theirs)| ours / theirs),
        )
    }

    /// The three numbers, each as `text` shows it; of one measurement only that.
    pub fn text(&self, text: impl Fn(f64) -> String) -> String {
        self.text_in("", text)
    }

    /// The same with a unit, which stands once.
    pub fn text_in(&self, unit: &str, text: impl Fn(f64) -> String) -> String {
        let (median, min, max) = (text(self.median), text(self.min), text(self.max));
        match min == max {
            true => format!("{median}{unit}"),
            false => format!("{median}{unit} ({min}–{max})"),
        }
    }
}

#[cfg(test)]
mod tests;
