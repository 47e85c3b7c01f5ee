//! Tests of `walk`.

use std::sync::Arc;

use super::*;
use crate::base::types::ids::Level;
use crate::base::types::key;
use crate::base::types::kind::Kind;
use crate::base::types::range::KeyRange;
use crate::base::types::seqno::{SeqNo, Visibility};
use crate::env::sim::fs::SimFs;
use crate::flow::read::fold::Folder;
use crate::flow::read::merging::MergingCursor;
use crate::flow::read::model::{History, Shape, comparator_of, for_seeds, random_key};
use crate::flow::read::model::{NOW_UNIX_MS, rule};
use crate::flow::read::model_lookahead::LookaheadCursor;
use crate::flow::read::model_view::{Layout, read_at};
use crate::flow::read::reader::Reader;
use crate::flow::read::scan::scan;
use crate::flow::read::tombstone_aggregator::TombstoneAggregator;
use crate::store::vlog::open_values::OpenValues;

#[test]
fn long_walks_read_as_the_naive_reader() {
    // Histories of which most writes are plain values, over memtables and files; long stretches
    // one way with turns between them, so that they happen inside and at the ends of chunks.
    for_seeds(300, |seed, random| {
        let shape = Shape {
            write_count: 20 + random.below(150),
            key_count: 10 + random.below(80),
            range_delete_one_in: if seed.is_multiple_of(5) { 40 } else { 0 },
        };
        let mut history = History::random(random, &comparator_of(seed), shape);
        for write in &mut history.writes {
            if random.below(10) > 0 {
                write.trailer = key::Trailer::new(write.trailer.seqno(), Kind::Put);
            }
        }
        let view = Layout::random_view(random, &history);
        let comparator = &history.comparator;
        let seqno = SeqNo::new(random.below(history.newest().get() + 2));
        let mut range = KeyRange::ALL;
        if random.one_in(3) {
            range.lower = Bound::Included(random_key(random, 80));
            range.upper = Bound::Excluded(random_key(random, 80));
        }
        let mut rows = history.scan(seqno);
        rows.retain(|(key, _)| range.contains(comparator, key));
        let mut walk = scan(&view, range, &read_at(seqno)).unwrap();
        for _ in 0..12 {
            let target = random_key(random, 80);
            let from = rows.partition_point(|(key, _)| comparator.compare(key, &target).is_lt());
            assert_eq!(walk.seek(&target).unwrap(), from < rows.len());
            let mut place = (from < rows.len()).then_some(from);
            for _ in 0..6 {
                let is_forward = random.one_in(2);
                for _ in 0..random.below(40) {
                    let Some(at) = place else { break };
                    let (is_on, next) = match is_forward {
                        true => (walk.next(), Some(at + 1).filter(|at| *at < rows.len())),
                        false => (walk.prev(), at.checked_sub(1)),
                    };
                    assert_eq!(is_on.unwrap(), next.is_some());
                    assert_eq!(walk.is_valid(), next.is_some());
                    place = next;
                    if let Some(at) = place {
                        assert_eq!(walk.key(), rows[at].0);
                        assert_eq!(walk.value().unwrap(), rows[at].1);
                        assert_eq!(walk.value_bytes().unwrap(), rows[at].1);
                    }
                }
            }
        }
    });
}

#[test]
fn walks_over_lookaheads_read_as_the_naive_reader() {
    // As above, over sources that decode ahead, so that chunks are made of what is in the
    // lookahead; keys of a few bytes, and long ones that begin alike.
    for_seeds(300, |seed, random| {
        let shape = Shape {
            write_count: 20 + random.below(300),
            key_count: 10 + random.below(150),
            range_delete_one_in: 0,
        };
        let mut history = History::random(random, &comparator_of(seed), shape);
        for write in &mut history.writes {
            if seed % 3 == 0 {
                write.key.splice(0..0, [b'k'; 40]);
            }
            if random.below(10) > 0 {
                write.trailer = key::Trailer::new(write.trailer.seqno(), Kind::Put);
            }
        }
        let seqno = SeqNo::new(random.below(history.newest().get() + 2));
        let source_count = 2 + random.below(4);
        let cursors = history.cut(random, source_count);
        let cursors = cursors.iter().map(LookaheadCursor::new).collect();
        let comparator = &history.comparator;
        let mut range = KeyRange::ALL;
        if random.one_in(3) && seed % 3 > 0 {
            range.upper = Bound::Excluded(random_key(random, 150));
        }
        let mut rows = history.scan(seqno);
        rows.retain(|(key, _)| range.contains(comparator, key));
        let reader = Reader {
            tombstones: TombstoneAggregator::new(comparator, Vec::new()),
            comparator: comparator.clone(),
            range,
            at: Visibility::at(seqno),
            now_unix_ms: NOW_UNIX_MS,
            folder: Folder::new("default", Some(rule())),
            values: Arc::new(OpenValues::new(Arc::new(SimFs::new(0)), "/db", 1)),
            kept: None,
        };
        let merged = MergingCursor::new(comparator.clone(), cursors);
        let mut walk = Walk::new(VisibleCursor::new(merged, reader));
        assert_eq!(walk.seek_to_first().unwrap(), !rows.is_empty());
        let mut place = (!rows.is_empty()).then_some(0);
        for _ in 0..20 {
            let is_forward = random.below(5) < 3;
            for _ in 0..random.below(80) {
                let Some(at) = place else { break };
                assert_eq!(walk.key(), rows[at].0);
                assert_eq!(walk.value().unwrap(), rows[at].1);
                assert_eq!(walk.value_bytes().unwrap(), rows[at].1);
                let (is_on, next) = match is_forward {
                    true => (walk.next(), Some(at + 1).filter(|at| *at < rows.len())),
                    false => (walk.prev(), at.checked_sub(1)),
                };
                assert_eq!(is_on.unwrap(), next.is_some());
                place = next;
            }
        }
    });
}

#[test]
fn a_walk_over_one_file_goes_by_the_chunk() {
    // A hundred plain values in one file, and both ways most steps are inside a chunk.
    let mut history = History::default();
    for number in 0..100_u64 {
        history.writes.push(crate::flow::read::model::Write {
            key: format!("{number:04}").into_bytes(),
            trailer: key::Trailer::new(SeqNo::new(number + 1), Kind::Put),
            value: Vec::new(),
        });
    }
    let mut layout = Layout::new(&history.comparator);
    layout.add_run(Level::new(1).unwrap(), &history, Vec::new());
    let view = layout.view(&[]);
    for way in [Way::Forward, Way::Back] {
        let mut walk = scan(&view, KeyRange::ALL, &read_at(SeqNo::MAX)).unwrap();
        let mut is_on = match way {
            Way::Forward => walk.seek_to_first().unwrap(),
            Way::Back => walk.seek_to_last().unwrap(),
        };
        let (mut count, mut in_chunk) = (0, 0);
        while is_on {
            count += 1;
            in_chunk += u64::from(!walk.chunk.is_empty());
            is_on = match way {
                Way::Forward => walk.next().unwrap(),
                Way::Back => walk.prev().unwrap(),
            };
        }
        assert_eq!(count, 100);
        // Blocks of these tests hold some seven entries.
        assert!(in_chunk > 50, "{in_chunk} of 100 {way:?}");
    }
}
