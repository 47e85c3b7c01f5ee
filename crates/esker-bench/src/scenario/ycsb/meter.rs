//! What is measured of each operation: latencies by metric, and how it ended.

use std::time::Duration;

use crate::fail::Outcome;
use crate::measure::latency::Latencies;
use crate::scenario::ycsb::properties::{Properties, wrong};
use crate::scenario::ycsb::reply::Reply;

/// What an operation is, as reports name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Metric {
    /// A record, or fields of one.
    Read,
    /// Fields of a record are replaced.
    Update,
    /// A new record.
    Insert,
    /// Records from a key on.
    Scan,
    /// A scan's time for each of its records.
    ScanPerRecord,
    /// A read, then an update of the same record; both count by themselves too.
    ReadModifyWrite,
    /// A look at what was read: is it what was written?
    Verify,
    /// The store is closed.
    Cleanup,
}

impl Metric {
    /// All of them, in the order of our reports.
    pub const ALL: [Metric; 8] = [
        Metric::Read,
        Metric::Update,
        Metric::Insert,
        Metric::Scan,
        Metric::ScanPerRecord,
        Metric::ReadModifyWrite,
        Metric::Verify,
        Metric::Cleanup,
    ];

    /// As reports spell it.
    pub fn name(self) -> &'static str {
        match self {
            Metric::Read => "READ",
            Metric::Update => "UPDATE",
            Metric::Insert => "INSERT",
            Metric::Scan => "SCAN",
            Metric::ScanPerRecord => "SCAN-LATENCY-PER-RECORD",
            Metric::ReadModifyWrite => "READ-MODIFY-WRITE",
            Metric::Verify => "VERIFY",
            Metric::Cleanup => "CLEANUP",
        }
    }
}

/// From when latencies count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Span {
    /// From the start of each operation.
    Actual,
    /// From when each was due.
    Intended,
    /// Both, told apart.
    Both,
}

impl Span {
    /// As the properties say.
    pub fn from_properties(properties: &Properties) -> Outcome<Span> {
        match properties.text("measurement.interval", "both") {
            "op" => Ok(Span::Actual),
            "intended" => Ok(Span::Intended),
            "both" => Ok(Span::Both),
            other => Err(wrong("measurement.interval", other, "op, intended or both")),
        }
    }
}

/// Latencies under one name.
#[derive(Clone, Debug)]
struct Line {
    metric: Metric,
    is_failed: bool,
    is_intended: bool,
    latencies: Latencies,
}

impl Line {
    fn name(&self) -> String {
        let prefix = if self.is_intended { "Intended-" } else { "" };
        let name = self.metric.name();
        let suffix = if self.is_failed { "-FAILED" } else { "" };
        format!("{prefix}{name}{suffix}")
    }
}

/// What one thread measured, or all of them.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    lines: Vec<Line>,
    replies: [[u64; Reply::ALL.len()]; Metric::ALL.len()],
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
    fn add(&mut self, metric: Metric, is_failed: bool, is_intended: bool, took: Duration) {
        let line = self.line(metric, is_failed, is_intended);
        line.latencies.add(took);
    }

    /// Counts an operation: its times and how it ended.
    pub fn operation(&mut self, span: Span, metric: Metric, times: Times, reply: Reply) {
        self.times(span, metric, times, reply != Reply::Ok);
        self.reply(metric, reply);
    }

    /// Counts the times of an operation whose parts have their own replies.
    pub fn times(&mut self, span: Span, metric: Metric, times: Times, is_failed: bool) {
        if span != Span::Intended {
            self.add(metric, is_failed, false, times.actual);
        }
        if span != Span::Actual {
            self.add(metric, is_failed, true, times.intended);
        }
    }

    /// Counts a time that has no reply of its own, and is not due at any time.
    pub fn duration(&mut self, metric: Metric, took: Duration) {
        self.add(metric, false, false, took);
    }

    /// Counts a time with a reply that is due at no time.
    pub fn check(&mut self, metric: Metric, took: Duration, reply: Reply) {
        self.duration(metric, took);
        self.reply(metric, reply);
    }

    fn reply(&mut self, metric: Metric, reply: Reply) {
        self.replies[metric as usize][reply as usize] += 1;
    }

    /// Adds what another thread, or another interval, measured.
    pub fn merge(&mut self, other: &Tally) {
        for line in &other.lines {
            let all = self.line(line.metric, line.is_failed, line.is_intended);
            all.latencies.merge(&line.latencies);
        }
        for (all, more) in self.replies.iter_mut().zip(&other.replies) {
            for (all, more) in all.iter_mut().zip(more) {
                *all += more;
            }
        }
    }

    /// How often a metric ended so.
    pub fn count(&self, metric: Metric, reply: Reply) -> u64 {
        self.replies[metric as usize][reply as usize]
    }

    /// How often anything ended so.
    pub fn count_all(&self, reply: Reply) -> u64 {
        Metric::ALL
            .iter()
            .map(|metric| self.count(*metric, reply))
            .sum()
    }

    /// Everything by its name, in the order of our reports: actual latencies first.
    pub fn rows(&self, span: Span) -> Vec<TallyRow<'_>> {
        let mut rows = Vec::new();
        for is_intended in [false, true] {
            for metric in Metric::ALL {
                let lines = self.lines.iter();
                let mut lines: Vec<&Line> = lines
                    .filter(|line| line.metric == metric && line.is_intended == is_intended)
                    .collect();
                lines.sort_by_key(|line| line.name());
                // Replies stand where YCSB counts them: with the actual latencies if there are any.
                let has_replies = is_intended == (span == Span::Intended);
                let replies = self.replies_of(metric, has_replies);
                if lines.iter().all(|line| line.is_failed) && !replies.is_empty() {
                    let prefix = if is_intended { "Intended-" } else { "" };
                    rows.push(TallyRow {
                        name: format!("{prefix}{}", metric.name()),
                        latencies: None,
                        replies: replies.clone(),
                    });
                }
                rows.extend(lines.into_iter().map(|line| TallyRow {
                    name: line.name(),
                    latencies: Some(&line.latencies),
                    replies: match line.is_failed {
                        true => Vec::new(),
                        false => replies.clone(),
                    },
                }));
            }
        }
        rows
    }

    fn replies_of(&self, metric: Metric, is_wanted: bool) -> Vec<(Reply, u64)> {
        let replies = Reply::ALL.into_iter().filter(|_| is_wanted);
        replies
            .map(|reply| (reply, self.count(metric, reply)))
            .filter(|(_, count)| *count > 0)
            .collect()
    }

    fn line(&mut self, metric: Metric, is_failed: bool, is_intended: bool) -> &mut Line {
        let is_it = |line: &Line| {
            line.metric == metric && line.is_failed == is_failed && line.is_intended == is_intended
        };
        let place = self.lines.iter().position(is_it).unwrap_or_else(|| {
            self.lines.push(Line {
                metric,
                is_failed,
                is_intended,
                latencies: Latencies::new(),
            });
            self.lines.len() - 1
        });
        &mut self.lines[place]
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
