//! Random numbers and their shapes.

use super::{Random, Zipf};

#[test]
fn sequence_is_the_published_one() {
    // The first numbers of SplitMix64 from seed 1234567, as published with its reference code.
    let mut random = Random::new(1_234_567);
    let first: Vec<u64> = (0..3).map(|_| random.next()).collect();
    assert_eq!(
        first,
        [
            6_457_827_717_110_365_317,
            3_203_168_211_198_807_973,
            9_817_491_932_198_370_423
        ]
    );
}

#[test]
fn even_numbers_are_even() {
    // Ten boxes, a hundred thousand balls: each within five percent of its share.
    let mut random = Random::new(7);
    let mut boxes = [0_u32; 10];
    for _ in 0..100_000 {
        boxes[random.below(10) as usize] += 1;
    }
    assert!(
        boxes.iter().all(|count| (9_500..10_500).contains(count)),
        "{boxes:?}"
    );
}

#[test]
fn zipfian_favours_few() {
    // Of a thousand places the most frequent gets about one in eight; all stay in bounds, also
    // where there are only one or two.
    let mut random = Random::new(7);
    let zipf = Zipf::new(1000);
    let mut counts = vec![0_u32; 1000];
    for _ in 0..100_000 {
        counts[zipf.next(&mut random) as usize] += 1;
    }
    counts.sort_unstable();
    assert!(
        (11_000..15_500).contains(counts.last().unwrap()),
        "{:?}",
        counts.last()
    );
    for count in [1, 2, 3] {
        let zipf = Zipf::new(count);
        assert!((0..1000).all(|_| zipf.next(&mut random) < count));
    }
}
