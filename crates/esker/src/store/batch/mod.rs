//! A set of writes that happen together.
//!
//! The encoding made by `writer` is used as it is, twice: it is the log's record and the
//! memtable's input, so a user's bytes are copied once.
//!
//! Law: a batch that cannot be read whole is corruption; nothing of it is applied.
//!
//! Not here: giving out sequence numbers, and the order of batches (`flow/write`).

pub mod format;
pub mod touched;
pub mod writer;
pub mod reader;
pub mod two_phases;
pub mod record;
pub mod prepared_log;

pub use reader::{BatchEntry, BatchReader};
pub use record::Record;
pub use writer::Batch;
