//! How slow the slowest operations are: the percentiles of all rounds together.

use crate::report::record::LatencyRecord;
use crate::report::study::workloads::Cell;

/// Latencies of one kind of operation, all rounds together.
#[derive(Clone, Debug, PartialEq)]
pub struct Tail {
    /// The place of the engine.
    pub place: usize,
    /// Operations.
    pub count: u64,
    /// The slowest operation, in nanoseconds.
    pub max_ns: f64,
    /// Upper edges in nanoseconds and how many operations there were, in order.
    buckets: Vec<(u64, u64)>,
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
    let buckets = rounds.iter().flat_map(|one| one.buckets.iter().copied());
    let mut buckets: Vec<(u64, u64)> = buckets.filter(|(_, count)| *count > 0).collect();
    buckets.sort_unstable();
    let slowest = rounds.iter().map(|one| one.max_ns).max()?;
    Some(Tail {
        place: cell.place,
        count: buckets.iter().map(|(_, count)| count).sum(),
        max_ns: buckets.last()?.0.max(slowest) as f64,
        buckets,
    })
}

impl Tail {
    /// The nanoseconds that so large a share of the operations did not exceed: the upper edge of
    /// the bucket in which the last of them lies. `None` where too few were timed to know.
    pub fn at(&self, share: f64) -> Option<f64> {
        // Of a hundred operations nobody knows the slowest of ten thousand.
        let beyond = self.count as f64 * (1.0 - share);
        let mut left = (self.count as f64 - beyond - 1e-6).max(0.0);
        let found = self.buckets.iter().find(|(_, count)| {
            left -= *count as f64;
            left <= 0.0
        });
        found
            .filter(|_| beyond >= 1.0 - 1e-9)
            .map(|(nanos, _)| *nanos as f64)
    }
}

#[cfg(test)]
mod tests;
