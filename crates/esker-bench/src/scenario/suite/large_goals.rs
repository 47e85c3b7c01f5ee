//! What large values are held against, and what came of it.

use crate::measure::summary::Summary;
use crate::report::record::Verdict;

/// Part of the speed of plain appends, synced as often, that puts are to have.
const PUT_MIN: f64 = 0.97;

/// Bytes written for each byte of values that is put.
const WRITTEN_MAX: f64 = 1.02;

/// Part of the speed of plain reads that cold gets are to have.
const GET_MIN: f64 = 0.95;

/// Part of the speed of the first fill that overwriting is to have.
const OVERWRITE_MIN: f64 = 0.7;

/// Bytes on the disk for each byte that is live, once all was overwritten twice.
const SPACE_MAX: f64 = 1.3;

/// What was measured, round by round.
#[derive(Clone, Debug, Default)]
pub struct Shares {
    /// Puts, as a share of appends with as many syncs.
    pub puts: Vec<f64>,
    /// Bytes written for those that were put.
    pub written: Vec<f64>,
    /// Cold gets, as a share of plain reads.
    pub gets: Vec<f64>,
    /// Overwriting, as a share of the first fill.
    pub overwrites: Vec<f64>,
    /// Bytes on the disk for those that are live afterwards.
    pub spaces: Vec<f64>,
}

impl Shares {
    /// Every goal.
    pub fn judge(&self) -> Vec<Verdict> {
        let least = |line, least: f64, of: &str, all: &[f64]| {
            let measured = Summary::of(all.iter().copied());
            Verdict::at_least(line, format!("{least} {of} at least"), measured, least)
        };
        let most = |line, most: f64, of: &str, all: &[f64]| {
            let measured = Summary::of(all.iter().copied());
            Verdict::at_most(line, format!("{most} {of} at most"), measured, most)
        };
        let (again, first, live) = (
            "overwrite-twice",
            "of the first fill",
            "live bytes on the disk",
        );
        vec![
            least("put", PUT_MIN, "of appends with as many syncs", &self.puts),
            most("put", WRITTEN_MAX, "bytes written for one", &self.written),
            least("get", GET_MIN, "of plain reads", &self.gets),
            least(again, OVERWRITE_MIN, first, &self.overwrites),
            most(again, SPACE_MAX, live, &self.spaces),
        ]
    }
}

#[cfg(test)]
mod tests;
