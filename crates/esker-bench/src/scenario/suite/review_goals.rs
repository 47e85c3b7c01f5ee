//! What reviews are held against where rivals read the same ones, and what came of it.

use crate::measure::summary::Summary;
use crate::report::record::{Measurement, Verdict};
use crate::scenario::suite::review_read::{ONE_BARE, ONE_CACHED, SCAN};
use crate::scenario::suite::review_write::{AMORTISED, INSERT};

/// Part of the raw text that may be left, the dictionary amortised as on a gigabyte.
const SIZE_MAX: f64 = 0.26;

/// How many times as fast as blocks of Zstd one record is read, nothing unpacked being kept.
const ONE_MIN: f64 = 8.0;

/// Bytes of text a second in order on one core.
const SCAN_BYTES_MIN: f64 = 0.8e9;

/// Reads of one line at one limit, and how many times the best rival's they are to be.
#[derive(Clone, Debug, PartialEq)]
pub struct Bar {
    /// The line.
    pub line: String,
    /// The factor.
    pub factor: f64,
}

/// Measurements of several engines.
pub struct Board<'a> {
    /// What was measured.
    pub measurements: &'a [Measurement],
    /// The engines' names, ours first.
    pub engines: Vec<String>,
}

impl Board<'_> {
    /// A number of each round of a line on an engine.
    pub fn each(
        &self,
        line: &str,
        place: usize,
        of: impl Fn(&Measurement) -> Option<f64>,
    ) -> Vec<f64> {
        let all = self.measurements.iter();
        let mine = all.filter(|one| one.name == line && one.engine == self.engines[place]);
        mine.filter_map(of).collect()
    }

    /// The same in the middle.
    pub fn median(
        &self,
        line: &str,
        place: usize,
        of: impl Fn(&Measurement) -> Option<f64>,
    ) -> Option<f64> {
        Summary::of(self.each(line, place, of)).map(|all| all.median)
    }

    /// The rival whose number on a line is the best: the largest, or else the smallest.
    pub fn best(
        &self,
        line: &str,
        of: impl Fn(&Measurement) -> Option<f64> + Copy,
        is_more_better: bool,
    ) -> Option<usize> {
        let rivals = (1..self.engines.len()).filter_map(|place| {
            let median = self.median(line, place, of)?;
            Some((place, if is_more_better { median } else { -median }))
        });
        let best = rivals.max_by(|left, right| left.1.total_cmp(&right.1));
        best.map(|(place, _)| place)
    }

    /// The rival that packs blocks with Zstd.
    fn zstd(&self) -> Option<usize> {
        (1..self.engines.len()).find(|place| self.engines[*place].contains("zstd"))
    }

    /// Ours to a rival's, round by round.
    pub fn ratio(
        &self,
        line: &str,
        rival: Option<usize>,
        of: impl Fn(&Measurement) -> Option<f64> + Copy,
    ) -> Option<Summary> {
        Summary::of_ratios(&self.each(line, 0, of), &self.each(line, rival?, of))
    }

    fn name(&self, rival: Option<usize>) -> &str {
        rival.map_or("no rival", |place| &self.engines[place])
    }

    /// Every goal; reads at limits are held against `bars`.
    pub fn judge(&self, bars: &[Bar]) -> Vec<Verdict> {
        let mut verdicts = vec![self.size()];
        let zstd = self.zstd();
        let name = self.name(zstd);
        verdicts.push(self.at_least(INSERT, zstd, 1.0, format!("1 × {name}")));
        let asked = format!("{ONE_MIN} × {name} without a block-cache hit");
        verdicts.push(self.at_least(ONE_BARE, zstd, ONE_MIN, asked));
        let best = self.best(ONE_CACHED, rate, true);
        let asked = format!("1 × {} with a block-cache hit", self.name(best));
        verdicts.push(self.at_least(ONE_CACHED, best, 1.0, asked));
        verdicts.push(self.at_least(SCAN, zstd, 1.0, format!("1 × {name}")));
        let bytes = Summary::of(self.each(SCAN, 0, byte_rate));
        let least = SCAN_BYTES_MIN / 1e9;
        let asked = format!("{least:.1} GB/s of text");
        let measured = bytes.map(|all| scaled(all, 1e-9));
        let is_met = |median| median >= least;
        verdicts.push(Verdict::of(SCAN, asked, "GB/s", measured, is_met));
        for bar in bars {
            let best = self.best(&bar.line, rate, true);
            let asked = format!("{} × best rival ({})", bar.factor, self.name(best));
            verdicts.push(self.at_least(&bar.line, best, bar.factor, asked));
            verdicts.push(self.tail(&bar.line));
        }
        verdicts
    }

    fn size(&self) -> Verdict {
        let shares = self.each(INSERT, 0, |one| field(one, AMORTISED));
        let asked = format!("{SIZE_MAX} × the raw text at most, the dictionary as in 1 GB");
        Verdict::at_most("reviews-size", asked, Summary::of(shares), SIZE_MAX)
    }

    fn at_least(&self, line: &str, rival: Option<usize>, least: f64, asked: String) -> Verdict {
        Verdict::at_least(line, asked, self.ratio(line, rival, rate), least)
    }

    fn tail(&self, line: &str) -> Verdict {
        let best = self.best(line, p99, false);
        let asked = format!("p99 ≤ 1 × best rival ({})", self.name(best));
        Verdict::at_most(line, asked, self.ratio(line, best, p99), 1.0)
    }
}

fn scaled(all: Summary, by: f64) -> Summary {
    Summary {
        median: all.median * by,
        min: all.min * by,
        max: all.max * by,
    }
}

/// Operations a second.
pub fn rate(one: &Measurement) -> Option<f64> {
    Some(one.ops_per_s)
}

/// Bytes of keys and texts a second.
pub fn byte_rate(one: &Measurement) -> Option<f64> {
    Some(one.bytes as f64 / one.wall_s.max(1e-9))
}

/// Nanoseconds that half did not exceed.
pub fn p50(one: &Measurement) -> Option<f64> {
    one.percentile_ns(50.0)
}

/// Nanoseconds that 95 of 100 did not exceed.
pub fn p95(one: &Measurement) -> Option<f64> {
    one.percentile_ns(95.0)
}

/// Nanoseconds that 99 of 100 did not exceed.
pub fn p99(one: &Measurement) -> Option<f64> {
    one.percentile_ns(99.0)
}

/// Most bytes of memory that the process held.
pub fn resident(one: &Measurement) -> Option<f64> {
    Some(one.usage.peak_rss_bytes as f64)
}

/// A number that describes the workload.
pub fn field(one: &Measurement, name: &str) -> Option<f64> {
    one.field(name)?.parse().ok()
}

#[cfg(test)]
mod tests;
