//! Tests of `visible`.

use std::sync::Arc;

use super::*;
use crate::base::types::comparator::Comparator;
use crate::base::types::key::Trailer;
use crate::base::types::kind::Kind;
use crate::base::types::range::KeyRange;
use crate::base::types::seqno::{SeqNo, Visibility};
use crate::env::random::Random;
use crate::env::sim::SimFs;
use crate::flow::read::fold::Folder;
use crate::flow::read::model::{
    History, NOW_UNIX_MS, Shape, VectorCursor, comparator_of, for_seeds, random_key, rule,
};
use crate::flow::read::range_tombstones::RangeTombstones;
use crate::flow::read::tombstone_aggregator::{SourceTombstones, TombstoneAggregator};
use crate::store::vlog::open_values::OpenValues;

fn reader(history: &History, sources: &[History], range: KeyRange, at: Visibility) -> Reader {
    let comparator = history.comparator.clone();
    let tombstones = |(source, history): (usize, &History)| SourceTombstones {
        source,
        tombstones: Arc::new(RangeTombstones::new(&comparator, &history.deletes)),
        at: at.newest_beside(history.newest()),
    };
    let tombstone_lists = sources.iter().enumerate().map(tombstones).collect();
    Reader {
        tombstones: TombstoneAggregator::new(&comparator, tombstone_lists),
        comparator,
        range,
        at,
        now_unix_ms: NOW_UNIX_MS,
        folder: Folder::new("default", Some(rule())),
        values: Arc::new(OpenValues::new(Arc::new(SimFs::new(0)), "/db", 1)),
        kept: None,
    }
}

fn visible(
    history: &History,
    sources: &[History],
    range: KeyRange,
    at: Visibility,
) -> VisibleCursor<VectorCursor> {
    let cursors = sources.iter().map(History::cursor).collect();
    let inner = MergingCursor::new(history.comparator.clone(), cursors);
    VisibleCursor::new(inner, reader(history, sources, range, at))
}

fn random_range(random: &mut Random, key_count: u64) -> KeyRange {
    let mut bound = || match random.below(5) {
        0 | 1 => Bound::Unbounded,
        2 | 3 => Bound::Included(random_key(random, key_count)),
        _ => Bound::Excluded(random_key(random, key_count)),
    };
    KeyRange {
        lower: bound(),
        upper: bound(),
    }
}

/// Makes the newest source the own writes of a transaction, of which it sees some.
fn own_newest(random: &mut Random, sources: &mut [History], committed: SeqNo) -> Visibility {
    let own = &mut sources[0];
    let first = own.oldest().get();
    let own_seqno = |seqno: SeqNo| Visibility::own_seqno(seqno.get() - first);
    for write in &mut own.writes {
        write.trailer = Trailer::new(own_seqno(write.trailer.seqno()), write.trailer.kind());
    }
    for delete in &mut own.deletes {
        delete.seqno = own_seqno(delete.seqno);
    }
    let count = own
        .newest()
        .get()
        .saturating_sub(Visibility::own_seqno(0).get())
        + 1;
    Visibility::with_own(committed, random.below(count + 2))
}

/// All that a reader sees of those sources, as one history.
fn seen(sources: &[History], at: Visibility) -> History {
    let mut seen = History {
        comparator: sources[0].comparator.clone(),
        ..History::default()
    };
    for source in sources.iter().rev() {
        let writes = source
            .writes
            .iter()
            .filter(|write| at.sees(write.trailer.seqno()));
        seen.writes.extend(writes.cloned());
        let deletes = source.deletes.iter().filter(|delete| at.sees(delete.seqno));
        seen.deletes.extend(deletes.cloned());
    }
    seen
}

#[test]
fn every_movement_matches_the_naive_reader() {
    // Random histories cut into sources, random readers and bounds, movements in any sequence.
    for_seeds(600, |seed, random| {
        let shape = Shape {
            write_count: random.below(120),
            key_count: 1 + random.below(40),
            range_delete_one_in: random.below(3) * 8,
        };
        let history = History::random(random, &comparator_of(seed), shape);
        let source_count = 1 + random.below(5);
        let mut sources = history.cut(random, source_count);
        let at = SeqNo::new(random.below(history.newest().get() + 2));
        let range = random_range(random, shape.key_count);
        let comparator = &history.comparator;
        let (at, mut rows) = match random.one_in(2) {
            true => (Visibility::at(at), history.scan(at)),
            false => {
                let at = own_newest(random, &mut sources, at);
                (at, seen(&sources, at).scan(SeqNo::MAX))
            }
        };
        rows.retain(|(key, _)| range.contains(comparator, key));
        let mut cursor = visible(&history, &sources, range, at);
        let mut place: Option<usize> = None;
        for _ in 0..80 {
            let target = random_key(random, shape.key_count);
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
            assert_eq!(cursor.is_valid(), place.is_some());
            if let Some(place) = place {
                assert_eq!(cursor.key(), rows[place].0);
                assert_eq!(cursor.value().unwrap(), rows[place].1);
                assert_eq!(cursor.value_bytes().unwrap(), rows[place].1);
            }
        }
    });
}

/// A history of `count` puts of distinct keys, then a deletion of all, then three late puts.
fn emptied_queue(count: u64) -> (History, Vec<History>) {
    let key = |number: u64| format!("{number:05}").into_bytes();
    let write = |number: u64, seqno: u64| crate::flow::read::model::Write {
        key: key(number),
        trailer: Trailer::new(SeqNo::new(seqno), Kind::Put),
        value: b"v".to_vec(),
    };
    let old = History {
        writes: (0..count).map(|number| write(number, 1 + number)).collect(),
        ..History::default()
    };
    let delete = crate::base::types::range_delete::RangeDelete {
        start: key(0).into(),
        end: key(count).into(),
        seqno: SeqNo::new(count + 1),
    };
    let new = History {
        writes: [0, count / 2, count - 1]
            .map(|number| write(number, count + 2 + number))
            .to_vec(),
        deletes: vec![delete],
        ..History::default()
    };
    let mut all = old.clone();
    all.writes.extend(new.writes.clone());
    all.deletes.clone_from(&new.deletes);
    (all, vec![new, old])
}

#[test]
fn a_deleted_stretch_is_sought_over() {
    // Ten thousand entries hidden by a newer source's deletion: a scan meets a handful of them.
    let (all, sources) = emptied_queue(10_000);
    for is_forward in [true, false] {
        let mut cursor = visible(&all, &sources, KeyRange::ALL, Visibility::at(SeqNo::MAX));
        let mut found = if is_forward {
            cursor.seek_to_first()
        } else {
            cursor.seek_to_last()
        };
        let mut count = 0;
        while found.unwrap() {
            count += 1;
            found = if is_forward {
                cursor.next()
            } else {
                cursor.prev()
            };
        }
        assert_eq!(count, 3);
        assert!(cursor.passed_count() < 100, "{}", cursor.passed_count());
    }
}

#[test]
fn a_pile_of_versions_is_sought_over() {
    // Ten thousand versions of one key between two others; readers at the top and in the middle.
    let mut pile = History::default();
    for seqno in 1..=10_002 {
        let key = match seqno {
            1 => b"a",
            2 => b"c",
            _ => b"b",
        };
        pile.writes.push(crate::flow::read::model::Write {
            key: key.to_vec(),
            trailer: Trailer::new(SeqNo::new(seqno), Kind::Put),
            value: seqno.to_string().into_bytes(),
        });
    }
    let sources = [pile.clone()];
    for at in [SeqNo::MAX, SeqNo::new(5_000)] {
        let mut cursor = visible(&pile, &sources, KeyRange::ALL, Visibility::at(at));
        let mut values = Vec::new();
        let mut is_valid = cursor.seek_to_first().unwrap();
        while is_valid {
            values.push(cursor.value_bytes().unwrap());
            is_valid = cursor.next().unwrap();
        }
        is_valid = cursor.seek_to_last().unwrap();
        while is_valid {
            values.push(cursor.value_bytes().unwrap());
            is_valid = cursor.prev().unwrap();
        }
        let newest = at.get().min(10_002).to_string();
        assert_eq!(
            values,
            ["1", &newest, "2", "2", &newest, "1"].map(str::as_bytes)
        );
        assert!(cursor.passed_count() < 200, "{}", cursor.passed_count());
    }
}

#[test]
fn failures_are_returned_and_the_cursor_stands_nowhere() {
    // A source fails after each number of movements in turn; no movement hides it.
    for_seeds(300, |seed, random| {
        let shape = Shape {
            write_count: 60,
            key_count: 12,
            range_delete_one_in: 10,
        };
        let history = History::random(random, &Comparator::Bytewise, shape);
        let sources = history.cut(random, 2);
        let mut cursors: Vec<VectorCursor> = sources.iter().map(History::cursor).collect();
        cursors[1].moves_before_failure = Some(seed % 100);
        let inner = MergingCursor::new(Comparator::Bytewise, cursors);
        let reader = reader(
            &history,
            &sources,
            KeyRange::ALL,
            Visibility::at(SeqNo::MAX),
        );
        let mut cursor = VisibleCursor::new(inner, reader);
        let failure = loop {
            let target = random_key(random, 12);
            let moved = match (random.below(6), cursor.is_valid()) {
                (0, _) => cursor.seek(&target),
                (1, _) => cursor.seek_for_prev(&target),
                (2 | 3, true) => cursor.next(),
                (_, true) => cursor.prev(),
                (_, false) => cursor.seek_to_first(),
            };
            if let Err(failure) = moved {
                break failure;
            }
        };
        assert_eq!(failure.message(), "a planted failure");
        assert!(!cursor.is_valid());
    });
}

#[test]
fn entries_that_cannot_be_are_corruption() {
    // A range deletion among point entries, and an expiring value too short for its expiry.
    for kind in [Kind::RangeDelete, Kind::PutExpiring] {
        let mut history = History::default();
        history.writes.push(crate::flow::read::model::Write {
            key: b"k".to_vec(),
            trailer: Trailer::new(SeqNo::new(1), kind),
            value: b"123".to_vec(),
        });
        let mut cursor = visible(
            &history,
            &[history.clone()],
            KeyRange::ALL,
            Visibility::at(SeqNo::MAX),
        );
        for outcome in [cursor.seek_to_first(), cursor.seek_to_last()] {
            let kind = outcome.unwrap_err().kind();
            assert_eq!(kind, crate::base::types::error::ErrorKind::Corruption);
        }
    }
}
