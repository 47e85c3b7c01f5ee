//! What runs cost.

use super::*;
use crate::report::sample::{record, round};

#[test]
fn columns_without_a_number_are_left_out() {
    // Processor time and write amplification are known, the rest is not; no time per operation
    // of nothing.
    let mut one = round("fill", "Esker", 0, 1.0);
    one.usage.cpu_s = 2.0;
    one.engine_work.write_amplification = Some(3.5);
    let mut idle = round("idle", "Esker", 0, 1.0);
    idle.ops = 0;
    idle.usage.cpu_s = 1.0;
    let record = record(vec![one, idle]);
    let html = section(&Study::of(&record)).body;
    assert!(html.contains("write ampl.") && html.contains(">3.50<"));
    assert!(html.contains(">2.00 ms<"), "{html}");
    assert!(!html.contains("debt left") && !html.contains("inf"));
}
