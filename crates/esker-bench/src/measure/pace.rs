//! When each operation of an open loop is due, whatever the earlier ones took.

use std::time::{Duration, Instant};

/// Threads do not wake up more exactly than about this; the rest of a wait is spent spinning.
const SPIN: Duration = Duration::from_micros(80);

/// The timetable of one thread among several that together start `rate` operations a second.
///
/// Latency is told from the moment at which an operation was due. A stall then delays everything
/// that was due meanwhile, as it would for users who do not wait for one another; a closed loop
/// hides that, because it stops asking while the engine stalls.
#[derive(Clone, Debug)]
pub struct Pace {
    begun: Instant,
    first_s: f64,
    gap_s: f64,
    started: u64,
}

impl Pace {
    /// The timetable of thread `index` of `thread_count`, from `begun` on. `rate` is in
    /// operations per second of all threads together, and is positive.
    pub fn new(begun: Instant, rate: f64, index: usize, thread_count: usize) -> Pace {
        assert!(rate > 0.0, "a rate of nothing is no timetable");
        assert!(index < thread_count);
        Pace {
            begun,
            // Threads take turns instead of all starting at once.
            first_s: index as f64 / rate,
            gap_s: thread_count as f64 / rate,
            started: 0,
        }
    }

    /// When the next operation is due.
    pub fn next_due(&mut self) -> Instant {
        let due_s = self.first_s + self.gap_s * self.started as f64;
        self.started += 1;
        self.begun + Duration::from_secs_f64(due_s)
    }
}

/// What is to be done until something is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rest {
    Over,
    Spin,
    Park(Duration),
}

impl Rest {
    /// That of an operation that is due in so long; nothing if it is overdue.
    fn of(left: Duration) -> Rest {
        match left.checked_sub(SPIN) {
            _ if left.is_zero() => Rest::Over,
            Some(rest) if !rest.is_zero() => Rest::Park(rest),
            _ => Rest::Spin,
        }
    }
}

/// Returns at `due`; at once if that has passed.
pub fn wait_until(due: Instant) {
    loop {
        match Rest::of(due.saturating_duration_since(Instant::now())) {
            Rest::Over => return,
            Rest::Park(rest) => std::thread::park_timeout(rest),
            Rest::Spin => std::hint::spin_loop(),
        }
    }
}

#[cfg(test)]
mod tests;
