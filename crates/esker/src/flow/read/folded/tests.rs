//! Tests of `folded`.

use super::*;
use crate::env::random::Random;
use crate::flow::read::model::{
    History, Shape, VectorCursor, comparator_of, for_seeds, memtable_of, random_key,
};

/// What the memtable says a reader at `at` needs, key by key, as a cursor.
fn oracle(table: &Arc<Memtable>, history: &History, at: SeqNo) -> VectorCursor {
    let mut keys: Vec<&Vec<u8>> = history.writes.iter().map(|write| &write.key).collect();
    keys.sort_by(|left, right| history.comparator.compare(left, right));
    keys.dedup();
    let needed = |key: &&Vec<u8>| {
        let entries = table.history(key, at);
        let owned =
            entries.map(|entry| (key::encode(entry.key, entry.trailer), entry.value.to_vec()));
        owned.collect::<Vec<_>>()
    };
    VectorCursor::new(&history.comparator, keys.iter().flat_map(needed).collect())
}

fn step(random: &mut Random, cursor: &mut FoldedCursor, oracle: &mut VectorCursor) {
    let target = key::encode(
        &random_key(random, 25),
        Trailer::seek(SeqNo::new(random.below(120))),
    );
    let (found, expected) = match random.below(16) {
        0 => (cursor.seek_to_first(), oracle.seek_to_first()),
        1 => (cursor.seek_to_last(), oracle.seek_to_last()),
        2 => (cursor.seek(&target), oracle.seek(&target)),
        3 => (cursor.seek_for_prev(&target), oracle.seek_for_prev(&target)),
        _ if !oracle.is_valid() => return,
        4..=9 => (cursor.next(), oracle.next()),
        _ => (cursor.prev(), oracle.prev()),
    };
    assert_eq!(found.unwrap(), expected.unwrap());
    assert_eq!(cursor.is_valid(), oracle.is_valid());
    if oracle.is_valid() {
        assert_eq!(cursor.key(), oracle.key());
        assert_eq!(cursor.value().unwrap(), oracle.value().unwrap());
    }
}

#[test]
fn the_cursor_shows_what_a_point_read_needs() {
    // Few keys with many merges; readers at any number; movements in any sequence.
    for_seeds(400, |seed, random| {
        let shape = Shape {
            write_count: random.below(80),
            key_count: 1 + random.below(12),
            range_delete_one_in: 12,
        };
        let mut history = History::random(random, &comparator_of(seed), shape);
        if seed % 2 == 0 {
            history.turn_into_merges(random);
        }
        let table = memtable_of(&history);
        let at = SeqNo::new(random.below(history.newest().get() + 2));
        let mut cursor = FoldedCursor::new(&table, at);
        let mut oracle = oracle(&table, &history, at);
        for _ in 0..100 {
            step(random, &mut cursor, &mut oracle);
        }
    });
}

#[test]
fn a_hot_counter_is_one_entry() {
    // A hundred thousand merges of one key: nobody walks over them.
    let mut writer = Memtable::create(
        crate::base::types::comparator::Comparator::Bytewise,
        crate::base::hooks::merge_builtin::builtin("uint64add"),
    );
    for seqno in 1..=100_000 {
        let trailer = Trailer::new(SeqNo::new(seqno), Kind::Merge);
        writer.insert(trailer, b"counter", &1_u64.to_le_bytes());
    }
    let at = SeqNo::new(70_000);
    let mut cursor = FoldedCursor::new(writer.table(), at);
    for _ in 0..1_000 {
        assert!(cursor.seek_to_first().unwrap());
        assert_eq!(cursor.value().unwrap(), 70_000_u64.to_le_bytes());
        assert!(!cursor.next().unwrap());
        assert!(cursor.seek_to_last().unwrap());
        assert_eq!(cursor.value().unwrap(), 70_000_u64.to_le_bytes());
        assert!(!cursor.prev().unwrap());
    }
}
