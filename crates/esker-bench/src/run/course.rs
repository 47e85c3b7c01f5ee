//! How a piece of work is to be run, and what came of it.

use std::time::{Duration, Instant};

use crate::measure::clock::{Clock, SystemClock};
use crate::measure::latency::Latencies;
use crate::measure::process::Usage;
use crate::measure::series::Series;

/// How a piece of work is to be run.
pub struct Course<'a> {
    /// Threads whose work is measured.
    pub threads: usize,
    /// Threads that work until the measured ones are done; their work is told apart. They come
    /// first in the order of lanes.
    pub background: usize,
    /// Operations that each measured thread starts; `None` sets no bound.
    pub ops_per_lane: Option<u64>,
    /// Time after which no further operation starts.
    pub duration: Option<Duration>,
    /// Time whose work is done but not counted.
    pub warm_up: Duration,
    /// Operations a second, all measured threads together: an open loop. `None` is a closed one.
    pub target_rate: Option<f64>,
    /// Whether each operation is timed. Without it a clock is read at both ends only.
    pub is_timed: bool,
    /// Time that the engine has held writers back so far.
    pub stall: &'a (dyn Fn() -> Duration + Sync),
    /// What each thread tells as it goes on.
    pub interval: Option<Interval<'a>>,
    /// The clock that threads look at. Bounds in time go by the system's.
    pub clock: &'a dyn Clock,
}

impl Course<'_> {
    /// One measured thread without bounds, nothing else. To be changed.
    pub fn plain() -> Course<'static> {
        Course {
            threads: 1,
            background: 0,
            ops_per_lane: None,
            duration: None,
            warm_up: Duration::ZERO,
            target_rate: None,
            is_timed: true,
            stall: &|| Duration::ZERO,
            interval: None,
            clock: &SystemClock,
        }
    }
}

/// What each thread tells as it goes on.
#[derive(Clone, Copy)]
pub struct Interval<'a> {
    /// After so many operations.
    pub ops: u64,
    /// Called on the thread itself.
    pub tell: &'a (dyn Fn(&LaneMoment) + Sync),
}

/// How far a thread is.
#[derive(Clone, Copy, Debug)]
pub struct LaneMoment {
    /// Which thread, background ones first.
    pub lane: usize,
    /// Operations finished.
    pub ops: u64,
    /// Those since the last time it was told.
    pub ops_since: u64,
    /// Time since the start.
    pub elapsed: Duration,
    /// Time since the last time it was told.
    pub elapsed_since: Duration,
}

/// How far the whole is, for the live line and for files over time.
#[derive(Clone, Copy, Debug)]
pub struct Tick {
    /// Time since the start.
    pub elapsed: Duration,
    /// Operations finished, measured threads only.
    pub ops: u64,
    /// Operations to come in all, if there is a bound.
    pub ops_wanted: Option<u64>,
    /// Time it will take in all, if there is a bound.
    pub duration: Option<Duration>,
    /// Time that the engine held writers back since the start.
    pub stall: Duration,
    /// Whether the warm-up is still going on.
    pub is_warming: bool,
}

/// What one thread did.
#[derive(Clone, Debug)]
pub struct LaneResult {
    /// Which thread, background ones first.
    pub lane: usize,
    /// Operations finished.
    pub ops: u64,
    /// Bytes that the work counted.
    pub bytes: u64,
    /// When it began; after the warm-up.
    pub started: Instant,
    /// When it ended.
    pub ended: Instant,
    /// Latencies by kind of operation; empty where nothing was timed.
    pub latencies: Vec<Latencies>,
    /// What it has to say, in the words of its workload.
    pub message: String,
    /// Numbers that the work kept by itself, such as keys found.
    pub tallies: Vec<u64>,
}

/// What came of a piece of work.
#[derive(Clone, Debug)]
pub struct Finished {
    /// The measured threads, in order.
    pub lanes: Vec<LaneResult>,
    /// The background threads, in order.
    pub background: Vec<LaneResult>,
    /// Throughput over time, measured threads only, the warm-up left out.
    pub series: Series,
    /// What the process used, the warm-up included.
    pub usage: Usage,
}

impl Finished {
    /// Operations a second of all background threads, from the first start to the last end of
    /// one; `None` where there were none.
    pub fn beside_per_s(&self) -> Option<f64> {
        let first = self.background.iter().map(|lane| lane.started).min()?;
        let last = self.background.iter().map(|lane| lane.ended).max()?;
        let ops: u64 = self.background.iter().map(|lane| lane.ops).sum();
        Some(ops as f64 / last.duration_since(first).as_secs_f64().max(1e-9))
    }

    /// Operations of all measured threads.
    pub fn ops(&self) -> u64 {
        self.lanes.iter().map(|lane| lane.ops).sum()
    }

    /// Bytes of all measured threads.
    pub fn bytes(&self) -> u64 {
        self.lanes.iter().map(|lane| lane.bytes).sum()
    }

    /// From the first start to the last end of a measured thread.
    pub fn wall(&self) -> Duration {
        let started = self.lanes.iter().map(|lane| lane.started).min();
        let ended = self.lanes.iter().map(|lane| lane.ended).max();
        match (started, ended) {
            (Some(started), Some(ended)) => ended.saturating_duration_since(started),
            _ => Duration::ZERO,
        }
    }

    /// The times of all measured threads together.
    pub fn lane_time(&self) -> Duration {
        let times = self.lanes.iter();
        times
            .map(|lane| lane.ended.saturating_duration_since(lane.started))
            .sum()
    }

    /// Latencies of all measured threads, by kind of operation.
    pub fn latencies(&self) -> Vec<Latencies> {
        let mut merged: Vec<Latencies> = Vec::new();
        for lane in &self.lanes {
            for (kind, latencies) in lane.latencies.iter().enumerate() {
                match merged.get_mut(kind) {
                    Some(all) => all.merge(latencies),
                    None => merged.push(latencies.clone()),
                }
            }
        }
        merged
    }

    /// A tally summed over all measured threads; 0 if none kept it.
    pub fn tally(&self, index: usize) -> u64 {
        let tallies = self.lanes.iter().filter_map(|lane| lane.tallies.get(index));
        tallies.sum()
    }
}
