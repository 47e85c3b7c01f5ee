//! Tests of `seat`.
#![allow(clippy::disallowed_methods, reason = "only real threads race")]

use std::sync::Barrier;

use super::*;

#[test]
fn living_threads_never_share_a_seat_of_their_own() {
    // Twice as many threads as seats sit at the same time; the surplus shares the last seat.
    let count = 2 * SHARED_SEAT;
    let barrier = Barrier::new(count);
    let seats: Vec<usize> = std::thread::scope(|scope| {
        let sit = || {
            let seat = seat_of_thread();
            barrier.wait();
            assert_eq!(seat, seat_of_thread());
            seat
        };
        let threads: Vec<_> = (0..count).map(|_| scope.spawn(sit)).collect();
        threads.into_iter().map(|it| it.join().unwrap()).collect()
    });
    for own in 0..SHARED_SEAT {
        assert!(seats.iter().filter(|seat| **seat == own).count() <= 1);
    }
    assert!(seats.iter().filter(|seat| **seat == SHARED_SEAT).count() >= SHARED_SEAT);
}

#[test]
fn seats_are_given_back() {
    // Many more threads than seats, one after another: were seats kept by the dead, all later
    // threads would share one. Other tests hold seats meanwhile, but not all of them for long.
    let mut own = 0;
    for _ in 0..20 * SHARED_SEAT {
        let seat = std::thread::spawn(seat_of_thread).join().unwrap();
        own += usize::from(seat < SHARED_SEAT);
    }
    assert!(own > SHARED_SEAT, "{own}");
}

#[test]
fn counts_survive_a_change_of_seats() {
    // Threads come and go on one counter per seat; the sum must be exact.
    let counters = [const { AtomicU64::new(0) }; SEAT_COUNT];
    for _ in 0..20 {
        std::thread::scope(|scope| {
            for _ in 0..SEAT_COUNT + 3 {
                scope.spawn(|| {
                    let seat = seat_of_thread();
                    (0..100).for_each(|_| raise(&counters[seat], seat, 1));
                });
            }
        });
    }
    let sum: u64 = counters.iter().map(|it| it.load(Ordering::Relaxed)).sum();
    assert_eq!(sum, 20 * (SEAT_COUNT as u64 + 3) * 100);
}
