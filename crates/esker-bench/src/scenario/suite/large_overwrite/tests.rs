//! Tests of the order in which values are overwritten.

use std::collections::BTreeSet;

use super::*;

#[test]
fn each_number_is_met_once_a_pass() {
    // Whatever the count, small ones too.
    for count in (1..40).chain([1000, 2097]) {
        let stride = stride(count);
        let met: BTreeSet<u64> = (0..count).map(|turn| turn * stride % count).collect();
        assert_eq!(met.len() as u64, count);
    }
}
