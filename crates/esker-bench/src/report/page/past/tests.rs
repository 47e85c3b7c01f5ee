//! Tests of `past`.

use super::*;
use crate::report::sample::record;

fn run(started_unix_s: u64, ratio: f64) -> Past {
    Past {
        commit: format!("c{started_unix_s}"),
        started_unix_s,
        ratios: vec![("fillseq".into(), ratio), ("readseq".into(), 2.0 * ratio)],
    }
}

#[test]
fn a_record_with_earlier_runs_shows_where_each_ratio_went() {
    // The first run alone has no history to show.
    let mut record = record(Vec::new());
    assert!(section(&record).body.is_empty());
    record.history = vec![run(86_400, 1.5)];
    assert!(section(&record).body.is_empty());
    record.history.push(run(2 * 86_400, 3.0));
    let html = section(&record).body;
    assert!(
        html.contains(
            ">1.50</td><td data-head=\"least\">1.50</td><td data-head=\"most\">3.00</td>"
        ) && html.contains("<td data-head=\"last\">6.00</td>"),
        "{html}"
    );
    assert!(html.contains("commit c86400") && html.contains("over 2 runs"));
    // A run between left one out; what the newest run lacks, or had first, is not told.
    let ratios = |all: &[&str]| all.iter().map(|name| ((*name).to_owned(), 2.0)).collect();
    record.history.insert(1, run(100_000, 9.0));
    record.history[1].ratios = ratios(&["readseq"]);
    record.history[2].ratios = ratios(&["fillseq", "new"]);
    let html = section(&record).body;
    assert!(html.contains(">fillseq</th>") && html.contains("data-head=\"runs\">2</td>"));
    assert!(
        !html.contains("readseq") && !html.contains(">new<"),
        "{html}"
    );
}
