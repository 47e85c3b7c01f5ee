//! The table of published figures keeps to its own rules.

use super::*;

#[test]
fn every_figure_is_a_number_with_a_source() {
    // Nothing is published as zero, and each row says where it is from.
    for figure in figures() {
        assert!(figure.value > 0.0 && figure.value.is_finite(), "{figure:?}");
        assert!(!figure.document.source.is_empty() && !figure.document.machine.is_empty());
    }
}

#[test]
fn a_figure_is_found_by_document_name_and_place() {
    // The third readrandom of the list is the one after the compaction.
    assert_eq!(value(&DESKTOP, "readrandom", 2), Some(2.339));
    assert_eq!(value(&SERVER, "readrandom", 2), Some(2.745));
    assert_eq!(value(&DESKTOP, "readrandom", 3), None);
    assert_eq!(value(&MERGES, "mergerandom", 0), Some(105_892.0));
}
