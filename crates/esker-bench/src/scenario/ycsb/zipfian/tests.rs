//! Tests of the zipfian numbers against their formulas and shapes.

use super::*;

#[test]
fn the_constant_of_the_source_belongs_to_the_formula() {
    // The sum over ten thousand million terms, by Euler and Maclaurin from a million on.
    let cut = 1_000_000_u64;
    let power = 1.0 - THETA;
    let tail = ((ITEM_COUNT as f64).powf(power) - (cut as f64).powf(power)) / power
        + 0.5 * ((ITEM_COUNT as f64).powf(-THETA) - (cut as f64).powf(-THETA));
    let whole = zeta(0, cut, THETA, tail);
    assert!((whole - ZETA_OF_ITEM_COUNT).abs() < 1e-6, "{whole}");
}

#[test]
fn ranks_follow_the_paper() {
    // Three places where the paper's branches part, for a thousand items.
    let zipfian = Zipfian::new(1000);
    let first = 1.0 / zipfian.zeta;
    assert_eq!(zipfian.rank(1000, first * 0.999), 0);
    assert_eq!(zipfian.rank(1000, first * 1.001), 1);
    let second = (1.0 + 0.5_f64.powf(THETA)) / zipfian.zeta;
    assert_eq!(zipfian.rank(1000, second * 0.999), 1);
    assert!(zipfian.rank(1000, second * 1.001) >= 1);
    assert_eq!(zipfian.rank(1000, 0.999_999_999), 999);
    assert!(
        (zipfian.zeta - 7.728_953_2).abs() < 1e-3,
        "{}",
        zipfian.zeta
    );
}

#[test]
fn the_same_seed_draws_what_the_formula_says() {
    // Draw by draw, with the formula written out once more.
    let zipfian = Zipfian::new(100);
    let (mut drawn, mut told) = (Random::new(7), Random::new(7));
    let mut sums = zipfian.clone();
    let zeta_all: f64 = (1..=100).map(|i| f64::from(i).powf(-0.99)).sum();
    let zeta_two = 1.0 + 0.5_f64.powf(0.99);
    let eta = (1.0 - (2.0_f64 / 100.0).powf(0.01)) / (1.0 - zeta_two / zeta_all);
    for _ in 0..1000 {
        let unit = told.unit();
        let expected = match unit * zeta_all {
            scaled if scaled < 1.0 => 0,
            scaled if scaled < zeta_two => 1,
            _ => (100.0 * (eta * unit - eta + 1.0).powf(1.0 / (1.0 - 0.99))) as u64,
        };
        assert_eq!(sums.draw(&mut drawn), expected);
    }
}

#[test]
fn the_sum_grows_with_the_items() {
    // Item by item or at once: the same sum.
    let mut grown = Zipfian::new(10);
    let mut random = Random::new(1);
    for count in 10..=500 {
        assert!(grown.draw_among(count, &mut random) < count);
    }
    assert_eq!(grown.zeta.to_bits(), Zipfian::new(500).zeta.to_bits());
}

#[test]
fn the_most_popular_strewn_number_is_where_its_hash_says() {
    // 1 in 26.5 draws, whatever the range; all draws lie in the range.
    let (mut scrambled, mut random) = (Scrambled::new(1000), Random::new(3));
    let top = 6_284_781_860_667_377_211 % 1000;
    assert_eq!(scrambled.number_of(0), top);
    let mut hits = 0;
    for _ in 0..100_000 {
        let number = scrambled.draw(&mut random);
        assert!(number < 1000);
        hits += u32::from(number == top);
    }
    // The others add about a thousandth of what is left.
    let share = f64::from(hits) / 100_000.0;
    assert!((share - 1.0 / 26.469 - 0.000_7).abs() < 0.003, "{share}");
}
