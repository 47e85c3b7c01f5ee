//! The words of events: what was done, and why.

use std::fmt;

/// Gives each variant its word in lines, in logs and in labels of metrics.
macro_rules! words {
    ($name:ident: $($variant:ident $word:literal),+ $(,)?) => {
        impl $name {
            /// The lower-case word for lines, logs and labels; it stays the same from release to
            /// release.
            ///
            /// ```
            #[doc = concat!("let first = esker::", stringify!($name), "::ALL[0];")]
            /// assert_eq!(first.word(), first.to_string());
            /// ```
            pub fn word(self) -> &'static str {
                match self {
                    $($name::$variant => $word,)+
                }
            }

            /// All of them, in the order in which they are declared; later releases may have more.
            pub const ALL: &'static [$name] = &[$($name::$variant),+];
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.word())
            }
        }
    };
}

/// Why a memtable was sealed, and so flushed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FlushReason {
    /// It, or what it names in the value log, reached its size (`memtable.size`).
    MemtableFull,
    /// Memtables of all keyspaces together took their part of the memory limit.
    MemoryFull,
    /// It pinned the oldest segment of a log that reached its size (`wal.total_size`).
    WalFull,
    /// Somebody called `flush`, `compact`, or `sync` with writes that are in no log.
    Manual,
    /// A checkpoint gathers the whole database.
    Checkpoint,
    /// Deletes in it are in the way of scans.
    Deletes,
    /// It keeps large values in memory, or on the disk, that may be overwritten.
    Values,
    /// The database settles: nobody has written for a while.
    Settling,
    /// The log was replayed when the database was opened.
    Recovery,
    /// The database is being closed.
    ShutDown,
    /// Its keyspace was dropped; nothing is flushed.
    Dropped,
}

words! {
    FlushReason:
    MemtableFull "memtable_full",
    MemoryFull "memory_full",
    WalFull "wal_full",
    Manual "manual",
    Checkpoint "checkpoint",
    Deletes "deletes",
    Values "values",
    Settling "settling",
    Recovery "recovery",
    ShutDown "shut_down",
    Dropped "dropped",
}

/// What is done with the inputs of a compaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CompactionKind {
    /// Rewritten together into the output level.
    Merge,
    /// Put into the output level as they are: nothing there overlaps them.
    Move,
    /// Removed: every entry has expired, and nothing older lies below.
    Drop,
}

words! { CompactionKind: Merge "merge", Move "move", Drop "drop" }

/// Why files are compacted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CompactionReason {
    /// Too many runs in level 0.
    Runs,
    /// Level 0 has many small runs, which cannot be merged down now.
    IntraL0,
    /// A level is larger than its target.
    Size,
    /// A file holds mostly deletes.
    Deletes,
    /// A file holds only expired entries.
    Expiry,
    /// Much of a file was kept for snapshots that are gone, or has expired.
    Passed,
    /// Overwritten values may be beyond the limit of space.
    Values,
    /// Files at the bottom are not compressed as is wished.
    Recompression,
    /// Readers spent as long on level 0 as merging it takes.
    Readers,
    /// The user asked.
    Manual,
}

words! {
    CompactionReason:
    Runs "runs",
    IntraL0 "intra_l0",
    Size "size",
    Deletes "deletes",
    Expiry "expiry",
    Passed "passed",
    Values "values",
    Recompression "recompression",
    Readers "readers",
    Manual "manual",
}

/// Which limit holds writers back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StallCause {
    /// Memtables wait to be flushed, and their memory is full: writers wait for a flush.
    MemtableLimit,
    /// Large values wait to be written, and their memory is full (`value_buffer_size`).
    ValueBufferLimit,
    /// Compactions of a keyspace are behind: writes to it are slowed down to a rate.
    PendingCompaction,
    /// Files from elsewhere are taken in: writers wait for a flush and for one record of the
    /// manifest.
    Ingest,
}

words! {
    StallCause:
    MemtableLimit "memtable_limit",
    ValueBufferLimit "value_buffer_limit",
    PendingCompaction "pending_compaction",
    Ingest "ingest",
}

/// What a file of the database holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FileKind {
    /// Sorted entries (`.sst`).
    Sst,
    /// Large values (`.vlog`).
    Vlog,
    /// A segment of the write-ahead log (`.wal`).
    Wal,
}

words! { FileKind: Sst "sst", Vlog "vlog", Wal "wal" }

/// Which work in the background failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum BackgroundJob {
    /// Memtables to sorted files.
    Flush,
    /// Large values to the value log.
    ValueFlush,
    /// Sorted files merged.
    Compaction,
    /// A dictionary for searchable files trained.
    Training,
    /// The next segment of the log prepared.
    PrepareWal,
    /// Finished segments of the log made durable.
    SyncWal,
    /// The free space of the disk looked at.
    Space,
    /// Whatever it was, it panicked.
    Panicked,
}

words! {
    BackgroundJob:
    Flush "flush",
    ValueFlush "value_flush",
    Compaction "compaction",
    Training "training",
    PrepareWal "prepare_wal",
    SyncWal "sync_wal",
    Space "space",
    Panicked "panicked",
}
