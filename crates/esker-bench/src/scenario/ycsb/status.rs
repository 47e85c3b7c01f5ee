//! The status line: how far, how fast, how long still, and each metric since the last one.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::report::date;
use crate::scenario::ycsb::meter::Tally;

/// How far a phase is.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Time since the start.
    pub elapsed: Duration,
    /// Time since the last status line.
    pub elapsed_since: Duration,
    /// Operations done.
    pub ops: u64,
    /// Those since the last status line.
    pub ops_since: u64,
    /// Operations still to do; 0 if there is no bound or nothing left.
    pub ops_left: u64,
}

/// The line, from what was measured since the last one.
pub fn line(label: &str, now: SystemTime, progress: &Progress, interval: &Tally) -> String {
    let mut line = format!(
        "{label}{} {} sec: {} operations; ",
        timestamp(now),
        progress.elapsed.as_secs(),
        progress.ops
    );
    let rate = |ops: u64, time: Duration| ops as f64 / time.as_secs_f64().max(1e-9);
    if progress.ops > 0 {
        let current = rate(progress.ops_since, progress.elapsed_since);
        line += &format!("{} current ops/sec; ", decimal_text(current));
    }
    if progress.ops_left > 0 && progress.ops > 0 {
        let left = progress.ops_left as f64 / rate(progress.ops, progress.elapsed);
        // The cast of a float keeps to the range of the integer.
        line += &format!("est completion in {}", remaining(left.ceil() as u64));
    }
    for row in interval.rows() {
        let Some(latencies) = row.latencies else {
            continue;
        };
        let micros = |nanos: u64| nanos / 1000;
        line += &format!(
            "[{}: Count={}, Max={}, Min={}, Avg={}",
            row.name,
            latencies.count(),
            micros(latencies.max_ns()),
            micros(latencies.min_ns()),
            decimal_text(latencies.mean_ns() / 1000.0)
        );
        for percent in [50.0, 90.0, 99.0, 99.9, 99.99] {
            line += &format!(", {percent}={}", micros(latencies.percentile_ns(percent)));
        }
        line += "] ";
    }
    line
}

/// Seconds as a person says them; minutes only below a day, seconds only below a minute.
fn remaining(seconds: u64) -> String {
    let (days, hours) = (seconds / 86_400, seconds / 3600 % 24);
    let minutes = seconds / 60 % 60;
    let mut text = String::new();
    let mut add = |count: u64, unit: &str| {
        let plural = if count == 1 { "" } else { "s" };
        text += &format!("{count} {unit}{plural} ");
    };
    if days > 0 {
        add(days, "day");
    }
    if hours > 0 {
        add(hours, "hour");
    }
    if days == 0 && minutes > 0 {
        add(minutes, "minute");
    }
    if seconds < 60 {
        add(seconds, "second");
    }
    text
}

/// A number by Java's pattern `#.##`: at most two digits behind the point, none where they are 0.
fn decimal_text(value: f64) -> String {
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Date and time in UTC, with milliseconds behind a colon as YCSB has them.
fn timestamp(now: SystemTime) -> String {
    let since = now.duration_since(UNIX_EPOCH).unwrap_or_default();
    format!(
        "{}:{:03}",
        date::seconds(since.as_secs()),
        since.subsec_millis()
    )
}

#[cfg(test)]
mod tests;
