//! Settings of a database.

use crate::base::options::call::Durability;

/// How a database behaves. Keyspaces have settings of their own.
#[derive(Clone, Debug, PartialEq)]
pub struct DbOptions {
    /// Whether opening a directory without a database creates one.
    pub create_if_missing: bool,
    /// Whether opening an existing database is an error.
    pub error_if_exists: bool,
    /// Bytes that memtables, caches, filters, indexes, iterators and compactions share.
    pub memory_limit: u64,
    /// Least value of it: [`DbOptions::MEMORY_LIMIT_MIN`], or less in a world of one's own.
    pub memory_limit_min: u64,
    /// Background threads; 0 takes one per core.
    pub background_threads: usize,
    /// What a write survives that does not say otherwise.
    pub durability: Durability,
    /// Bytes that sorted files, log and value log may grow to; 0 is as far as the disk goes.
    pub disk_limit: u64,
    /// How many times its live bytes the value log may have, once it has settled.
    pub max_space_amp: f64,
    /// Bytes of free disk below which the database turns read-only before anything breaks.
    pub free_disk_min: u64,
    /// Bytes of one segment of the write-ahead log.
    pub wal_segment_bytes: u64,
    /// Bytes of log after which the keyspace that pins the oldest segment is flushed.
    pub wal_total_bytes: u64,
    /// Bytes of one segment of the value log.
    pub value_segment_bytes: u64,
    /// Bytes of memory for large values; 0 leaves it to the engine.
    pub value_buffer_bytes: u64,
    /// Bytes of large values that are not written or not synced, from which on the background
    /// does so; 0 leaves it to the engine.
    pub value_flush_bytes: u64,
    /// Seconds after which the background does so, however few they are; 0 is never.
    pub value_flush_interval_s: u32,
    /// Sorted files that are kept open at the same time, if the process may.
    pub open_files_max: usize,
    /// Whether records that are compressed by themselves are read through memory maps of their
    /// files.
    pub mapped_reads: bool,
    /// Bytes per second that background work may write; 0 is as fast as it can.
    pub compaction_rate_bytes: u64,
}

impl DbOptions {
    /// Smallest memory limit: what buffers of the log, of a compaction and of cursors cannot do
    /// without, and the heap's slack, is a good part of it. Measured with 16 MiB, processes took up
    /// to 109 MiB; from 32 MiB on they stay below the limit and a tenth.
    pub const MEMORY_LIMIT_MIN: u64 = 32 << 20;

    /// Smallest one in a world that is given to the builder: small databases meet there in little
    /// time what others meet in days, and what their process takes is not promised.
    pub const MEMORY_LIMIT_TINY: u64 = 1 << 20;

    /// Segments of the value log that are kept open for reading at the same time: a quarter on top
    /// of the sorted files, because segments are as large as the largest of them, and fewer.
    pub fn value_segments_open_max(&self) -> usize {
        self.open_files_max / 4
    }

    /// Bytes of a segment of the value log as it is made: what was asked for, or less where the
    /// database may not grow to many of them.
    pub fn value_segment_fitting(&self) -> u64 {
        match self.disk_limit {
            0 => self.value_segment_bytes,
            limit => self.value_segment_bytes.min(limit / 16),
        }
    }
}

impl Default for DbOptions {
    fn default() -> DbOptions {
        DbOptions {
            create_if_missing: true,
            error_if_exists: false,
            memory_limit: 256 << 20,
            memory_limit_min: DbOptions::MEMORY_LIMIT_TINY,
            background_threads: 0,
            durability: Durability::Buffered,
            disk_limit: 0,
            max_space_amp: 1.3,
            free_disk_min: 64 << 20,
            wal_segment_bytes: 32 << 20,
            wal_total_bytes: 512 << 20,
            value_segment_bytes: 64 << 20,
            value_buffer_bytes: 0,
            value_flush_bytes: 0,
            // As often as Linux looks for dirty pages.
            value_flush_interval_s: 5,
            open_files_max: 4096,
            mapped_reads: false,
            compaction_rate_bytes: 0,
        }
    }
}
