//! Reads at several limits, made by hand.

use super::*;
use crate::report::sample;

/// One round at a limit.
fn read(engine: &str, choice: &str, memory: &str, rate: f64) -> Measurement {
    let mut one = sample::round(&format!("read-{choice}-{memory}"), engine, 0, rate);
    one.workload.push(("distribution".into(), choice.into()));
    one.workload.push(("memory".into(), memory.into()));
    one
}

#[test]
fn limits_ascend_and_none_comes_last() {
    // Two engines, two limits and none; and a line that says nothing of memory.
    let record = sample::record(vec![
        read("Esker", "zipf", "unlimited", 900.0),
        read("Anvil", "zipf", "unlimited", 800.0),
        read("Esker", "zipf", "0.22 of raw", 600.0),
        read("Anvil", "zipf", "0.22 of raw", 50.0),
        read("Esker", "zipf", "0.90 of raw", 700.0),
        sample::round("scan", "Esker", 0, 1.0),
    ]);
    let all = over_memory(&Study::of(&record));
    assert_eq!(all.len(), 1);
    assert_eq!(all[0].choice, "zipf");
    assert_eq!(
        all[0].lines[0].points,
        [(0.22, 600.0), (0.9, 700.0), (UNLIMITED, 900.0)]
    );
    assert_eq!(all[0].lines[1].points, [(0.22, 50.0), (UNLIMITED, 800.0)]);
}

#[test]
fn one_limit_is_no_course() {
    // A single point makes no line.
    let record = sample::record(vec![read("Esker", "uniform", "unlimited", 900.0)]);
    assert!(over_memory(&Study::of(&record)).is_empty());
}
