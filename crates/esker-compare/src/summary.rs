//! Several measurements of one thing as three numbers.

/// Median and spread of some measurements.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// Half of them are below it.
    pub median: f64,
    /// The smallest.
    pub min: f64,
    /// The largest.
    pub max: f64,
}

impl Summary {
    /// The summary of at least one measurement.
    pub fn of(mut all: Vec<f64>) -> Summary {
        assert!(!all.is_empty());
        all.sort_by(f64::total_cmp);
        let half = all.len() / 2;
        let median = if all.len().is_multiple_of(2) {
            f64::midpoint(all[half - 1], all[half])
        } else {
            all[half]
        };
        Summary {
            median,
            min: all[0],
            max: all[all.len() - 1],
        }
    }
}

#[cfg(test)]
mod tests;
