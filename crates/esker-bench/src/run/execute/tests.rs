//! Tests of running work on threads.

use std::sync::Mutex;
use std::sync::atomic::AtomicU64;

use super::*;
use crate::fail::Failure;
use crate::measure::clock::SteppedClock;
use crate::run::course::Interval;

fn quiet(_: &Tick) {}

#[test]
fn every_thread_does_its_full_count() {
    // Three threads with a bound of 1000: 3000 operations, each timed, all in the last sample.
    let course = Course {
        threads: 3,
        ops_per_lane: Some(1000),
        ..Course::plain()
    };
    let done = execute(&course, &mut quiet, &|lane| {
        while lane.go() {
            lane.add_bytes(2);
            lane.finish(0, 1);
        }
        lane.count(1, 5);
        Ok(())
    })
    .unwrap();
    assert_eq!((done.ops(), done.bytes()), (3000, 6000));
    assert_eq!(done.latencies()[0].count(), 3000);
    assert_eq!((done.tally(0), done.tally(1)), (0, 15));
    let sampled: u64 = done.series.samples.iter().map(|sample| sample.ops).sum();
    assert_eq!(sampled, 3000);
}

#[test]
fn background_threads_end_with_the_measured_ones() {
    // A writer without a bound stops when the reader is done, and is told apart.
    let course = Course {
        background: 1,
        ops_per_lane: Some(100),
        ..Course::plain()
    };
    let wrote = AtomicU64::new(0);
    let done = execute(&course, &mut quiet, &|lane| {
        while lane.go() {
            if lane.is_background() {
                wrote.fetch_add(1, Ordering::Relaxed);
            }
            lane.finish(0, 1);
        }
        Ok(())
    })
    .unwrap();
    assert_eq!(done.ops(), 100);
    assert_eq!(done.background.len(), 1);
    assert_eq!(done.background[0].ops, wrote.load(Ordering::Relaxed));
}

#[test]
fn time_bounds_what_a_count_does_not() {
    // After the warm-up the count begins anew, and the run ends by itself.
    let course = Course {
        duration: Some(Duration::from_millis(60)),
        warm_up: Duration::from_millis(30),
        ..Course::plain()
    };
    let all = AtomicU64::new(0);
    let mut was_warm = false;
    let done = execute(&course, &mut |tick| was_warm |= tick.is_warming, &|lane| {
        while lane.go() {
            all.fetch_add(1, Ordering::Relaxed);
            lane.finish(0, 1);
        }
        Ok(())
    })
    .unwrap();
    assert!(done.ops() > 0 && done.ops() < all.load(Ordering::Relaxed));
    // How long exactly is the machine's affair: a thread may begin late, and the end is fixed.
    assert!(was_warm || done.wall() > Duration::ZERO);
}

#[test]
fn a_slow_store_delays_what_was_due_meanwhile() {
    // A store of 1 ms an operation that stalls for 100 ms at the eleventh, asked 500 times a
    // second: a closed loop sees one slow operation, an open one all that were due in the stall.
    let late = |target_rate| {
        let clock = SteppedClock::default();
        let course = Course {
            ops_per_lane: Some(200),
            target_rate,
            clock: &clock,
            ..Course::plain()
        };
        let done = execute(&course, &mut quiet, &|lane| {
            while lane.go() {
                let is_stall = lane.done() == 10;
                clock.step(Duration::from_millis(if is_stall { 100 } else { 1 }));
                lane.finish(0, 1);
            }
            Ok(())
        });
        let done = done.unwrap();
        let latencies = done.latencies().remove(0);
        let buckets = latencies.buckets();
        let late: u64 = buckets
            .filter(|(nanos, _)| *nanos > 1_500_000)
            .map(|(_, count)| count)
            .sum();
        (late, latencies.max_ns(), done.wall())
    };
    let (late_closed, longest_closed, wall_closed) = late(None);
    assert_eq!((late_closed, wall_closed.as_millis()), (1, 299));
    assert!((99_900_000..100_200_000).contains(&longest_closed));
    // Each operation that was due takes 1 ms of the 2 to the next one: after 99 nobody waits.
    let (late_open, longest_open, wall_open) = late(Some(500.0));
    assert_eq!(late_open, 99);
    assert!((99_900_000..100_200_000).contains(&longest_open));
    // 200 operations, the last one due 398 ms after the start and done 1 ms later.
    assert_eq!(wall_open.as_millis(), 399);
}

#[test]
fn one_failure_stops_all() {
    // The second thread fails; the first would go on for ever.
    let course = Course {
        threads: 2,
        ..Course::plain()
    };
    let failed = execute(&course, &mut quiet, &|lane| {
        while lane.go() {
            if lane.index() == 1 {
                return Err(Failure::failed("put error: full"));
            }
            lane.finish(0, 1);
        }
        Ok(())
    });
    assert_eq!(failed.unwrap_err().message, "put error: full");
}

#[test]
fn threads_tell_at_their_intervals() {
    // Every 10 of 35 operations, and what was done since the last time.
    let told = Mutex::new(Vec::new());
    let tell = |moment: &crate::run::course::LaneMoment| {
        told.lock().unwrap().push((moment.ops, moment.ops_since));
    };
    let course = Course {
        ops_per_lane: Some(35),
        interval: Some(Interval {
            ops: 10,
            tell: &tell,
        }),
        ..Course::plain()
    };
    execute(&course, &mut quiet, &|lane| {
        while lane.go() {
            lane.finish(0, 1);
        }
        Ok(())
    })
    .unwrap();
    assert_eq!(*told.lock().unwrap(), [(10, 10), (20, 10), (30, 10)]);
}
