//! What is measured of each operation: latencies by metric, and how it ended.

use std::time::Duration;

use crate::fail::{Failure, Outcome};
use crate::measure::latency::Latencies;
use crate::scenario::ycsb::details::{Details, Moment};
use crate::scenario::ycsb::measurement_type::{Kept, MeasurementType};
use crate::scenario::ycsb::properties::Properties;
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

/// How operations are measured.
#[derive(Clone, Debug, PartialEq)]
pub struct MeterSettings {
    /// From when latencies count.
    pub span: Span,
    /// Whether each status of a failure has latencies of its own.
    pub splits_failures: bool,
    /// The statuses that have, where not all have.
    pub tracked: Vec<String>,
    /// What is kept of operations beside histograms.
    pub kept: Kept,
}

impl MeterSettings {
    /// As the properties say.
    pub fn from_properties(properties: &Properties) -> Outcome<MeterSettings> {
        let span = match properties.text("measurement.interval", "both") {
            "op" => Span::Actual,
            "intended" => Span::Intended,
            "both" => Span::Both,
            other => {
                return Err(Failure::usage(format!(
                    "measurement.interval={other} makes no sense; it is op, intended or both"
                )));
            }
        };
        let tracked = properties.text("latencytrackederrors", "");
        Ok(MeterSettings {
            span,
            kept: MeasurementType::from_properties(properties)?.kept(),
            splits_failures: properties.flag("reportlatencyforeacherror", false),
            tracked: tracked
                .split(',')
                .map(|name| name.trim().to_owned())
                .filter(|name| !name.is_empty())
                .collect(),
        })
    }

    fn fate(&self, reply: Reply) -> Fate {
        let is_split = || self.splits_failures || self.tracked.iter().any(|x| x == reply.name());
        match reply {
            Reply::Ok => Fate::Good,
            other if is_split() => Fate::Failed(other),
            _ => Fate::AnyFailure,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Good,
    AnyFailure,
    Failed(Reply),
}

/// Latencies under one name.
#[derive(Clone, Debug)]
struct Line {
    metric: Metric,
    fate: Fate,
    is_intended: bool,
    latencies: Latencies,
    details: Details,
}

impl Line {
    fn name(&self) -> String {
        let prefix = if self.is_intended { "Intended-" } else { "" };
        let name = self.metric.name();
        match self.fate {
            Fate::Good => format!("{prefix}{name}"),
            Fate::AnyFailure => format!("{prefix}{name}-FAILED"),
            Fate::Failed(reply) => format!("{prefix}{name}-{}", reply.name()),
        }
    }
}

/// What one thread measured, or all of them.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    lines: Vec<Line>,
    /// When the operations that are counted next ended, where more than histograms is kept.
    moment: Option<Moment>,
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
    /// The operations counted from here on ended at `moment`, and something is kept of each.
    pub fn set_moment(&mut self, moment: Moment) {
        self.moment = Some(moment);
    }

    fn add(&mut self, metric: Metric, fate: Fate, is_intended: bool, took: Duration) {
        let moment = self.moment;
        let line = self.line(metric, fate, is_intended);
        line.latencies.add(took);
        if let Some(moment) = moment {
            line.details.add(&moment, took);
        }
    }

    /// Counts an operation: its times and how it ended.
    pub fn operation(
        &mut self,
        settings: &MeterSettings,
        metric: Metric,
        times: Times,
        reply: Reply,
    ) {
        let fate = settings.fate(reply);
        if settings.span != Span::Intended {
            self.add(metric, fate, false, times.actual);
        }
        if settings.span != Span::Actual {
            self.add(metric, fate, true, times.intended);
        }
        self.replies[metric as usize][reply as usize] += 1;
    }

    /// Counts a time that has no reply of its own, and is not due at any time.
    pub fn duration(&mut self, metric: Metric, took: Duration) {
        self.add(metric, Fate::Good, false, took);
    }

    /// Counts a time with a reply that is due at no time.
    pub fn check(&mut self, metric: Metric, took: Duration, reply: Reply) {
        self.duration(metric, took);
        self.reply(metric, reply);
    }

    /// Counts a combined operation, whose parts have their own replies.
    pub fn combined(&mut self, settings: &MeterSettings, metric: Metric, times: Times) {
        if settings.span != Span::Intended {
            self.add(metric, Fate::Good, false, times.actual);
        }
        if settings.span != Span::Actual {
            self.add(metric, Fate::Good, true, times.intended);
        }
    }

    /// Counts a reply alone.
    pub fn reply(&mut self, metric: Metric, reply: Reply) {
        self.replies[metric as usize][reply as usize] += 1;
    }

    /// Adds what another thread, or another interval, measured.
    pub fn merge(&mut self, other: &Tally) {
        for line in &other.lines {
            let all = self.line(line.metric, line.fate, line.is_intended);
            all.latencies.merge(&line.latencies);
            all.details.merge(&line.details);
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
                if lines.iter().all(|line| line.fate != Fate::Good) && !replies.is_empty() {
                    let prefix = if is_intended { "Intended-" } else { "" };
                    rows.push(TallyRow {
                        name: format!("{prefix}{}", metric.name()),
                        latencies: None,
                        details: None,
                        replies: replies.clone(),
                    });
                }
                rows.extend(lines.into_iter().map(|line| TallyRow {
                    name: line.name(),
                    latencies: Some(&line.latencies),
                    details: Some(&line.details),
                    replies: if line.fate == Fate::Good {
                        replies.clone()
                    } else {
                        Vec::new()
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

    fn line(&mut self, metric: Metric, fate: Fate, is_intended: bool) -> &mut Line {
        let is_it = |line: &Line| {
            line.metric == metric && line.fate == fate && line.is_intended == is_intended
        };
        let place = self.lines.iter().position(is_it).unwrap_or_else(|| {
            self.lines.push(Line {
                metric,
                fate,
                is_intended,
                latencies: Latencies::new(),
                details: Details::default(),
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
    /// What was kept of them beside, where there are latencies.
    pub details: Option<&'a Details>,
    /// How its operations ended, those that never happened left out.
    pub replies: Vec<(Reply, u64)>,
}

#[cfg(test)]
mod tests;
