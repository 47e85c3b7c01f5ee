//! Tests of `counter`.
#![allow(clippy::disallowed_methods, reason = "only real threads race")]

use super::*;

#[test]
fn nothing_is_lost_between_threads() {
    // More threads than slots count at once; every addition must be in the sum.
    let counters = Counters::<3>::new();
    let counter = Counter::new();
    std::thread::scope(|scope| {
        for _ in 0..2 * SLOT_COUNT {
            scope.spawn(|| {
                for _ in 0..1_000 {
                    counters.add(1, 1);
                    counters.add(2, 5);
                    counter.add(2);
                }
            });
        }
    });
    let added = 2 * SLOT_COUNT as u64 * 1_000;
    assert_eq!(counters.sum(0), 0);
    assert_eq!(counters.sum(1), added);
    assert_eq!(counters.sum(2), 5 * added);
    assert_eq!(counter.sum(), 2 * added);
}

#[test]
fn shards_do_not_share_cache_lines() {
    // The point of shards is lost when two of them lie on one line.
    assert_eq!(std::mem::align_of::<Shard<1>>(), 128);
    assert_eq!(std::mem::size_of::<Shard<1>>(), 128);
    assert_eq!(std::mem::size_of::<Counters<17>>(), SLOT_COUNT * 256);
}
