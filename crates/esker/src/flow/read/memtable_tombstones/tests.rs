//! Tests of `memtable_tombstones`.
#![allow(clippy::disallowed_methods, reason = "only real threads race")]

use std::cmp::Ordering;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::*;
use crate::base::types::comparator::CustomComparator;
use crate::base::types::range_delete::RangeDelete;
use crate::flow::read::model::{History, comparator_of, for_seeds, random_key};

/// Bytewise, and counts how often it is asked.
#[derive(Default)]
struct Counting(AtomicU64);

impl CustomComparator for Counting {
    fn name(&self) -> &str {
        "counting"
    }

    fn compare(&self, left: &[u8], right: &[u8]) -> Ordering {
        self.0.fetch_add(1, Relaxed);
        left.cmp(right)
    }
}

/// Adds range deletes one by one, and asks after each; returns the comparisons of each question.
fn steps(count: u64, range: impl Fn(u64) -> (u64, u64)) -> Vec<u64> {
    let counting = Arc::new(Counting::default());
    let comparator = Comparator::Custom(Arc::clone(&counting) as Arc<dyn CustomComparator>);
    let (deletes, tombstone_lists) = (RangeDeletes::default(), MemtableTombstones::default());
    let key = |number: u64| format!("{number:08}");
    let ask = |number: u64| {
        let (start, end) = range(number);
        let seqno = SeqNo::new(number + 1);
        deletes.add(RangeDelete {
            start: key(start).into_bytes().into(),
            end: key(end).into_bytes().into(),
            seqno,
        });
        let before = counting.0.load(Relaxed);
        let cover =
            tombstone_lists.newest_cover(&comparator, &deletes, key(start).as_bytes(), SeqNo::MAX);
        assert_eq!(cover, Some(seqno));
        counting.0.load(Relaxed) - before
    };
    (0..count).map(ask).collect()
}

#[test]
fn a_read_after_each_range_delete_stays_cheap() {
    // Four thousand range deletes, apart, in order, nested or all over, and a read after each: the
    // mean of the comparisons grows with the square of the logarithm of their number, at most.
    const COUNT: u64 = 4_000;
    let scattered = |number: u64| number.wrapping_mul(0x9e37_79b9) % COUNT;
    let ranges: [&dyn Fn(u64) -> (u64, u64); 4] = [
        &|number| (number, number + 1),
        &|number| (2 * (COUNT - number), 2 * (COUNT - number) + 1),
        &|number| (0, number + 1),
        &|number| (scattered(number), scattered(number) + COUNT / 2),
    ];
    for range in ranges {
        let steps = steps(COUNT, range);
        let mean_of = |steps: &[u64]| steps.iter().sum::<u64>() / steps.len() as u64;
        let logarithm = u64::from(COUNT.ilog2());
        let mean = mean_of(&steps);
        assert!(mean <= 8 * logarithm * logarithm, "{mean} comparisons");
        // And most are far cheaper than the mean, which the few that rebuild make up.
        let cheap = steps.iter().filter(|&&steps| steps <= mean).count();
        assert!(cheap as u64 >= COUNT / 4 * 3, "{cheap} below {mean}");
    }
}

#[test]
fn who_knows_enough_builds_nothing() {
    // A reader at an older number is served by what is there, whatever came since; a second one
    // at the newest finds what the first built.
    let deletes = RangeDeletes::default();
    let tombstone_lists = MemtableTombstones::default();
    let add = |seqno| {
        deletes.add(RangeDelete {
            start: b"a"[..].into(),
            end: b"b"[..].into(),
            seqno: SeqNo::new(seqno),
        });
    };
    let comparator = Comparator::Bytewise;
    let all = |at| tombstone_lists.all(&comparator, &deletes, SeqNo::new(at));
    add(5);
    let first = all(9);
    add(10);
    assert!(Arc::ptr_eq(&first[0], &all(5)[0]));
    assert_eq!(tombstone_lists.0.load().as_ref().unwrap().count, 1);
    let second = all(10);
    assert_eq!(tombstone_lists.0.load().as_ref().unwrap().count, 2);
    assert!(Arc::ptr_eq(&second[0], &all(10)[0]));
}

#[test]
fn tombstone_lists_are_few_and_answer_as_the_list_of_deletes() {
    // Range deletes come alone and in rows of some hundred; every reader between them, at any
    // number, gets what a walk over the list says.
    for_seeds(30, |seed, random| {
        let (deletes, tombstone_lists) = (RangeDeletes::default(), MemtableTombstones::default());
        let mut history = History {
            comparator: comparator_of(seed),
            ..History::default()
        };
        let mut seqno = 0;
        for _ in 0..60 {
            let row = if random.one_in(10) { 200 } else { 3 };
            for _ in 0..=random.below(row) {
                seqno += 1 + random.below(2);
                let next = RangeDelete {
                    start: random_key(random, 40).into(),
                    end: random_key(random, 40).into(),
                    seqno: SeqNo::new(seqno),
                };
                deletes.add(next.clone());
                history.deletes.push(next);
            }
            let key = random_key(random, 40);
            let at = match random.below(3) {
                0 => SeqNo::MAX,
                _ => SeqNo::new(random.below(seqno + 2)),
            };
            let cover = tombstone_lists.newest_cover(&history.comparator, &deletes, &key, at);
            assert_eq!(cover, history.cover(&key, at));
            let all = tombstone_lists.all(&history.comparator, &deletes, at);
            let newest = all.iter().filter_map(|part| part.newest_cover(&key, at));
            assert_eq!(newest.max(), cover);
            assert!(all.len() <= deletes.len().ilog2() as usize + 1);
        }
    });
}

#[test]
fn readers_that_build_at_once_lose_nothing() {
    // A writer adds while three readers ask; each sees every delete up to its own number.
    let (deletes, tombstone_lists) = (RangeDeletes::default(), MemtableTombstones::default());
    let comparator = Comparator::Bytewise;
    let count = 500;
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let mut seen = 0;
                while seen < count {
                    seen = deletes.len() as u64;
                    let at = SeqNo::new(seen);
                    let cover = tombstone_lists.newest_cover(&comparator, &deletes, b"k", at);
                    assert_eq!(cover.unwrap_or(SeqNo::ZERO), at);
                }
            });
        }
        for number in 1..=count {
            deletes.add(RangeDelete {
                start: b"k"[..].into(),
                end: b"l"[..].into(),
                seqno: SeqNo::new(number),
            });
        }
    });
}
