//! Moments as people and as the dialects of benchmarks write them, in UTC.

use std::time::{SystemTime, UNIX_EPOCH};

use chrono::{DateTime, Utc};

/// Seconds since 1970.
pub fn unix_seconds() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map_or(0, |since| since.as_secs())
}

/// As `ctime` has it: `Sun Jan  5 14:40:05 2025`.
pub fn ctime(unix_s: u64) -> String {
    text(unix_s, "%a %b %e %H:%M:%S %Y")
}

/// As RocksDB's reports have it: `2025/01/05-14:40:05`.
pub fn stamp(unix_s: u64) -> String {
    text(unix_s, "%Y/%m/%d-%H:%M:%S")
}

/// As YCSB's status lines have it: `2025-01-05 14:40:05`.
pub fn seconds(unix_s: u64) -> String {
    text(unix_s, "%Y-%m-%d %H:%M:%S")
}

/// As a page has it: `2025-01-05 14:40 UTC`; nothing for 0, which no run began at.
pub fn utc(unix_s: u64) -> String {
    match unix_s {
        0 => String::new(),
        _ => text(unix_s, "%Y-%m-%d %H:%M UTC"),
    }
}

/// As log lines have it: `2025-01-05T14:40:05.042Z`.
pub fn millis(unix_ms: u64) -> String {
    at(unix_ms).format("%Y-%m-%dT%H:%M:%S%.3fZ").to_string()
}

fn text(unix_s: u64, format: &str) -> String {
    at(unix_s.saturating_mul(1000)).format(format).to_string()
}

fn at(unix_ms: u64) -> DateTime<Utc> {
    // No clock that a record was made by is further on than the year 9999.
    let unix_ms = i64::try_from(unix_ms.min(253_402_300_799_999)).expect("about 2^48");
    DateTime::from_timestamp_millis(unix_ms).expect("a moment before the year 10000")
}

#[cfg(test)]
mod tests;
