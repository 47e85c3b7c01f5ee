//! Everything that was measured, by workload and engine, round after round.

use std::collections::BTreeMap;

use esker_bench::measure::summary::Summary;
use esker_bench::report::record::Measurement;
use esker_bench::target::settings::Matched;

use crate::compare::work::CUT_SHORT;
use crate::compare::workloads::{LOAD_END, Workload, load};

/// An engine as tables show it.
#[derive(Clone, Debug)]
pub struct Seat {
    /// Its word on the command line.
    pub word: &'static str,
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Whether it is a log-structured merge tree.
    pub is_lsm: bool,
    /// What it made of the settings.
    pub matched: Vec<Matched>,
}

/// All measurements.
#[derive(Clone, Debug, Default)]
pub struct Board {
    /// The engines, ours first.
    pub seats: Vec<Seat>,
    /// By workload and place of the engine: one measurement for each round.
    pub cells: BTreeMap<(String, usize), Vec<Measurement>>,
    /// By name of the limit: one measurement for each round.
    pub limits: BTreeMap<String, Vec<Measurement>>,
}

impl Board {
    /// The place of the engine with this word.
    pub fn place(&self, word: &str) -> Option<usize> {
        self.seats.iter().position(|seat| seat.word == word)
    }

    /// The measurements of a workload on an engine.
    pub fn cell(&self, workload: &str, place: usize) -> &[Measurement] {
        let cell = self.cells.get(&(workload.to_owned(), place));
        cell.map_or(&[], Vec::as_slice)
    }

    /// Operations a second, round by round.
    pub fn rates(&self, workload: &str, place: usize) -> Vec<f64> {
        let cell = self.cell(workload, place);
        cell.iter().map(|one| one.ops_per_s).collect()
    }

    /// Nanoseconds that 99.9 % of the operations did not exceed, round by round.
    pub fn tails(&self, workload: &str, place: usize) -> Vec<f64> {
        let cell = self.cell(workload, place);
        cell.iter().filter_map(tail_ns).collect()
    }

    /// Operations a second of the threads beside the measured ones, round by round.
    pub fn beside(&self, workload: &str, place: usize) -> Vec<f64> {
        let cell = self.cell(workload, place);
        cell.iter().filter_map(|one| one.beside_per_s).collect()
    }

    /// Of the rivals that `is_asked` names, the one with the best median on a workload.
    pub fn best_rival(&self, workload: &str, is_asked: impl Fn(&Seat) -> bool) -> Option<usize> {
        let median = |place: usize| Summary::of(self.rates(workload, place)).map(|it| it.median);
        let rivals = self.seats.iter().enumerate().skip(1);
        rivals
            .filter(|(_, seat)| is_asked(seat))
            .filter_map(|(place, _)| Some((place, median(place)?)))
            .max_by(|left, right| left.1.total_cmp(&right.1))
            .map(|(place, _)| place)
    }

    /// Bytes that the process caused to be written for each byte of the user's, over the load, the
    /// compaction, and what was read in between, round by round; nothing unless load and compaction
    /// were measured.
    pub fn write_amplifications(&self, place: usize) -> Vec<f64> {
        let changes = || load().filter(|workload| workload.work.is_change());
        let counts = changes().map(|workload| self.cell(workload.name, place).len());
        let rounds = counts.min().unwrap_or(0);
        let of_round = |round: usize| {
            let measured = |workload: &Workload| self.cell(workload.name, place).get(round);
            let user: u64 = changes().filter_map(measured).map(|one| one.bytes).sum();
            let all = load().filter_map(measured);
            let written: u64 = all.map(|one| one.usage.device_write_bytes).sum();
            written as f64 / (user as f64).max(1.0)
        };
        (0..rounds).map(of_round).collect()
    }

    /// Each measurement that patience ended, with the operations that had been asked for.
    pub fn cut_short(&self) -> impl Iterator<Item = (&Measurement, &str)> {
        let all = self.cells.values().flatten();
        all.filter_map(|one| {
            let pair = one.workload.iter().find(|(name, _)| name == CUT_SHORT)?;
            Some((one, pair.1.as_str()))
        })
    }

    /// Bytes on the medium after the compaction, round by round.
    pub fn compacted_bytes(&self, place: usize) -> Vec<f64> {
        let cell = self.cell(LOAD_END, place).iter();
        cell.filter_map(|one| {
            let pair = one.workload.iter().find(|(name, _)| name == "disk_bytes");
            pair.and_then(|(_, text)| text.parse().ok())
        })
        .collect()
    }

    /// The best rival on a workload that is a log-structured merge tree as ours is.
    pub fn best_tree(&self, workload: &str) -> Option<usize> {
        self.best_rival(workload, |seat| seat.is_lsm)
    }

    /// Each of these workloads with our ratio to the best tree there: the median over the rounds.
    pub fn ratios(&self, workloads: &[&str]) -> Vec<(String, f64)> {
        let ratio = |workload: &&str| {
            let rival = self.best_tree(workload)?;
            let ratio = Summary::of_ratios(&self.rates(workload, 0), &self.rates(workload, rival))?;
            Some(((*workload).to_owned(), ratio.median))
        };
        workloads.iter().filter_map(ratio).collect()
    }

    /// A number of each round of a limit.
    pub fn limit(&self, name: &str, of: impl Fn(&Measurement) -> f64) -> Vec<f64> {
        let all = self.limits.get(name).map_or(&[][..], Vec::as_slice);
        all.iter().map(of).collect()
    }
}

/// Bytes a second.
pub fn byte_rate(one: &Measurement) -> f64 {
    one.bytes as f64 / one.wall_s.max(1e-9)
}

fn tail_ns(one: &Measurement) -> Option<f64> {
    const TAIL: f64 = 99.9;
    let percentiles = &one.latencies.first()?.percentiles;
    let found = percentiles.iter().find(|(percent, _)| *percent == TAIL);
    found.map(|(_, nanos)| *nanos as f64)
}
