//! Tests of `thread_slot`.
#![allow(clippy::disallowed_methods, reason = "only real threads race")]

use std::sync::Barrier;

use super::*;

#[test]
fn living_threads_never_share_a_slot_of_their_own() {
    // Twice as many threads as slots sit at the same time; the surplus shares the last slot.
    let count = 2 * SHARED_SLOT;
    let barrier = Barrier::new(count);
    let slots: Vec<usize> = std::thread::scope(|scope| {
        let sit = || {
            let slot = slot_of_thread();
            barrier.wait();
            assert_eq!(slot, slot_of_thread());
            slot
        };
        let threads: Vec<_> = (0..count).map(|_| scope.spawn(sit)).collect();
        threads.into_iter().map(|it| it.join().unwrap()).collect()
    });
    for own in 0..SHARED_SLOT {
        assert!(slots.iter().filter(|slot| **slot == own).count() <= 1);
    }
    assert!(slots.iter().filter(|slot| **slot == SHARED_SLOT).count() >= SHARED_SLOT);
}

#[test]
fn slots_are_given_back() {
    // Many more threads than slots, one after another: were slots kept by the dead, all later
    // threads would share one. Other tests hold slots meanwhile, but not all of them for long.
    let mut own = 0;
    for _ in 0..20 * SHARED_SLOT {
        let slot = std::thread::spawn(slot_of_thread).join().unwrap();
        own += usize::from(slot < SHARED_SLOT);
    }
    assert!(own > SHARED_SLOT, "{own}");
}

#[test]
fn counts_survive_a_change_of_slots() {
    // Threads come and go on one counter per slot; the sum must be exact.
    let counters = [const { AtomicU64::new(0) }; SLOT_COUNT];
    for _ in 0..20 {
        std::thread::scope(|scope| {
            for _ in 0..SLOT_COUNT + 3 {
                scope.spawn(|| {
                    let slot = slot_of_thread();
                    (0..100).for_each(|_| raise(&counters[slot], slot, 1));
                });
            }
        });
    }
    let sum: u64 = counters.iter().map(|it| it.load(Ordering::Relaxed)).sum();
    assert_eq!(sum, 20 * (SLOT_COUNT as u64 + 3) * 100);
}
