//! Tests of `own_operands`.

use super::*;
use crate::base::types::comparator::Comparator;
use crate::base::types::seqno::SeqNo;
use crate::flow::model::{Entries, for_seeds, key_of, rule_of};
use crate::store::mem::memtable::Memtable;

const KEY_COUNT: u64 = 5;

/// The cursor over a memtable that took `entries`, and how many of them it folded.
fn shown(entries: &Entries, seed: u64) -> (OwnOperands, usize) {
    let mut memtable = Memtable::create(Comparator::Bytewise, Some(rule_of(seed)));
    let mut writes: Vec<_> = entries.points.clone();
    for delete in &entries.range_deletes {
        let trailer = Trailer::new(delete.seqno, Kind::RangeDelete);
        writes.push((delete.start.to_vec(), trailer, delete.end.to_vec()));
    }
    writes.sort_by_key(|(_, trailer, _)| *trailer);
    for (key, trailer, value) in &writes {
        memtable.insert(*trailer, key, value);
    }
    let table = memtable.table();
    (OwnOperands::new(table.cursor()), table.fold_count())
}

fn here(cursor: &impl Cursor) -> Option<(Vec<u8>, Vec<u8>)> {
    cursor
        .is_valid()
        .then(|| (cursor.key().to_vec(), cursor.value().unwrap().to_vec()))
}

/// The model's entries in order. A merge that the memtable stored as the put that it makes is
/// that put; everything else is as it was inserted.
fn expected(entries: &Entries, shown: &[(Vec<u8>, Vec<u8>)]) -> Vec<(Vec<u8>, Vec<u8>)> {
    let mut cursor = entries.cursor();
    let mut expected = Vec::new();
    let mut is_valid = cursor.seek_to_first().unwrap();
    while is_valid {
        let (user_key, trailer) = key::split(cursor.key());
        let as_put = key::encode(user_key, Trailer::new(trailer.seqno(), Kind::Put));
        let put = shown.iter().find(|(key, _)| *key == as_put);
        match put.filter(|_| trailer.kind() == Kind::Merge) {
            Some((_, value)) => expected.push((as_put, value.clone())),
            None => expected.push((cursor.key().to_vec(), cursor.value().unwrap().to_vec())),
        }
        is_valid = cursor.next().unwrap();
    }
    expected
}

#[test]
fn entries_come_out_as_they_went_in() {
    // Random writes, many of them merges that the memtable folds: forward and backward each
    // operand is the one inserted, and what became a put reads the same at every number.
    let folded_count = std::sync::atomic::AtomicUsize::new(0);
    for_seeds(500, |seed, random| {
        let write_count = random.below(60);
        let entries = Entries::random(random, write_count, KEY_COUNT);
        let (mut cursor, folded) = shown(&entries, seed);
        folded_count.fetch_add(folded, std::sync::atomic::Ordering::Relaxed);
        let mut forward = Vec::new();
        cursor.seek_to_first().unwrap();
        while let Some(entry) = here(&cursor) {
            forward.push(entry);
            cursor.next().unwrap();
        }
        assert_eq!(forward, expected(&entries, &forward));
        let mut backward = Vec::new();
        cursor.seek_to_last().unwrap();
        while let Some(entry) = here(&cursor) {
            backward.push(entry);
            cursor.prev().unwrap();
        }
        backward.reverse();
        assert_eq!(backward, forward);

        let mut as_shown = Entries {
            range_deletes: entries.range_deletes.clone(),
            ..Entries::default()
        };
        for (internal_key, value) in forward {
            let (user_key, trailer) = key::split(&internal_key);
            let point = (user_key.to_vec(), trailer, value);
            as_shown.points.push(point);
        }
        let rule = rule_of(seed);
        for number in 0..KEY_COUNT {
            for at in 0..=entries.newest().get() {
                let get =
                    |entries: &Entries| entries.get(&rule, &key_of(number), SeqNo::new(at), 1_001);
                assert_eq!(get(&as_shown), get(&entries));
            }
        }
    });
    assert!(folded_count.into_inner() > 1_000);
}

#[test]
fn seeks_find_entries_as_they_are_shown() {
    // Any target, of any kind, next to folded entries: a seek lands where the shown keys say.
    for_seeds(300, |seed, random| {
        let entries = Entries::random(random, 40, 3);
        let (mut cursor, _) = shown(&entries, seed);
        let mut all = Vec::new();
        cursor.seek_to_first().unwrap();
        while let Some(entry) = here(&cursor) {
            all.push(entry);
            cursor.next().unwrap();
        }
        for _ in 0..40 {
            let seqno = SeqNo::new(random.below(entries.newest().get() + 2));
            let kind = Kind::from_byte(u8::try_from(random.below(6)).unwrap()).unwrap();
            let target = key::encode(&key_of(random.below(4)), Trailer::new(seqno, kind));
            let compare = |key: &[u8]| key::compare(&Comparator::Bytewise, key, &target);
            let first = all.iter().find(|(key, _)| compare(key).is_ge());
            cursor.seek(&target).unwrap();
            assert_eq!(here(&cursor).as_ref(), first);
            let last = all.iter().rfind(|(key, _)| compare(key).is_le());
            cursor.seek_for_prev(&target).unwrap();
            assert_eq!(here(&cursor).as_ref(), last);
        }
    });
}
