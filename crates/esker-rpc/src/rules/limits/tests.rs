//! Limits that clients ask for.

use super::{SCAN_ROWS_MAX, asked, scan_rows};

#[test]
fn a_step_of_a_scan_has_its_batch_or_the_most_there_is() {
    for (batch_size, rows) in [(1, 1), (100, 100), (1000, 1000)] {
        assert_eq!(scan_rows(batch_size), rows);
    }
    for batch_size in [0, -1, i32::MIN, 1001, i32::MAX] {
        assert_eq!(scan_rows(batch_size), SCAN_ROWS_MAX);
    }
}

#[test]
fn limits_that_are_not_positive_are_none() {
    assert_eq!(asked(3), 3);
    assert_eq!(asked(0), usize::MAX);
    assert_eq!(asked(-1), usize::MAX);
}
