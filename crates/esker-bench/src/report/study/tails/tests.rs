//! Distributions as curves.

use super::*;
use crate::report::sample::{record, round};
use crate::report::study::workloads::Study;

#[test]
fn a_curve_says_what_the_buckets_say() {
    // Of 1000 operations 900 took 1 ms, 99 took 4, one took 20: p90 is 1 ms, p99 is 4, and no
    // more than three nines are known.
    let record = record(vec![round("fill", "Esker", 0, 1000.0)]);
    let study = Study::of(&record);
    let tail = tail(&study.workloads[0].cells[0], "write").unwrap();
    assert_eq!(tail.count, 1000);
    assert_eq!(tail.max_ns, 20e6);
    assert_eq!(at(&tail, nines(0.9)), Some(1e6));
    assert_eq!(at(&tail, nines(0.99)), Some(4e6));
    assert_eq!(at(&tail, nines(0.999)), Some(4e6));
    assert!(tail.points.is_sorted());
    assert!(
        tail.points
            .iter()
            .all(|(x, y)| *x <= NINES_MAX && y.is_finite())
    );
}

#[test]
fn rounds_add_up_and_nothing_is_no_curve() {
    // Two rounds are one distribution; a kind that nobody timed has none.
    let record = record(vec![
        round("fill", "Esker", 0, 1000.0),
        round("fill", "Esker", 1, 500.0),
    ]);
    let study = Study::of(&record);
    let cell = &study.workloads[0].cells[0];
    assert_eq!(tail(cell, "write").unwrap().count, 2000);
    assert_eq!(kinds(cell), ["write"]);
    assert_eq!(tail(cell, "read"), None);
}

#[test]
fn one_operation_is_a_curve_too() {
    // It is the fastest and the slowest at once.
    let mut one = round("fill", "Esker", 0, 1000.0);
    one.latencies[0].buckets = vec![(7, 1)];
    one.latencies[0].max_ns = 7;
    one.latencies[0].min_ns = 0;
    let record = record(vec![one]);
    let study = Study::of(&record);
    let tail = tail(&study.workloads[0].cells[0], "write").unwrap();
    assert_eq!(tail.points, [(0.0, 1.0), (NINES_MAX, 7.0)]);
}
