//! Tests of interval logs.

use std::fs;

use hdrhistogram::serialization::Deserializer;
use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};

use super::*;
use crate::fail::FailureKind;
use crate::scenario::ycsb::meter::Metric;

#[test]
fn a_log_is_read_back_by_its_own_tools() {
    // Two intervals of one metric, each with its start, its length and its values.
    let dir = tempfile::tempdir().unwrap();
    let prefix = format!("{}/run-", dir.path().display());
    let mut logs = IntervalLogs::new(&prefix, ".hdr", UNIX_EPOCH).unwrap();
    for (second, micros) in [(0, 100), (10, 2500)] {
        let mut tally = Tally::default();
        tally.duration(Metric::Read, Duration::from_micros(micros));
        let (start, length) = (Duration::from_secs(second), Duration::from_secs(10));
        logs.add(&tally, Span::Actual, start, length).unwrap();
    }
    let text = fs::read(dir.path().join("run-READ.hdr")).unwrap();
    // The reader of this crate knows no legend.
    let text: Vec<u8> = String::from_utf8(text)
        .unwrap()
        .lines()
        .filter(|line| !line.starts_with('"'))
        .flat_map(|line| format!("{line}\n").into_bytes())
        .collect();
    let mut seen = Vec::new();
    for entry in IntervalLogIterator::new(&text) {
        if let LogEntry::Interval(interval) = entry.unwrap() {
            let bytes = decode(interval.encoded_histogram());
            let histogram: Histogram<u64> = Deserializer::new()
                .deserialize(&mut bytes.as_slice())
                .unwrap();
            let start = interval.start_timestamp().as_secs();
            seen.push((start, histogram.len(), histogram.max() / 10 * 10));
        }
    }
    assert_eq!(seen, [(0, 1, 100), (10, 1, 2500)]);
}

#[test]
fn a_missing_directory_is_told_before_the_run() {
    // Hours later it would be too late.
    let made = IntervalLogs::new("/nowhere/at/all/run-", ".hdr", UNIX_EPOCH);
    assert_eq!(made.err().unwrap().kind, FailureKind::Usage);
}

/// Base64 by its table, for the test only.
fn decode(text: &str) -> Vec<u8> {
    const TABLE: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let (mut bits, mut count, mut bytes) = (0_u32, 0, Vec::new());
    for letter in text.bytes().filter(|letter| *letter != b'=') {
        let place = TABLE.iter().position(|known| *known == letter).unwrap();
        bits = bits << 6 | u32::try_from(place).unwrap();
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push(u8::try_from(bits >> count & 0xff).unwrap());
        }
    }
    bytes
}
