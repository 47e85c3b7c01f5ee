//! Ratios of rounds that ran side by side.

use super::*;
use crate::report::sample::{duel, record, round};

#[test]
fn rounds_are_paired_by_their_number() {
    // The machine doubled its speed between the rounds, and the ratios did not move.
    let record = duel();
    let duels = duels(&Study::of(&record));
    assert_eq!(duels.len(), 1);
    assert_eq!(duels[0].rival.name, "Anvil");
    let medians: Vec<f64> = duels[0].ratios.iter().map(|it| it.times.median).collect();
    assert_eq!(medians, [2.0, 0.5]);
    assert!(
        duels[0]
            .ratios
            .iter()
            .all(|it| it.rounds == 2 && it.times.min == it.times.max)
    );
}

#[test]
fn zero_and_missing_rounds_make_no_ratio() {
    // The rival failed one round and lacks another; one pair is left. With none there is no duel.
    let all = vec![
        round("fill", "Esker", 0, 6.0),
        round("fill", "Esker", 1, 6.0),
        round("fill", "Esker", 2, 6.0),
        round("fill", "Anvil", 0, 0.0),
        round("fill", "Anvil", 2, 3.0),
    ];
    let record = record(all);
    let found = duels(&Study::of(&record));
    assert_eq!(found[0].ratios[0].rounds, 1);
    assert_eq!(found[0].ratios[0].times.median, 2.0);
    let alone = crate::report::sample::record(vec![round("fill", "Esker", 0, 6.0)]);
    assert!(duels(&Study::of(&alone)).is_empty());
}
