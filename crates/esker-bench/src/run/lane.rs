//! One thread at work: may it go on, and what has it done.

use std::sync::atomic::{AtomicU8, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::measure::latency::Latencies;
use crate::measure::pace::Pace;
use crate::run::course::{Course, LaneMoment, LaneResult};

/// The phases of a run, in order.
pub(crate) const WARMING: u8 = 0;
pub(crate) const MEASURING: u8 = 1;
pub(crate) const OVER: u8 = 2;

/// Numbers that each thread keeps for its work.
pub const TALLIES: usize = 8;

/// What all threads of a run share.
///
/// All loads and stores are relaxed: the cells carry nothing but themselves, and whether a thread
/// sees a change one operation earlier or later does not matter.
pub(crate) struct Shared {
    /// Where the run stands.
    pub(crate) phase: AtomicU8,
    /// Measured threads that still work.
    pub(crate) measured_left: AtomicUsize,
    /// What each thread has finished.
    pub(crate) cells: Vec<Cell>,
}

/// Operations finished by one thread, alone on its cache lines.
#[repr(align(128))]
#[derive(Default)]
pub(crate) struct Cell(pub(crate) AtomicU64);

/// One thread at work.
///
/// The work is a loop `while lane.go() { …; lane.finish(kind, 1); }`.
pub struct Lane<'a> {
    index: usize,
    is_background: bool,
    course: &'a Course<'a>,
    shared: &'a Shared,
    is_warming: bool,
    limit: u64,
    begun: u64,
    done: u64,
    bytes: u64,
    started: Instant,
    /// From when the latency of the present operation counts.
    from: Instant,
    pace: Option<Pace>,
    latencies: Vec<Latencies>,
    told_ops: u64,
    told_at: Instant,
    tell_at: u64,
    message: String,
    tallies: [u64; TALLIES],
}

impl<'a> Lane<'a> {
    /// Lane `index` of a run that begins at `begun_at`.
    pub(crate) fn new(index: usize, course: &'a Course<'a>, shared: &'a Shared) -> Lane<'a> {
        let is_background = index < course.background;
        let now = course.clock.now();
        Lane {
            index,
            is_background,
            course,
            shared,
            is_warming: !course.warm_up.is_zero(),
            limit: u64::MAX,
            begun: 0,
            done: 0,
            bytes: 0,
            started: now,
            from: now,
            pace: None,
            latencies: Vec::new(),
            told_ops: 0,
            told_at: now,
            tell_at: course
                .interval
                .map_or(u64::MAX, |interval| interval.ops.max(1)),
            message: String::new(),
            tallies: [0; TALLIES],
        }
    }

    /// The clock starts here; all threads are ready.
    pub(crate) fn begin(&mut self) {
        let now = self.course.clock.now();
        (self.started, self.from, self.told_at) = (now, now, now);
        let bound = self.course.ops_per_lane;
        if !self.is_background {
            if !self.is_warming {
                self.limit = bound.unwrap_or(u64::MAX);
            }
            let (index, count) = (self.index - self.course.background, self.course.threads);
            let rate = self.course.target_rate;
            self.pace = rate.map(|rate| Pace::new(now, rate, index, count));
        }
    }

    /// Which thread this is: background ones first, then measured ones.
    pub fn index(&self) -> usize {
        self.index
    }

    /// Whether this thread only keeps the engine busy while others are measured.
    pub fn is_background(&self) -> bool {
        self.is_background
    }

    /// Operations finished so far, those of the warm-up left out.
    pub fn done(&self) -> u64 {
        self.done
    }

    /// Time since the measured part began.
    pub fn elapsed(&self) -> Duration {
        let now = self.course.clock.now();
        now.saturating_duration_since(self.started)
    }

    /// When the present operation was due, in an open loop.
    pub fn due(&self) -> Option<Instant> {
        self.pace.as_ref().map(|_| self.from)
    }

    /// Whether another operation is to be started. In an open loop it returns when that is due.
    #[inline]
    pub fn go(&mut self) -> bool {
        match self.shared.phase.load(Ordering::Relaxed) {
            WARMING => {}
            MEASURING if self.is_warming => self.begin_measuring(),
            MEASURING => {}
            _ => return false,
        }
        if self.begun >= self.limit {
            return false;
        }
        if self.is_background {
            return self.shared.measured_left.load(Ordering::Relaxed) > 0;
        }
        self.begun += 1;
        match &mut self.pace {
            None => true,
            Some(pace) => {
                let due = pace.next_due();
                self.wait(due)
            }
        }
    }

    /// Counts `ops` operations of one kind as finished, which together took the time since the
    /// last ones, or in an open loop the time since they were due.
    #[inline]
    pub fn finish(&mut self, kind: usize, ops: u64) {
        self.done += ops;
        self.shared.cells[self.index]
            .0
            .store(self.done, Ordering::Relaxed);
        if self.course.is_timed {
            self.time(kind);
        }
        if self.done >= self.tell_at {
            self.tell();
        }
    }

    /// Counts bytes, for throughput in bytes.
    #[inline]
    pub fn add_bytes(&mut self, bytes: u64) {
        self.bytes += bytes;
    }

    /// Leaves a message, in place of any earlier one.
    pub fn say(&mut self, message: impl Into<String>) {
        self.message = message.into();
    }

    /// Adds to a number under an index of the work's own choice, below [`TALLIES`]. What a
    /// warm-up added is forgotten with the rest of it.
    #[inline]
    pub fn count(&mut self, index: usize, more: u64) {
        self.tallies[index] += more;
    }

    /// Such a number.
    pub fn counted(&self, index: usize) -> u64 {
        self.tallies[index]
    }

    /// The time up to here belongs to no operation: the next one begins now, unless it is due at
    /// a time of its own.
    #[inline]
    pub fn skip(&mut self) {
        self.from = self.course.clock.now();
    }

    /// Forgets what was done so far and starts the clock anew: what came before was preparation.
    pub fn restart(&mut self) {
        self.begin_measuring();
        self.limit = self.course.ops_per_lane.unwrap_or(u64::MAX);
    }

    pub(crate) fn into_result(self) -> LaneResult {
        LaneResult {
            lane: self.index,
            ops: self.done,
            bytes: self.bytes,
            started: self.started,
            ended: self.course.clock.now(),
            latencies: self.latencies,
            message: self.message,
            tallies: self.tallies.to_vec(),
        }
    }

    #[cold]
    fn begin_measuring(&mut self) {
        self.is_warming = false;
        let bound = self.course.ops_per_lane;
        self.limit = bound.filter(|_| !self.is_background).unwrap_or(u64::MAX);
        (self.begun, self.done, self.bytes, self.told_ops) = (0, 0, 0, 0);
        self.tell_at = self
            .course
            .interval
            .map_or(u64::MAX, |interval| interval.ops.max(1));
        self.shared.cells[self.index].0.store(0, Ordering::Relaxed);
        self.tallies = [0; TALLIES];
        self.latencies.iter_mut().for_each(Latencies::clear);
        let now = self.course.clock.now();
        (self.started, self.from, self.told_at) = (now, now, now);
    }

    // An operation that would be due after the end is not started.
    fn wait(&mut self, due: Instant) -> bool {
        let end = self.course.duration;
        if end.is_some_and(|end| due > self.started + end) {
            return false;
        }
        self.course.clock.wait_until(due);
        self.from = due;
        true
    }

    fn time(&mut self, kind: usize) {
        if self.latencies.len() <= kind {
            self.latencies.resize_with(kind + 1, Latencies::new);
        }
        let now = self.course.clock.now();
        self.latencies[kind].add(now.saturating_duration_since(self.from));
        self.from = now;
    }

    #[cold]
    fn tell(&mut self) {
        let Some(interval) = self.course.interval else {
            return;
        };
        self.tell_at = self.done + interval.ops.max(1);
        let now = self.course.clock.now();
        (interval.tell)(&LaneMoment {
            lane: self.index,
            ops: self.done,
            ops_since: self.done - self.told_ops,
            elapsed: now.saturating_duration_since(self.started),
            elapsed_since: now.saturating_duration_since(self.told_at),
        });
        (self.told_ops, self.told_at) = (self.done, now);
    }
}
