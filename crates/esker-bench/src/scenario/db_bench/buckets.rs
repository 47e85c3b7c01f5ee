//! Latencies as the dialects' histograms print them.

use crate::flags::flag::Dialect;
use crate::measure::latency::Latencies;

/// The line between the numbers and the rows.
const RULE: &str = "------------------------------------------------------\n";

/// Upper limits of LevelDB's 154 buckets, in microseconds: 1 to 10, then sixteen a decade.
pub fn leveldb_limits() -> Vec<f64> {
    const STEPS: [f64; 16] = [
        12.0, 14.0, 16.0, 18.0, 20.0, 25.0, 30.0, 35.0, 40.0, 45.0, 50.0, 60.0, 70.0, 80.0, 90.0,
        100.0,
    ];
    let mut limits: Vec<f64> = (1..=10).map(f64::from).collect();
    let mut decade = 1.0;
    while limits.len() < 153 {
        limits.extend(STEPS.iter().map(|step| step * decade));
        decade *= 10.0;
    }
    // The last decade ends at 9e9, and everything above falls in one bucket.
    limits.truncate(153);
    limits.push(1e200);
    limits
}

/// Upper limits of RocksDB's 109 buckets: a running value times 1.5, of which two digits count.
pub fn rocksdb_limits() -> Vec<f64> {
    let mut limits = vec![1.0, 2.0];
    let mut value = 2.0_f64;
    while limits.len() < 109 {
        value *= 1.5;
        let mut limit = value.trunc();
        let mut power = 1.0;
        while limit / 10.0 > 10.0 {
            limit = (limit / 10.0).trunc();
            power *= 10.0;
        }
        limits.push(limit * power);
    }
    limits
}

/// A histogram in a dialect's buckets, of microseconds.
pub struct Buckets {
    dialect: Dialect,
    limits: Vec<f64>,
    counts: Vec<u64>,
    count: u64,
    min: f64,
    max: f64,
    mean: f64,
    deviation: f64,
}

impl Buckets {
    /// The latencies in the buckets of `dialect`.
    pub fn new(dialect: Dialect, latencies: &Latencies) -> Buckets {
        let is_new = dialect == Dialect::RocksDb;
        let limits = if is_new {
            rocksdb_limits()
        } else {
            leveldb_limits()
        };
        let mut counts = vec![0; limits.len()];
        // RocksDB counts whole microseconds, LevelDB fractions.
        let micros = |nanos: u64| match is_new {
            true => (nanos / 1000) as f64,
            false => nanos as f64 / 1e3,
        };
        for (nanos, count) in latencies.buckets() {
            let value = micros(nanos);
            let place = match is_new {
                true => limits.partition_point(|limit| *limit < value),
                false => limits.partition_point(|limit| *limit <= value),
            };
            counts[place.min(limits.len() - 1)] += count;
        }
        Buckets {
            dialect,
            counts,
            count: latencies.count(),
            min: micros(latencies.min_ns()),
            max: micros(latencies.max_ns()),
            mean: latencies.mean_ns() / 1e3,
            deviation: latencies.deviation_ns() / 1e3,
            limits,
        }
    }

    /// The microseconds that `percent` did not exceed, taken evenly within a bucket.
    pub fn percentile(&self, percent: f64) -> f64 {
        let threshold = self.count as f64 * percent / 100.0;
        let mut sum = 0.0;
        for (place, count) in self.counts.iter().enumerate() {
            let before = sum;
            sum += *count as f64;
            if sum >= threshold && *count > 0 {
                let (left, right) = (self.left(place), self.limits[place]);
                let share = (threshold - before) / (sum - before);
                return (left + (right - left) * share).clamp(self.min, self.max);
            }
        }
        self.max
    }

    fn left(&self, place: usize) -> f64 {
        place
            .checked_sub(1)
            .map_or(0.0, |before| self.limits[before])
    }

    /// The text, as the dialect's `ToString` makes it: numbers, then a row for each bucket with
    /// something in it.
    pub fn text(&self) -> String {
        let is_new = self.dialect == Dialect::RocksDb;
        let at = |percent| self.percentile(percent);
        let (all, mean, deviation) = (self.count, self.mean, self.deviation);
        let (min, median, max) = (self.min, at(50.0), self.max);
        let mut text = match is_new {
            true => format!(
                "Count: {all} Average: {mean:.4}  StdDev: {deviation:.2}\n\
                 Min: {min:.0}  Median: {median:.4}  Max: {max:.0}\n\
                 Percentiles: P50: {:.2} P75: {:.2} P99: {:.2} P99.9: {:.2} P99.99: {:.2}\n{RULE}",
                at(50.0),
                at(75.0),
                at(99.0),
                at(99.9),
                at(99.99)
            ),
            false => format!(
                "Count: {all}  Average: {mean:.4}  StdDev: {deviation:.2}\n\
                 Min: {min:.4}  Median: {median:.4}  Max: {max:.4}\n{RULE}"
            ),
        };
        let percent = |part: u64| part as f64 * 100.0 / all as f64;
        let mut sum = 0;
        for (place, count) in self.counts.iter().enumerate().filter(|it| *it.1 > 0) {
            sum += count;
            let (left, right) = (self.left(place), self.limits[place]);
            let (share, total) = (percent(*count), percent(sum));
            let open = if is_new && place > 0 { '(' } else { '[' };
            let (row, marks) = match is_new {
                true => (
                    format!("{open} {left:7.0}, {right:7.0} ] {count:8}"),
                    (share / 5.0 + 0.5).floor(),
                ),
                false => (
                    format!("{open} {left:7.0}, {right:7.0} ) {count:7}"),
                    (20.0 * share / 100.0).round(),
                ),
            };
            // At most twenty, and never negative.
            let marks = "#".repeat(marks as usize);
            text += &format!("{row} {share:7.3}% {total:7.3}% {marks}\n");
        }
        text
    }
}

#[cfg(test)]
mod tests;
