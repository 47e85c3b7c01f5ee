//! Tests of hot and cold ranges.

use super::*;

#[test]
fn hot_ranges_are_asked_for_more_often() {
    // The parameters of the paper's one cluster: few of thirty ranges get most of the requests.
    let ranges = HotRanges::new(300_000, 30, [14.18, -2.917, 0.0164, -0.082_1]);
    let mut dice = Twister::new(7);
    let mut hits = [0_u32; 30];
    for _ in 0..20_000 {
        let key = ranges.key(dice.next_u64() % 300_000, (0.0, 0.0));
        assert!(key < 300_000);
        hits[usize::try_from(key / 10_000).unwrap()] += 1;
    }
    hits.sort_unstable();
    let top: u32 = hits[25..].iter().sum();
    assert!(top > 10_000, "{hits:?}");
    assert!(hits[29] > 5 * hits[10].max(1), "{hits:?}");
}

#[test]
fn a_power_gives_few_keys_most_requests() {
    // With the paper's parameters one in 432 requests asks for the first rank: 23 of 10 000.
    let mut counts = std::collections::BTreeMap::new();
    for step in 1..10_000_u32 {
        let key = strewn(f64::from(step) / 10_000.0, (0.002_312, 0.346_7), 1 << 20);
        *counts.entry(key).or_insert(0_u32) += 1;
    }
    assert_eq!(counts.values().max(), Some(&23));
}

#[test]
fn one_range_and_no_heat_is_uniform() {
    // Parameters of 0 leave one range in which every key is as likely.
    let ranges = HotRanges::new(100, 1, [0.0; 4]);
    assert_eq!(
        (ranges.key(42, (0.0, 0.0)), ranges.key(142, (0.0, 0.0))),
        (42, 42)
    );
}
