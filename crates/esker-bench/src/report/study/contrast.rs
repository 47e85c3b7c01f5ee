//! Two runs held against each other, and what of the difference is more than noise.
//!
//! The rounds of two runs did not take turns, so they are not pairs: they are two heaps of
//! numbers. How likely chance alone would part them as far as this is told by the rank-sum test
//! (Mann and Whitney), counted out exactly rather than approximated, since rounds are few. It
//! asks nothing of how the numbers are spread. What is slow for the whole of one run, such as a
//! neighbour on the machine, is no chance and looks like a difference: no test sees that.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::measure::summary::Summary;
use crate::report::study::workloads::{Cell, Study};

/// Chance may do it in one of twenty cases at most; more often is noise.
pub const CHANCE_MAX: f64 = 0.05;

/// Below so many rounds in either run noise is unknown.
pub const ROUNDS_MIN: usize = 3;

/// Without known noise only differences beyond this share are worth a word.
pub const UNKNOWN_NOISE: f64 = 0.10;

/// With known noise too, a difference below this share is one nobody feels.
const FELT: f64 = 0.01;

/// What a difference comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Call {
    /// The later run is better, beyond noise.
    Better,
    /// The later run is worse, beyond noise.
    Worse,
    /// No more than noise does by itself.
    Noise,
    /// Noise is unknown, and the difference is beyond [`UNKNOWN_NOISE`] for the better.
    PerhapsBetter,
    /// Noise is unknown, and the difference is beyond [`UNKNOWN_NOISE`] for the worse.
    PerhapsWorse,
    /// Noise is unknown, and the difference is small.
    Unknown,
}

impl Call {
    /// The call as a person reads it.
    pub fn text(self) -> &'static str {
        match self {
            Call::Better => "better",
            Call::Worse => "worse",
            Call::Noise => "within noise",
            Call::PerhapsBetter => "better, noise unknown",
            Call::PerhapsWorse => "worse, noise unknown",
            Call::Unknown => "noise unknown",
        }
    }
}

/// One number of one workload in both runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Change {
    /// In the earlier run.
    pub before: Summary,
    /// In the later run.
    pub after: Summary,
    /// Later median over earlier median.
    pub ratio: f64,
    /// Rounds of the earlier and of the later run.
    pub rounds: (usize, usize),
    /// How often chance alone parts the rounds so far; `None` where they are too few.
    pub chance: Option<f64>,
    /// What it comes to.
    pub call: Call,
}

/// One workload on one engine in both runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// The workload.
    #[serde(rename = "workload")]
    pub label: String,
    /// The engine.
    pub engine: String,
    /// Operations a second.
    #[serde(rename = "ops_per_s")]
    pub rate: Change,
    /// The 99th percentile of the first kind of operation in nanoseconds, where both timed it.
    #[serde(rename = "p99_ns")]
    pub p99: Option<Change>,
}

/// Two runs held against each other.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Contrast {
    /// What both have.
    pub rows: Vec<Row>,
    /// Workload and engine that only the earlier run has.
    pub only_before: Vec<(String, String)>,
    /// Workload and engine that only the later run has.
    pub only_after: Vec<(String, String)>,
}

/// Holds `after` against `before`.
pub fn contrast(before: &Study<'_>, after: &Study<'_>) -> Contrast {
    let (mut earlier, later) = (cells(before), cells(after));
    let mut contrast = Contrast::default();
    for (name, later) in later {
        let Some(place) = earlier.iter().position(|(other, _)| *other == name) else {
            contrast.only_after.push(name);
            continue;
        };
        let (_, earlier) = earlier.remove(place);
        let rate = change(earlier, later, true, |one| Some(one.ops_per_s));
        if let Some(rate) = rate {
            contrast.rows.push(Row {
                label: name.0,
                engine: name.1,
                rate,
                p99: change(earlier, later, false, |one| one.percentile_ns(99.0)),
            });
        }
    }
    contrast.only_before = earlier.into_iter().map(|(name, _)| name).collect();
    contrast
}

/// Every cell with its workload and its engine.
fn cells<'s, 'a>(study: &'s Study<'a>) -> Vec<((String, String), &'s Cell<'a>)> {
    let workloads = study.workloads.iter();
    let named = workloads.flat_map(|workload| {
        workload.cells.iter().map(|cell| {
            let engine = study.seats[cell.place].name.clone();
            ((workload.label.clone(), engine), cell)
        })
    });
    named.collect()
}

fn change(
    earlier: &Cell<'_>,
    later: &Cell<'_>,
    is_more_better: bool,
    of: fn(&crate::report::record::Measurement) -> Option<f64>,
) -> Option<Change> {
    let (before, after) = (earlier.each(of), later.each(of));
    judge(&before, &after, is_more_better)
}

/// What came of one number, given that of each round; `None` if either run has none, or zero.
pub fn judge(before: &[f64], after: &[f64], is_more_better: bool) -> Option<Change> {
    let (earlier, later) = (
        Summary::of(before.iter().copied())?,
        Summary::of(after.iter().copied())?,
    );
    let ratio = later.median / earlier.median;
    if !ratio.is_finite() || ratio <= 0.0 {
        return None;
    }
    let is_known = before.len().min(after.len()) >= ROUNDS_MIN;
    let chance = is_known.then(|| chance(before, after));
    let is_better = (ratio > 1.0) == is_more_better;
    let is_beyond = |share: f64| !(1.0 / (1.0 + share)..=1.0 + share).contains(&ratio);
    // Three against three rounds never fall below one in ten: there the two may not overlap.
    let least = least_chance(before.len(), after.len());
    let call = match chance {
        Some(chance) if chance > CHANCE_MAX.max(least) + 1e-9 || !is_beyond(FELT) => Call::Noise,
        Some(_) if is_better => Call::Better,
        Some(_) => Call::Worse,
        None if !is_beyond(UNKNOWN_NOISE) => Call::Unknown,
        None if is_better => Call::PerhapsBetter,
        None => Call::PerhapsWorse,
    };
    Some(Change {
        before: earlier,
        after: later,
        ratio,
        rounds: (before.len(), after.len()),
        chance,
        call,
    })
}

/// What chance comes to when every number of one run lies beyond every number of the other.
pub fn least_chance(before: usize, after: usize) -> f64 {
    let ways = placings(before, after);
    let all: f64 = ways.values().sum();
    (2.0 / all).min(1.0)
}

/// How often two heaps without any difference part at least as far as these, in either direction.
fn chance(before: &[f64], after: &[f64]) -> f64 {
    // Twice the number of pairs in which the later one is larger, so that a tie counts half.
    let mut won = 0;
    for later in after {
        for earlier in before {
            won += match later.total_cmp(earlier) {
                std::cmp::Ordering::Greater => 2,
                std::cmp::Ordering::Equal => 1,
                std::cmp::Ordering::Less => 0,
            };
        }
    }
    let pairs = before.len() * after.len();
    let far = won.min(2 * pairs - won);
    let ways = placings(before.len(), after.len());
    let all: f64 = ways.values().sum();
    let as_far = ways.iter().filter(|(wins, _)| 2 * **wins <= far);
    (2.0 * as_far.map(|(_, count)| count).sum::<f64>() / all).min(1.0)
}

/// By pairs won, in how many orders `after` numbers can lie among `before` others.
fn placings(before: usize, after: usize) -> BTreeMap<usize, f64> {
    // The largest number of all belongs to the later heap, and beats every earlier one, or to the
    // earlier heap, and beats nobody that counts: Mann and Whitney's own recursion, row by row.
    let mut row: Vec<BTreeMap<usize, f64>> = vec![BTreeMap::from([(0, 1.0)]); before + 1];
    for _ in 0..after {
        for earlier in 0..=before {
            let mut ways = BTreeMap::new();
            for (wins, count) in &row[earlier] {
                *ways.entry(wins + earlier).or_insert(0.0) += count;
            }
            if earlier > 0 {
                for (wins, count) in row[earlier - 1].clone() {
                    *ways.entry(wins).or_insert(0.0) += count;
                }
            }
            row[earlier] = ways;
        }
    }
    row.swap_remove(before)
}

#[cfg(test)]
mod tests;
