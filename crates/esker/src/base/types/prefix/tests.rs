//! Tests of `prefix`.

use super::*;
use crate::env::random::Random;

#[test]
fn words_and_bytes_agree() {
    // Word by word must say what byte by byte says.
    let mut random = Random::new(3);
    for _ in 0..5000 {
        let alike = random.below(40) as usize;
        let mut left = random.bytes(alike);
        let mut right = left.clone();
        let (more, other) = (random.below(20) as usize, random.below(20) as usize);
        left.extend(random.bytes(more));
        right.extend(random.bytes(other));
        let slow = left.iter().zip(&right).take_while(|(l, r)| l == r).count();
        assert_eq!(common_len(&left, &right), slow);
        let by_number = prefix_number(&left).cmp(&prefix_number(&right));
        assert!(by_number == left.cmp(&right) || by_number.is_eq());
    }
}
