//! Latencies of many short operations.

use std::time::{Duration, Instant};

use hdrhistogram::Histogram;

/// Times of operations of one kind.
pub struct Timings {
    histogram: Histogram<u64>,
    total: Duration,
}

/// A minute: nothing in the demo takes longer, and what does counts as that.
const LONGEST_NS: u64 = 60_000_000_000;

/// Three digits: a bucket is at most 0.1 % wide.
const DIGITS: u8 = 3;

impl Timings {
    /// No times yet.
    pub fn new() -> Timings {
        let histogram = Histogram::new_with_bounds(1, LONGEST_NS, DIGITS)
            .expect("bounds and digits are within what the histogram allows");
        Timings {
            histogram,
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
        let nanos = u64::try_from(took.as_nanos()).unwrap_or(LONGEST_NS);
        self.histogram.saturating_record(nanos.clamp(1, LONGEST_NS));
    }

    /// How many operations.
    pub fn count(&self) -> u64 {
        self.histogram.len()
    }

    /// Their times together.
    pub fn total(&self) -> Duration {
        self.total
    }

    /// The time that `percent` of them did not exceed.
    pub fn percentile(&self, percent: f64) -> Duration {
        Duration::from_nanos(self.histogram.value_at_percentile(percent))
    }
}
