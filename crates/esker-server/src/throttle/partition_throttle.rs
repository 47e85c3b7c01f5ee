//! What one partition was asked for within the second, and what becomes of the next call.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::throttle::form::{Denied, Throttle};
use crate::throttle::table_limits::TableLimits;

/// Seconds of its rate that reads may be ahead at most: one long answer must not shut a partition
/// for minutes.
const AHEAD_S_MAX: u64 = 10;

const NANOS_PER_S: u128 = 1_000_000_000;

/// A call of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arriving {
    /// It reads.
    Read,
    /// It writes, with arguments of so many bytes.
    Write(usize),
}

/// What becomes of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is done.
    Now,
    /// It is done after so long.
    Later(Duration),
    /// It is refused after so long, for there were too many.
    Rejected(Duration),
    /// Nobody asks for anything at the moment.
    Denied(Denied),
}

/// What a partition was asked for. Any thread may call; the lock is held over a few sums.
#[derive(Debug, Default)]
pub struct PartitionThrottle(Mutex<Asked>);

#[derive(Debug, Default)]
struct Asked {
    write_count: Window,
    write_bytes: Window,
    read_count: Window,
    read_bytes: Bucket,
}

impl PartitionThrottle {
    /// Counts a call at `now`, since any fixed moment, and says what becomes of it.
    pub fn admit(&self, limits: &TableLimits, call: Arriving, now: Duration) -> Verdict {
        let is_denied = |reads, writes| match call {
            Arriving::Read => reads,
            Arriving::Write(_) => writes,
        };
        if let Some(denial) = limits.denial
            && is_denied(denial.reads, denial.writes)
        {
            return Verdict::Denied(denial.how);
        }
        let mut asked = self.lock();
        match call {
            Arriving::Read => {
                let verdict = asked.read_count.admit(limits.read_count, 1, now);
                match limits.read_bytes {
                    Some(_) if !asked.read_bytes.has_any(now) => {
                        stricter(verdict, Verdict::Rejected(Duration::ZERO))
                    }
                    _ => verdict,
                }
            }
            Arriving::Write(bytes) => {
                let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
                let counted = asked.write_count.admit(limits.write_count, 1, now);
                match counted {
                    Verdict::Rejected(_) => counted,
                    _ => {
                        let sized = asked.write_bytes.admit(limits.write_bytes, bytes, now);
                        stricter(counted, sized)
                    }
                }
            }
        }
    }

    /// A read has brought so many bytes, of which so many a second may be read.
    pub fn have_read(&self, rate: u64, bytes: usize, now: Duration) {
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        self.lock().read_bytes.take(rate, bytes, now);
    }

    fn lock(&self) -> MutexGuard<'_, Asked> {
        // Sums are whole whatever a thread that panicked was about to do.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn stricter(one: Verdict, other: Verdict) -> Verdict {
    match (one, other) {
        (Verdict::Now, other) => other,
        (Verdict::Later(one), Verdict::Later(other)) => Verdict::Later(one.max(other)),
        (Verdict::Later(_), other @ Verdict::Rejected(_)) => other,
        (one, _) => one,
    }
}

/// Units of the second that has begun; another second begins with none.
#[derive(Debug, Default)]
struct Window {
    second: u64,
    units: u64,
}

impl Window {
    /// What was refused does not count, so a table that is asked for too much is still asked for
    /// as much as it takes.
    fn admit(&mut self, throttle: Throttle, units: u64, now: Duration) -> Verdict {
        if throttle == Throttle::default() {
            return Verdict::Now;
        }
        // A call that looked at the clock before another one may come behind it.
        if self.second < now.as_secs() {
            *self = Window {
                second: now.as_secs(),
                units: 0,
            };
        }
        let with_it = self.units.saturating_add(units);
        if let Some(reject) = throttle.reject
            && with_it > reject.units
        {
            return Verdict::Rejected(reject.wait);
        }
        self.units = with_it;
        match throttle.delay {
            Some(delay) if with_it > delay.units => Verdict::Later(delay.wait),
            _ => Verdict::Now,
        }
    }
}

/// Bytes that may be read: they come at a rate, no more than a second's are kept, and what was read
/// may be more than there was.
#[derive(Debug, Default)]
struct Bucket {
    /// When there was nothing; the bucket has what has come since.
    empty_at: Duration,
}

impl Bucket {
    fn has_any(&mut self, now: Duration) -> bool {
        self.settle(now);
        self.empty_at < now
    }

    fn take(&mut self, rate: u64, bytes: u64, now: Duration) {
        self.settle(now);
        self.empty_at = self.empty_at.saturating_add(time_of(rate, bytes));
        self.empty_at = self.empty_at.min(now + Duration::from_secs(AHEAD_S_MAX));
    }

    // No more is there than comes in a second.
    fn settle(&mut self, now: Duration) {
        let full = now.saturating_sub(Duration::from_secs(1));
        self.empty_at = self.empty_at.max(full);
    }
}

/// How long so many bytes take to come.
fn time_of(rate: u64, bytes: u64) -> Duration {
    let nanos = u128::from(bytes) * NANOS_PER_S / u128::from(rate.max(1));
    Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests;
