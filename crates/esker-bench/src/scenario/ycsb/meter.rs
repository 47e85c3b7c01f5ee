//! What is measured of each operation: latencies by metric, and how it ended.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::measure::latency::Latencies;
use crate::scenario::ycsb::reply::Reply;

/// What an operation is, as reports name it; the order is that of our reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Metric {
    /// A record, or fields of one.
    Read,
    /// Fields of a record are replaced.
    Update,
    /// A new record.
    Insert,
    /// Records from a key on.
    Scan,
    /// A read, then an update of the same record; both count by themselves too.
    ReadModifyWrite,
    /// A look at what was read: is it what was written?
    Verify,
    /// The store is closed.
    Cleanup,
}

impl Metric {
    /// As reports spell it.
    fn name(self) -> &'static str {
        match self {
            Metric::Read => "READ",
            Metric::Update => "UPDATE",
            Metric::Insert => "INSERT",
            Metric::Scan => "SCAN",
            Metric::ReadModifyWrite => "READ-MODIFY-WRITE",
            Metric::Verify => "VERIFY",
            Metric::Cleanup => "CLEANUP",
        }
    }
}

/// A name of a report: whether latencies under it count from when operations were due, what they
/// are of, and whether they are those that failed. The order is that of our reports.
type Name = (bool, Metric, bool);

/// What one thread measured, or all of them.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    latencies: BTreeMap<Name, Latencies>,
    replies: BTreeMap<(Metric, Reply), u64>,
}

/// When an operation was due, began and ended.
#[derive(Clone, Copy, Debug)]
pub struct Times {
    /// From begin to end.
    pub actual: Duration,
    /// From when it was due to the end.
    pub intended: Duration,
}

impl Tally {
    /// Counts an operation: its times and how it ended.
    pub fn operation(&mut self, metric: Metric, times: Times, reply: Reply) {
        self.times(metric, times, reply != Reply::Ok);
        self.reply(metric, reply, 1);
    }

    /// Counts the times of an operation whose parts have their own replies.
    pub fn times(&mut self, metric: Metric, times: Times, is_failed: bool) {
        for (is_intended, took) in [(false, times.actual), (true, times.intended)] {
            let name = (is_intended, metric, is_failed);
            self.latencies.entry(name).or_default().add(took);
        }
    }

    /// Counts a time with a reply that is due at no time.
    pub fn check(&mut self, metric: Metric, took: Duration, reply: Reply) {
        let name = (false, metric, false);
        self.latencies.entry(name).or_default().add(took);
        self.reply(metric, reply, 1);
    }

    fn reply(&mut self, metric: Metric, reply: Reply, times: u64) {
        *self.replies.entry((metric, reply)).or_default() += times;
    }

    /// Adds what another thread, or another interval, measured.
    pub fn merge(&mut self, other: &Tally) {
        for (name, latencies) in &other.latencies {
            self.latencies.entry(*name).or_default().merge(latencies);
        }
        for ((metric, reply), count) in &other.replies {
            self.reply(*metric, *reply, *count);
        }
    }

    /// How often a metric ended so.
    pub fn count(&self, metric: Metric, reply: Reply) -> u64 {
        self.replies.get(&(metric, reply)).copied().unwrap_or(0)
    }

    /// How often anything ended so.
    pub fn count_all(&self, reply: Reply) -> u64 {
        let replies = self.replies.iter().filter(|((_, one), _)| *one == reply);
        replies.map(|(_, count)| count).sum()
    }

    /// Everything by its name, in the order of our reports: actual latencies first, and replies
    /// with them. Where nothing succeeded, replies stand under a name without latencies.
    pub fn rows(&self) -> Vec<TallyRow<'_>> {
        let bare = self
            .replies
            .keys()
            .map(|(metric, _)| (false, *metric, false));
        let mut names: Vec<Name> = bare.chain(self.latencies.keys().copied()).collect();
        names.sort_unstable();
        names.dedup();
        let row = |name: Name| {
            let (is_intended, metric, is_failed) = name;
            let replies = self.replies.iter().filter(|((one, _), _)| {
                let is_here = !is_intended && !is_failed;
                is_here && *one == metric
            });
            let prefix = if is_intended { "Intended-" } else { "" };
            let suffix = if is_failed { "-FAILED" } else { "" };
            TallyRow {
                name: format!("{prefix}{}{suffix}", metric.name()),
                latencies: self.latencies.get(&name),
                replies: replies
                    .map(|((_, reply), count)| (*reply, *count))
                    .collect(),
            }
        };
        names.into_iter().map(row).collect()
    }
}

/// One name of a report.
#[derive(Clone, Debug)]
pub struct TallyRow<'a> {
    /// The name.
    pub name: String,
    /// Its latencies; `None` where nothing but replies was counted under the name.
    pub latencies: Option<&'a Latencies>,
    /// How its operations ended, those that never happened left out.
    pub replies: Vec<(Reply, u64)>,
}

#[cfg(test)]
mod tests;
