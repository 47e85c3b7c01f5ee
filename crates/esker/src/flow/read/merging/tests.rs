//! Tests of `merging`.

use super::*;
use crate::base::types::key::Trailer;
use crate::base::types::kind::Kind;
use crate::base::types::seqno::{SeqNo, Visibility};
use crate::env::random::Random;
use crate::flow::read::model::{
    History, Shape, VectorCursor, comparator_of, for_seeds, random_key,
};
use crate::flow::read::model_lookahead::LookaheadCursor;
use crate::store::mem::memtable::{Memtable, MemtableWriter};

fn shape(seed: u64) -> Shape {
    Shape {
        write_count: seed % 50,
        key_count: 2 + seed % 20,
        range_delete_one_in: 0,
    }
}

/// A random movement of both; they must agree after it.
fn step(random: &mut Random, merged: &mut impl Cursor, oracle: &mut VectorCursor) {
    let target = crate::base::types::key::encode(
        &random_key(random, 25),
        Trailer::seek(SeqNo::new(random.below(60))),
    );
    let movement = random.below(16);
    let (found, expected) = match movement {
        0 => (merged.seek_to_first(), oracle.seek_to_first()),
        1 => (merged.seek_to_last(), oracle.seek_to_last()),
        2 => (merged.seek(&target), oracle.seek(&target)),
        3 => (merged.seek_for_prev(&target), oracle.seek_for_prev(&target)),
        _ if !oracle.is_valid() => return,
        4..=9 => (merged.next(), oracle.next()),
        _ => (merged.prev(), oracle.prev()),
    };
    assert_eq!(found.unwrap(), expected.unwrap());
    assert_eq!(merged.is_valid(), oracle.is_valid());
    if oracle.is_valid() {
        assert_eq!(merged.key(), oracle.key());
        assert_eq!(merged.value().unwrap(), oracle.value().unwrap());
        assert_eq!(merged.value_bytes().unwrap(), oracle.value().unwrap());
    }
}

#[test]
fn many_sources_move_as_one() {
    // Writes dealt out to up to nine sources, some empty; random movements, turns anywhere.
    for_seeds(400, |seed, random| {
        let history = History::random(random, &comparator_of(seed), shape(seed));
        let mut sources = vec![Vec::new(); usize::try_from(seed % 10).unwrap()];
        let entries = if sources.is_empty() {
            Vec::new()
        } else {
            history.entries()
        };
        for entry in &entries {
            let source = random.below(sources.len() as u64);
            sources[usize::try_from(source).unwrap()].push(entry.clone());
        }
        let comparator = &history.comparator;
        let cursors = sources
            .into_iter()
            .map(|entries| VectorCursor::new(comparator, entries));
        let mut merged = MergingCursor::new(comparator.clone(), cursors.collect());
        let mut oracle = VectorCursor::new(comparator, entries);
        for _ in 0..120 {
            step(random, &mut merged, &mut oracle);
        }
    });
}

/// Whether a reader `at` needs nothing of an entry, because of a newer one.
fn has_newer(history: &History, internal_key: &[u8], at: SeqNo) -> bool {
    let (user_key, trailer) = key::split(internal_key);
    history.writes.iter().any(|write| {
        let is_newer = write.key == user_key && write.trailer > trailer;
        is_newer && write.trailer.seqno() <= at && !write.trailer.kind().is_merge()
    })
}

#[test]
fn sources_with_lookaheads_move_as_one() {
    // Histories with many versions of few keys or few of many, cut into sources by age; random
    // movements, and between them long stretches one way, so that lookaheads grow and are left at
    // either end and in the middle.
    for_seeds(300, |seed, random| {
        let shape = Shape {
            write_count: random.below(300),
            key_count: 1 + random.below(200),
            range_delete_one_in: 0,
        };
        let history = History::random(random, &comparator_of(seed), shape);
        let at = SeqNo::new(random.below(history.newest().get() + 2));
        let source_count = 1 + random.below(5);
        let cut = history.cut(random, source_count);
        let cursors = cut.iter().map(LookaheadCursor::new).collect();
        let mut merged = MergingCursor::new(history.comparator.clone(), cursors);
        let mut oracle = VectorCursor::new(&history.comparator, history.entries());
        for _ in 0..20 {
            for _ in 0..random.below(8) {
                step(random, &mut merged, &mut oracle);
            }
            let is_forward = random.one_in(2);
            for _ in 0..random.below(60) {
                if !oracle.is_valid() {
                    break;
                }
                let last = key::user_key(oracle.key()).to_vec();
                let (found, expected) = match is_forward {
                    true => (merged.next(), oracle.next()),
                    false => (merged.prev(), oracle.prev()),
                };
                assert_eq!(found.unwrap(), expected.unwrap());
                if oracle.is_valid() {
                    assert_eq!(merged.key(), oracle.key());
                    assert_eq!(merged.value().unwrap(), oracle.value().unwrap());
                    if merged.is_surely_covered(Visibility::at(at)) {
                        assert!(has_newer(&history, oracle.key(), at));
                    }
                    if let Some(is_again) = merged.is_again() {
                        assert_eq!(is_again, key::user_key(oracle.key()) == last);
                    }
                }
            }
        }
    });
}

#[test]
fn a_failure_behind_a_lookahead_leaves_the_cursor_nowhere() {
    // One of three sources fails after each number of movements in turn, others have lookaheads.
    for_seeds(100, |seed, random| {
        let history = History::random(random, &Comparator::Bytewise, shape(149));
        let cut = history.cut(random, 3);
        let mut cursors: Vec<_> = cut.iter().map(LookaheadCursor::new).collect();
        let failing = cursors.remove(1).fail_after(seed % 30);
        cursors.insert(1, failing);
        let mut merged = MergingCursor::new(Comparator::Bytewise, cursors);
        let mut outcome = merged.seek_to_first();
        while let Ok(true) = outcome {
            outcome = match random.below(10) {
                0 => merged.prev(),
                _ => merged.next(),
            };
        }
        assert!(!merged.is_valid());
    });
}

#[test]
fn a_source_that_skipped_turns_round_rightly() {
    // One source is sent ahead in either direction; what follows, both ways, leaves out only
    // that source's entries between the two places, and nothing at all after a turn.
    skip_and_turn(History::cursor);
    skip_and_turn(LookaheadCursor::new);
}

fn skip_and_turn<C: Cursor>(cursor_over: impl Fn(&History) -> C) {
    for_seeds(300, |seed, random| {
        let history = History::random(random, &comparator_of(seed), shape(20 + seed % 30));
        let comparator = &history.comparator;
        let cut = history.cut(random, 3);
        let cursors = cut.iter().map(&cursor_over).collect();
        let mut merged = MergingCursor::new(comparator.clone(), cursors);
        let mut oracle = VectorCursor::new(comparator, history.entries());
        let start = history.entries()
            [usize::try_from(random.below(15)).unwrap() % history.writes.len()]
        .0
        .clone();
        merged.seek(&start).unwrap();
        let is_forward = random.one_in(2);
        if !is_forward {
            merged.seek_for_prev(&start).unwrap();
        }
        let source = cut[merged.source_index()].entries();
        let target = history.entries()
            [usize::try_from(random.below(history.writes.len() as u64)).unwrap()]
        .0
        .clone();
        let is_ahead = |left: &[u8], right: &[u8]| {
            let ordering = key::compare(comparator, left, right);
            if is_forward {
                ordering.is_gt()
            } else {
                ordering.is_lt()
            }
        };
        if !is_ahead(&target, &start) {
            return;
        }
        let mut is_valid = merged.skip_to(&target).unwrap();
        oracle.seek(&start).unwrap();
        let mut turn_after = random.below(6);
        loop {
            // The oracle steps over what the skipped source left out.
            let mut is_expected;
            loop {
                is_expected = if is_forward {
                    oracle.next()
                } else {
                    oracle.prev()
                }
                .unwrap();
                let is_left_out = is_expected
                    && is_ahead(&target, oracle.key())
                    && source.iter().any(|(entry, _)| entry == oracle.key());
                if !is_left_out {
                    break;
                }
            }
            assert_eq!(is_valid, is_expected);
            if !is_valid {
                return;
            }
            assert_eq!(merged.key(), oracle.key());
            if turn_after == 0 {
                break;
            }
            turn_after -= 1;
            is_valid = if is_forward {
                merged.next()
            } else {
                merged.prev()
            }
            .unwrap();
        }
        while oracle.is_valid() {
            let moved = if is_forward {
                merged.prev()
            } else {
                merged.next()
            };
            let expected = if is_forward {
                oracle.prev()
            } else {
                oracle.next()
            };
            assert_eq!(moved.unwrap(), expected.unwrap());
            if oracle.is_valid() {
                assert_eq!(merged.key(), oracle.key());
            }
        }
    });
}

#[test]
fn equal_keys_keep_the_sequence_of_sources() {
    // Three sources with the same entries but different values, there and back.
    let comparator = Comparator::Bytewise;
    let entry = |key: &str| key::encode(key.as_bytes(), Trailer::seek(SeqNo::new(1)));
    let source = |value: u8| {
        let entries = ["a", "b"].map(|key| (entry(key), vec![value]));
        VectorCursor::new(&comparator, entries.to_vec())
    };
    let mut merged = MergingCursor::new(comparator.clone(), vec![source(0), source(1), source(2)]);
    assert!(merged.seek_to_first().unwrap());
    let mut forward = Vec::new();
    while merged.is_valid() {
        forward.push(merged.value().unwrap()[0]);
        merged.next().unwrap();
    }
    assert_eq!(forward, [0, 1, 2, 0, 1, 2]);
    merged.seek(&entry("b")).unwrap();
    merged.next().unwrap();
    merged.prev().unwrap();
    assert_eq!(merged.value().unwrap(), [0]);
    merged.prev().unwrap();
    assert_eq!(
        (merged.key(), merged.value().unwrap()),
        (&entry("a")[..], &[2][..])
    );
}

#[test]
fn after_a_failure_the_cursor_stands_nowhere() {
    // One of three sources fails after each number of movements in turn.
    for_seeds(60, |seed, random| {
        let history = History::random(random, &Comparator::Bytewise, shape(40));
        let mut cursors: Vec<VectorCursor> =
            history.cut(random, 3).iter().map(History::cursor).collect();
        cursors[1].moves_before_failure = Some(seed % 10);
        let mut merged = MergingCursor::new(Comparator::Bytewise, cursors);
        let mut outcome = merged.seek_to_first();
        while let Ok(true) = outcome {
            outcome = if random.below(3) == 0 {
                merged.prev()
            } else {
                merged.next()
            };
        }
        assert!(!merged.is_valid());
    });
}

#[test]
fn a_source_that_stays_first_is_compared_with_one_other() {
    // Eight sources, one after the other: the order is asked about once for each entry.
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering as Atomic};
    struct Counting(AtomicU64);
    impl crate::base::types::comparator::CustomComparator for Counting {
        fn name(&self) -> &str {
            "counting"
        }
        fn compare(&self, left: &[u8], right: &[u8]) -> Ordering {
            self.0.fetch_add(1, Atomic::Relaxed);
            left.cmp(right)
        }
    }
    let counting = Arc::new(Counting(AtomicU64::new(0)));
    let comparator = Comparator::Custom(counting.clone());
    let source = |number: u64| {
        let entry = |at: u64| {
            let user_key = format!("{:04}", number * 100 + at);
            (
                key::encode(user_key.as_bytes(), Trailer::seek(SeqNo::ZERO)),
                Vec::new(),
            )
        };
        VectorCursor::new(&comparator, (0..100).map(entry).collect())
    };
    let mut merged = MergingCursor::new(comparator.clone(), (0..8).map(source).collect());
    let mut count = 0;
    let mut is_valid = merged.seek_to_first().unwrap();
    while is_valid {
        count += 1;
        is_valid = merged.next().unwrap();
    }
    assert_eq!(count, 800);
    let compared = counting.0.load(Atomic::Relaxed);
    assert!(compared < 900, "{compared} comparisons");
}

#[test]
fn a_memtable_that_grows_moves_no_one_back() {
    // Writes go on into the newest of several memtables between the movements of a reader, who
    // turns anywhere: what he comes to is in order, and is each entry that he sees, once.
    for_seeds(400, |seed, random| {
        let comparator = comparator_of(seed);
        let key_count = 2 + random.below(30);
        let mut newest = 0;
        let mut put = |random: &mut Random, table: &mut MemtableWriter| {
            newest += 1;
            let trailer = Trailer::new(SeqNo::new(newest), Kind::Put);
            table.insert(trailer, &random_key(random, key_count), b"v");
            newest
        };
        let mut tables: Vec<_> = (0..1 + random.below(4))
            .map(|_| Memtable::create(comparator.clone(), None))
            .collect();
        let mut at = SeqNo::ZERO;
        for table in &mut tables {
            (0..random.below(20)).for_each(|_| at = SeqNo::new(put(random, table)));
        }
        let mut entries = Vec::new();
        for table in &tables {
            let mut cursor = table.table().cursor();
            let mut is_on = cursor.seek_to_first().unwrap();
            while is_on {
                entries.push((cursor.key().to_vec(), b"v".to_vec()));
                is_on = cursor.next().unwrap();
            }
        }
        entries.sort_by(|(left, _), (right, _)| key::compare(&comparator, left, right));
        let mut oracle = VectorCursor::new(&comparator, entries);
        tables.reverse();
        let cursors = tables.iter().map(|table| table.table().cursor()).collect();
        let mut merged = MergingCursor::new(comparator.clone(), cursors);
        let mut is_on = merged.seek_to_first().unwrap();
        assert_eq!(oracle.seek_to_first().unwrap(), is_on);
        for _ in 0..100 {
            if !is_on {
                is_on = merged.seek_to_last().unwrap();
                oracle.seek_to_last().unwrap();
                while is_on && !is_seen(&merged, at) {
                    is_on = merged.prev().unwrap();
                }
                assert_eq!(oracle.is_valid(), is_on);
                continue;
            }
            for _ in 0..random.below(3) {
                put(random, &mut tables[0]);
            }
            let is_forward = random.one_in(2);
            let expected = match is_forward {
                true => oracle.next().unwrap(),
                false => oracle.prev().unwrap(),
            };
            loop {
                let last = merged.key().to_vec();
                is_on = match is_forward {
                    true => merged.next().unwrap(),
                    false => merged.prev().unwrap(),
                };
                if !is_on {
                    break;
                }
                let ordering = key::compare(&comparator, merged.key(), &last);
                assert_eq!(ordering.is_gt(), is_forward, "moved to the other side");
                if is_seen(&merged, at) {
                    break;
                }
            }
            assert_eq!(is_on, expected);
            if is_on {
                assert_eq!(merged.key(), oracle.key());
            }
        }
    });
}

fn is_seen(cursor: &impl Cursor, at: SeqNo) -> bool {
    let (_, trailer) = key::split(cursor.key());
    trailer.seqno().is_visible_at(at)
}
