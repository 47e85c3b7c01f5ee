//! The newest entries of one group in memory: those that are not durable, and some that are.
//!
//! `raft` takes entries for readable as soon as it has handed them out (trap 1 of the eight: see
//! `collect.rs`), while the log still writes them. So every entry that is not durable stays here;
//! of the others as many as a budget of bytes allows, for followers that are a little behind.

use std::collections::VecDeque;

use raft::eraftpb::Entry;

use crate::entry::size_bytes;
use crate::ids::SaveNumber;

/// A run of entries up to the last one of the log; empty when the log's end is durable and old.
#[derive(Debug, Default)]
pub(crate) struct EntryCache {
    entries: VecDeque<Entry>,
    bytes: usize,
    // The first index of each save that is not durable, oldest first.
    pending: VecDeque<(SaveNumber, u64)>,
}

impl EntryCache {
    /// The first index that is here.
    pub(crate) fn first(&self) -> Option<u64> {
        self.entries.front().map(|entry| entry.index)
    }

    /// Takes entries that are in save `number`; what was here from the first one's index on is
    /// gone.
    pub(crate) fn append(&mut self, number: SaveNumber, entries: &[Entry]) {
        let Some(low) = entries.first().map(|entry| entry.index) else {
            return;
        };
        self.truncate(low);
        assert!(self.entries.back().is_none_or(|last| last.index + 1 == low));
        self.bytes += entries.iter().map(size_bytes).sum::<usize>();
        self.entries.extend(entries.iter().cloned());
        self.pending.push_back((number, low));
    }

    fn truncate(&mut self, low: u64) {
        while self.entries.back().is_some_and(|last| last.index >= low) {
            let gone = self.entries.pop_back();
            self.bytes -= gone.as_ref().map_or(0, size_bytes);
        }
    }

    /// Forgets everything: the log begins anew.
    pub(crate) fn clear(&mut self) {
        *self = EntryCache::default();
    }

    /// Saves up to `number` are durable.
    pub(crate) fn durable(&mut self, number: SaveNumber) {
        while self.pending.front().is_some_and(|row| row.0 <= number) {
            self.pending.pop_front();
        }
    }

    /// Lets go of the oldest entries that are durable, down to `bytes_max`.
    pub(crate) fn shrink(&mut self, bytes_max: usize) {
        // A later save may begin below an earlier one: it took the place of its entries.
        let low = self.pending.iter().map(|row| row.1).min();
        while self.bytes > bytes_max {
            let Some(first) = self.first() else { return };
            if low.is_some_and(|low| first >= low) {
                return;
            }
            let gone = self.entries.pop_front();
            self.bytes -= gone.as_ref().map_or(0, size_bytes);
        }
    }

    /// Lets go of durable entries up to `index`, which are compacted.
    pub(crate) fn compact(&mut self, index: u64) {
        let low = self.pending.iter().map(|row| row.1).min();
        let end = low.map_or(index, |low| index.min(low - 1));
        while self.entries.front().is_some_and(|first| first.index <= end) {
            let gone = self.entries.pop_front();
            self.bytes -= gone.as_ref().map_or(0, size_bytes);
        }
    }

    /// The entry at `index`, if it is here.
    pub(crate) fn get(&self, index: u64) -> Option<&Entry> {
        let offset = index.checked_sub(self.first()?)?;
        self.entries.get(usize::try_from(offset).ok()?)
    }

    /// Entries from `low`, which is here, to before `high`: up to `bytes_max`, and one at least.
    pub(crate) fn range(&self, low: u64, high: u64, bytes_max: u64) -> Vec<Entry> {
        let mut bytes = 0;
        let mut found = Vec::new();
        for index in low..high {
            let Some(entry) = self.get(index) else { break };
            bytes += size_bytes(entry) as u64;
            if !found.is_empty() && bytes > bytes_max {
                break;
            }
            found.push(entry.clone());
        }
        found
    }
}

#[cfg(test)]
mod tests;
