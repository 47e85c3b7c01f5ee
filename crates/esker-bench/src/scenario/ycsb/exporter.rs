//! Results as YCSB prints them.

use std::fmt::Display;

use crate::fail::Outcome;
use crate::measure::latency::Latencies;
use crate::scenario::ycsb::meter::Tally;
use crate::scenario::ycsb::properties::{Properties, wrong};

/// The percentiles that are told.
pub fn percentiles(properties: &Properties) -> Outcome<Vec<f64>> {
    const NAME: &str = "hdrhistogram.percentiles";
    let text = properties.text(NAME, "50,90,95,99,99.9,99.99");
    let percentiles = text
        .split(',')
        .map(|part| part.trim().parse::<f64>().ok())
        .map(|percent| percent.filter(|percent| (0.0..=100.0).contains(percent)));
    let percentiles = percentiles.collect::<Option<_>>();
    percentiles.ok_or_else(|| wrong(NAME, text, "a list such as 50,99,99.9"))
}

/// A line of results: what it is about, such as `READ`, what was measured, and the result.
pub fn line(metric: &str, measurement: &str, value: impl Display) -> String {
    format!("[{metric}], {measurement}, {value}\n")
}

/// The whole: how long, how fast, and the lines about Java's memory, which scripts expect; there
/// is none, so they are 0.
pub fn overall(run_ms: u64, ops: u64) -> String {
    let rate = 1000.0 * ops as f64 / run_ms as f64;
    format!(
        "[OVERALL], RunTime(ms), {run_ms}\n[OVERALL], Throughput(ops/sec), {rate:?}\n\
         [TOTAL_GCs], Count, 0\n[TOTAL_GC_TIME], Time(ms), 0\n[TOTAL_GC_TIME_%], Time(%), 0.0\n"
    )
}

/// Everything measured, as percentiles of HdrHistograms.
pub fn measured(tally: &Tally, percentiles: &[f64]) -> String {
    let mut text = String::new();
    for row in tally.rows() {
        let empty = Latencies::new();
        let latencies = row.latencies.unwrap_or(&empty);
        let mut add = |measurement: &str, value: &dyn Display| {
            text += &line(&row.name, measurement, value);
        };
        add("Operations", &latencies.count());
        let mean_us = latencies.mean_ns() / 1000.0;
        add("AverageLatency(us)", &format!("{mean_us:?}"));
        add("MinLatency(us)", &(latencies.min_ns() / 1000));
        add("MaxLatency(us)", &(latencies.max_ns() / 1000));
        for percent in percentiles {
            // With a fraction there is no ending, as in YCSB.
            let ending = if percent.fract() == 0.0 { "th" } else { "" };
            let told = format!("{percent}{ending}PercentileLatency(us)");
            add(&told, &(latencies.percentile_ns(*percent) / 1000));
        }
        for (reply, count) in &row.replies {
            add(&format!("Return={}", reply.name()), count);
        }
    }
    text
}

#[cfg(test)]
mod tests;
