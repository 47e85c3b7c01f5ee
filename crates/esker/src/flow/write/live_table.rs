//! The live memtable of one keyspace, as the write path has it.

use std::sync::Arc;

use crate::base::types::bytes::Bytes;
use crate::base::types::ids::FileNumber;
use crate::flow::current::Current;
use crate::flow::flush_hold::FlushHold;
use crate::flow::told_clock::ToldClock;
use crate::store::mem::memtable::MemtableWriter;

/// The live memtable of one keyspace, and what is needed to replace it.
pub struct LiveTable {
    /// Where readers find the memtable.
    pub current: Arc<Current>,
    /// The only way to add entries to it.
    pub writer: MemtableWriter,
    /// Oldest segment that may hold entries of this memtable; `None` of an unlogged keyspace.
    pub first_log: Option<FileNumber>,
    /// Whether the keyspace is logged, and its keys are in bytewise order: every write asks for
    /// both.
    pub is_plain: bool,
    /// The mark of the batch that was written last with one, or of the files; of an unlogged
    /// keyspace only.
    pub mark: Option<Bytes>,
    /// Whether the mark came since a memtable was sealed last: then this one is sealed although it
    /// is empty.
    pub is_mark_new: bool,
    /// What time it is, of a keyspace with a clock of its own.
    pub clock: Option<Arc<ToldClock>>,
    /// Whether what is sealed may be flushed, where the user's own log is asked for that.
    pub hold: Option<Arc<FlushHold>>,
    /// Bytes after which it is sealed.
    pub limit_bytes: usize,
    /// Bytes of large values that it may name before it is sealed.
    pub values_limit_bytes: u64,
}

impl LiveTable {
    /// Whether nothing of the keyspace may go to the log.
    pub fn is_unlogged(&self) -> bool {
        self.first_log.is_none()
    }

    /// Whether there is anything in it to be flushed.
    pub fn is_filled(&self) -> bool {
        !self.writer.table().is_empty() || self.is_mark_new
    }

    /// Whether something of it is in no log: entries, or a mark.
    pub fn has_unlogged(&self) -> bool {
        self.writer.table().has_unlogged() || self.is_mark_new
    }

    /// Whether what was sealed of the keyspace waits for the user's own log: what is sealed behind
    /// it gives no memory back.
    pub fn is_parked(&self) -> bool {
        let hold = self.hold.as_ref();
        hold.is_some_and(|hold| hold.is_refused() && self.current.sealed_count() > 0)
    }

    /// Whether it is to be sealed.
    pub fn is_full(&self) -> bool {
        let table = self.writer.table();
        table.used_bytes() >= self.limit_bytes || table.values().bytes() >= self.values_limit_bytes
    }
}
