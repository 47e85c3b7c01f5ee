//! Things that hold data, each with the same rooms: format, writer, reader.
//!
//! Law: no threads, nothing of snapshots, compaction or transactions.

pub mod sst;
