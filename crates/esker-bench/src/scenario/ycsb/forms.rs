//! Latencies in the forms that YCSB has beside percentiles: buckets, means over time, raw lines.

use std::fs::OpenOptions;
use std::io::Write;
use std::time::Duration;

use crate::fail::{Failure, Outcome};
use crate::measure::latency::Latencies;
use crate::scenario::ycsb::details::{Details, Single};
use crate::scenario::ycsb::exporter::{ExportSettings, Row, Value, hdr_rows, tally_rows};
use crate::scenario::ycsb::measurement_type::{Form, MeasurementType};
use crate::scenario::ycsb::meter::{Span, Tally};
use crate::scenario::ycsb::reply::Reply;

/// Nanoseconds of a bucket.
const BUCKET_NS: u64 = 1_000_000;

/// The percentiles of a raw summary, as it names them.
const RAW_PERCENTILES: [(&str, f64); 8] = [
    ("p1", 0.01),
    ("p5", 0.05),
    ("p50", 0.5),
    ("p90", 0.9),
    ("p95", 0.95),
    ("p99", 0.99),
    ("p99.9", 0.999),
    ("p99.99", 0.9999),
];

/// The rows of everything measured, in the form that is wished.
pub fn latency_rows(tally: &Tally, settings: &ExportSettings, kind: &MeasurementType) -> Vec<Row> {
    if kind.form == Form::Hdr {
        return tally_rows(tally, settings);
    }
    let (empty, none) = (Latencies::new(), Details::default());
    let mut rows = Vec::new();
    for line in tally.rows(settings.span) {
        let latencies = line.latencies.unwrap_or(&empty);
        let details = line.details.unwrap_or(&none);
        let replies = |name: &str| -> Vec<Row> {
            let counts = line.replies.iter();
            let row = |(reply, count): &(Reply, u64)| {
                let told = format!("Return={}", reply.name());
                Row::new(name, told, Value::Whole(*count))
            };
            counts.map(row).collect()
        };
        let (name, verbose) = (line.name.as_str(), settings.is_verbose);
        let hdr = || {
            let name = format!("Hdr{name}");
            hdr_rows(&name, latencies, &replies(&name), settings)
        };
        match kind.form {
            Form::Hdr => {}
            Form::Buckets => {
                let replies = replies(name);
                rows.extend(bucket_rows(
                    name,
                    latencies,
                    kind.buckets,
                    &replies,
                    verbose,
                ));
            }
            Form::HdrAndBuckets => {
                rows.extend(hdr());
                // Replies are told once, with the percentiles.
                let name = format!("Bucket{name}");
                rows.extend(bucket_rows(&name, latencies, kind.buckets, &[], verbose));
            }
            Form::Series => {
                let length = kind.granularity;
                rows.extend(series_rows(
                    name,
                    latencies,
                    details,
                    length,
                    &replies(name),
                ));
            }
            Form::Raw => {
                let has_summary = kind.has_raw_summary;
                rows.extend(raw_rows(
                    name,
                    &details.singles,
                    has_summary,
                    &replies(name),
                ));
            }
            Form::HdrAndRaw => {
                rows.extend(hdr());
                let name = format!("Raw{name}");
                rows.extend(raw_rows(&name, &details.singles, kind.has_raw_summary, &[]));
            }
        }
    }
    rows
}

/// Buckets of a millisecond, and what follows from them.
pub fn bucket_rows(
    name: &str,
    latencies: &Latencies,
    count: u64,
    replies: &[Row],
    is_verbose: bool,
) -> Vec<Row> {
    let mut buckets = vec![0_u64; usize::try_from(count).unwrap_or(0)];
    let mut beyond = 0;
    for (nanos, ops) in latencies.buckets() {
        let place = usize::try_from(nanos / BUCKET_NS).ok();
        match place.and_then(|place| buckets.get_mut(place)) {
            Some(bucket) => *bucket += ops,
            None => beyond += ops,
        }
    }
    let row = |measurement: &str, value| Row::new(name, measurement, value);
    let micros = |nanos: u64| Value::Whole(nanos / 1000);
    let deviation_us = latencies.deviation_ns() / 1000.0;
    let mut rows = vec![
        row("Operations", Value::Whole(latencies.count())),
        row(
            "AverageLatency(us)",
            Value::Real(latencies.mean_ns() / 1000.0),
        ),
        row(
            "LatencyVariance(us)",
            Value::Real(deviation_us * deviation_us),
        ),
        row("MinLatency(us)", micros(latencies.min_ns())),
        row("MaxLatency(us)", micros(latencies.max_ns())),
    ];
    for percent in [95_u64, 99] {
        let mut seen = 0;
        let place = buckets.iter().position(|ops| {
            seen += ops;
            seen * 100 >= latencies.count() * percent
        });
        // Beyond the last bucket nothing is known, and nothing told.
        if let Some(place) = place {
            let value = Value::Whole(place as u64 * 1000);
            rows.push(row(&format!("{percent}thPercentileLatency(us)"), value));
        }
    }
    rows.extend_from_slice(replies);
    if is_verbose {
        for (place, ops) in buckets.iter().enumerate() {
            rows.push(row(&place.to_string(), Value::Whole(*ops)));
        }
        rows.push(row(&format!(">{count}"), Value::Whole(beyond)));
    }
    rows
}

/// Means over time: milliseconds from the start, and the mean of what ended in each interval.
pub fn series_rows(
    name: &str,
    latencies: &Latencies,
    details: &Details,
    granularity: Duration,
    replies: &[Row],
) -> Vec<Row> {
    let row = |measurement: &str, value| Row::new(name, measurement, value);
    let micros = |nanos: u64| Value::Whole(nanos / 1000);
    let mut rows = vec![
        row("Operations", Value::Whole(latencies.count())),
        row(
            "AverageLatency(us)",
            Value::Real(latencies.mean_ns() / 1000.0),
        ),
        row("MinLatency(us)", micros(latencies.min_ns())),
        row("MaxLatency(us)", micros(latencies.max_ns())),
    ];
    rows.extend_from_slice(replies);
    for (number, interval) in (0_u32..).zip(&details.intervals) {
        if interval.count > 0 {
            let mean = interval.sum_us as f64 / interval.count as f64;
            let at_ms = (granularity * number).as_millis();
            rows.push(row(&at_ms.to_string(), Value::Real(mean)));
        }
    }
    rows
}

/// What raw lines add up to.
pub fn raw_rows(name: &str, singles: &[Single], has_summary: bool, replies: &[Row]) -> Vec<Row> {
    let row = |measurement: &str, value| Row::new(name, measurement, value);
    let mut rows = vec![row("Total Operations", Value::Whole(singles.len() as u64))];
    let mut sorted: Vec<u64> = singles.iter().map(|single| single.took_us).collect();
    sorted.sort_unstable();
    if let (true, [first, ..]) = (has_summary, &sorted[..]) {
        let last = sorted.last().unwrap_or(first);
        let sum: u64 = sorted.iter().sum();
        let told = "Below is a summary of latency in microseconds:";
        rows.push(row(told, Value::MinusOne));
        let mean = sum as f64 / sorted.len() as f64;
        rows.push(row("Average", Value::Real(mean)));
        rows.push(row("Min", Value::Whole(*first)));
        rows.push(row("Max", Value::Whole(*last)));
        for (told, share) in RAW_PERCENTILES {
            // Below the length, because the share is below 1.
            let place = (sorted.len() as f64 * share) as usize;
            rows.push(row(told, Value::Whole(sorted[place])));
        }
    }
    rows.extend_from_slice(replies);
    rows
}

/// Writes every operation that was kept, a line each: into the file that the properties name,
/// behind what is there, or to the output.
pub fn write_raw(
    out: &mut dyn Write,
    tally: &Tally,
    span: Span,
    kind: &MeasurementType,
) -> Outcome {
    let prefix = match kind.form {
        Form::Raw => "",
        Form::HdrAndRaw => "Raw",
        _ => return Ok(()),
    };
    let mut text = String::new();
    for line in tally.rows(span) {
        let Some(details) = line.details else {
            continue;
        };
        let name = format!("{prefix}{}", line.name);
        text += &format!("{name} latency raw data: op, timestamp(ms), latency(us)\n");
        for single in &details.singles {
            text += &format!("{name},{},{}\n", single.unix_ms, single.took_us);
        }
    }
    let Some(path) = &kind.raw_path else {
        return Ok(out.write_all(text.as_bytes())?);
    };
    let opened = OpenOptions::new().create(true).append(true).open(path);
    opened
        .and_then(|mut file| file.write_all(text.as_bytes()))
        .map_err(|error| Failure::system(format!("cannot write {}", path.display()), &error))
}

#[cfg(test)]
mod tests;
