//! Latencies as the dialects' histograms print them.

use std::fmt::Write;

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

    /// The text, as the dialect's `ToString` makes it.
    pub fn text(&self) -> String {
        match self.dialect {
            Dialect::RocksDb => self.rocksdb_text(),
            _ => self.leveldb_text(),
        }
    }

    fn leveldb_text(&self) -> String {
        let mut text = format!(
            "Count: {}  Average: {:.4}  StdDev: {:.2}\n\
             Min: {:.4}  Median: {:.4}  Max: {:.4}\n{RULE}",
            self.count,
            self.mean,
            self.deviation,
            self.min,
            self.percentile(50.0),
            self.max
        );
        self.rows(&mut text, |text, row| {
            let (left, right, count) = (row.left, row.right, row.count);
            let (share, total) = (row.share, row.total);
            // Writing to a string cannot fail.
            let _ = write!(
                text,
                "[ {left:7.0}, {right:7.0} ) {count:7} {share:7.3}% {total:7.3}% "
            );
            (20.0 * share / 100.0).round()
        });
        text
    }

    fn rocksdb_text(&self) -> String {
        let at = |percent| self.percentile(percent);
        let mut text = format!(
            "Count: {} Average: {:.4}  StdDev: {:.2}\nMin: {:.0}  Median: {:.4}  Max: {:.0}\n\
             Percentiles: P50: {:.2} P75: {:.2} P99: {:.2} P99.9: {:.2} P99.99: {:.2}\n{RULE}",
            self.count,
            self.mean,
            self.deviation,
            self.min,
            at(50.0),
            self.max,
            at(50.0),
            at(75.0),
            at(99.0),
            at(99.9),
            at(99.99)
        );
        self.rows(&mut text, |text, row| {
            let open = if row.place == 0 { '[' } else { '(' };
            let (left, right, count) = (row.left, row.right, row.count);
            let (share, total) = (row.share, row.total);
            // Writing to a string cannot fail.
            let _ = write!(
                text,
                "{open} {left:7.0}, {right:7.0} ] {count:8} {share:7.3}% {total:7.3}% "
            );
            (share / 5.0 + 0.5).floor()
        });
        text
    }

    /// One row for each bucket with something in it; `head` writes its numbers and says how many
    /// marks follow.
    fn rows(&self, text: &mut String, head: impl Fn(&mut String, &Row) -> f64) {
        let mut sum = 0;
        for (place, count) in self
            .counts
            .iter()
            .enumerate()
            .filter(|(_, count)| **count > 0)
        {
            sum += count;
            let percent = |part: u64| part as f64 * 100.0 / self.count as f64;
            let row = Row {
                place,
                left: self.left(place),
                right: self.limits[place],
                count: *count,
                share: percent(*count),
                total: percent(sum),
            };
            // At most twenty, and never negative.
            let marks = head(text, &row) as usize;
            text.extend(std::iter::repeat_n('#', marks));
            text.push('\n');
        }
    }
}

/// A row of a histogram.
struct Row {
    place: usize,
    left: f64,
    right: f64,
    count: u64,
    share: f64,
    total: f64,
}

#[cfg(test)]
mod tests;
