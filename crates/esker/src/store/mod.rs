//! Things that hold data, each with the same rooms: format, writer, reader.
//!
//! Law: nothing here starts a thread or knows of snapshots, compaction or transactions.

pub mod version;
