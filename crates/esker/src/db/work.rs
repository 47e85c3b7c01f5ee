//! What runs in the background now: which files are busy, how many jobs, what failed.

use std::collections::{BTreeMap, BTreeSet, HashSet, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::base::types::error::{Error, ErrorKind, Result};
use crate::base::types::ids::{FileNumber, KeyspaceId};
use crate::base::types::seqno::SeqNo;
use crate::db::left_out::LeftOut;
use crate::db::looks::AllLooks;
use crate::db::rest::Rest;
use crate::env::pool::Pool;
use crate::env::signal::Signal;
use crate::flow::compact::plan::Claim;

/// How long a waiter sleeps before it looks again by itself: the signal wakes it, so this only
/// bounds what a change that raises none may cost.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// Failures that are remembered for `stats`.
const FAILURES_MAX: usize = 16;

/// Weight of the newest measurement in the running mean of compaction speed: about the last
/// five jobs count.
const DIGEST_WEIGHT: f64 = 0.2;

/// Speed assumed until the first compaction was measured, in bytes per second.
const DIGEST_FIRST: f64 = 64e6;

/// The books of background work. Any thread may call anything.
#[derive(Debug)]
pub struct Work {
    state: Mutex<WorkState>,
    /// Memtables with writes behind this number are not flushed for now; `u64::MAX` is none.
    flush_barrier: AtomicU64,
    /// Raised whenever a job ended.
    pub ended: Signal,
}

/// What the lock guards.
#[derive(Debug)]
pub struct WorkState {
    /// Keyspaces with a flush under way.
    pub flushing: HashSet<KeyspaceId>,
    /// Flushes that failed since the database was opened.
    pub failed_flush_count: u64,
    /// Why the latest flush failed, if it was for want of files.
    pub flush_shortage: Option<Error>,
    /// Files that a running compaction reads, or that are left out for now.
    pub busy: HashSet<FileNumber>,
    /// Where running compactions may write.
    pub claims: Vec<Claim>,
    /// Jobs spawned and not ended, of every kind.
    pub job_count: usize,
    /// Those of them that compact, but for those within level 0.
    pub compaction_count: usize,
    /// Whether a dictionary is being trained.
    pub is_training: bool,
    /// Whether one is to be trained as soon as compactions leave the memory for it: no second one
    /// begins until then.
    pub is_training_awaited: bool,
    /// Whether a merge within level 0 runs.
    pub is_intra_l0_running: bool,
    /// Segments of the value log with values that cannot be read: they are not collected.
    pub stuck_values: BTreeSet<FileNumber>,
    /// Manual compactions that want the background for themselves.
    pub manual_count: usize,
    /// Files over which a compaction failed.
    pub left_out: LeftOut,
    /// Whether a compaction ran out of space, and nobody has looked at the disk since. None
    /// begins until then: tried again at once, it would fail again, for ever.
    pub is_short_of_space: bool,
    /// Whether the next segment is being prepared.
    pub is_preparing: bool,
    /// Whether large values are being made durable.
    pub is_flushing_values: bool,
    /// Whether somebody asked for that while it was under way.
    pub is_flush_wanted: bool,
    /// Where something may be due.
    pub looks: AllLooks,
    /// Who looks whether the database is at rest, and whether the limits of rest hold.
    pub rest: Rest,
    /// Whether somebody gathers the whole database as of one moment.
    pub is_barrier_held: bool,
    /// Keyspaces that are slowed down, and since when; for who listens.
    pub slowed: BTreeMap<KeyspaceId, Duration>,
    /// How closing ended, once it did.
    pub closed: Option<Result<()>>,
    /// The latest failures, oldest first.
    pub failures: VecDeque<String>,
    /// Bytes per second that compaction digests.
    pub digest_bytes_s: f64,
}

impl Default for Work {
    fn default() -> Work {
        let state = WorkState {
            flushing: HashSet::new(),
            failed_flush_count: 0,
            flush_shortage: None,
            busy: HashSet::new(),
            claims: Vec::new(),
            job_count: 0,
            compaction_count: 0,
            is_training: false,
            is_training_awaited: false,
            is_intra_l0_running: false,
            stuck_values: BTreeSet::new(),
            manual_count: 0,
            left_out: LeftOut::default(),
            is_short_of_space: false,
            is_preparing: false,
            is_flushing_values: false,
            is_flush_wanted: false,
            looks: AllLooks::default(),
            rest: Rest::default(),
            is_barrier_held: false,
            slowed: BTreeMap::new(),
            closed: None,
            failures: VecDeque::new(),
            digest_bytes_s: DIGEST_FIRST,
        };
        Work {
            state: Mutex::new(state),
            flush_barrier: AtomicU64::new(u64::MAX),
            ended: Signal::default(),
        }
    }
}

impl WorkState {
    /// Frees the files of a compaction that ended at `now`, but for those over which it failed,
    /// which are left out; says after how long they are to be tried again. Lack of space is no
    /// such failure, nor is giving way, nor a fault, which ends all work.
    pub fn note_compacted(
        &mut self,
        inputs: &[FileNumber],
        result: &Result<()>,
        now: Duration,
    ) -> Option<Duration> {
        self.free(inputs);
        let Err(error) = result else {
            self.left_out.forget(inputs);
            return None;
        };
        match error.kind() {
            ErrorKind::OutOfSpace => self.is_short_of_space = true,
            ErrorKind::Closed | ErrorKind::Busy | ErrorKind::Faulted => {}
            _ => {
                let (blamed, delay) = self.left_out.note(inputs, error, now);
                self.busy.extend(blamed);
                return delay;
            }
        }
        None
    }

    /// Frees the files of a compaction.
    pub fn free(&mut self, inputs: &[FileNumber]) {
        for number in inputs {
            self.busy.remove(number);
        }
    }

    /// Has files tried again that were left out.
    pub fn try_again(&mut self, taken: Vec<FileNumber>) {
        self.free(&taken);
        self.looks.note_all();
    }

    /// Whether no compaction of any kind is under way.
    pub fn is_at_rest(&self) -> bool {
        self.compaction_count == 0 && !self.is_intra_l0_running
    }
}

impl Work {
    /// The books. Never held over I/O.
    pub fn state(&self) -> MutexGuard<'_, WorkState> {
        // Each job changes its own entries only, so a panic of one leaves the others' whole.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks for something that jobs bring about: now, and again whenever one ended, until it is
    /// there. Errors: those of `look`, which end the wait.
    pub fn wait_for<T, E>(
        &self,
        pool: &dyn Pool,
        mut look: impl FnMut() -> std::result::Result<Option<T>, E>,
    ) -> std::result::Result<T, E> {
        loop {
            // Counted before the look: a job that ends during it is not slept through.
            let seen = self.ended.raised_count();
            if let Some(found) = look()? {
                return Ok(found);
            }
            pool.wait(&self.ended, seen, LOOK_AGAIN);
        }
    }

    /// Holds memtables back from being flushed that have writes behind `last`; `None` lets all
    /// of them go again.
    pub fn set_flush_barrier(&self, last: Option<SeqNo>) {
        let barrier = last.map_or(u64::MAX, SeqNo::get);
        // Release pairs with the Acquire below: who sees a memtable that was sealed after this
        // call sees the barrier too, if it looks at the memtable first.
        self.flush_barrier.store(barrier, Ordering::Release);
    }

    /// Whether a memtable whose last write is `last` may be flushed now.
    pub fn may_flush(&self, last: SeqNo) -> bool {
        last.get() <= self.flush_barrier.load(Ordering::Acquire)
    }

    /// Remembers a failure for `stats`.
    pub fn note_failure(&self, doing: &str, error: &Error) {
        let mut state = self.state();
        if state.failures.len() == FAILURES_MAX {
            state.failures.pop_front();
        }
        state.failures.push_back(format!("{doing}: {error}"));
    }

    /// Counts a finished compaction into the speed.
    pub fn note_digested(&self, bytes: u64, took: Duration) {
        if took.is_zero() {
            return;
        }
        let speed = bytes as f64 / took.as_secs_f64();
        let mut state = self.state();
        state.digest_bytes_s += (speed - state.digest_bytes_s) * DIGEST_WEIGHT;
    }
}
