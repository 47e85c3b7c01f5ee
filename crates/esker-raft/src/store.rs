//! A group's log as `raft` reads it: the cache, and below it the shared log.

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use raft::eraftpb::{ConfState, Entry, HardState as RaftHardState, Snapshot};
use raft::{GetEntriesContext, RaftState, Storage, StorageError};

use crate::cache::EntryCache;
use crate::ids::{GroupId, Point, ReplicaId, SaveNumber};
use crate::image::ImageDesk;
use crate::log::{LogRead, ReadError};

/// What `raft` sees of the log of one group.
pub(crate) struct GroupStore {
    pub(crate) group: GroupId,
    pub(crate) log: Arc<dyn LogRead>,
    pub(crate) cache: EntryCache,
    pub(crate) compacted: Point,
    pub(crate) last: Point,
    /// What `raft` begins with; it keeps its own copy afterwards.
    pub(crate) initial: (RaftHardState, ConfState),
    pub(crate) desk: RefCell<ImageDesk>,
    /// Something that should be in the log could not be read.
    pub(crate) is_damaged: Cell<bool>,
}

impl GroupStore {
    /// Takes entries that are in save `number`.
    pub(crate) fn append(&mut self, number: SaveNumber, entries: &[Entry]) {
        if let Some(entry) = entries.last() {
            self.cache.append(number, entries);
            self.last = Point {
                index: entry.index,
                term: entry.term,
            };
        }
    }

    /// The log begins anew behind `point`.
    pub(crate) fn begin(&mut self, point: Point) {
        self.cache.clear();
        self.compacted = point;
        self.last = point;
        self.desk.borrow_mut().clear();
    }

    /// Entries up to `point` are needed no more.
    pub(crate) fn compact(&mut self, point: Point) {
        assert!(point.index <= self.last.index);
        self.compacted = point;
        self.cache.compact(point.index);
    }

    pub(crate) fn term_at(&self, index: u64) -> Result<u64, ReadError> {
        // Trap 7: outside of the log the answer must be exactly one of these two, or `raft` panics.
        if index == self.last.index {
            return Ok(self.last.term);
        }
        if index == self.compacted.index {
            return Ok(self.compacted.term);
        }
        if index < self.compacted.index {
            return Err(ReadError::Compacted);
        }
        if index > self.last.index {
            return Err(ReadError::Unavailable);
        }
        match self.cache.get(index) {
            Some(entry) => Ok(entry.term),
            None => self.log.term(self.group, index),
        }
    }

    fn entries_of(&self, low: u64, high: u64, bytes_max: u64) -> Result<Vec<Entry>, ReadError> {
        if low <= self.compacted.index {
            return Err(ReadError::Compacted);
        }
        if high > self.last.index + 1 {
            return Err(ReadError::Unavailable);
        }
        let first = self.cache.first().unwrap_or(self.last.index + 1);
        if low >= first {
            return Ok(self.cache.range(low, high, bytes_max));
        }
        self.log
            .entries(self.group, low, high.min(first), bytes_max)
    }
}

fn as_raft(error: ReadError) -> raft::Error {
    raft::Error::Store(match error {
        ReadError::Compacted => StorageError::Compacted,
        ReadError::Unavailable | ReadError::Damaged => StorageError::Unavailable,
    })
}

impl Storage for GroupStore {
    fn initial_state(&self) -> raft::Result<RaftState> {
        let (hard, configuration) = self.initial.clone();
        Ok(RaftState::new(hard, configuration))
    }

    fn entries(
        &self,
        low: u64,
        high: u64,
        max_size: impl Into<Option<u64>>,
        _context: GetEntriesContext,
    ) -> raft::Result<Vec<Entry>> {
        // `raft` panics on an error here. It takes nothing for an answer, and the group hears of it
        // before anything else is done.
        if self.is_damaged.get() {
            return Ok(Vec::new());
        }
        let bytes_max = max_size.into().unwrap_or(u64::MAX);
        let mut found = match self.entries_of(low, high, bytes_max) {
            Err(ReadError::Damaged) => {
                self.is_damaged.set(true);
                return Ok(Vec::new());
            }
            found => found.map_err(as_raft)?,
        };
        let next = low + found.len() as u64;
        // What is asked for without a limit is asked for whole; it may lie in both places.
        if bytes_max == u64::MAX && next < high {
            found.extend(self.entries_of(next, high, bytes_max).map_err(as_raft)?);
        }
        Ok(found)
    }

    fn term(&self, index: u64) -> raft::Result<u64> {
        let term = self.term_at(index);
        if term == Err(ReadError::Damaged) {
            self.is_damaged.set(true);
        }
        term.map_err(as_raft)
    }

    fn first_index(&self) -> raft::Result<u64> {
        Ok(self.compacted.index + 1)
    }

    fn last_index(&self) -> raft::Result<u64> {
        Ok(self.last.index)
    }

    fn snapshot(&self, request_index: u64, to: u64) -> raft::Result<Snapshot> {
        // An image older than the log's beginning would leave a hole behind it.
        let index = request_index.max(self.compacted.index);
        let ticket = self.desk.borrow_mut().ask(index, ReplicaId(to));
        let ticket = ticket.ok_or(StorageError::SnapshotTemporarilyUnavailable)?;
        Ok(ticket.to_raft())
    }
}

#[cfg(test)]
mod tests;
