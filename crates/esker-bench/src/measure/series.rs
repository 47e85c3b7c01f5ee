//! Throughput over time.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// What was done in one interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// Seconds from the start to the end of the interval.
    pub at_s: f64,
    /// Operations finished in the interval.
    pub ops: u64,
    /// Seconds of stalls in the interval, all writers together, where the engine tells.
    pub stall_s: f64,
}

/// Throughput, interval by interval.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Series {
    /// The intervals, in order. The last may be shorter.
    pub samples: Vec<Sample>,
    #[serde(skip)]
    ops: u64,
    #[serde(skip)]
    stall: Duration,
}

impl Series {
    /// Ends an interval at `at`, when `ops` operations were done and writers had been held back
    /// for `stall`, both since the start.
    pub fn end_interval(&mut self, at: Duration, ops: u64, stall: Duration) {
        self.samples.push(Sample {
            at_s: at.as_secs_f64(),
            ops: ops.saturating_sub(self.ops),
            stall_s: stall.saturating_sub(self.stall).as_secs_f64(),
        });
        self.ops = ops;
        self.stall = stall;
    }
}
