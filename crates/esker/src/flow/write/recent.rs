//! Which keys were written to last, kept while somebody is about to commit what depends on many.
//!
//! A commit that depends on a range, or on many keys, looks at all of them before it takes the lock
//! of all writers; under the lock it asks only whether any of the few writes between was to one of
//! them. Nothing is kept while nobody asks.

use std::collections::VecDeque;

use crate::base::types::error::Result;
use crate::base::types::ids::KeyspaceId;
use crate::base::types::kind::Kind;
use crate::base::types::seqno::SeqNo;
use crate::store::batch::reader::BatchReader;

/// Bytes of keys that are kept: far more than is written while a commit is on its way.
const KEPT_BYTES_MAX: usize = 1 << 20;

/// What one entry costs beyond its keys.
const ENTRY_BYTES: usize = size_of::<RecentWrite>();

/// A write to a key, or to a range of keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecentWrite {
    /// The keyspace.
    pub keyspace: KeyspaceId,
    /// The key; of a range delete, the first key of the range.
    pub key: Vec<u8>,
    /// Of a range delete, the first key behind the range.
    pub end: Option<Vec<u8>>,
    seqno: SeqNo,
}

/// The last writes, oldest first. One thread at a time, under the lock of all writers.
#[derive(Debug, Default)]
pub struct RecentWrites {
    watcher_count: usize,
    writes: VecDeque<RecentWrite>,
    bytes: usize,
    /// All writes with larger numbers are here.
    complete_from: SeqNo,
}

impl RecentWrites {
    /// Somebody asks about writes after `last`, the newest so far, until [`RecentWrites::unwatch`].
    pub fn watch(&mut self, last: SeqNo) {
        if self.watcher_count == 0 {
            self.complete_from = last;
        }
        self.watcher_count += 1;
    }

    /// One who watched has done.
    pub fn unwatch(&mut self) {
        self.watcher_count -= 1;
        if self.watcher_count == 0 {
            self.writes = VecDeque::new();
            self.bytes = 0;
        }
    }

    /// Takes note of a batch if anybody watches.
    #[inline]
    pub fn note(&mut self, batch: &BatchReader<'_>) -> Result<()> {
        match self.watcher_count {
            0 => Ok(()),
            _ => self.keep(batch),
        }
    }

    #[cold]
    fn keep(&mut self, batch: &BatchReader<'_>) -> Result<()> {
        for entry in batch.entries() {
            let entry = entry?;
            let is_range = entry.trailer.kind() == Kind::RangeDelete;
            let write = RecentWrite {
                keyspace: entry.keyspace,
                key: entry.key.to_vec(),
                end: is_range.then(|| entry.value.to_vec()),
                seqno: entry.trailer.seqno(),
            };
            self.bytes += write.bytes();
            self.writes.push_back(write);
            while self.bytes > KEPT_BYTES_MAX
                && let Some(gone) = self.writes.pop_front()
            {
                self.bytes -= gone.bytes();
                self.complete_from = gone.seqno;
            }
        }
        Ok(())
    }

    /// Forgets all writes so far, of which `last` was the last: what is asked about them is not to
    /// be told from here.
    pub fn forget_up_to(&mut self, last: SeqNo) {
        self.writes.clear();
        self.bytes = 0;
        self.complete_from = last;
    }

    /// The writes after `seen`, newest first; `None` when they are not all here any more.
    pub fn since(&self, seen: SeqNo) -> Option<impl Iterator<Item = &RecentWrite>> {
        let newest_first = self.writes.iter().rev();
        (seen >= self.complete_from)
            .then(|| newest_first.take_while(move |write| write.seqno > seen))
    }
}

impl RecentWrite {
    fn bytes(&self) -> usize {
        ENTRY_BYTES + self.key.len() + self.end.as_ref().map_or(0, Vec::len)
    }
}

#[cfg(test)]
mod tests;
