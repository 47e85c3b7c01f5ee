//! The write-ahead log: what was written since the last flush, in order.
//!
//! A log is a chain of segments, one file each; this folder knows one segment at a time. Records
//! go in through `writer`; after a crash `reader` gives them back up to a torn tail, and refuses
//! a segment that was damaged where it was once durable; `salvage` reads what damage left. The
//! manifest is a log of the same make.
//!
//! Law: a record comes back whole and as it was written, or not at all.
//!
//! Not here: what a record means (`store/batch`, `store/version`), when to sync, which segments
//! are needed (`flow/write`).

pub mod format;
pub mod writer;
pub mod segment;
pub mod salvage;
pub mod head;
pub mod reader;
#[cfg(test)]
mod memory_file;

pub use reader::{Tail, WalReader};
pub use salvage::{Gap, Salvaged, WalSalvage};
