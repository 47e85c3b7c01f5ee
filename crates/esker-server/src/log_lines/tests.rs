//! Lines for whoever runs a node.

use super::*;

#[test]
fn moments_are_written_as_dates() {
    for (unix_ms, written) in [
        (0, "1970-01-01T00:00:00.000Z"),
        (951_782_400_000, "2000-02-29T00:00:00.000Z"),
        (951_868_800_000, "2000-03-01T00:00:00.000Z"),
        (1_451_606_400_000, "2016-01-01T00:00:00.000Z"),
        (1_798_761_599_999, "2026-12-31T23:59:59.999Z"),
        (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
    ] {
        assert_eq!(utc(unix_ms), written);
    }
}

#[test]
fn a_flood_costs_a_few_lines() {
    let seldom = Seldom::default();
    let due: Vec<u64> = (0..1000).filter_map(|_| seldom.count()).collect();
    assert_eq!(due, [1, 2, 4, 8, 16, 32, 64, 128, 256, 512]);
    assert_eq!(seldom.total(), 1000);
}
