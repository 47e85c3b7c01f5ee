//! Makes values durable: those that the log may point to, and those of one keyspace alone.
//!
//! Nothing of an unlogged keyspace is in the log, so its own segments need not be durable before
//! the log is, only before the files that point to them. With a thousand of them, each sync of the
//! log would else be a thousand.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::base::types::error::Result;
use crate::base::types::ids::{FileNumber, KeyspaceId};
use crate::env::fs::LogSync;
use crate::flow::values::due_syncs::OWN_SYNCED_MAX;
use crate::flow::values::segments::trim;
use crate::flow::values::value_log::ValueLog;

/// Ends of segments that one sync gives back: each takes milliseconds, for which writers wait.
const TRIMMED_MAX: usize = 4;

/// Makes durable whatever the log may point to that was written before the call, and the names of
/// new segments. One thread at a time: `flow/write/sync` takes care of that, and of never trying
/// again after a failure.
impl LogSync for ValueLog {
    fn sync(&self) -> Result<()> {
        sync(self, &[])
    }
}

/// The same, and beside it what was written to some own segments before this was made: a few of
/// them by each sync, and no more bytes than start a flush of values, so that those who wait for
/// the next one wait for no more.
///
/// What is written to meanwhile comes into no list again: so there is an end, whoever writes.
pub struct ValuesOf {
    log: Arc<ValueLog>,
    left: Mutex<Vec<FileNumber>>,
}

impl ValuesOf {
    /// The own segments of these keyspaces.
    pub fn new(log: Arc<ValueLog>, keyspaces: &BTreeSet<KeyspaceId>) -> ValuesOf {
        let left = log.state().due_own(keyspaces);
        ValuesOf {
            log,
            left: Mutex::new(left),
        }
    }

    /// All own segments that have ended: behind it their files are closed.
    pub fn ended(log: Arc<ValueLog>) -> ValuesOf {
        let left = log.state().due_ended();
        ValuesOf {
            log,
            left: Mutex::new(left),
        }
    }

    /// Whether some are left for another sync.
    pub fn is_more(&self) -> bool {
        !self.left().is_empty()
    }

    fn take_next(&self) -> Vec<FileNumber> {
        let bytes_max = self.log.watch().flush_bytes();
        let (mut left, state) = (self.left(), self.log.state());
        let (mut next, mut bytes) = (Vec::new(), 0);
        while let Some(number) = left.pop() {
            bytes += state.dirty_bytes(number);
            if next.len() == OWN_SYNCED_MAX || (bytes > bytes_max && !next.is_empty()) {
                left.push(number);
                break;
            }
            next.push(number);
        }
        next
    }

    // Each change is whole before anything in it could panic.
    fn left(&self) -> MutexGuard<'_, Vec<FileNumber>> {
        self.left.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl LogSync for ValuesOf {
    fn sync(&self) -> Result<()> {
        sync(&self.log, &self.take_next())
    }
}

fn sync(log: &ValueLog, own: &[FileNumber]) -> Result<()> {
    // Before the syncs, which then make the shorter files durable as well.
    let ended = {
        let mut state = log.state();
        let count = state.ended.len().min(TRIMMED_MAX);
        state.ended.drain(..count).collect()
    };
    trim(ended);
    let dirty = log.state().take_dirty(own, log.watch().flush_bytes());
    let mut is_any_new = false;
    for (_, syncer, is_named) in &dirty {
        syncer.sync()?;
        is_any_new |= !is_named;
    }
    if is_any_new {
        log.parts.fs.sync_dir(&log.parts.dir)?;
    }
    let mut state = log.state();
    for (number, _, _) in dirty {
        state.synced(number);
    }
    Ok(())
}
