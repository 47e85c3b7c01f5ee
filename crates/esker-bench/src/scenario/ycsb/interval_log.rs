//! HdrHistogram's interval logs: a file for each metric, a line for each interval.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use hdrhistogram::Histogram;
use hdrhistogram::serialization::V2DeflateSerializer;
use hdrhistogram::serialization::interval_log::IntervalLogWriterBuilder;

use crate::fail::{Failure, Outcome};
use crate::measure::latency::{LONGEST_NS, Latencies};
use crate::scenario::ycsb::exporter::buckets_us;
use crate::scenario::ycsb::meter::{Span, Tally};

/// What the largest value of a line is divided by, as Java's writer does it.
const MAX_VALUE_DIVISOR: f64 = 1_000_000.0;

/// The logs of a phase. Values are in microseconds, as in YCSB's own logs; times of lines count
/// from the start that the head of each file tells.
pub struct IntervalLogs {
    prefix: String,
    suffix: &'static str,
    base: SystemTime,
    files: BTreeMap<String, (PathBuf, File)>,
}

impl IntervalLogs {
    /// Logs whose names are `prefix`, the metric and `suffix`. Nothing is written before there is
    /// something to tell.
    ///
    /// Errors: `Usage` when files cannot be made there.
    pub fn new(prefix: &str, suffix: &'static str, base: SystemTime) -> Outcome<IntervalLogs> {
        let beside = PathBuf::from(format!("{prefix}x"));
        let dir = beside
            .parent()
            .filter(|dir| !dir.as_os_str().is_empty())
            .unwrap_or(Path::new("."));
        if !dir.is_dir() {
            return Err(Failure::usage(format!(
                "cannot write histograms to {prefix}…: {} is no directory; make it first",
                dir.display()
            )));
        }
        Ok(IntervalLogs {
            prefix: prefix.to_owned(),
            suffix,
            base,
            files: BTreeMap::new(),
        })
    }

    /// Adds a line to each log: what was measured from `start` for `length`.
    pub fn add(
        &mut self,
        interval: &Tally,
        span: Span,
        start: Duration,
        length: Duration,
    ) -> Outcome {
        for row in interval.rows(span) {
            if let Some(latencies) = row.latencies {
                self.add_line(&row.name, &line(latencies, start, length))?;
            }
        }
        Ok(())
    }

    fn add_line(&mut self, name: &str, line: &str) -> Outcome {
        if !self.files.contains_key(name) {
            let path = PathBuf::from(format!("{}{name}{}", self.prefix, self.suffix));
            let made = File::create(&path).and_then(|mut file| {
                file.write_all(head(name, self.base).as_bytes())?;
                Ok(file)
            });
            let file = made.map_err(|error| {
                Failure::system(format!("cannot write {}", path.display()), &error)
            })?;
            self.files.insert(name.to_owned(), (path, file));
        }
        let (path, file) = self.files.get_mut(name).expect("was just made");
        file.write_all(line.as_bytes())
            .map_err(|error| Failure::system(format!("cannot write {}", path.display()), &error))
    }
}

/// What a log begins with.
fn head(name: &str, base: SystemTime) -> String {
    let since = base.duration_since(UNIX_EPOCH).unwrap_or_default();
    let seconds = since.as_secs_f64();
    format!(
        "#[Logging for: {name}]\n#[Histogram log format version 1.3]\n\
         #[StartTime: {seconds:.3} (seconds since epoch)]\n\
         #[BaseTime: {seconds:.3} (seconds since epoch)]\n\
         \"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\
         \"Interval_Compressed_Histogram\"\n"
    )
}

/// The line of one interval.
fn line(latencies: &Latencies, start: Duration, length: Duration) -> String {
    let mut histogram: Histogram<u64> = Histogram::new_with_bounds(1, LONGEST_NS / 1000, 3)
        .expect("bounds and digits are within what the histogram allows");
    for (micros, count) in buckets_us(latencies) {
        histogram.saturating_record_n(micros, count);
    }
    let mut text = Vec::new();
    let mut serializer = V2DeflateSerializer::new();
    IntervalLogWriterBuilder::new()
        .with_max_value_divisor(MAX_VALUE_DIVISOR)
        .begin_log_with(&mut text, &mut serializer)
        .expect("memory takes whatever is written")
        .write_histogram(&histogram, start, length, None)
        .expect("a histogram of latencies can be written");
    // The writer puts a comment of its own before each first line.
    let text = String::from_utf8(text).expect("logs are plain letters");
    let last = text.lines().rfind(|line| !line.starts_with('#'));
    format!("{}\n", last.expect("a line was written"))
}

#[cfg(test)]
mod tests;
