//! Latencies of many short operations, and how many there were in each second.

use std::time::{Duration, Instant};

use esker_bench::measure::latency::Latencies;
use esker_bench::measure::series::Series;

/// Time between two samples of throughput: the acts of the demo last a few seconds.
const SAMPLE_EVERY: Duration = Duration::from_millis(250);

/// Times of operations of one kind.
pub struct Timings {
    latencies: Latencies,
    series: Series,
    total: Duration,
    sample_at: Duration,
}

impl Timings {
    /// No times yet.
    pub fn new() -> Timings {
        Timings {
            latencies: Latencies::new(),
            series: Series::default(),
            total: Duration::ZERO,
            sample_at: SAMPLE_EVERY,
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
        if self.total >= self.sample_at {
            self.series
                .end_interval(self.total, self.latencies.count(), Duration::ZERO);
            self.sample_at = self.total + SAMPLE_EVERY;
        }
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

    /// How many in each interval, over the time that operations took.
    pub fn series(&self) -> &Series {
        &self.series
    }
}
