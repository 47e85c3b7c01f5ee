//! Tests of `scan`.

use std::ops::Bound;

use super::*;
use crate::base::types::seqno::SeqNo;
use crate::env::random::Random;
use crate::flow::read::model::{History, Shape, comparator_of, for_seeds, random_key};
use crate::flow::read::model_view::{Layout, read_at};

fn random_range(random: &mut Random) -> KeyRange {
    let mut bound = || match random.below(5) {
        0 | 1 => Bound::Unbounded,
        2 | 3 => Bound::Included(random_key(random, 40)),
        _ => Bound::Excluded(random_key(random, 40)),
    };
    KeyRange {
        lower: bound(),
        upper: bound(),
    }
}

#[test]
fn every_range_reads_as_in_the_naive_reader() {
    // Random histories over memtables and files, random readers and bounds, movements in any
    // sequence with turns anywhere.
    for_seeds(400, |seed, random| {
        let shape = Shape {
            write_count: random.below(120),
            key_count: 1 + random.below(40),
            range_delete_one_in: random.below(3) * 8,
        };
        let mut history = History::random(random, &comparator_of(seed), shape);
        if seed.is_multiple_of(4) {
            history.turn_into_merges(random);
        }
        let view = Layout::random_view(random, &history);
        let comparator = &history.comparator;
        let seqno = SeqNo::new(random.below(history.newest().get() + 2));
        let range = random_range(random);
        let mut rows = history.scan(seqno);
        rows.retain(|(key, _)| range.contains(comparator, key));
        let mut cursor = scan(&view, range, &read_at(seqno)).unwrap();
        let mut place: Option<usize> = None;
        for _ in 0..60 {
            let target = random_key(random, 40);
            let before = rows.partition_point(|(key, _)| comparator.compare(key, &target).is_lt());
            let up_to = rows.partition_point(|(key, _)| comparator.compare(key, &target).is_le());
            let (found, expected) = match (random.below(16), place) {
                (0, _) => (cursor.seek_to_first(), Some(0)),
                (1, _) => (cursor.seek_to_last(), rows.len().checked_sub(1)),
                (2, _) => (cursor.seek(&target), Some(before)),
                (3, _) => (cursor.seek_for_prev(&target), up_to.checked_sub(1)),
                (_, None) => continue,
                (4..=9, Some(place)) => (cursor.next(), Some(place + 1)),
                (_, Some(place)) => (cursor.prev(), place.checked_sub(1)),
            };
            place = expected.filter(|&place| place < rows.len());
            assert_eq!(found.unwrap(), place.is_some());
            if let Some(place) = place {
                assert_eq!(cursor.key(), rows[place].0);
                assert_eq!(cursor.value().unwrap(), rows[place].1);
                assert_eq!(cursor.value_bytes().unwrap(), rows[place].1);
            }
        }
    });
}
