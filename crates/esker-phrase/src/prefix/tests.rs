//! Tests of prefix codes.

use super::*;
use crate::corpus::Dice;

const SMALL: Shape = Shape {
    top_bits: 4,
    suffix_bits_max: 6,
};

const FLAT: Shape = Shape {
    top_bits: 9,
    suffix_bits_max: 0,
};

// Weights that fall as those of words do.
fn falling(count: usize) -> Vec<u64> {
    (1..=count as u64).map(|rank| 1_000_000 / rank).collect()
}

fn entropy_bits(weights: &[u64]) -> f64 {
    let total: u64 = weights.iter().sum();
    let bits = |weight: u64| weight as f64 * (total as f64 / weight as f64).log2();
    weights.iter().map(|weight| bits(*weight)).sum()
}

fn code_bits(weights: &[u64], lengths: &Lengths) -> f64 {
    let pairs = weights.iter().zip(lengths.each());
    pairs
        .map(|(weight, len)| *weight as f64 * f64::from(len))
        .sum()
}

#[test]
fn every_code_is_decoded_by_the_table() {
    // For weights of many kinds: look up each code's front in the table, and count inside the
    // group; it leads to the code's rank, and no code begins with another.
    let mut dice = Dice::new(3);
    let mut random: Vec<u64> = (0..200).map(|_| dice.below(5000) as u64).collect();
    random.sort_unstable_by(|left, right| right.cmp(left));
    for weights in [
        vec![],
        vec![7],
        vec![1, 0],
        vec![0; 33],
        falling(500),
        falling(3),
        random,
    ] {
        let lengths = Lengths::for_weights(SMALL, &weights);
        let table = lengths.table();
        let codes: Vec<Code> = lengths.codes().collect();
        assert_eq!(codes.len(), weights.len());
        for (rank, code) in codes.iter().enumerate() {
            // Whatever follows a code does not matter.
            for behind in [0, u32::MAX] {
                let stream = code.bits | behind.checked_shl(code.len.into()).unwrap_or(0);
                let (first, len) = table[stream as usize & 15].unwrap();
                assert_eq!(len, code.len);
                let suffix = (stream >> 4) & ((1 << len.saturating_sub(4)) - 1);
                assert_eq!((first + suffix) as usize, rank);
            }
        }
        let again = Lengths::from_lengths(SMALL, lengths.each());
        assert_eq!(again, Some(lengths));
    }
}

#[test]
fn codes_are_close_to_the_entropy() {
    // Falling weights in the shapes that dictionaries use: the law of lengths costs under 1 %.
    let shape = Shape {
        top_bits: 10,
        suffix_bits_max: 16,
    };
    for (shape, count) in [(shape, 65_536), (shape, 300), (FLAT, 64)] {
        let weights = falling(count);
        let lengths = Lengths::for_weights(shape, &weights);
        let over = code_bits(&weights, &lengths) / entropy_bits(&weights);
        assert!((1.0..1.012).contains(&over), "{count}: {over}");
    }
}

#[test]
fn few_things_get_the_codes_of_huffman() {
    // Small cases whose best codes are known.
    let lens = |weights: &[u64]| {
        Lengths::for_weights(FLAT, weights)
            .each()
            .collect::<Vec<_>>()
    };
    assert_eq!(lens(&[5]), [0]);
    assert_eq!(lens(&[5, 1]), [1, 1]);
    assert_eq!(lens(&[1, 1, 1]), [1, 2, 2]);
    assert_eq!(lens(&[8, 4, 2, 1, 1]), [1, 2, 3, 4, 4]);
    assert_eq!(lens(&[1, 1, 1, 1]), [2, 2, 2, 2]);
}

#[test]
fn lengths_beyond_the_law_are_refused() {
    // Too long, a group that is not whole, more codes than entries.
    assert_eq!(Lengths::from_lengths(SMALL, [11].into_iter()), None);
    assert_eq!(Lengths::from_lengths(SMALL, [5].into_iter()), None);
    assert!(Lengths::from_lengths(SMALL, [5, 5].into_iter()).is_some());
    assert_eq!(Lengths::from_lengths(SMALL, [1, 1, 1].into_iter()), None);
    assert_eq!(Lengths::from_lengths(SMALL, [0, 0].into_iter()), None);
    assert!(Lengths::from_lengths(SMALL, std::iter::repeat_n(10, 1024)).is_some());
    assert_eq!(
        Lengths::from_lengths(SMALL, std::iter::repeat_n(10, 1088)),
        None
    );
}
