//! Tests of `range_deletes`.
#![allow(clippy::disallowed_methods, reason = "only real threads race")]

use std::sync::Arc;

use super::*;

fn numbered(number: usize) -> RangeDelete {
    RangeDelete {
        start: Bytes::copy_of(format!("{number:08}").as_bytes()),
        end: Bytes::copy_of(&[b'z'; 40]),
        seqno: SeqNo::new(number as u64 + 1),
    }
}

#[test]
fn every_index_has_its_own_place() {
    // Chunk after chunk is filled without a gap.
    let mut expected = (0, 0);
    for index in 0..10_000 {
        assert_eq!(locate(index), expected);
        expected.1 += 1;
        if expected.1 == FIRST_CHUNK_LEN << expected.0 {
            expected = (expected.0 + 1, 0);
        }
    }
}

#[test]
fn what_was_added_is_seen_in_comparator_by_readers_meanwhile() {
    // One thread adds, another walks over what is counted; an iterator keeps what it began with.
    let deletes = Arc::new(RangeDeletes::default());
    assert!(deletes.is_empty() && deletes.used_bytes() == 0);
    let count = if cfg!(miri) { 50 } else { 2_000 };
    let reader = Arc::clone(&deletes);
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let mut known = 0;
            while known < count {
                let fresh: Vec<_> = reader.since(known).cloned().collect();
                for (index, delete) in fresh.iter().enumerate() {
                    assert_eq!(*delete, numbered(known + index));
                }
                known += fresh.len();
            }
        });
        for number in 0..count {
            deletes.add(numbered(number));
        }
    });
    assert_eq!(deletes.len(), count);
    let newest = deletes.iter().next_back();
    assert_eq!(newest, Some(&numbered(count - 1)));
    assert!(deletes.used_bytes() > count * (40 + size_of::<RangeDelete>()));
}

#[test]
fn few_newer_ones_are_looked_through_and_many_are_not() {
    // The newest covers; one sixteen back does still; behind more nobody looks.
    let (comparator, deletes) = (Comparator::Bytewise, RangeDeletes::default());
    let cover = |key: &[u8], seqno| deletes.cover(&comparator, key, SeqNo::new(seqno));
    assert_eq!(cover(b"00000000", 0), Some(false));
    for number in 0..LOOKED_AT_MAX {
        deletes.add(numbered(number));
    }
    assert_eq!(cover(b"00000000", 0), Some(true));
    assert_eq!(cover(b"00000000", 1), Some(false));
    deletes.add(numbered(LOOKED_AT_MAX));
    assert_eq!(cover(b"00000000", 0), None);
}
