//! Runs a piece of work on threads that start together, and watches it from outside.

use std::sync::Barrier;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use crate::fail::Outcome;
use crate::measure::process::Usage;
use crate::measure::series::Series;
use crate::run::course::{Course, Finished, LaneResult, Tick};
use crate::run::lane::{Cell, Lane, MEASURING, OVER, Shared, WARMING};

/// Time between two looks at the cells: smooth for the eye, nothing for the processor, and the
/// exactness of a bound in time.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Time between two samples of throughput.
const SAMPLE_EVERY: Duration = Duration::from_secs(1);

/// The work of one thread.
pub type Body<'a> = dyn Fn(&mut Lane<'_>) -> Outcome + Sync + 'a;

/// Runs `body` on every thread of `course`, and calls `observe` at every look and sample.
///
/// Errors: the first failure of a thread; the others stop then. Panics when a thread did.
pub fn execute(
    course: &Course<'_>,
    observe: &mut dyn FnMut(&Tick),
    body: &Body<'_>,
) -> Outcome<Finished> {
    assert!(course.threads > 0, "nothing is measured without a thread");
    let count = course.background + course.threads;
    let is_warming = !course.warm_up.is_zero();
    let shared = Shared {
        phase: AtomicU8::new(if is_warming { WARMING } else { MEASURING }),
        measured_left: AtomicUsize::new(course.threads),
        cells: (0..count).map(|_| Cell::default()).collect(),
    };
    let barrier = Barrier::new(count + 1);
    let used_before = Usage::begin();
    let (ended, ends) = channel::<()>();
    let mut series = Series::default();
    let outcomes = thread::scope(|scope| {
        let (shared, barrier) = (&shared, &barrier);
        let threads: Vec<_> = (0..count)
            .map(|index| {
                let ended = ended.clone();
                scope.spawn(move || {
                    let outcome = work(index, course, shared, barrier, body);
                    drop(ended);
                    outcome
                })
            })
            .collect();
        drop(ended);
        barrier.wait();
        watch(course, shared, &ends, &mut series, observe);
        let joined = threads.into_iter().map(|thread| thread.join());
        joined.collect::<Vec<_>>()
    });
    let usage = Usage::now().since(&used_before);
    let mut lanes = Vec::with_capacity(count);
    for outcome in outcomes {
        match outcome {
            Ok(result) => lanes.push(result?),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    }
    let measured = lanes.split_off(course.background);
    Ok(Finished {
        lanes: measured,
        background: lanes,
        series,
        usage,
    })
}

/// One thread from the barrier to its result.
fn work(
    index: usize,
    course: &Course<'_>,
    shared: &Shared,
    barrier: &Barrier,
    body: &Body<'_>,
) -> Outcome<LaneResult> {
    let _left = Left {
        shared,
        is_measured: index >= course.background,
    };
    let mut lane = Lane::new(index, course, shared);
    barrier.wait();
    lane.begin();
    let outcome = body(&mut lane);
    if outcome.is_err() {
        shared.phase.store(OVER, Ordering::Relaxed);
    }
    outcome.map(|()| lane.into_result())
}

/// Counts a measured thread out, even when it panics: background threads wait for that.
struct Left<'a> {
    shared: &'a Shared,
    is_measured: bool,
}

impl Drop for Left<'_> {
    fn drop(&mut self) {
        if self.is_measured {
            self.shared.measured_left.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

/// Looks at the cells until every thread has ended: phases, samples, the live line.
fn watch(
    course: &Course<'_>,
    shared: &Shared,
    ends: &Receiver<()>,
    series: &mut Series,
    observe: &mut dyn FnMut(&Tick),
) {
    let mut begun = Instant::now();
    let mut is_warming = !course.warm_up.is_zero();
    let mut stall_before = (course.stall)();
    let mut sample_at = SAMPLE_EVERY;
    loop {
        let wait = LOOK_EVERY.min(time_left(course, begun, is_warming));
        let is_end = ends.recv_timeout(wait) == Err(RecvTimeoutError::Disconnected);
        let mut elapsed = begun.elapsed();
        if is_warming && elapsed >= course.warm_up {
            // Only forward: a thread that failed has set the last phase.
            let _already_over = shared.phase.compare_exchange(
                WARMING,
                MEASURING,
                Ordering::Relaxed,
                Ordering::Relaxed,
            );
            is_warming = false;
            begun = Instant::now();
            elapsed = Duration::ZERO;
            stall_before = (course.stall)();
        }
        let is_late = course.duration.is_some_and(|end| elapsed >= end);
        if !is_warming && is_late {
            shared.phase.store(OVER, Ordering::Relaxed);
        }
        let ops = shared.cells[course.background..]
            .iter()
            .map(|cell| cell.0.load(Ordering::Relaxed))
            .sum();
        let is_sample = !is_warming && (elapsed >= sample_at || is_end);
        let stall = (course.stall)().saturating_sub(stall_before);
        if is_sample {
            series.end_interval(elapsed, ops, stall);
            sample_at += SAMPLE_EVERY;
        }
        observe(&Tick {
            elapsed,
            ops,
            ops_wanted: course
                .ops_per_lane
                .map(|ops| ops.saturating_mul(course.threads as u64)),
            duration: course.duration,
            stall,
            is_warming,
        });
        if is_end {
            return;
        }
    }
}

/// Time to the next change of phase.
fn time_left(course: &Course<'_>, begun: Instant, is_warming: bool) -> Duration {
    let end = if is_warming {
        Some(course.warm_up)
    } else {
        course.duration
    };
    // Once the end has passed, only the threads are waited for.
    let left = end.map(|end| end.saturating_sub(begun.elapsed()));
    left.filter(|left| !left.is_zero()).unwrap_or(LOOK_EVERY)
}

#[cfg(test)]
mod tests;
