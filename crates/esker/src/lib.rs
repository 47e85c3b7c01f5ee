//! An ordered key-value engine that lives inside your program: a log-structured merge tree.
//!
//! You open a directory and have sorted maps from bytes to bytes that survive crashes. Writes are
//! put, delete, delete of a range, and merge (a counter at the price of a put), alone or in batches
//! that happen as a whole; reads are get, ranges from both ends, cursors, and snapshots that stay
//! still while others write. Values may expire. Large ones are kept in a log of their own, and text
//! can be compressed record by record.
//!
//! ```
//! use std::time::Duration;
//! use esker::{Db, Durability, KeyspaceOptions, WriteOptions, merge};
//!
//! # fn main() -> esker::Result<()> {
//! # let dir = tempfile::tempdir().expect("a temporary directory");
//! # let path = dir.path().join("harbour");
//! let db = Db::open(&path)?;
//! db.put("ship:anna", "in port")?;
//! db.put_with_ttl("pilot:anna", "on board", Duration::from_secs(3600))?;
//!
//! // A keyspace is a map of its own, with settings of its own.
//! let counted = KeyspaceOptions::default().merge_operator(merge::uint64_add());
//! let visits = db.keyspace_with("visits", counted)?;
//!
//! // A batch happens as a whole, over all its keyspaces; this one survives a power cut.
//! let synced = WriteOptions { durability: Some(Durability::Sync), ..WriteOptions::default() };
//! db.batch()
//!     .put(&db, "ship:anna", "at sea")
//!     .merge(&visits, "anna", 1_u64.to_le_bytes())
//!     .commit_with(synced)?;
//!
//! for entry in db.prefix("ship:")? {
//!     let (ship, place) = entry?;
//!     assert_eq!((&ship[..], &place[..]), (&b"ship:anna"[..], &b"at sea"[..]));
//! }
//! db.close()
//! # }
//! ```
//!
//! # Where to go on
//!
//! - [`Db`] is the database, and acts as the keyspace `default`; [`Keyspace`] has the reads and
//!   writes, [`WriteBatch`], [`Snapshot`] and [`Transaction`] what goes over several of them.
//! - [`Db::builder`] for settings: memory, durability, compression, time to live, merge operators.
//! - [`Durability`] says what a write survives; [`Error`] has a kind to decide by and a message
//!   that says what to do.
//! - [`Stats`] tells what the database does, and an [`EventListener`] hears of it as it happens;
//!   [`Db::checkpoint`], [`Db::verify`] and [`repair`] keep it whole.
//! - The guide (`docs/guide` in the repository) has modelling keys, operations, tuning, and moving
//!   from other engines; six example programs lie in `examples`.
//!
//! Inside there are five floors, from the ground up; a file imports only from what is declared
//! above it. None of them is part of the interface: what you may rely on is what this page lists.

mod base;
mod env;
mod store;
mod flow;
mod db;

/// The floors, for the tests, fuzz targets, benchmarks and tools of this repository alone: anything
/// here may change or go with any commit.
#[doc(hidden)]
pub mod internals {
    /// Words and arithmetic.
    pub mod base {
        pub use crate::base::*;
    }
    /// The outside world.
    pub mod env {
        pub use crate::env::*;
    }
    /// What holds entries.
    pub mod store {
        pub use crate::store::*;
    }
    /// How entries move.
    pub mod flow {
        pub use crate::flow::*;
    }
    /// The parts put together.
    pub mod db {
        pub use crate::db::*;
    }
}

/// Retain rules made of functions.
pub mod retain {
    pub use crate::base::hooks::retain::by;
}

/// The merge operators that come with the engine.
pub mod merge {
    pub use crate::base::hooks::merge_builtin::{
        append, bytes_xor, put, uint64_add, uint64_max, uint64_min,
    };
}

pub use base::codec::compress::CompressionType;
pub use base::hooks::event_reasons::{
    BackgroundJob, CompactionKind, CompactionReason, FileKind, FlushReason, StallCause,
};
pub use base::hooks::events::{
    BackgroundError, CompactionBegin, CompactionEnd, CompactionInput, DatabaseClosed,
    DatabaseOpened, Event, EventListener, FileCreated, FileDeleted, FlushBegin, FlushEnd,
    ValueFlushBegin, ValueFlushEnd, WriteStallBegin, WriteStallEnd, WritesRefused,
};
pub use base::hooks::merge::{MergeOperator, MergeRule, NotFolded};
pub use base::hooks::own_log::OwnLog;
pub use base::hooks::retain::{Retain, RetainEntry, RetainRule};
pub use base::options::call::{
    Durability, Isolation, ReadOptions, TransactionMode, TransactionOptions, WriteOptions,
};
pub use base::options::keyspace::{CompactionOptions, KeyspaceOptions};
pub use base::options::profile::{Profile, ProfileLine};
pub use base::options::sst::{Compression, SstOptions};
pub use base::types::bytes::Bytes;
pub use base::types::comparator::{Comparator, CustomComparator};
pub use base::types::error::{Error, ErrorKind, Result};
pub use base::types::expiry::Expiry;
pub use base::types::seqno::SeqNo;
pub use db::atomic_change::Update;
pub use db::backup::beside::checkpoint_beside;
#[doc(hidden)]
pub use db::backup::beside::checkpoint_beside_in;
#[doc(hidden)]
pub use db::backup::repair::repair_in;
pub use db::backup::repair::{RepairOptions, repair};
pub use db::backup::report::{
    KeptKeyspace, KeptPrepared, KeyGap, LogGap, LogState, Losses, LostFile, LostValues,
    ManifestState, MendedSegment, RepairReport,
};
pub use db::backup::verify::{Damage, VerifyProgress, VerifyReport};
pub use db::cursor::DbCursor;
pub use db::file_list::FileStats;
pub use db::handle::Db;
pub use db::ingest::adopting::IngestOptions;
pub use db::ingest::bringing::Transfer;
pub use db::ingest::placing::Place;
pub use db::ingest::sst_writer::{FileSetSummary, SstWriter};
pub use db::iterator::{Iter, Keys};
pub use db::keyspace_handle::Keyspace;
pub use db::open::Builder;
pub use db::ordered_commit::OrderedCommit;
pub use db::prepared_transaction::PreparedTransaction;
pub use db::preparing::PreparedStats;
pub use db::readable::Readable;
pub use db::snapshot::{KeyspaceSnapshot, Snapshot};
pub use db::snapshots::SnapshotOwner;
pub use db::statistics::{
    KeyspaceStats, LeftOutStats, LevelStats, PinnedStats, RetainRuleStats, SnapshotStats, Stats,
    ValueLogStats,
};
#[cfg(feature = "tracing")]
pub use db::tracing_listener::tracing_listener;
pub use db::transaction::{Transaction, TransactionKeyspace};
pub use db::transaction_locks::Interrupter;
pub use db::transaction_statistics::{HeldLockStats, LockStats, LockWaitStats, TransactionStats};
pub use db::write_batch::WriteBatch;
pub use db::write_pressure::{WritePressure, WriteState};
pub use env::process::Process;
pub use flow::read::approximate::Approximation;
pub use flow::read::get::Valued;

/// Keeps the examples of the README true.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
pub struct ReadmeExamples;

/// Keeps the examples of the guide true.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/guide/README.md")]
#[doc = include_str!("../../../docs/guide/keys.md")]
#[doc = include_str!("../../../docs/guide/durability.md")]
#[doc = include_str!("../../../docs/guide/own-log.md")]
#[doc = include_str!("../../../docs/guide/merges.md")]
#[doc = include_str!("../../../docs/guide/transactions.md")]
#[doc = include_str!("../../../docs/guide/expiry.md")]
#[doc = include_str!("../../../docs/guide/retaining.md")]
#[doc = include_str!("../../../docs/guide/large-values.md")]
#[doc = include_str!("../../../docs/guide/searchable.md")]
#[doc = include_str!("../../../docs/guide/tuning.md")]
#[doc = include_str!("../../../docs/guide/operations.md")]
#[doc = include_str!("../../../docs/guide/bulk.md")]
pub struct GuideExamples;
