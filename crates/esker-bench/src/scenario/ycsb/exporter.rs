//! Results as YCSB prints them.

use std::io::Write;

use crate::fail::{Failure, Outcome};
use crate::measure::latency::Latencies;
use crate::scenario::ycsb::java::double_text;
use crate::scenario::ycsb::meter::{Span, Tally};
use crate::scenario::ycsb::properties::Properties;

/// What the exporter needs to know beside the tally.
#[derive(Clone, Debug)]
pub struct ExportSettings {
    /// Which percentiles.
    pub percentiles: Vec<f64>,
    /// From when latencies count.
    pub span: Span,
}

impl ExportSettings {
    /// Reads the percentiles.
    pub fn from_properties(properties: &Properties, span: Span) -> Outcome<ExportSettings> {
        let text = properties.text("hdrhistogram.percentiles", "50,90,95,99,99.9,99.99");
        let wrong = || {
            Failure::usage(format!(
                "hdrhistogram.percentiles={text} makes no sense; it is a list such as 50,99,99.9"
            ))
        };
        let percentiles = text
            .split(',')
            .map(|part| part.trim().parse::<f64>().ok())
            .map(|percent| percent.filter(|percent| (0.0..=100.0).contains(percent)));
        Ok(ExportSettings {
            percentiles: percentiles.collect::<Option<_>>().ok_or_else(wrong)?,
            span,
        })
    }
}

/// A value of a measurement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// A whole number.
    Whole(u64),
    /// A double.
    Real(f64),
}

/// A line of results.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// What it is about, such as `READ`.
    pub metric: String,
    /// What was measured.
    pub measurement: String,
    /// The result.
    pub value: Value,
}

impl Row {
    /// A line of results.
    pub fn new(metric: &str, measurement: impl Into<String>, value: Value) -> Row {
        Row {
            metric: metric.to_owned(),
            measurement: measurement.into(),
            value,
        }
    }
}

/// The rows of the whole: how long, how fast, and the lines about Java's memory, which scripts
/// expect; there is none, so they are 0.
pub fn overall_rows(run_ms: u64, ops: u64) -> Vec<Row> {
    let rate = 1000.0 * ops as f64 / run_ms as f64;
    vec![
        Row::new("OVERALL", "RunTime(ms)", Value::Whole(run_ms)),
        Row::new("OVERALL", "Throughput(ops/sec)", Value::Real(rate)),
        Row::new("TOTAL_GCs", "Count", Value::Whole(0)),
        Row::new("TOTAL_GC_TIME", "Time(ms)", Value::Whole(0)),
        Row::new("TOTAL_GC_TIME_%", "Time(%)", Value::Real(0.0)),
    ]
}

/// The rows of everything measured, as percentiles of HdrHistograms.
pub fn tally_rows(tally: &Tally, settings: &ExportSettings) -> Vec<Row> {
    let mut rows = Vec::new();
    for line in tally.rows(settings.span) {
        let empty = Latencies::new();
        let latencies = line.latencies.unwrap_or(&empty);
        let micros = |nanos: u64| Value::Whole(nanos / 1000);
        let mut add = |measurement: &str, value| {
            rows.push(Row::new(&line.name, measurement, value));
        };
        add("Operations", Value::Whole(latencies.count()));
        let mean_us = latencies.mean_ns() / 1000.0;
        add("AverageLatency(us)", Value::Real(mean_us));
        add("MinLatency(us)", micros(latencies.min_ns()));
        add("MaxLatency(us)", micros(latencies.max_ns()));
        for percent in &settings.percentiles {
            let value = micros(latencies.percentile_ns(*percent));
            let told = format!("{}PercentileLatency(us)", ordinal(*percent));
            add(&told, value);
        }
        for (reply, count) in &line.replies {
            let told = format!("Return={}", reply.name());
            add(&told, Value::Whole(*count));
        }
    }
    rows
}

/// 50 is the 50th, 21 the 21st; with a fraction there is no ending, as in YCSB.
fn ordinal(percent: f64) -> String {
    if percent.fract() != 0.0 {
        return double_text(percent);
    }
    // The percentiles lie between 0 and 100.
    let number = percent as u64;
    let ending = match (number % 100, number % 10) {
        (11..=13, _) => "th",
        (_, 1) => "st",
        (_, 2) => "nd",
        (_, 3) => "rd",
        _ => "th",
    };
    format!("{number}{ending}")
}

/// Writes rows, a line each.
pub fn write_rows(out: &mut dyn Write, rows: &[Row]) -> Outcome {
    for row in rows {
        let value = match row.value {
            Value::Whole(number) => number.to_string(),
            Value::Real(number) => double_text(number),
        };
        writeln!(out, "[{}], {}, {value}", row.metric, row.measurement)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
