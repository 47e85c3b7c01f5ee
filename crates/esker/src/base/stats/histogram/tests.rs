//! Tests of `histogram`.
#![allow(clippy::disallowed_methods, reason = "only real threads race")]

use super::*;

// A fixed sequence of well-mixed numbers (splitmix64), so that the test never varies.
fn mixed(step: u64) -> u64 {
    let mut z = step.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

fn assert_close(told: u64, truth: u64) {
    let off = told.abs_diff(truth);
    assert!(off * 64 <= truth, "{told} for {truth}");
}

#[test]
fn percentiles_are_within_the_promised_error() {
    // Latencies from 0 ns to 17 s, spread evenly over their magnitudes, against a sorted vector.
    let histogram = Histogram::new();
    let mut truth: Vec<u64> = (0..20_000)
        .map(|step| mixed(step) >> (30 + mixed(!step) % 34))
        .collect();
    for ns in &truth {
        histogram.record(*ns);
    }
    truth.sort_unstable();
    let snapshot = histogram.snapshot();
    for tenths in 0..=1_000 {
        let percent = f64::from(tenths) / 10.0;
        let rank = (percent / 100.0 * truth.len() as f64).ceil() as usize;
        assert_close(snapshot.percentile_ns(percent), truth[rank.max(1) - 1]);
    }
    assert_eq!(snapshot.count(), 20_000);
    assert_eq!(snapshot.max_ns(), truth[19_999]);
    assert_close(snapshot.sum_ns(), truth.iter().sum());
    assert_close(snapshot.min_ns(), truth[0]);
    assert_close(snapshot.mean_ns(), truth.iter().sum::<u64>() / 20_000);
}

#[test]
fn buckets_touch_without_gap_or_overlap() {
    // Walking upwards never skips a bucket, and each middle lies in its own bucket.
    let mut last = 0;
    for octave in 0..40 {
        for part in 0..256_u64 {
            let bucket = bucket_of((1 << octave) + (part << octave) / 256);
            assert!(bucket == last || bucket == last + 1, "{octave} {part}");
            assert_eq!(bucket_of(middle_of(bucket)), bucket);
            last = bucket;
        }
    }
    assert_eq!(last, BUCKET_COUNT - 1);
}

#[test]
fn an_empty_histogram_says_zero() {
    // Before the first operation a page of statistics must still be printable.
    let snapshot = Histogram::new().snapshot();
    assert_eq!(snapshot.count(), 0);
    assert_eq!((snapshot.min_ns(), snapshot.max_ns()), (0, 0));
    assert_eq!((snapshot.mean_ns(), snapshot.percentile_ns(99.0)), (0, 0));
}

#[test]
fn endless_latencies_land_in_the_last_bucket() {
    // A machine that slept for a day reports one monstrous latency; its size survives.
    let histogram = Histogram::new();
    histogram.record(u64::MAX);
    histogram.record(10);
    let snapshot = histogram.snapshot();
    assert_eq!(snapshot.max_ns(), u64::MAX);
    assert_eq!(snapshot.percentile_ns(100.0), u64::MAX);
    assert_eq!(snapshot.percentile_ns(50.0), 10);
    assert_eq!(snapshot.percentile_ns(-3.0), 10);
    assert_eq!(snapshot.percentile_ns(250.0), u64::MAX);
}

#[test]
fn threads_and_merges_lose_nothing() {
    // Eight threads record into two histograms; merged, they hold every latency.
    let (left, right) = (Histogram::new(), Histogram::new());
    std::thread::scope(|scope| {
        for thread in 0..8_u64 {
            let histogram = if thread % 2 == 0 { &left } else { &right };
            scope.spawn(move || (0..1_000).for_each(|step| histogram.record(step * (thread + 1))));
        }
    });
    let mut merged = left.snapshot();
    merged.merge(&right.snapshot());
    assert_eq!(merged.count(), 8_000);
    assert_eq!(merged.max_ns(), 999 * 8);
    assert_eq!(left.snapshot().max_ns(), 999 * 7);
}
