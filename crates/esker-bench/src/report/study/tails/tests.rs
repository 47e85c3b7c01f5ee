//! Percentiles of distributions.

use super::*;
use crate::report::sample::{record, round};
use crate::report::study::workloads::Study;

#[test]
fn percentiles_are_what_the_buckets_say() {
    // Of 1000 operations 900 took 1 ms, 99 took 4, one took 20: p90 is 1 ms, p99 is 4, and no
    // more than three nines are known.
    let record = record(vec![round("fill", "Esker", 0, 1000.0)]);
    let study = Study::of(&record);
    let tail = tail(&study.workloads[0].cells[0], "write").unwrap();
    assert_eq!((tail.count, tail.max_ns), (1000, 20e6));
    let told = [0.5, 0.9, 0.901, 0.99, 0.999, 0.9999].map(|share| tail.at(share));
    let (fast, slow) = (Some(1e6), Some(4e6));
    assert_eq!(told, [fast, fast, slow, slow, slow, None]);
}

#[test]
fn rounds_add_up_and_nothing_has_no_tail() {
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
