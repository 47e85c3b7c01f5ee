//! Tests of seeded random numbers.

use super::*;

#[test]
fn numbers_are_those_of_every_record_so_far() {
    // Seeds stand in records: what they made is made again.
    let mut random = Random::new(1);
    let drawn = [random.next_u64(), random.next_u64()];
    assert_eq!(
        drawn,
        [14_971_601_782_005_023_387, 13_781_649_495_232_077_965]
    );
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
