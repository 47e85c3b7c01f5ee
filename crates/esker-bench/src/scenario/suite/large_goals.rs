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
        vec![
            at_least("put", PUT_MIN, "of appends with as many syncs", &self.puts),
            at_most("put", WRITTEN_MAX, "bytes written for one", &self.written),
            at_least("get", GET_MIN, "of plain reads", &self.gets),
            at_least(
                "overwrite-twice",
                OVERWRITE_MIN,
                "of the first fill",
                &self.overwrites,
            ),
            at_most(
                "overwrite-twice",
                SPACE_MAX,
                "live bytes on the disk",
                &self.spaces,
            ),
        ]
    }
}

fn at_least(line: &str, least: f64, of: &str, all: &[f64]) -> Verdict {
    let measured = Summary::of(all.iter().copied());
    let asked = format!("{least} {of} at least");
    Verdict::of(line, asked, "×", measured, |median| median >= least)
}

fn at_most(line: &str, most: f64, of: &str, all: &[f64]) -> Verdict {
    let measured = Summary::of(all.iter().copied());
    let asked = format!("{most} {of} at most");
    Verdict::of(line, asked, "×", measured, |median| median <= most)
}

#[cfg(test)]
mod tests;
