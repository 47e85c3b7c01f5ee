//! Tests of `builder`.

use super::*;
use crate::base::types::key::Trailer;
use crate::base::types::kind::Kind;
use crate::base::types::seqno::SeqNo;
use crate::env::random::Random;

fn internal(user_key: &[u8], seqno: u64) -> Vec<u8> {
    key::encode(user_key, Trailer::new(SeqNo::new(seqno), Kind::Put))
}

#[test]
fn separators_are_short() {
    // Each pair of neighbours, and the shortest key that parts them.
    let cases: [(&[u8], &[u8], &[u8]); 7] = [
        (b"abcdef", b"abzz", b"abz"),
        (b"abcdef", b"abd", b"abce"),
        (b"abc", b"abd", b"abc"),
        (b"ab", b"abc", b"ab"),
        (b"a", b"e", b"b"),
        (b"a\xff\xffq", b"b", b"a\xff\xffq"),
        (b"", b"x", b""),
    ];
    for (last, next, expected) in cases {
        let (found, _) = separator(
            &Comparator::Bytewise,
            &internal(last, 5),
            &internal(next, 5),
        );
        assert_eq!(found, expected, "{last:?} {next:?}");
    }
}

#[test]
fn separators_separate() {
    // Random neighbours from an alphabet that provokes ties, runs of 0xff and prefixes.
    let mut random = Random::new(1);
    for _ in 0..20_000 {
        let mut key = || {
            let len = random.below(5) as usize;
            let letter = |_| [0, 1, 2, 0xfe, 0xff][random.below(5) as usize];
            (0..len).map(letter).collect::<Vec<u8>>()
        };
        let (one, other) = (key(), key());
        let (last, next) = (one.clone().min(other.clone()), one.max(other));
        if last == next {
            continue;
        }
        let short = short_between(&last, &next);
        assert!(last <= short && short < next, "{last:?} {short:?} {next:?}");
        assert!(short.len() <= last.len().max(next.len()));
    }
}

#[test]
fn versions_of_one_key_are_parted_by_their_trailer() {
    // Block one ends with a key's version 9, block two begins with version 7.
    let (user_key, trailer) = separator(
        &Comparator::Bytewise,
        &internal(b"k", 9),
        &internal(b"k", 7),
    );
    assert_eq!(user_key, b"k");
    assert_eq!(trailer, Trailer::new(SeqNo::new(9), Kind::Put).raw());
}
