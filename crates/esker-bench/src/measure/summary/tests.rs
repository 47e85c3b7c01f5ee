//! Medians of odd, even and no numbers; ratios of pairs.

use super::*;

#[test]
fn medians_are_those_of_sorted_numbers() {
    // Odd, even, one, none.
    let median = |all: &[f64]| Summary::of(all.iter().copied()).map(|summary| summary.median);
    assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
    assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), Some(2.5));
    assert_eq!(median(&[7.0]), Some(7.0));
    assert_eq!(median(&[]), None);
}

#[test]
fn ratios_pair_what_ran_side_by_side() {
    // A machine that doubled its speed between rounds does not blur a ratio of 2.
    let ratios = Summary::of_ratios(&[2.0, 4.0, 8.0], &[1.0, 2.0, 4.0]).expect("three pairs");
    assert_eq!((ratios.min, ratios.median, ratios.max), (2.0, 2.0, 2.0));
}
