//! Latencies of many short operations.

use std::time::{Duration, Instant};

use esker_bench::measure::latency::Latencies;

/// Times of operations of one kind.
pub struct Timings {
    latencies: Latencies,
    total: Duration,
}

impl Timings {
    /// No times yet.
    pub fn new() -> Timings {
        Timings {
            latencies: Latencies::new(),
            total: Duration::ZERO,
        }
    }

    /// Runs and times one operation.
    pub fn time<T>(&mut self, operation: impl FnOnce() -> T) -> T {
        let began = Instant::now();
        let result = operation();
        self.add(began.elapsed());
        result
    }

    /// Adds a time.
    pub fn add(&mut self, took: Duration) {
        self.total += took;
        self.latencies.add(took);
    }

    /// How many operations.
    pub fn count(&self) -> u64 {
        self.latencies.count()
    }

    /// Their times together.
    pub fn total(&self) -> Duration {
        self.total
    }

    /// The time that `percent` of them did not exceed.
    pub fn percentile(&self, percent: f64) -> Duration {
        Duration::from_nanos(self.latencies.percentile_ns(percent))
    }

    /// All of them.
    pub fn latencies(&self) -> &Latencies {
        &self.latencies
    }
}
