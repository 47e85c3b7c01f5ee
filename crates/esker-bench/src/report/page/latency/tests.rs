//! Percentiles on a page.

use super::*;
use crate::report::sample::{record, round};

#[test]
fn percentiles_are_those_of_the_median_round_and_no_more_than_is_known() {
    // A thousand operations a round: three nines are known, and a fourth is not; the p99 of three
    // rounds is that of the one in the middle. What was not timed has no row.
    let rates = [1000.0, 4000.0, 2000.0];
    let rounds = rates.into_iter().enumerate();
    let mut all: Vec<_> = rounds
        .map(|(turn, rate)| round("fill", "Esker", turn, rate))
        .collect();
    let mut untimed = round("scan", "Esker", 0, 1.0);
    untimed.latencies.clear();
    all.push(untimed);
    let record = record(all);
    let html = section(&Study::of(&record)).body;
    let cells: Vec<&str> = html
        .split("</t")
        .filter_map(|cell| cell.rsplit('>').next())
        .collect();
    let at = cells
        .iter()
        .position(|cell| *cell == "fill")
        .expect("a row");
    let wanted = ["1 000", "500 µs", "–", "2.00 ms", "4.50 ms", "–", "10.0 ms"];
    let wanted = wanted.map(|text| text.replace("1 000", "1\u{202f}000"));
    assert_eq!(cells[at + 1..at + 8], wanted, "{html}");
    assert!(!html.contains(">scan<"), "{html}");
    let record = crate::report::sample::record(Vec::new());
    assert_eq!(section(&Study::of(&record)).body, "");
}
