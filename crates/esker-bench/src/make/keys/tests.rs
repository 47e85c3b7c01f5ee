//! Tests of key distributions.

use super::*;

fn shares(distribution: Distribution, count: u64, draws: u64) -> Vec<f64> {
    let mut chooser = Chooser::new(distribution, 11);
    let mut counts = vec![0_u64; usize::try_from(count).unwrap()];
    for _ in 0..draws {
        counts[usize::try_from(chooser.choose(count)).unwrap()] += 1;
    }
    let share = |hits: &u64| *hits as f64 / draws as f64;
    counts.iter().map(share).collect()
}

#[test]
fn every_distribution_keeps_to_the_set_and_its_shape() {
    // Each of four alike; of a thousand by rank one far ahead, and not the first.
    let uniform = shares(Distribution::Uniform, 4, 8000);
    assert!(
        uniform.iter().all(|share| (share - 0.25).abs() < 0.03),
        "{uniform:?}"
    );
    let scrambled = shares(Distribution::Scrambled(0.99), 1000, 50_000);
    let top = scrambled.iter().copied().fold(0.0, f64::max);
    assert!((0.1..0.16).contains(&top) && scrambled[0] < top, "{top}");
}
