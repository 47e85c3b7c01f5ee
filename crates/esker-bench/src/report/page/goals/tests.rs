//! Verdicts on a page.

use super::*;
use crate::measure::summary::Summary;

#[test]
fn verdicts_are_counted_and_shown() {
    // One met, one missed, one that nobody could judge.
    let verdict = |median: Option<f64>, is_met| Verdict {
        line: "fill".into(),
        asked: "3 × best rival (<Anvil>)".into(),
        measured: median.and_then(|median| Summary::of([median])),
        unit: "×".into(),
        is_met,
    };
    let mut record = crate::report::sample::record(Vec::new());
    record.verdicts = vec![
        verdict(Some(3.2), Some(true)),
        verdict(Some(2.9), Some(false)),
        verdict(None, None),
    ];
    let counted = tally(&record.verdicts);
    assert_eq!((counted.met, counted.judged, counted.open), (1, 2, 1));
    let html = section(&record).body;
    assert!(html.contains("3.20 ×") && html.contains("&lt;Anvil&gt;"));
    assert!(
        html.contains(">met<") && html.contains(">not met<") && html.contains(">not measured<")
    );
    record.verdicts.clear();
    assert_eq!(section(&record).body, "");
}
