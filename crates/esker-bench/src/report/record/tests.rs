//! Tests of records.

use std::time::Duration;

use super::*;

#[test]
fn engine_work_is_the_difference_of_two_readings() {
    // 100 bytes of the user became 350 of the engine; what does not move is not listed.
    let before = Counters {
        user_bytes: Some(1000),
        written_bytes: Some(2000),
        stall: Some(Duration::from_secs(1)),
        own: vec![("a".into(), 5), ("b".into(), 7)],
        ..Counters::default()
    };
    let after = Counters {
        user_bytes: Some(1100),
        written_bytes: Some(2350),
        stall: Some(Duration::from_secs(3)),
        debt_bytes: Some(9),
        own: vec![("a".into(), 5), ("b".into(), 8)],
        ..Counters::default()
    };
    let work = EngineWork::between(&before, &after);
    assert_eq!(work.write_amplification, Some(3.5));
    assert_eq!((work.stall_s, work.debt_bytes), (Some(2.0), Some(9)));
    assert_eq!(work.own, [("b".to_owned(), 1)]);
    assert_eq!(work.read_bytes, None);
}

#[test]
fn coarse_buckets_lose_no_operation() {
    // 10 000 different times end up in few buckets, all counted, in order.
    let mut latencies = Latencies::new();
    for nanos in 1..=10_000_u64 {
        latencies.add(Duration::from_nanos(nanos * 37));
    }
    let record = LatencyRecord::of("read", &latencies);
    assert!(record.buckets.len() < 300, "{}", record.buckets.len());
    assert_eq!(
        record.buckets.iter().map(|bucket| bucket.1).sum::<u64>(),
        10_000
    );
    assert!(record.buckets.is_sorted());
    assert_eq!(record.percentiles.len(), PERCENTILES.len());
}
