//! Tests of goals on measurements made by hand.

use super::*;
use crate::report::sample;

fn board(measurements: &[Measurement]) -> Board<'_> {
    Board {
        measurements,
        engines: ["Esker", "RocksDB lz4", "RocksDB zstd"]
            .map(str::to_owned)
            .to_vec(),
    }
}

#[test]
fn reads_are_held_against_the_better_rival() {
    // Zstd is the better of two: 900 to 300 is three times, and four were asked.
    let all: Vec<Measurement> = [
        ("Esker", 900.0),
        ("RocksDB lz4", 200.0),
        ("RocksDB zstd", 300.0),
    ]
    .map(|(engine, rate)| sample::round("read", engine, 0, rate))
    .to_vec();
    let bar = Bar {
        line: "read".into(),
        factor: 4.0,
    };
    let verdicts = board(&all).judge(&[bar]);
    let read = verdicts.iter().find(|one| one.line == "read").unwrap();
    assert_eq!(read.asked, "4 × best rival (RocksDB zstd)");
    assert_eq!(read.is_met, Some(false));
    assert!((read.measured.unwrap().median - 3.0).abs() < 1e-9);
    // Times of ours are a third.
    let tail = verdicts.last().unwrap();
    assert_eq!((tail.line.as_str(), tail.is_met), ("read", Some(true)));
}

#[test]
fn what_was_not_measured_is_open() {
    // Nothing at all was measured: every goal is told, none is judged.
    let verdicts = board(&[]).judge(&[]);
    assert!(verdicts.len() >= 6);
    assert!(verdicts.iter().all(|one| one.is_met.is_none()));
}

#[test]
fn size_is_that_with_the_dictionary_amortised() {
    // 0.27 whole and 0.255 amortised: the goal speaks of the latter.
    let mut load = sample::round(INSERT, "Esker", 0, 100.0);
    load.workload.push(("compacted".into(), "0.27".into()));
    load.workload.push((AMORTISED.into(), "0.255".into()));
    let all = [load];
    assert_eq!(board(&all).judge(&[])[0].is_met, Some(true));
}
