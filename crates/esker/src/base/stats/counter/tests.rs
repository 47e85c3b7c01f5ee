use super::*;

#[test]
#[allow(clippy::disallowed_methods)]
fn nothing_is_lost_between_threads() {
    // More threads than shards count at once; every addition must be in the sum.
    let counters = Counters::<3>::new();
    let counter = Counter::new();
    std::thread::scope(|scope| {
        for _ in 0..2 * SHARD_COUNT {
            scope.spawn(|| {
                for _ in 0..1_000 {
                    counters.add(1, 1);
                    counters.add(2, 5);
                    counter.add(2);
                }
            });
        }
    });
    let added = 2 * SHARD_COUNT as u64 * 1_000;
    assert_eq!(counters.sum(0), 0);
    assert_eq!(counters.sum(1), added);
    assert_eq!(counters.sum(2), 5 * added);
    assert_eq!(counter.sum(), 2 * added);
}

#[test]
#[allow(clippy::disallowed_methods)]
fn a_thread_keeps_its_ordinal_and_shares_it_with_nobody() {
    // Two threads that live at the same time must not be sent to one shard by accident.
    let mine = thread_ordinal();
    let other = std::thread::spawn(|| (thread_ordinal(), thread_ordinal()))
        .join()
        .unwrap();
    assert_eq!(mine, thread_ordinal());
    assert_eq!(other.0, other.1);
    assert_ne!(mine, other.0);
}

#[test]
fn shards_do_not_share_cache_lines() {
    // The point of shards is lost when two of them lie on one line.
    assert_eq!(std::mem::align_of::<Shard<1>>(), 128);
    assert_eq!(std::mem::size_of::<Shard<1>>(), 128);
    assert_eq!(std::mem::size_of::<Counters<17>>(), SHARD_COUNT * 256);
}
