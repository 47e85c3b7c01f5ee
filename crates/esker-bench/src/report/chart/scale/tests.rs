//! Scales, marks and labels.

use super::*;

#[test]
fn places_follow_values() {
    // The middle of a linear scale is the mean, of a logarithmic one the geometric mean.
    let linear = Scale::linear(0.0, 10.0, 100.0, 200.0);
    assert_eq!(linear.at(5.0), 150.0);
    let log = Scale::log(1.0, 100.0, 0.0, 50.0);
    assert!((log.at(10.0) - 25.0).abs() < 1e-9);
    // Downwards is a scale too: on a screen, up is less.
    assert_eq!(Scale::linear(0.0, 10.0, 90.0, 10.0).at(10.0), 10.0);
}

#[test]
fn no_value_leads_off_the_scale() {
    // Zero, less than zero, too much, and what is no number all stand at an end.
    for scale in [
        Scale::linear(0.0, 10.0, 5.0, 20.0),
        Scale::log(0.1, 10.0, 5.0, 20.0),
        Scale::linear(3.0, 3.0, 5.0, 20.0),
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
    assert_eq!(round_marks(930.0), [0.0, 250.0, 500.0, 750.0, 1000.0]);
    assert_eq!(round_marks(0.0), [0.0, 1.0]);
    assert_eq!(round_marks(f64::NAN), [0.0, 1.0]);
}

#[test]
fn labels_keep_their_distance_and_their_order() {
    // Three ends of curves on one spot: pushed apart, none over the edge.
    let moved = apart(&[50.0, 50.0, 49.0], 12.0, 10.0, 60.0);
    assert_eq!(moved, [48.0, 60.0, 36.0]);
    assert_eq!(apart(&[20.0, 80.0], 12.0, 0.0, 100.0), [20.0, 80.0]);
    assert!(apart(&[], 12.0, 0.0, 1.0).is_empty());
}
