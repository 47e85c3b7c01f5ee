//! Concurrent syncs of the log share one: who comes while one runs waits for the next.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::base::types::error::{Error, Result};
use crate::base::types::ids::FileNumber;
use crate::env::fs::LogSync;
use crate::env::pool::Pool;
use crate::env::signal::Signal;

/// How long a waiter sleeps before it looks again by itself. The signal wakes it; this only
/// bounds the damage if a signal were ever missed.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

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
/// after every earlier one, so that what survives a power cut is a prefix of the log.
#[derive(Default)]
pub struct SyncGroup {
    state: Mutex<State>,
    finished: Signal,
}

#[derive(Default)]
struct State {
    /// Segments with bytes that may not be durable, oldest first; the last one is live.
    unsynced: Vec<(FileNumber, Arc<dyn LogSync>)>,
    /// How far the live segment was written when last told.
    written: Option<LogPosition>,
    synced: Option<LogPosition>,
    is_syncing: bool,
    /// The first failed sync. After it the page cache may have forgotten dirty pages, so a
    /// second try that succeeds would prove nothing (Rebello et al., ATC 2020).
    failed: Option<Error>,
}

impl SyncGroup {
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

    /// How far the log is known to be durable.
    pub fn synced(&self) -> Option<LogPosition> {
        self.state().synced
    }

    /// Whether every segment before `segment` is known to be durable.
    pub fn is_all_durable_before(&self, segment: FileNumber) -> bool {
        self.state()
            .unsynced
            .first()
            .is_none_or(|(oldest, _)| *oldest >= segment)
    }

    /// Returns when everything up to `position` is durable. The caller who finds nobody syncing
    /// does the sync, for all that is written by then; the others wait for it.
    pub fn sync_through(&self, position: LogPosition, pool: &dyn Pool) -> Result<()> {
        loop {
            let seen = self.finished.raised_count();
            let work = {
                let mut state = self.state();
                if let Some(failed) = &state.failed {
                    return Err(failed.again());
                }
                if state.synced.is_some_and(|synced| synced >= position) {
                    return Ok(());
                }
                if state.is_syncing {
                    None
                } else {
                    state.is_syncing = true;
                    Some((state.unsynced.clone(), state.written.unwrap_or(position)))
                }
            };
            match work {
                Some((segments, through)) => {
                    let result = segments.iter().try_for_each(|(_, syncer)| syncer.sync());
                    self.finish(result.map(|()| through));
                }
                None => {
                    pool.wait(&self.finished, seen, LOOK_AGAIN);
                }
            }
        }
    }

    /// Makes every segment before the live one durable.
    pub fn sync_finished(&self) -> Result<()> {
        let finished = {
            let state = self.state();
            let count = state.unsynced.len().saturating_sub(1);
            state
                .unsynced
                .iter()
                .take(count)
                .cloned()
                .collect::<Vec<_>>()
        };
        for (segment, syncer) in finished {
            if let Err(error) = syncer.sync() {
                self.state().failed = Some(error.again());
                return Err(error);
            }
            self.state()
                .unsynced
                .retain(|(number, _)| *number != segment);
        }
        Ok(())
    }

    /// Makes everything durable that was written so far, whichever segment is live.
    pub fn sync_all(&self, pool: &dyn Pool) -> Result<()> {
        let written = self.state().written;
        written.map_or(Ok(()), |position| self.sync_through(position, pool))
    }

    fn finish(&self, result: Result<LogPosition>) {
        let mut state = self.state();
        state.is_syncing = false;
        match result {
            Ok(position) => {
                state.synced = state.synced.max(Some(position));
                // The segment that was live stays: more may be written to it.
                state
                    .unsynced
                    .retain(|(segment, _)| *segment >= position.segment);
            }
            Err(error) => state.failed = Some(error),
        }
        drop(state);
        self.finished.raise();
    }

    // Fields change together only in `finish`, which cannot panic between them.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;
