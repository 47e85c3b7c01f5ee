//! The engines: ours, and each rival that was built in.
//!
//! Law: an adapter does what that engine's best user would do, and says so where the engine gives
//! less or more than was asked. Nothing here knows a workload.

pub mod sheet;
#[cfg(any(feature = "fjall", feature = "redb", feature = "rocksdb"))]
pub mod lockfile;
#[cfg(any(
    feature = "fjall",
    feature = "leveldb",
    feature = "lmdb",
    feature = "redb",
    feature = "rocksdb"
))]
pub mod room;
#[cfg(any(feature = "lmdb", feature = "redb"))]
pub mod held;
#[cfg(feature = "leveldb")]
pub mod leveldb_calls;
#[cfg(feature = "leveldb")]
pub mod leveldb;
#[cfg(feature = "fjall")]
pub mod fjall;
#[cfg(feature = "redb")]
pub mod redb;
#[cfg(feature = "lmdb")]
pub mod lmdb;
#[cfg(feature = "rocksdb")]
pub mod rocksdb_options;
#[cfg(feature = "rocksdb")]
pub mod rocksdb_cursor;
#[cfg(feature = "rocksdb")]
pub mod rocksdb_transactions;
#[cfg(feature = "rocksdb")]
pub mod rocksdb;
pub mod packed;
pub mod roster;

#[cfg(test)]
mod tests;
