//! Lines for whoever runs a node.

use super::*;

#[test]
fn a_flood_costs_a_few_lines() {
    let seldom = Seldom::default();
    let due: Vec<u64> = (0..1000).filter_map(|_| seldom.count()).collect();
    assert_eq!(due, [1, 2, 4, 8, 16, 32, 64, 128, 256, 512]);
    assert_eq!(seldom.total(), 1000);
}
