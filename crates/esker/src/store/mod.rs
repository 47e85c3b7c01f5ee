//! Things that hold data, each with the same rooms: format, writer, reader.
//!
//! Law: nothing here starts a thread or decides when something is written, or knows of snapshots,
//! compaction or transactions; a store does what it is told and checks every byte it reads.
//!
//! Not here: how data moves from one store to the next (`flow`).

pub mod names;
pub mod open_table;
pub mod vlog;
pub mod cache;
pub mod batch;
pub mod wal;
pub mod mem;
pub mod sst;
pub mod version;
