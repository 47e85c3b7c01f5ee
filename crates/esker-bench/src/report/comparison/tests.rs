//! Two runs as text and as JSON.

use super::*;
use crate::report::sample::{record, round};
use crate::report::study::contrast::contrast;
use crate::report::study::workloads::Study;

fn run(factor: f64, rounds: usize) -> Record {
    let all =
        (0..rounds).map(|index| round("fill", "Esker", index, (100.0 + index as f64) * factor));
    record(all.collect())
}

#[test]
fn text_and_json_say_what_changed_and_how_noise_was_judged() {
    // Five rounds, a third faster; and one round, where nobody knows.
    let (before, mut after) = (run(1.0, 5), run(1.33, 5));
    after.machine.host = "elsewhere".into();
    after.measurements.push(round("new", "Esker", 0, 1.0));
    let contrast_of = contrast(&Study::of(&before), &Study::of(&after));
    let pair = Pair {
        before: ("a.json", &before),
        after: ("b.json", &after),
        contrast: &contrast_of,
    };
    let text = pair.text();
    assert!(text.contains("1.33  better"), "{text}");
    assert!(text.contains("only in b.json: new (Esker)"), "{text}");
    assert!(
        text.contains("different machines") && text.contains("at most 5 %"),
        "{text}"
    );
    let told = pair.json();
    assert_eq!(told["rows"][0]["ops_per_s"]["call"], "better");
    assert_eq!(told["only_after"][0]["workload"], "new");
    let (before, after) = (run(1.0, 1), run(1.33, 1));
    let contrast_of = contrast(&Study::of(&before), &Study::of(&after));
    let pair = Pair {
        before: ("a", &before),
        after: ("b", &after),
        contrast: &contrast_of,
    };
    assert!(pair.text().contains("noise is unknown") && pair.text().contains("10 %"));
}
