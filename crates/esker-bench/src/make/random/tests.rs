//! Tests of seeded random numbers.

use super::*;

#[test]
fn same_seed_same_numbers() {
    // Two generators of one seed agree, and one of the next seed does not.
    let draw = |seed| {
        let mut random = Random::new(seed);
        (0..4).map(|_| random.next_u64()).collect::<Vec<_>>()
    };
    assert_eq!(draw(1), draw(1));
    assert_ne!(draw(1), draw(2));
}

#[test]
fn numbers_below_a_bound_are_spread_evenly() {
    // 70 000 draws of 7 numbers: each comes up within 5 % of its share.
    let mut random = Random::new(7);
    let mut counts = [0_u32; 7];
    for _ in 0..70_000 {
        counts[usize::try_from(random.below(7)).unwrap()] += 1;
    }
    assert!(counts.iter().all(|count| (9_500..10_500).contains(count)));
    let mean = (0..10_000).map(|_| random.unit()).sum::<f64>() / 1e4;
    assert!((mean - 0.5).abs() < 0.02);
}

#[test]
fn filling_reaches_the_last_byte() {
    // Lengths that are no multiple of eight are filled to their end.
    let mut random = Random::new(3);
    let mut bytes = [0_u8; 13];
    let is_filled = (0..20).any(|_| {
        random.fill(&mut bytes);
        bytes[12] != 0
    });
    assert!(is_filled);
}
