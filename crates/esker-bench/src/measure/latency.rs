//! Latencies of many operations, as a histogram of nanoseconds.

use std::time::Duration;

use hdrhistogram::Histogram;

/// An hour: what takes longer counts as that.
pub const LONGEST_NS: u64 = 3_600_000_000_000;

/// Three digits: a bucket is at most 0.1 % wide.
const DIGITS: u8 = 3;

/// The percentiles that every report shows.
pub const PERCENTILES: [f64; 8] = [50.0, 75.0, 90.0, 95.0, 99.0, 99.9, 99.99, 100.0];

/// Times of operations of one kind, in nanoseconds.
#[derive(Clone, Debug)]
pub struct Latencies {
    histogram: Histogram<u64>,
}

impl Default for Latencies {
    fn default() -> Latencies {
        Latencies::new()
    }
}

impl Latencies {
    /// No times yet.
    pub fn new() -> Latencies {
        let histogram = Histogram::new_with_bounds(1, LONGEST_NS, DIGITS)
            .expect("bounds and digits are within what the histogram allows");
        Latencies { histogram }
    }

    /// Adds a time.
    pub fn add(&mut self, took: Duration) {
        let nanos = u64::try_from(took.as_nanos()).unwrap_or(LONGEST_NS);
        self.histogram.saturating_record(nanos.clamp(1, LONGEST_NS));
    }

    /// Adds the times of another thread.
    pub fn merge(&mut self, other: &Latencies) {
        self.histogram
            .add(&other.histogram)
            .expect("both have the same bounds");
    }

    /// Forgets all times: the warm-up is over.
    pub fn clear(&mut self) {
        self.histogram.reset();
    }

    /// How many operations.
    pub fn count(&self) -> u64 {
        self.histogram.len()
    }

    /// The time, in nanoseconds, that `percent` of the operations did not exceed; 0 without any.
    pub fn percentile_ns(&self, percent: f64) -> u64 {
        self.histogram.value_at_percentile(percent)
    }

    /// The mean in nanoseconds.
    pub fn mean_ns(&self) -> f64 {
        self.histogram.mean()
    }

    /// The standard deviation in nanoseconds.
    pub fn deviation_ns(&self) -> f64 {
        self.histogram.stdev()
    }

    /// The shortest time in nanoseconds; 0 without any.
    pub fn min_ns(&self) -> u64 {
        if self.count() == 0 {
            return 0;
        }
        self.histogram.min()
    }

    /// The longest time in nanoseconds.
    pub fn max_ns(&self) -> u64 {
        self.histogram.max()
    }

    /// Every bucket with something in it, in order: its highest value in nanoseconds and its count.
    pub fn buckets(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let recorded = self.histogram.iter_recorded();
        recorded.map(|step| (step.value_iterated_to(), step.count_since_last_iteration()))
    }
}

#[cfg(test)]
mod tests;
