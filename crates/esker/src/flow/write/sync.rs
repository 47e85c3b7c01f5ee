//! Concurrent syncs of the log share one: who comes while one runs waits for the next.
//!
//! Whoever was synced together writes again at about the same time. The first of them to be back
//! found nobody syncing, and so its own record alone was synced, while the others, who had to be
//! woken first, waited for the sync after that: four writers came to 2.3 records a sync. So it
//! waits for them, for some microseconds, and then it is 3.0 to 3.3. (Databases know it as commit
//! delay; docs/experiments/0007 has the figures.)

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use crate::base::types::error::{Error, Result};
use crate::base::types::ids::FileNumber;
use crate::env::fs::LogSync;
use crate::env::pool::Pool;
use crate::env::primitives::{Mutex, MutexGuard};
use crate::env::signal::Signal;

/// How long a waiter sleeps before it looks again by itself. The signal wakes it; this only
/// bounds the damage if a signal were ever missed.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// How long who is to sync waits for those that the last sync was for: about what the system takes
/// to wake three threads and they to write. Where it is in vain, the next one expects no more
/// than came.
const GATHER: Duration = Duration::from_micros(50);

/// A place in the log: a segment and an offset in it. Later segments have larger numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LogPosition {
    /// The segment.
    pub segment: FileNumber,
    /// Bytes from its beginning.
    pub offset: u64,
}

/// Knows how far the log is durable, and makes it durable further.
///
/// Any thread may call anything. The lock is never held over a sync. A segment is synced only
/// after every earlier one, so that what survives a power cut is a prefix of the log. One thread
/// at a time syncs: the system tells one caller of a failure, and lets the next one succeed
/// without the bytes that were lost.
#[derive(Default)]
pub struct SyncGroup {
    /// What the log's records point to: durable before they are.
    values: Option<Arc<dyn LogSync>>,
    state: Mutex<State>,
    finished: Signal,
}

/// Segments, oldest first, and what syncs each.
type Unsynced = Vec<(FileNumber, Arc<dyn LogSync>)>;

#[derive(Default)]
struct State {
    /// Segments with bytes that may not be durable, oldest first; the last one is live.
    unsynced: Unsynced,
    /// How far the live segment was written when last told.
    written: Option<LogPosition>,
    synced: Option<LogPosition>,
    is_syncing: bool,
    /// Writers who asked since a sync for writers began.
    arrived: usize,
    /// Writers that it was for.
    group: usize,
    /// The first failed sync. After it the page cache may have forgotten dirty pages, so a
    /// second try that succeeds would prove nothing (Rebello et al., ATC 2020).
    failed: Option<Error>,
}

impl SyncGroup {
    /// A group that makes `values` durable before each sync of the log: so whatever a durable
    /// record points to is durable as well.
    pub fn behind(values: Arc<dyn LogSync>) -> SyncGroup {
        SyncGroup {
            values: Some(values),
            ..SyncGroup::default()
        }
    }

    /// Tells of a new live segment.
    pub fn add_segment(&self, segment: FileNumber, syncer: Arc<dyn LogSync>) {
        let mut state = self.state();
        state.unsynced.push((segment, syncer));
        state.written = Some(LogPosition { segment, offset: 0 });
    }

    /// Tells that the live segment was written up to `position`.
    pub fn wrote(&self, position: LogPosition) {
        self.state().written = Some(position);
    }

    /// How much of `segment` is known to be durable, and every earlier segment with it; `None`
    /// when something of those may not be.
    #[inline]
    pub fn durable_in(&self, segment: FileNumber) -> Option<u64> {
        // One look for both: every write asks.
        let state = self.state();
        if let Some(synced) = state.synced
            && synced.segment == segment
        {
            return Some(synced.offset);
        }
        let oldest = state.unsynced.first();
        oldest
            .is_none_or(|(oldest, _)| *oldest >= segment)
            .then_some(0)
    }

    /// Whether everything up to `position` is known to be durable.
    pub fn is_durable(&self, position: LogPosition) -> bool {
        let state = self.state();
        // A segment that is not listed was synced when a later one was begun.
        let mut unsynced = state.unsynced.iter();
        let is_listed = unsynced.any(|(segment, _)| *segment <= position.segment);
        !is_listed || state.synced.is_some_and(|synced| synced >= position)
    }

    /// Returns when everything up to `position`, which was told to [`SyncGroup::wrote`], is
    /// durable. The caller who finds nobody syncing does the sync, for all that is written by
    /// then; the others wait for it. Errors: the first sync that failed, for ever.
    pub fn sync_through(&self, position: LogPosition, pool: &dyn Pool) -> Result<()> {
        let is_durable = |state: &State| state.synced.is_some_and(|synced| synced >= position);
        self.state().arrived += 1;
        if !self.take_turn(is_durable, pool)? {
            return Ok(());
        }
        self.gather(pool);
        let (segments, written) = {
            let mut state = self.state();
            state.group = std::mem::take(&mut state.arrived);
            (state.unsynced.clone(), state.written)
        };
        let through = written.map_or(position, |written| written.max(position));
        let synced = self.sync_each(&segments);
        self.end_turn(synced, through.segment, Some(through))
    }

    /// Makes every segment before the live one durable. Errors: the first sync that failed.
    pub fn sync_finished(&self, pool: &dyn Pool) -> Result<()> {
        let is_durable = |state: &State| state.unsynced.len() <= 1;
        if !self.take_turn(is_durable, pool)? {
            return Ok(());
        }
        let segments = self.state().unsynced.clone();
        let ((live, _), finished) = segments.split_last().expect("there are two or more");
        self.end_turn(self.sync_each(finished), *live, None)
    }

    /// Makes `values` durable, and nothing of the log.
    pub fn sync_values(&self, values: &dyn LogSync, pool: &dyn Pool) -> Result<()> {
        // In turn with the others: the system tells one caller of a failure.
        if !self.take_turn(|_| false, pool)? {
            return Ok(());
        }
        self.end_turn(values.sync(), FileNumber(0), None)
    }

    /// Makes the log durable if somebody waits for that: who has one turn after another would else
    /// take each before those that he wakes.
    pub fn sync_awaited(&self, pool: &dyn Pool) -> Result<()> {
        let is_awaited = {
            let state = self.state();
            state.arrived > 0 && state.synced < state.written
        };
        match is_awaited {
            true => self.sync_all(pool),
            false => Ok(()),
        }
    }

    /// Makes everything durable that was written so far, whichever segment is live.
    pub fn sync_all(&self, pool: &dyn Pool) -> Result<()> {
        let written = self.state().written;
        written.map_or(Ok(()), |position| self.sync_through(position, pool))
    }

    /// Waits until nobody syncs; then it is the caller's turn, unless `is_durable` holds by then.
    /// Says whether it is. Whoever got a turn ends it.
    fn take_turn(&self, is_durable: impl Fn(&State) -> bool, pool: &dyn Pool) -> Result<bool> {
        loop {
            let seen = self.finished.raised_count();
            {
                let mut state = self.state();
                if let Some(failed) = &state.failed {
                    return Err(failed.again());
                }
                if is_durable(&state) {
                    return Ok(false);
                }
                if !state.is_syncing {
                    state.is_syncing = true;
                    return Ok(true);
                }
            }
            pool.wait(&self.finished, seen, LOOK_AGAIN);
        }
    }

    /// Waits a little for as many writers as the last sync was for.
    fn gather(&self, pool: &dyn Pool) {
        pool.linger(GATHER, &|| {
            let state = self.state();
            state.arrived >= state.group
        });
    }

    /// Ends a turn: when it went well, everything before segment `live` is durable, and the log
    /// as far as `through`.
    fn end_turn(
        &self,
        result: Result<()>,
        live: FileNumber,
        through: Option<LogPosition>,
    ) -> Result<()> {
        let mut state = self.state();
        state.is_syncing = false;
        match &result {
            Ok(()) => {
                state.synced = state.synced.max(through);
                // The segment that was live stays: more may be written to it.
                state.unsynced.retain(|(segment, _)| *segment >= live);
            }
            Err(error) => state.failed = Some(error.again()),
        }
        drop(state);
        self.finished.raise();
        result
    }

    // The values first, and after the turn was taken: a record that is written by then has its
    // values in the page cache.
    fn sync_each(&self, segments: &[(FileNumber, Arc<dyn LogSync>)]) -> Result<()> {
        if let Some(values) = &self.values {
            values.sync()?;
        }
        segments.iter().try_for_each(|(_, syncer)| syncer.sync())
    }

    // Fields change together only in `end_turn`, which cannot panic between them.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(all(test, loom))]
mod loom_models;
#[cfg(all(test, not(loom)))]
mod tests;
