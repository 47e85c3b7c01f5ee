//! Tests of `walk`.

use super::*;
use crate::base::types::ids::Level;
use crate::base::types::key;
use crate::base::types::kind::Kind;
use crate::base::types::range::KeyRange;
use crate::base::types::seqno::SeqNo;
use crate::flow::read::model::{History, Shape, for_seeds, order_of, random_key};
use crate::flow::read::model_view::{Layout, read_at};
use crate::flow::read::scan::scan;

#[test]
fn long_walks_read_as_the_naive_reader() {
    // Histories of which most writes are plain values, over memtables and files; long stretches
    // one way with turns between them, so that they happen inside and at the ends of sheaves.
    for_seeds(300, |seed, random| {
        let shape = Shape {
            write_count: 20 + random.below(150),
            key_count: 10 + random.below(80),
            range_delete_one_in: if seed.is_multiple_of(5) { 40 } else { 0 },
        };
        let mut history = History::random(random, &order_of(seed), shape);
        for write in &mut history.writes {
            if random.below(10) > 0 {
                write.trailer = key::Trailer::new(write.trailer.seqno(), Kind::Put);
            }
        }
        let view = Layout::random_view(random, &history);
        let order = &history.order;
        let seqno = SeqNo::new(random.below(history.newest().get() + 2));
        let mut range = KeyRange::ALL;
        if random.one_in(3) {
            range.lower = Bound::Included(random_key(random, 80));
            range.upper = Bound::Excluded(random_key(random, 80));
        }
        let mut rows = history.scan(seqno);
        rows.retain(|(key, _)| range.contains(order, key));
        let mut walk = scan(&view, range, &read_at(seqno)).unwrap();
        for _ in 0..12 {
            let target = random_key(random, 80);
            let from = rows.partition_point(|(key, _)| order.compare(key, &target).is_lt());
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
fn a_walk_over_one_file_goes_by_the_sheaf() {
    // A hundred plain values in one file, and both ways most steps are inside a sheaf.
    let mut history = History::default();
    for number in 0..100_u64 {
        history.writes.push(crate::flow::read::model::Write {
            key: format!("{number:04}").into_bytes(),
            trailer: key::Trailer::new(SeqNo::new(number + 1), Kind::Put),
            value: Vec::new(),
        });
    }
    let mut layout = Layout::new(&history.order);
    layout.add_run(Level::new(1).unwrap(), &history, Vec::new());
    let view = layout.view(&[]);
    for way in [Way::Forward, Way::Back] {
        let mut walk = scan(&view, KeyRange::ALL, &read_at(SeqNo::MAX)).unwrap();
        let mut is_on = match way {
            Way::Forward => walk.seek_to_first().unwrap(),
            Way::Back => walk.seek_to_last().unwrap(),
        };
        let (mut count, mut in_sheaf) = (0, 0);
        while is_on {
            count += 1;
            in_sheaf += u64::from(!walk.sheaf.is_empty());
            is_on = match way {
                Way::Forward => walk.next().unwrap(),
                Way::Back => walk.prev().unwrap(),
            };
        }
        assert_eq!(count, 100);
        // Blocks of these tests hold some seven entries.
        assert!(in_sheaf > 50, "{in_sheaf} of 100 {way:?}");
    }
}
