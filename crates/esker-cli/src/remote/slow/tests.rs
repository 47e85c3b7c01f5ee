//! Pages of slow calls, as they are read and shown.

use super::*;

#[test]
fn the_longest_phases_are_told_first_and_short_ones_not() {
    let call = json!({
        "total_us": 100_000,
        "phases": { "door_us": 900, "commit_us": 20_150, "apply_us": 70_000, "answer_us": 0 },
    });
    assert_eq!(phases(&call), "apply 70.0 ms, commit 20.1 ms");
    assert_eq!(phases(&json!({})), "");
}
