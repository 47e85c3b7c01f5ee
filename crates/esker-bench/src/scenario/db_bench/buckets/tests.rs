//! Tests of the dialects' histograms.

use std::time::Duration;

use super::*;

#[test]
fn limits_are_those_of_the_dialects() {
    // The beginnings as documented, and how many there are.
    let leveldb = leveldb_limits();
    assert_eq!(leveldb.len(), 154);
    assert_eq!(
        leveldb[..13],
        [1., 2., 3., 4., 5., 6., 7., 8., 9., 10., 12., 14., 16.]
    );
    assert_eq!((leveldb[25], leveldb[26]), (100.0, 120.0));
    assert_eq!((leveldb[152], leveldb[153]), (9e9, 1e200));
    let rocksdb = rocksdb_limits();
    assert_eq!(rocksdb.len(), 109);
    let wanted = [
        1., 2., 3., 4., 6., 10., 15., 22., 34., 51., 76., 110., 170., 250., 380., 580., 870.,
        1300., 1900., 2900., 4400., 6600., 9900., 14000.,
    ];
    assert_eq!(rocksdb[..24], wanted);
}

fn latencies() -> Latencies {
    let mut latencies = Latencies::new();
    for _ in 0..3 {
        latencies.add(Duration::from_nanos(2500));
    }
    latencies.add(Duration::from_micros(100));
    latencies
}

#[test]
fn leveldb_prints_its_histogram() {
    // Three of 2.5 µs and one of 100 µs, which falls in the bucket above its own limit.
    let text = Buckets::new(Dialect::LevelDb, &latencies()).text();
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].starts_with("Count: 4  Average: 26.8"), "{text}");
    assert!(lines[1].starts_with("Min: 2.5"), "{text}");
    assert_eq!(
        lines[3],
        "[       2,       3 )       3  75.000%  75.000% ###############"
    );
    assert_eq!(
        lines[4],
        "[     100,     120 )       1  25.000% 100.000% #####"
    );
}

#[test]
fn rocksdb_prints_its_histogram() {
    // The same in whole microseconds, with percentiles and closed buckets.
    let text = Buckets::new(Dialect::RocksDb, &latencies()).text();
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].starts_with("Count: 4 Average: 26.8"), "{text}");
    assert!(
        lines[1].starts_with("Min: 2  Median: 2.0000  Max: 100"),
        "{text}"
    );
    assert!(
        lines[2].starts_with("Percentiles: P50: 2.00 P75: 2.00 P99: 100"),
        "{text}"
    );
    assert_eq!(
        lines[4],
        "(       1,       2 ]        3  75.000%  75.000% ###############"
    );
    assert_eq!(
        lines[5],
        "(      76,     110 ]        1  25.000% 100.000% #####"
    );
    let none = Buckets::new(Dialect::RocksDb, &Latencies::new()).text();
    assert!(none.starts_with("Count: 0 Average: 0.0000"));
}
