//! Tests of `fragment`.

use super::*;
use crate::env::random::Random;

/// Keys from a small alphabet with lengths from 0 to `len_max`: many shared beginnings.
fn tangled_key(random: &mut Random, len_max: u64) -> Vec<u8> {
    let len = random.below(len_max + 1);
    let letters = [0u8, 1, b'a', 0xff];
    (0..len)
        .map(|_| letters[usize::try_from(random.below(4)).unwrap()])
        .collect()
}

#[test]
fn fragments_never_contradict_the_comparator() {
    // Any three keys, one of them the reference: the smaller key has no larger fragment.
    let mut random = Random::new(1);
    for _ in 0..if cfg!(miri) { 200 } else { 100_000 } {
        let reference = tangled_key(&mut random, 6);
        let mut pair = [tangled_key(&mut random, 6), tangled_key(&mut random, 14)];
        pair.sort();
        let [smaller, larger] = &pair;
        assert!(
            fragment(&reference, smaller) <= fragment(&reference, larger),
            "{reference:?} {smaller:?} {larger:?}"
        );
    }
}

#[test]
fn long_shared_beginnings_never_contradict_the_comparator() {
    // Keys that share more bytes with the reference than the top byte can tell.
    let mut random = Random::new(2);
    for _ in 0..if cfg!(miri) { 50 } else { 20_000 } {
        let shared = vec![b'x'; 115 + usize::try_from(random.below(20)).unwrap()];
        let long = |random: &mut Random| [shared.clone(), tangled_key(random, 12)].concat();
        let reference = long(&mut random);
        let mut pair = [long(&mut random), long(&mut random)];
        pair.sort();
        assert!(fragment(&reference, &pair[0]) <= fragment(&reference, &pair[1]));
    }
}

#[test]
fn decimal_keys_do_not_tie() {
    // Sixteen digits with leading zeros share ten bytes; their fragments differ all the same.
    let reference = b"0000000000512345";
    let mut before = None;
    for number in (0..1_000_000u32).step_by(if cfg!(miri) { 50_000 } else { 7 }) {
        let now = Some(fragment(reference, format!("{number:016}").as_bytes()));
        assert!(before < now);
        before = now;
    }
}
