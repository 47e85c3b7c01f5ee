//! What is kept of operations beside a histogram: sums over time, or each one.

use std::time::Duration;

use crate::scenario::ycsb::measurement_type::Kept;

/// When an operation ended.
#[derive(Clone, Copy, Debug)]
pub struct Moment {
    /// What is kept of it.
    pub kept: Kept,
    /// Since work began.
    pub since: Duration,
    /// Milliseconds since 1970.
    pub unix_ms: u64,
}

/// Count and sum of an interval, in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Interval {
    /// Operations that ended in it.
    pub count: u64,
    /// Their microseconds.
    pub sum_us: u64,
}

/// An operation by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Single {
    /// When it ended, in milliseconds since 1970.
    pub unix_ms: u64,
    /// What it took, in microseconds.
    pub took_us: u64,
}

/// What is kept of operations under one name.
#[derive(Clone, Debug, Default)]
pub struct Details {
    /// Every interval from the start, those in which nothing ended included.
    pub intervals: Vec<Interval>,
    /// Each operation, thread by thread.
    pub singles: Vec<Single>,
}

/// More intervals than this are not kept: a week of tenths of a second.
const INTERVALS_MAX: u128 = 7 * 24 * 36_000;

impl Details {
    /// Keeps an operation.
    pub fn add(&mut self, moment: &Moment, took: Duration) {
        let took_us = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        match moment.kept {
            Kept::Nothing => {}
            Kept::Each => self.singles.push(Single {
                unix_ms: moment.unix_ms,
                took_us,
            }),
            Kept::Intervals(length) => {
                let number = moment.since.as_nanos() / length.as_nanos().max(1);
                let place = usize::try_from(number.min(INTERVALS_MAX)).expect("some millions");
                if self.intervals.len() <= place {
                    self.intervals.resize(place + 1, Interval::default());
                }
                let interval = &mut self.intervals[place];
                interval.count += 1;
                interval.sum_us = interval.sum_us.saturating_add(took_us);
            }
        }
    }

    /// Adds what another thread kept.
    pub fn merge(&mut self, other: &Details) {
        let len = self.intervals.len().max(other.intervals.len());
        self.intervals.resize(len, Interval::default());
        for (all, more) in self.intervals.iter_mut().zip(&other.intervals) {
            all.count += more.count;
            all.sum_us = all.sum_us.saturating_add(more.sum_us);
        }
        self.singles.extend_from_slice(&other.singles);
    }
}
