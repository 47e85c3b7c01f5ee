//! The chart that stands for a record.

use super::*;
use crate::report::chart::style;
use crate::report::sample::{duel, record, round};

#[test]
fn each_rival_has_a_panel_and_an_engine_alone_has_rates() {
    // Against one rival: one panel with a row for each workload. Alone: rates. Nothing: nothing.
    let duel = duel();
    let study = Study::of(&duel);
    let found = panels(&study);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].title, "Esker against Anvil 1.0");
    let svg = in_file(
        &found,
        &style::of_file(),
        "Esker <against> Anvil",
        &["foot".into()],
    );
    assert!(svg.starts_with("<svg xmlns=") && svg.contains("prefers-color-scheme:dark"));
    assert!(svg.contains("Esker &lt;against&gt; Anvil") && svg.contains(">foot<"));
    assert!(svg.contains("2.00 ×") && svg.contains("0.50 ×"));
    let alone = record(vec![round("fill", "Esker", 0, 1234.0)]);
    let found = panels(&Study::of(&alone));
    assert_eq!(found[0].title, "Esker 1.0, operations a second");
    assert!(panels(&Study::of(&record(Vec::new()))).is_empty());
}
