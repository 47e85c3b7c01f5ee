//! What the engine chooses where a setting was left to it.

use crate::base::codec::compress::Compression;
use crate::base::options::db::DbOptions;
use crate::base::options::keyspace::KeyspaceOptions;

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

/// Why the packing of the upper levels is what it is.
pub const PACKING_REASON: &str = "follows `compression`; where that is zstd, lz4 is quicker for \
    files that are soon merged again";

/// Fills in what was left to the engine in the settings of a database, for a machine of `cores`.
pub fn fill_db(options: &mut DbOptions, cores: usize) {
    if options.background_threads == 0 {
        options.background_threads = cores.clamp(1, 256);
    }
}

/// Fills in what was left to the engine in the settings of a keyspace.
pub fn fill_keyspace(db: &DbOptions, options: &mut KeyspaceOptions) {
    if options.memtable_bytes == 0 {
        options.memtable_bytes = memtable_bytes(db.memory_limit, db.wal_total_bytes);
    }
}

fn memtable_bytes(memory_limit: u64, wal_total_bytes: u64) -> usize {
    let share = memory_limit / MEMTABLE_SHARE_DIVISOR / MEMTABLES_IN_MEMORY;
    let bytes = share.min(wal_total_bytes / 2).min(MEMTABLE_BYTES_MAX);
    let whole = bytes / MEMTABLE_BYTES_STEP * MEMTABLE_BYTES_STEP;
    usize::try_from(whole.max(MEMTABLE_BYTES_STEP)).expect("128 MiB fits any usize")
}

/// How the two newest levels are packed when only `compression` was chosen.
pub fn upper_packing(compression: Compression) -> Compression {
    match compression {
        Compression::Zstd => Compression::Lz4,
        other => other,
    }
}

#[cfg(test)]
mod tests;
