//! Tests of the summary.

use super::*;

#[test]
fn the_median_lies_in_the_middle() {
    // An odd number has one in the middle, an even number the mean of two.
    assert_eq!(Summary::of(vec![3.0, 1.0, 2.0]).median, 2.0);
    assert_eq!(Summary::of(vec![4.0, 1.0, 2.0, 3.0]).median, 2.5);
    assert_eq!(Summary::of(vec![3.0, 1.0, 2.0]).max, 3.0);
}
