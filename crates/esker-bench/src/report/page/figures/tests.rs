//! Published figures beside ours.

use super::*;
use crate::report::sample::{record, round};

#[test]
fn figures_stand_beside_the_same_workload_only() {
    // Merge and update were published; `fill` never was.
    let record = record(vec![
        round("mergerandom", "Esker", 0, 3_000_000.0),
        round("updaterandom", "Esker", 0, 500_000.0),
        round("fill", "Esker", 0, 1.0),
    ]);
    let html = section(&Study::of(&record)).body;
    assert_eq!(html.matches("Read-Modify-Write").count(), 1);
    for number in ["33.5 k/s", "106 k/s", "3.00 M/s"] {
        assert!(html.contains(number), "{number}: {html}");
    }
    assert!(html.contains("what can be compared"));
    // Two documents on one workload share its line.
    let both = crate::report::sample::record(vec![round("fillseq", "Esker", 0, 1e6)]);
    let html = section(&Study::of(&both)).body;
    assert_eq!(html.matches(">fillseq<").count(), 1);
    assert!(
        html.contains("<td>1.00 µs</td><td>4.43 µs</td><td>4.42 µs</td>"),
        "{html}"
    );
    let nothing = crate::report::sample::record(vec![round("fill", "Esker", 0, 1.0)]);
    assert_eq!(section(&Study::of(&nothing)).body, "");
}

#[test]
fn the_second_readrandom_is_not_the_first() {
    // LevelDB's list runs it three times, and its figures differ.
    let record = record(vec![
        round("readrandom", "Esker", 0, 1e6),
        round("readrandom", "Esker", 0, 2e6),
    ]);
    let html = section(&Study::of(&record)).body;
    assert!(html.contains("readrandom, first") && html.contains("readrandom, second"));
    assert!(!html.contains("readrandom, compacted"));
    assert!(html.contains("1.00 µs") && html.contains("500 ns"));
}
