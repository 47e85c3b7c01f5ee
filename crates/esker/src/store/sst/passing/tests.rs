//! Tests of `passing`.

use super::*;

fn seqnos<const N: usize>(numbers: [u64; N]) -> Vec<SeqNo> {
    numbers.map(SeqNo::new).into()
}

fn passing() -> Passing {
    let mut passing = Passing::default();
    passing.hold(SeqNo::new(20), 300, false);
    passing.hold(SeqNo::new(7), 100, true);
    passing.hold(SeqNo::new(20), 30, false);
    passing.expire(1_000, 50);
    passing.expire(1_099, 50);
    passing
}

fn take(bytes: &[u8]) -> Option<Passing> {
    let mut reader = ByteReader::new(bytes);
    Passing::take(&mut reader).filter(|_| reader.is_empty())
}

#[test]
fn what_is_counted_comes_back() {
    for passing in [Passing::default(), passing()] {
        let mut bytes = Vec::new();
        passing.put(&mut bytes);
        assert_eq!(take(&bytes), Some(passing));
        for len in 0..bytes.len() {
            assert_eq!(take(&bytes[..len]), None, "{len}");
        }
    }
}

#[test]
fn what_cannot_be_is_refused() {
    // Snapshots out of order, one that holds nothing, too many, expiries that end before they
    // begin, and bytes beyond 64 bits.
    let huge = [255, 255, 255, 255, 255, 255, 255, 255, 255, 1];
    let mut overflow = vec![2, 1];
    overflow.extend(huge);
    overflow.extend([1, 1, 0, 0]);
    let mut many = vec![17];
    many.extend([1, 1].repeat(17));
    many.extend([0, 0]);
    for bytes in [
        vec![2, 5, 1, 0, 1, 0, 0],
        vec![1, 5, 0, 0, 0],
        many,
        vec![0, 0, 1, 2, 0, 0, 0, 1, 0, 0, 0],
        overflow,
    ] {
        assert_eq!(take(&bytes), None, "{bytes:?}");
    }
    assert!(take(&[1, 0, 1, 0, 0]).is_some());
}

#[test]
fn snapshots_that_are_gone_hold_nothing() {
    let passing = passing();
    let released = |snapshots: &[SeqNo]| passing.released_bytes(snapshots);
    assert_eq!(released(&seqnos([7, 20])), 0);
    assert_eq!(released(&seqnos([3, 7, 30])), 330);
    assert_eq!(released(&[]), 430);
    assert_eq!(passing.held_delete_count(), 1);
}

#[test]
fn expired_bytes_are_guessed_between_the_first_and_the_last() {
    // Never 0 where something has expired: a rewrite has something to take out then.
    let passing = passing();
    assert_eq!(passing.expired_bytes(999), 0);
    assert_eq!(passing.expired_bytes(1_000), 1);
    assert_eq!(passing.expired_bytes(1_049), 50);
    assert_eq!(passing.expired_bytes(u64::MAX), 100);
    assert_eq!(Passing::default().expired_bytes(u64::MAX), 0);
}

#[test]
fn more_snapshots_than_are_told_apart_are_counted_under_others() {
    let mut passing = Passing::default();
    for number in 0..100 {
        passing.hold(SeqNo::new(number * 37 % 100), 1, false);
    }
    assert_eq!(passing.held().count(), HOLDERS_MAX);
    assert_eq!(passing.released_bytes(&[]), 100);
}
