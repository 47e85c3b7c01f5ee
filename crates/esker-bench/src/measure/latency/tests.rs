//! Tests of latencies.

use std::time::Duration;

use super::*;

#[test]
fn percentiles_are_those_of_what_was_added() {
    // A thousand times of 1 to 1000 µs: each percentile is within the histogram's 0.1 %.
    let mut times = Latencies::new();
    for micros in 1..=1000 {
        times.add(Duration::from_micros(micros));
    }
    assert_eq!(times.count(), 1000);
    for (percent, micros) in [(50.0, 500.0), (99.0, 990.0), (100.0, 1000.0)] {
        let got = times.percentile_ns(percent) as f64 / 1e3;
        assert!((got - micros).abs() <= micros * 0.002, "{percent}: {got}");
    }
    assert_eq!(
        times.buckets().map(|(_, count)| count).sum::<u64>(),
        times.count()
    );
}

#[test]
fn merged_times_are_those_of_both() {
    // Two threads, one slow and one fast; an empty histogram has no shortest time.
    let (mut one, mut other) = (Latencies::new(), Latencies::new());
    assert_eq!(one.min_ns(), 0);
    one.add(Duration::from_nanos(100));
    other.add(Duration::from_secs(7200));
    one.merge(&other);
    assert_eq!(one.count(), 2);
    assert_eq!(one.min_ns(), 100);
    assert!(one.max_ns() >= LONGEST_NS);
}
