//! The live memtable of one keyspace, as the write path has it.

use std::sync::Arc;

use crate::base::types::ids::FileNumber;
use crate::flow::current::Current;
use crate::store::mem::memtable::MemtableWriter;

/// The live memtable of one keyspace, and what is needed to replace it.
pub struct LiveTable {
    /// Where readers find the memtable.
    pub current: Arc<Current>,
    /// The only way to add entries to it.
    pub writer: MemtableWriter,
    /// Oldest segment that holds entries of this memtable.
    pub first_log: FileNumber,
    /// Bytes after which it is sealed.
    pub limit_bytes: usize,
    /// Bytes of large values that it may name before it is sealed.
    pub values_limit_bytes: u64,
}

impl LiveTable {
    /// Whether it is to be sealed.
    pub fn is_full(&self) -> bool {
        let table = self.writer.table();
        table.used_bytes() >= self.limit_bytes || table.values().bytes() >= self.values_limit_bytes
    }
}
