//! How slow the slowest operations are: the whole distribution as a curve over its percentiles.

use crate::report::record::LatencyRecord;
use crate::report::study::workloads::Cell;

/// Nines up to which a curve goes: four are 99.99 %.
pub const NINES_MAX: f64 = 4.0;

/// Latencies of one kind of operation, all rounds together.
#[derive(Clone, Debug, PartialEq)]
pub struct Tail {
    /// The place of the engine.
    pub place: usize,
    /// Operations.
    pub count: u64,
    /// Nines, and the nanoseconds that all but so few did not exceed; both ascend.
    pub points: Vec<(f64, f64)>,
    /// The slowest operation, in nanoseconds.
    pub max_ns: f64,
}

/// The nines of a share below 1: 0.9 has one, 0.999 has three.
pub fn nines(share: f64) -> f64 {
    -(1.0 - share).log10()
}

/// The kinds of operation that a cell timed, in the order of its first round.
pub fn kinds<'a>(cell: &Cell<'a>) -> Vec<&'a str> {
    let mut kinds = Vec::new();
    for latency in cell.rounds.iter().flat_map(|one| &one.latencies) {
        if !kinds.contains(&latency.kind.as_str()) {
            kinds.push(latency.kind.as_str());
        }
    }
    kinds
}

/// The tail of one kind of operation; `None` if nothing was timed.
pub fn tail(cell: &Cell<'_>, kind: &str) -> Option<Tail> {
    let rounds = cell.rounds.iter().flat_map(|one| &one.latencies);
    let rounds: Vec<&LatencyRecord> = rounds.filter(|one| one.kind == kind).collect();
    let mut buckets: Vec<(u64, u64)> = rounds
        .iter()
        .flat_map(|one| one.buckets.iter().copied())
        .filter(|(_, count)| *count > 0)
        .collect();
    buckets.sort_unstable();
    let count: u64 = buckets.iter().map(|(_, count)| count).sum();
    let slowest = rounds.iter().map(|one| one.max_ns).max()?;
    let max_ns = buckets.last()?.0.max(slowest) as f64;
    let fastest = rounds.iter().map(|one| one.min_ns).min()?;
    let mut points = vec![(0.0, fastest.max(1) as f64)];
    let mut so_far = 0;
    for (nanos, more) in buckets {
        so_far += more;
        let share = so_far as f64 / count as f64;
        let here = (nines(share), nanos.max(1) as f64);
        let before = *points.last().expect("the curve begins with a point");
        if here.0 >= NINES_MAX {
            // The bucket that holds the last percentile drawn ends the curve: every operation of
            // the bucket took no longer than its upper edge.
            points.push((NINES_MAX, here.1.max(before.1)));
            break;
        }
        points.push((here.0, here.1.max(before.1)));
    }
    Some(Tail {
        place: cell.place,
        count,
        points,
        max_ns,
    })
}

/// What a curve says at so many nines, in nanoseconds: that of the first point from there on.
pub fn at(tail: &Tail, nines: f64) -> Option<f64> {
    let found = tail.points.iter().find(|(x, _)| *x >= nines - 1e-9);
    found.map(|(_, nanos)| *nanos)
}

#[cfg(test)]
mod tests;
