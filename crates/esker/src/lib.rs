//! Esker: an embedded, ordered key-value engine in the shape of a log-structured merge tree.
//!
//! ```
//! use esker::{Db, Readable};
//!
//! # fn main() -> esker::Result<()> {
//! # let dir = tempfile::tempdir().expect("a temporary directory");
//! # let path = dir.path().join("db");
//! let db = Db::open(&path)?;
//! db.put("b", "2")?;
//! db.put("a", "1")?;
//! let keys: Vec<_> = db.iter()?.map(|entry| entry.map(|(key, _)| key)).collect::<Result<_, _>>()?;
//! assert_eq!(keys, ["a", "b"]);
//! # Ok(())
//! # }
//! ```
//!
//! A [`Db`] is a directory of [`Keyspace`]s, and acts as the keyspace `default` itself. Reads are
//! in the trait [`Readable`], which snapshots share. Every failure is an [`Error`] with a kind to
//! decide by and a message that says what to do.
//!
//! The five floors, from the ground up; a file imports only from what is declared above it.

pub mod base;
pub mod env;
pub mod store;
pub mod flow;
pub mod db;

/// The merge operators that come with the engine.
pub mod merge {
    pub use crate::base::hooks::merge_builtin::{
        append, bytes_xor, put, uint64_add, uint64_max, uint64_min,
    };
}

pub use base::hooks::merge::{MergeOperator, MergeRule};
pub use base::options::call::{Durability, ReadOptions, WriteOptions};
pub use base::options::keyspace::KeyspaceOptions;
pub use base::options::profile::Profile;
pub use base::options::sst::Packing as Compression;
pub use base::types::bytes::Bytes;
pub use base::types::error::{Error, ErrorKind, Result};
pub use base::types::order::{KeyOrder, Order};
pub use db::atomic_change::Update;
pub use db::backup::beside::{checkpoint_beside, checkpoint_beside_in};
pub use db::backup::repair::{RepairOptions, repair, repair_in};
pub use db::backup::report::{
    KeptKeyspace, KeyGap, LogGap, LogState, Losses, LostFile, LostValues, ManifestState,
    MendedSegment, RepairReport,
};
pub use db::backup::verify::{Damage, VerifyProgress, VerifyReport};
pub use db::cursor::DbCursor;
pub use db::file_list::FileStats;
pub use db::handle::Db;
pub use db::inspect;
pub use db::iterator::{Iter, Keys};
pub use db::keyspace_handle::Keyspace;
pub use db::open::Builder;
pub use db::readable::Readable;
pub use db::snapshot::{KeyspaceSnapshot, Snapshot};
pub use db::statistics::{
    KeyspaceStats, LeftOutStats, LevelStats, PinnedStats, Stats, ValueLogStats,
};
pub use db::write_batch::WriteBatch;
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
#[doc = include_str!("../../../docs/guide/merges.md")]
#[doc = include_str!("../../../docs/guide/expiry.md")]
#[doc = include_str!("../../../docs/guide/large-values.md")]
#[doc = include_str!("../../../docs/guide/searchable.md")]
#[doc = include_str!("../../../docs/guide/tuning.md")]
#[doc = include_str!("../../../docs/guide/operations.md")]
pub struct GuideExamples;
