//! One run as data: what was run, on what, with which settings, and every number.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::measure::latency::{Latencies, PERCENTILES};
use crate::measure::process::Usage;
use crate::measure::series::Series;
use crate::measure::summary::Summary;
use crate::quantity;
use crate::report::date;
use crate::report::history::Past;
use crate::report::machine::{Machine, commit};
use crate::run::course::Finished;
use crate::target::counters::Counters;
use crate::target::settings::Matched;

/// What the first field of every file says.
pub const FORMAT: &str = "esker-bench";

/// Version of the layout below; readers refuse other ones.
pub const VERSION: u32 = 1;

/// One invocation of the tool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// [`FORMAT`].
    pub format: String,
    /// [`VERSION`].
    pub version: u32,
    /// Which tool or scenario, such as `db_bench leveldb`.
    pub tool: String,
    /// The command line, word by word.
    pub command: Vec<String>,
    /// Commit of the program.
    pub commit: String,
    /// Whether the program was built with optimisation.
    pub is_optimised: bool,
    /// Seconds since 1970 at which it started.
    pub started_unix_s: u64,
    /// On what it ran.
    pub machine: Machine,
    /// What was measured, in order.
    pub measurements: Vec<Measurement>,
    /// What came of goals, where the run was held against any.
    #[serde(default)]
    pub verdicts: Vec<Verdict>,
    /// How earlier runs came out and then this one, oldest first, where they are kept.
    #[serde(default)]
    pub history: Vec<Past>,
}

impl Record {
    /// The record of a run of `tool` in `dir` that begins now, with nothing measured yet.
    pub fn begin(tool: impl Into<String>, dir: &Path, words: &[String]) -> Record {
        Record {
            format: FORMAT.into(),
            version: VERSION,
            tool: tool.into(),
            command: words.to_vec(),
            commit: commit(),
            is_optimised: !cfg!(debug_assertions),
            started_unix_s: date::unix_seconds(),
            machine: Machine::look(dir),
            measurements: Vec::new(),
            verdicts: Vec::new(),
            history: Vec::new(),
        }
    }
}

/// What came of one goal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    /// The workload.
    pub line: String,
    /// What was asked for, in words.
    pub asked: String,
    /// What was measured; `None` if the other side of the comparison was not.
    pub measured: Option<Summary>,
    /// Unit of what was measured: `×`, or `/s` for operations a second.
    pub unit: String,
    /// Whether the median meets the goal.
    pub is_met: Option<bool>,
}

impl Verdict {
    /// The verdict on a goal: what was asked of the line, what was measured in `unit`, and which
    /// medians meet it.
    pub fn of(
        line: impl Into<String>,
        asked: impl Into<String>,
        unit: &str,
        measured: Option<Summary>,
        is_met: impl Fn(f64) -> bool,
    ) -> Verdict {
        Verdict {
            line: line.into(),
            asked: asked.into(),
            measured,
            unit: unit.into(),
            is_met: measured.map(|measured| is_met(measured.median)),
        }
    }

    /// The verdict on a goal whose medians, ratios, are not below `least`.
    pub fn at_least(
        line: &str,
        asked: impl Into<String>,
        measured: Option<Summary>,
        least: f64,
    ) -> Verdict {
        Verdict::of(line, asked, "×", measured, |median| median >= least)
    }

    /// The same of medians that are not above `most`.
    pub fn at_most(
        line: &str,
        asked: impl Into<String>,
        measured: Option<Summary>,
        most: f64,
    ) -> Verdict {
        Verdict::of(line, asked, "×", measured, |median| median <= most)
    }

    /// What was measured, with its unit: `1.02 × (0.75–1.15)`.
    pub fn measured_text(&self) -> String {
        let told = self.measured.map(|all| match self.unit.as_str() {
            "/s" => all.text_in("/s", quantity::count),
            unit => all.text_in(&format!(" {unit}"), quantity::ratio),
        });
        told.unwrap_or_else(|| quantity::NONE.into())
    }

    /// How it reads: `met`, `not met` or `not measured`.
    pub fn word(&self) -> &'static str {
        match self.is_met {
            Some(true) => "met",
            Some(false) => "not met",
            None => "not measured",
        }
    }
}

/// One workload on one engine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Measurement {
    /// Name of the workload, such as `fillrandom`.
    pub name: String,
    /// Name of the engine.
    pub engine: String,
    /// Its version.
    pub engine_version: String,
    /// What the engine made of each setting.
    pub settings: Vec<Matched>,
    /// Whatever describes the workload: keys, value bytes, distribution, seed …
    pub workload: Vec<(String, String)>,
    /// Number of the round, from 0, where a workload is repeated.
    pub round: usize,
    /// Measured threads.
    pub threads: usize,
    /// Operations a second that were asked for; `None` is a closed loop.
    pub target_rate: Option<f64>,
    /// Operations finished.
    pub ops: u64,
    /// Bytes of keys and values that the workload counted.
    pub bytes: u64,
    /// Seconds from the first start to the last end of a thread.
    pub wall_s: f64,
    /// Seconds of all threads together.
    pub lane_s: f64,
    /// Operations a second.
    pub ops_per_s: f64,
    /// Operations a second of the threads that worked beside those measured; `None` where there
    /// were none.
    pub beside_per_s: Option<f64>,
    /// Latencies by kind of operation.
    pub latencies: Vec<LatencyRecord>,
    /// Throughput over time.
    pub series: Series,
    /// Processor, memory, bytes of the process.
    pub usage: Usage,
    /// What the engine did meanwhile.
    pub engine_work: EngineWork,
    /// What the workload says, such as keys found.
    pub message: String,
    /// Whether values were checked against what was written, and all were right.
    pub is_verified: bool,
}

impl Measurement {
    /// The numbers of a finished piece of work; names, settings and the engine's work are still
    /// to be filled in. `kinds` names the kinds of operation.
    pub fn of(finished: &Finished, kinds: &[&str]) -> Measurement {
        let wall_s = finished.wall().as_secs_f64();
        let names = kinds.iter().copied().chain(std::iter::repeat("operation"));
        Measurement {
            threads: finished.lanes.len(),
            ops: finished.ops(),
            bytes: finished.bytes(),
            wall_s,
            lane_s: finished.lane_time().as_secs_f64(),
            ops_per_s: finished.ops() as f64 / wall_s.max(1e-9),
            beside_per_s: finished.beside_per_s(),
            latencies: finished
                .latencies()
                .iter()
                .zip(names)
                .filter(|(latencies, _)| latencies.count() > 0)
                .map(|(latencies, name)| LatencyRecord::of(name, latencies))
                .collect(),
            series: finished.series.clone(),
            usage: finished.usage,
            message: finished
                .lanes
                .first()
                .map_or_else(String::new, |lane| lane.message.clone()),
            ..Measurement::default()
        }
    }

    /// What describes the workload under that name.
    pub fn field(&self, name: &str) -> Option<&str> {
        let found = self.workload.iter().find(|(other, _)| other == name);
        found.map(|(_, text)| text.as_str())
    }

    /// Nanoseconds that so many of a hundred of the first kind of operation did not exceed.
    pub fn percentile_ns(&self, percent: f64) -> Option<f64> {
        self.latencies.first()?.percentile_ns(percent)
    }
}

/// Latencies of one kind of operation. In an open loop they count from when each was due.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LatencyRecord {
    /// Kind of operation, such as `read`.
    pub kind: String,
    /// How many.
    pub count: u64,
    /// Mean in nanoseconds.
    pub mean_ns: f64,
    /// Shortest in nanoseconds.
    pub min_ns: u64,
    /// Longest in nanoseconds.
    pub max_ns: u64,
    /// Percent, and the nanoseconds that so many did not exceed.
    pub percentiles: Vec<(f64, u64)>,
}

impl LatencyRecord {
    /// The record of `latencies`.
    pub fn of(kind: &str, latencies: &Latencies) -> LatencyRecord {
        let percentile = |percent: &f64| (*percent, latencies.percentile_ns(*percent));
        LatencyRecord {
            kind: kind.into(),
            count: latencies.count(),
            mean_ns: latencies.mean_ns(),
            min_ns: latencies.min_ns(),
            max_ns: latencies.max_ns(),
            percentiles: PERCENTILES.iter().map(percentile).collect(),
        }
    }

    /// Nanoseconds that so many of a hundred did not exceed.
    pub fn percentile_ns(&self, percent: f64) -> Option<f64> {
        let mut all = self.percentiles.iter();
        let found = all.find(|(other, _)| *other == percent);
        found.map(|(_, nanos)| *nanos as f64)
    }
}

/// What the engine did while a workload ran, and where it stood at the end. `None` where it does
/// not tell.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EngineWork {
    /// Bytes of keys and values written by the user.
    pub user_bytes: Option<u64>,
    /// Bytes the engine wrote: log, flushes, compactions.
    pub written_bytes: Option<u64>,
    /// Bytes written for each byte of the user.
    pub write_amplification: Option<f64>,
    /// Bytes of live files for each byte of live entries, where the workload knows the latter.
    pub space_amplification: Option<f64>,
    /// Seconds for which writers were held back, all together.
    pub stall_s: Option<f64>,
    /// Bytes that compaction should already have merged, at the end.
    pub debt_bytes: Option<u64>,
    /// Bytes of live files, at the end.
    pub live_bytes: Option<u64>,
    /// Every counter of the engine that moved, by its own name.
    pub own: Vec<(String, u64)>,
}

impl EngineWork {
    /// What happened between two readings of the counters of one open store.
    pub fn between(before: &Counters, after: &Counters) -> EngineWork {
        let moved = |before: Option<u64>, after: Option<u64>| {
            Some(after?.saturating_sub(before.unwrap_or(0)))
        };
        let user_bytes = moved(before.user_bytes, after.user_bytes);
        let written_bytes = moved(before.written_bytes, after.written_bytes);
        let ratio = |above: Option<u64>, below: Option<u64>| {
            let below = below.filter(|bytes| *bytes > 0)?;
            Some(above? as f64 / below as f64)
        };
        let own = after
            .own
            .iter()
            .map(|(name, value)| (name.clone(), value.saturating_sub(before.own(name))));
        EngineWork {
            user_bytes,
            written_bytes,
            write_amplification: ratio(written_bytes, user_bytes),
            space_amplification: None,
            stall_s: after.stall.map(|stall| {
                stall
                    .saturating_sub(before.stall.unwrap_or_default())
                    .as_secs_f64()
            }),
            debt_bytes: after.debt_bytes,
            live_bytes: after.live_bytes,
            own: own.filter(|(_, value)| *value > 0).collect(),
        }
    }
}

#[cfg(test)]
mod tests;
