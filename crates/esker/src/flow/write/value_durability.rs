//! Makes large values durable before a log or a file that points to them is.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::base::types::error::{ErrorKind, Result};
use crate::base::types::ids::KeyspaceId;
use crate::flow::values::value_sync::ValuesOf;
use crate::flow::write::commit::Committer;

impl Committer {
    /// Makes every value durable that the log may point to so far.
    pub fn sync_values(&self) -> Result<()> {
        self.sync_values_of(&BTreeSet::new())
    }

    /// The same, and those that lie in the own segments of these keyspaces.
    pub fn sync_values_of(&self, keyspaces: &BTreeSet<KeyspaceId>) -> Result<()> {
        self.sync_by_turns(&ValuesOf::new(Arc::clone(&self.values), keyspaces))
    }

    /// The same, and those in all own segments that have ended, which are closed by that.
    pub fn sync_ended_values(&self) -> Result<()> {
        self.sync_by_turns(&ValuesOf::ended(Arc::clone(&self.values)))
    }

    /// Closes own segments that have ended, or where there are none ends those that are live, and
    /// closes them.
    pub fn close_own_segments(&self) -> Result<()> {
        if !self.values.has_ended() {
            self.values.seal_all_own();
        }
        self.sync_ended_values()
    }

    /// Runs `write`, which begins segments or files. Where so many own segments have ended that
    /// they are due they are closed first; and where it may open no more files some are, and it is
    /// run once more.
    pub fn closing_own_segments<T>(&self, mut write: impl FnMut() -> Result<T>) -> Result<T> {
        if self.values.has_many_ended() {
            self.sync_ended_values()?;
        }
        match write() {
            Err(error) if error.kind() == ErrorKind::OutOfFiles => {
                // Also where there was none: another thread may have closed some meanwhile.
                self.close_own_segments()?;
                write()
            }
            written => written,
        }
    }

    fn sync_by_turns(&self, values: &ValuesOf) -> Result<()> {
        // Outside of a turn: there may be many of them.
        self.values.trim_ended();
        let pool = &*self.env.pool;
        let mut synced = self.sync.sync_values(values, pool);
        // Writers between: a flush of many keyspaces would have all of them wait for it.
        while synced.is_ok() && values.is_more() {
            let awaited = self.sync.sync_awaited(pool);
            synced = awaited.and_then(|()| self.sync.sync_values(values, pool));
        }
        synced.map_err(|error| self.sync_failed(error))
    }
}
