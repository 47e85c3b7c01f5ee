//! What the engine chooses where a setting was left to it.

use crate::base::codec::compress::CompressionType;
use crate::base::options::db::DbOptions;
use crate::base::options::keyspace::KeyspaceOptions;
use crate::base::options::sst::{Compression, QUICKEST_FIRST};

/// The part of the memory limit that memtables share: a quarter. The rest is for reads, whose
/// caches, filters and indexes gain more from it than longer memtables would.
const MEMTABLE_SHARE_DIVISOR: u64 = 4;

/// Memtables that share it: one live, one being flushed, and one sealed meanwhile, so that
/// writers need not wait for a flush that takes as long as filling a memtable does.
pub const MEMTABLES_IN_MEMORY: u64 = 3;

/// Largest memtable chosen: beyond it a search in memory misses the processor's caches at every
/// step, and a flush holds its memory for longer, with little less to compact.
const MEMTABLE_BYTES_MAX: u64 = 128 << 20;

/// Sizes are whole multiples of this: they read better, and arenas grow in such steps.
const MEMTABLE_BYTES_STEP: u64 = 64 << 10;

/// Why the threads are what they are.
pub const THREADS_REASON: &str = "one for each core";

/// Why the memtable's size is what it is.
pub const MEMTABLE_REASON: &str = "one live and two sealed memtables share a quarter of \
    `memory_limit`, and a log of `wal.total_size` holds two";

/// The part of the memory limit that large values may take at once: a quarter, as memtables do.
/// A database without large values gives none of it away.
const BUFFER_SHARE_DIVISOR: u64 = 4;

/// Most that is chosen for it: half, so that memtables and caches have the other half.
pub const BUFFER_PART_MIN: u64 = 2;

/// Largest share of the buffer that may wait to be written before somebody begins to: while one
/// half is written, writers fill the other.
const FLUSH_SHARE_DIVISOR: u64 = 2;

/// Most that is left unsynced by choice: a second's worth of a fast disk.
const FLUSH_BYTES_MAX: u64 = 64 << 20;

/// Why the memory for large values is what it is.
pub const BUFFER_REASON: &str =
    "a quarter of `memory_limit`, or what two `value_flush_bytes` need, up to half of it";

/// Why large values are flushed when they are.
pub const FLUSH_REASON: &str = "half of `value_buffer_size`, and 64 MiB at the most";

/// Most of the disk limit that the log may be given: half, so that sorted files have the other.
pub const LOG_PART_MIN: u64 = 2;

/// The part of a small disk limit that is chosen for the log: a quarter. While a memtable is
/// flushed its entries are on the disk twice, and the limit is overrun by as much.
const LOG_SHARE_DIVISOR: u64 = 4;

/// Segments that a log chosen so has at least: it gives space back in whole ones.
const LOG_SEGMENTS_MIN: u64 = 4;

/// The smallest segment that may be set.
const LOG_SEGMENT_BYTES_MIN: u64 = 64 << 10;

/// Why the log is smaller than it would be.
pub const LOG_REASON: &str = "a quarter of `disk_limit` at the most, which sorted files share";

/// Why the log's segments are smaller than they would be.
pub const SEGMENT_REASON: &str =
    "a quarter of `wal.total_size` at the most, where `disk_limit` is set";

/// Why the compression of the upper levels is what it is.
pub const PACKING_REASON: &str = "follows `compression`; where that is zstd or searchable, \
    lz4, or what a build without it has instead, is quicker for files that are soon merged again";

/// Fills in what was left to the engine in the settings of a database, for a machine of `cores`.
pub fn fill_db(options: &mut DbOptions, cores: usize) {
    if options.background_threads == 0 {
        options.background_threads = cores.clamp(1, 256);
    }
    if options.value_buffer_bytes == 0 {
        options.value_buffer_bytes = buffer_bytes(options.memory_limit, options.value_flush_bytes);
    }
    if options.value_flush_bytes == 0 {
        let half = options.value_buffer_bytes / FLUSH_SHARE_DIVISOR;
        options.value_flush_bytes = half.min(FLUSH_BYTES_MAX);
    }
}

/// Fills in what was left to the engine in the settings of a keyspace.
pub fn fill_keyspace(db: &DbOptions, options: &mut KeyspaceOptions) {
    if options.memtable_bytes == 0 {
        options.memtable_bytes = memtable_bytes(db.memory_limit, db.wal_total_bytes);
    }
}

/// The largest log that is chosen under a disk limit.
pub fn log_bytes_max(disk_limit: u64) -> u64 {
    disk_limit / LOG_SHARE_DIVISOR
}

/// The largest segment that is chosen for a log of that size under a disk limit.
pub fn log_segment_bytes_max(wal_total_bytes: u64) -> u64 {
    (wal_total_bytes / LOG_SEGMENTS_MIN).max(LOG_SEGMENT_BYTES_MIN)
}

fn buffer_bytes(memory_limit: u64, flush_bytes: u64) -> u64 {
    let quarter = memory_limit / BUFFER_SHARE_DIVISOR;
    let needed = flush_bytes.saturating_mul(FLUSH_SHARE_DIVISOR);
    quarter.max(needed).min(memory_limit / BUFFER_PART_MIN)
}

fn memtable_bytes(memory_limit: u64, wal_total_bytes: u64) -> usize {
    let share = memory_limit / MEMTABLE_SHARE_DIVISOR / MEMTABLES_IN_MEMORY;
    let bytes = share.min(wal_total_bytes / 2).min(MEMTABLE_BYTES_MAX);
    let whole = bytes / MEMTABLE_BYTES_STEP * MEMTABLE_BYTES_STEP;
    usize::try_from(whole.max(MEMTABLE_BYTES_STEP)).expect("128 MiB fits any usize")
}

/// How the two newest levels are compressed when only `compression` was chosen.
pub fn upper_compression(compression: Compression) -> CompressionType {
    match compression.of_blocks() {
        CompressionType::Zstd => CompressionType::first_built(&QUICKEST_FIRST),
        other => other,
    }
}

#[cfg(test)]
mod tests;
