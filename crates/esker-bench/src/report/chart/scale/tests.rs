//! Scales and marks.

use super::*;

#[test]
fn places_follow_values() {
    // In the middle stands the geometric mean.
    let log = Scale::log(1.0, 100.0, 0.0, 50.0);
    assert!((log.at(10.0) - 25.0).abs() < 1e-9);
}

#[test]
fn no_value_leads_off_the_scale() {
    // Zero, less than zero, too much, and what is no number all stand at an end.
    for scale in [
        Scale::log(0.1, 10.0, 5.0, 20.0),
        Scale::log(3.0, 3.0, 5.0, 20.0),
        Scale::log(0.0, 0.0, 5.0, 20.0),
    ] {
        for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -1.0, 1e300] {
            assert!((5.0..=20.0).contains(&scale.at(value)), "{scale:?} {value}");
        }
    }
}

#[test]
fn marks_enclose_what_is_drawn() {
    // Ratios of 0.82 to 2.73 lie between a half and four; one alone still has two marks.
    assert_eq!(doublings(0.82, 2.73), [0.5, 1.0, 2.0, 4.0]);
    assert_eq!(doublings(1.0, 1.0), [1.0, 2.0]);
    assert!(doublings(1e-3, 1e3).len() <= 8);
    assert!(doublings(1e-3, 1e3).contains(&1.0));
    assert_eq!(decades(30.0, 4e4), [10.0, 100.0, 1e3, 1e4, 1e5]);
    assert_eq!(decades(100.0, 100.0), [100.0, 1000.0]);
}
