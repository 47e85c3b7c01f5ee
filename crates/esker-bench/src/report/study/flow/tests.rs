//! Rates over time and their stalls.

use super::*;
use crate::report::sample::{round, series};

#[test]
fn intervals_below_half_of_the_mean_are_marked() {
    // A mean of 80; the third second made 10, the fifth 39, the fourth a fair 100.
    let mut one = round("fill", "Esker", 0, 80.0);
    one.series = series(&[120, 131, 10, 100, 39]);
    one.series.samples[2].stall_s = 0.75;
    let flow = flow(&one).unwrap();
    assert_eq!(flow.mean, 80.0);
    assert_eq!(flow.slow, [2, 4]);
    assert_eq!(flow.stall_s, 0.75);
    assert!((flow.lowest_share() - 0.125).abs() < 1e-12);
}

#[test]
fn the_stump_at_the_end_is_no_stall() {
    // The run ended a tenth of a second into its fourth interval, with 2 operations.
    let mut one = round("fill", "Esker", 0, 100.0);
    one.series = series(&[100, 100, 100, 2]);
    one.series.samples[3].at_s = 3.1;
    let flow = flow(&one).unwrap();
    assert_eq!((flow.steps.len(), flow.slow.len()), (3, 0));
}

#[test]
fn short_and_broken_courses_have_no_flow() {
    // Nothing, one interval, nothing but zeros, and moments that are no numbers.
    let mut one = round("fill", "Esker", 0, 100.0);
    assert_eq!(flow(&one), None);
    one.series = series(&[100]);
    assert_eq!(flow(&one), None);
    one.series = series(&[0, 0, 0, 0]);
    assert_eq!(flow(&one), None);
    one.series = series(&[1, 2, 3, 4]);
    one.series
        .samples
        .iter_mut()
        .for_each(|it| it.at_s = f64::NAN);
    assert_eq!(flow(&one), None);
}
