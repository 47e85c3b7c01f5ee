//! Tests of hot spots, exponentials, histograms and weights.

use super::*;

#[test]
fn an_empty_part_gets_nothing() {
    // All hot, none hot, and shares that make no sense.
    let mut random = Random::new(1);
    for (items, draws) in [(1.0, 0.5), (0.0, 1.0), (0.001, 1.0), (7.0, -3.0)] {
        let hotspot = Hotspot::new(0, 9, items, draws);
        assert!((0..1000).all(|_| hotspot.draw(&mut random) < 10));
    }
}

#[test]
fn the_exponential_reaches_its_percent_at_its_range() {
    // 95 % of the draws below 857 of 1000, and the formula itself at one point.
    let (exponential, mut random) = (Exponential::new(95.0, 857.142_857_1), Random::new(5));
    let below = (0..50_000)
        .filter(|_| exponential.draw(&mut random) < 857)
        .count();
    let share = below as f64 / 50_000.0;
    assert!((share - 0.95).abs() < 0.005, "{share}");
    let gamma = -(0.05_f64.ln()) / 857.142_857_1;
    assert_eq!(exponential.distance(0.5), (-(0.5_f64.ln()) / gamma) as u64);
    assert_eq!(exponential.distance(0.0), u64::MAX);
}

#[test]
fn histograms_of_lengths_are_read() {
    // Three buckets: one block, two blocks, and the last with YCSB's own rule.
    let histogram = LengthHistogram::parse("BlockSize\t10\n0\t5\n1\t3\n2\t2\n").unwrap();
    let lengths: Vec<u64> = (0..10).map(|number| histogram.length_at(number)).collect();
    assert_eq!(lengths, [10, 10, 10, 10, 10, 10, 20, 20, 20, 20]);
    assert_eq!(histogram.longest(), 30);
    for wrong in [
        "",
        "10\n0\t5",
        "BlockSize\t10\n1\t5",
        "BlockSize\t10\n0\t0",
        "BlockSize\t0\n0\t1",
    ] {
        assert_eq!(LengthHistogram::parse(wrong), None, "{wrong}");
    }
}

#[test]
fn weights_are_shares_of_their_sum() {
    // 9 to 1, told as 0.9 and 0.1 or as 18 and 2; what weighs nothing never comes.
    for weights in [
        [(0.9, 'r'), (0.1, 'u'), (0.0, 'x')],
        [(18.0, 'r'), (2.0, 'u'), (0.0, 'x')],
    ] {
        let (weighted, mut random) = (Weighted::new(&weights).unwrap(), Random::new(2));
        let drawn: Vec<char> = (0..20_000).map(|_| weighted.draw(&mut random)).collect();
        let reads = drawn.iter().filter(|kind| **kind == 'r').count();
        assert!((reads as f64 / 20_000.0 - 0.9).abs() < 0.01, "{reads}");
        assert!(!drawn.contains(&'x'));
    }
    assert!(Weighted::new(&[(0.0, 'r')]).is_none());
}
