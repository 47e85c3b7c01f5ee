//! How the ratio of each workload went from run to run.

use crate::report::history::Past;

/// One workload over several runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Trail {
    /// The workload.
    pub label: String,
    /// Each run that had it, counted from 0 over all runs, with the ratio there.
    pub points: Vec<(usize, f64)>,
}

impl Trail {
    /// The first ratio and the last.
    pub fn ends(&self) -> Option<(f64, f64)> {
        let first = self.points.first()?;
        let last = self.points.last()?;
        Some((first.1, last.1))
    }
}

/// The workloads of the newest of `runs`, each that an earlier one had too; `runs` go from the
/// oldest on.
pub fn trails(runs: &[Past]) -> Vec<Trail> {
    let Some(newest) = runs.last() else {
        return Vec::new();
    };
    let trails = newest.ratios.iter().map(|(label, _)| {
        let of_run = |(index, run): (usize, &Past)| {
            let found = run.ratios.iter().find(|(other, _)| other == label)?;
            Some((index, found.1))
        };
        Trail {
            label: label.clone(),
            points: runs.iter().enumerate().filter_map(of_run).collect(),
        }
    });
    trails.filter(|trail| trail.points.len() > 1).collect()
}

#[cfg(test)]
mod tests;
