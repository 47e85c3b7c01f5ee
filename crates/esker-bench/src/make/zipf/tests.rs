//! Tests of zipfian ranks.

use super::*;

#[test]
fn shares_are_those_of_the_law() {
    // Below, at and above an exponent of 1: the first ranks come up as often as the sum says.
    for theta in [0.5, 0.99, 1.0, 1.5] {
        let (count, draws) = (1000_u64, 200_000_u32);
        let weight = |rank: u64| 1.0 / ((rank + 1) as f64).powf(theta);
        let all: f64 = (0..count).map(weight).sum();
        let zipf = Zipf::new(count, theta);
        let mut random = Random::new(5);
        let mut counts = vec![0_u32; 1000];
        for _ in 0..draws {
            counts[usize::try_from(zipf.draw(&mut random)).unwrap()] += 1;
        }
        for rank in [0, 1, 9] {
            let wanted = weight(rank) / all * f64::from(draws);
            let got = f64::from(counts[usize::try_from(rank).unwrap()]);
            let spread = 5.0 * wanted.sqrt();
            assert!(
                (got - wanted).abs() < spread,
                "{theta} {rank}: {got} {wanted}"
            );
        }
    }
}

#[test]
fn one_item_is_always_drawn() {
    // The smallest set, and a huge one whose ranks stay inside.
    let mut random = Random::new(1);
    assert_eq!(Zipf::new(1, 0.99).draw(&mut random), 0);
    let zipf = Zipf::new(1 << 40, 0.99);
    assert!((0..1000).all(|_| zipf.draw(&mut random) < 1 << 40));
}
