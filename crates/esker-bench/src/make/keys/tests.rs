//! Tests of key distributions.

use super::*;

fn shares(text: &str, count: u64, draws: u64) -> Vec<f64> {
    let mut chooser = Chooser::new(text.parse().unwrap(), 11);
    let mut counts = vec![0_u64; usize::try_from(count).unwrap()];
    for _ in 0..draws {
        counts[usize::try_from(chooser.choose(count)).unwrap()] += 1;
    }
    let share = |hits: &u64| *hits as f64 / draws as f64;
    counts.iter().map(share).collect()
}

#[test]
fn every_distribution_keeps_to_the_set_and_its_shape() {
    // The tell-tale share of each, over 1000 keys.
    let zipfian = shares("zipfian:0.99", 1000, 50_000);
    let latest = shares("latest:0.99", 1000, 50_000);
    assert!(zipfian[0] > 0.1 && zipfian[0] < 0.16, "{}", zipfian[0]);
    assert!(latest[999] > 0.1 && latest[0] < 0.001);
    let scrambled = shares("scrambled", 1000, 50_000);
    let top = scrambled.iter().copied().fold(0.0, f64::max);
    assert!(top > 0.1 && scrambled[0] < top);
    let uniform = shares("uniform", 4, 8000);
    assert!(
        uniform.iter().all(|share| (share - 0.25).abs() < 0.03),
        "{uniform:?}"
    );
}

#[test]
fn spellings_are_read_back() {
    // What is printed in a record can be given on a command line.
    for text in ["uniform", "zipfian:0.8", "scrambled:1.2", "latest:0.99"] {
        assert_eq!(text.parse::<Distribution>().unwrap().to_string(), text);
    }
    for wrong in [
        "gauss",
        "zipfian:0",
        "zipfian:x",
        "hotspot:0.2:0.8",
        "uniform:1",
        "",
    ] {
        assert!(wrong.parse::<Distribution>().is_err(), "{wrong}");
    }
}

#[test]
fn latest_follows_a_growing_set() {
    // With every insert the newest key is the most popular one.
    let mut chooser = Chooser::new(Distribution::Latest(0.99), 2);
    let newest = (1..=2000_u64)
        .filter(|count| chooser.choose(*count) + 1 == *count)
        .count();
    assert!(newest > 200, "{newest}");
}
