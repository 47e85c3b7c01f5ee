//! Costs over numbers of keys.

use super::*;
use crate::report::sample::{record, round};

#[test]
fn a_workload_at_several_sizes_has_a_line() {
    // 1, 10 and 50 million keys, the last at half the speed; another workload at one size only.
    let at = |keys: &str, ops_per_s: f64| {
        let mut one = round("readrandom", "Esker", 0, ops_per_s);
        one.workload = vec![("keys".into(), keys.into())];
        one
    };
    let record = record(vec![
        at("50000000", 500_000.0),
        at("1000000", 1e6),
        at("10000000", 800_000.0),
        round("fillseq", "Esker", 0, 1.0),
    ]);
    let growths = growths(&Study::of(&record));
    assert_eq!(growths.len(), 1);
    let line = &growths[0].lines[0];
    assert_eq!(line.points, [(1e6, 1000.0), (1e7, 1250.0), (5e7, 2000.0)]);
    assert_eq!(line.factor(), 2.0);
}
