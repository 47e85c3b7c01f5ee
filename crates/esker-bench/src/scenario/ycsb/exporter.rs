//! Results as YCSB prints them, as its two JSON exporters do, and as go-ycsb does.

use std::io::Write;

use crate::fail::{Failure, Outcome};
use crate::measure::latency::Latencies;
use crate::scenario::ycsb::java::double_text;
use crate::scenario::ycsb::meter::{Span, Tally};
use crate::scenario::ycsb::properties::Properties;

/// How results are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// `[METRIC], measurement, value`.
    Text,
    /// One JSON object after another.
    Json,
    /// An array of JSON objects.
    JsonArray,
    /// A line for each metric.
    Go,
}

impl Format {
    /// By the name of an exporter, with or without its package; a name that is not known is the
    /// text, as in YCSB.
    pub fn of_exporter(class: &str) -> Option<Format> {
        match class.rsplit('.').next().unwrap_or(class) {
            "TextMeasurementsExporter" => Some(Format::Text),
            "JSONMeasurementsExporter" => Some(Format::Json),
            "JSONArrayMeasurementsExporter" => Some(Format::JsonArray),
            _ => None,
        }
    }

    /// By the word of an option.
    pub fn of_word(word: &str) -> Outcome<Format> {
        match word {
            "text" => Ok(Format::Text),
            "json" => Ok(Format::Json),
            "json-array" => Ok(Format::JsonArray),
            "go-ycsb" => Ok(Format::Go),
            _ => Err(Failure::usage(format!(
                "--format={word} makes no sense; it is text, json, json-array or go-ycsb"
            ))),
        }
    }
}

/// What the exporters need to know beside the tally.
#[derive(Clone, Debug)]
pub struct ExportSettings {
    /// How results are written.
    pub format: Format,
    /// Which percentiles.
    pub percentiles: Vec<f64>,
    /// Whether whole histograms are printed.
    pub is_verbose: bool,
    /// From when latencies count.
    pub span: Span,
}

impl ExportSettings {
    /// Reads the percentiles and whether to be verbose.
    pub fn from_properties(
        properties: &Properties,
        format: Format,
        span: Span,
    ) -> Outcome<ExportSettings> {
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
            format,
            percentiles: percentiles.collect::<Option<_>>().ok_or_else(wrong)?,
            is_verbose: properties.flag("measurement.histogram.verbose", false),
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
    /// What raw summaries say in front of their numbers.
    MinusOne,
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
        let counts = line.replies.iter();
        let replies: Vec<Row> = counts
            .map(|(reply, count)| {
                let told = format!("Return={}", reply.name());
                Row::new(&line.name, told, Value::Whole(*count))
            })
            .collect();
        rows.extend(hdr_rows(&line.name, latencies, &replies, settings));
    }
    rows
}

/// The rows of one name; `replies` stand between percentiles and buckets.
pub fn hdr_rows(
    name: &str,
    latencies: &Latencies,
    replies: &[Row],
    settings: &ExportSettings,
) -> Vec<Row> {
    let micros = |nanos: u64| Value::Whole(nanos / 1000);
    let row = |measurement: &str, value| Row::new(name, measurement, value);
    let mut rows = vec![
        row("Operations", Value::Whole(latencies.count())),
        row(
            "AverageLatency(us)",
            Value::Real(latencies.mean_ns() / 1000.0),
        ),
        row("MinLatency(us)", micros(latencies.min_ns())),
        row("MaxLatency(us)", micros(latencies.max_ns())),
    ];
    for percent in &settings.percentiles {
        let value = micros(latencies.percentile_ns(*percent));
        let told = format!("{}PercentileLatency(us)", ordinal(*percent));
        rows.push(row(&told, value));
    }
    rows.extend_from_slice(replies);
    if settings.is_verbose {
        for (micros, count) in buckets_us(latencies) {
            rows.push(row(&micros.to_string(), Value::Real(count as f64)));
        }
    }
    rows
}

/// The buckets in microseconds; those of one microsecond together.
pub fn buckets_us(latencies: &Latencies) -> Vec<(u64, u64)> {
    let mut buckets: Vec<(u64, u64)> = Vec::new();
    for (nanos, count) in latencies.buckets() {
        match buckets.last_mut() {
            Some((micros, sum)) if *micros == nanos / 1000 => *sum += count,
            _ => buckets.push((nanos / 1000, count)),
        }
    }
    buckets
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

/// Writes rows in one of YCSB's formats.
pub fn write_rows(out: &mut dyn Write, format: Format, rows: &[Row]) -> Outcome {
    let mut text = String::new();
    for (place, row) in rows.iter().enumerate() {
        let value = match row.value {
            Value::Whole(number) => number.to_string(),
            Value::Real(number) => double_text(number),
            Value::MinusOne => "-1".into(),
        };
        if format == Format::Text {
            text += &format!("[{}], {}, {value}\n", row.metric, row.measurement);
            continue;
        }
        text += match (format, place) {
            (Format::JsonArray, 0) => "[ ",
            (Format::JsonArray, _) => ", ",
            (_, 0) => "",
            (_, _) => " ",
        };
        // What is no number in JSON stands in quotes, as Java's writer has it.
        let is_number = !matches!(row.value, Value::Real(number) if !number.is_finite());
        let value = if is_number {
            value
        } else {
            format!("\"{value}\"")
        };
        text += &format!(
            "{{\n  \"metric\" : {},\n  \"measurement\" : {},\n  \"value\" : {value}\n}}",
            quoted(&row.metric),
            quoted(&row.measurement)
        );
    }
    if format == Format::JsonArray {
        text += if rows.is_empty() { "[ ]" } else { " ]" };
    }
    if format != Format::Text {
        text.push('\n');
    }
    Ok(out.write_all(text.as_bytes())?)
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Writes go-ycsb's summary: a line for each metric.
pub fn write_go(out: &mut dyn Write, tally: &Tally, span: Span, seconds: f64) -> Outcome {
    writeln!(out, "Run finished, takes {seconds:.3}s")?;
    for line in tally.rows(span) {
        if let Some(latencies) = line.latencies {
            writeln!(out, "{}", go_line(&line.name, latencies, seconds))?;
        }
    }
    Ok(())
}

fn go_line(name: &str, latencies: &Latencies, seconds: f64) -> String {
    let micros = |nanos: u64| nanos / 1000;
    let rate = latencies.count() as f64 / seconds.max(1e-9);
    let mut line = format!(
        "{name:<6} - Takes(s): {seconds:.1}, Count: {}, OPS: {rate:.1}, Avg(us): {}, Min(us): {}, \
         Max(us): {}",
        latencies.count(),
        // A mean of a histogram is neither negative nor beyond its bounds.
        micros(latencies.mean_ns() as u64),
        micros(latencies.min_ns()),
        micros(latencies.max_ns()),
    );
    for (name, percent) in [
        ("50th", 50.0),
        ("90th", 90.0),
        ("95th", 95.0),
        ("99th", 99.0),
        ("99.9th", 99.9),
        ("99.99th", 99.99),
    ] {
        let value = micros(latencies.percentile_ns(percent));
        line += &format!(", {name}(us): {value}");
    }
    line
}

#[cfg(test)]
mod tests;
