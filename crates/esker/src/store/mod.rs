//! Things that hold data, each with the same rooms: format, writer, reader.
//!
//! Law: starts no thread, and knows nothing of snapshots, compaction or transactions.

pub mod cache;
pub mod mem;
