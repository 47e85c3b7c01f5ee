//! The log that all Raft groups of one disk share: one write and one sync for all of them.
//!
//! Records come in by [`DiskLog::append`] and are durable after [`DiskLog::sync`]; readers get
//! entries by [`LogReader`], from any thread. It lies in segments of the engine's make, in a
//! directory of its own; each begins with a checkpoint of what is known of every group, so that the
//! oldest ones can go as soon as no entry in them is needed.
//!
//! Law: what was durable is never cut off. Where bytes were durable and are not what was written,
//! the log says so and every group that may have lost something is named; none of them may vote
//! again.
//!
//! Not here: what groups do with it (`esker-raft`), threads, and when to sync (the owner).

pub mod format;
pub mod positions;
pub mod group_index;
pub mod index;
pub mod segment_files;
pub mod reader;
pub mod replay;
pub mod log;

pub use log::{DiskLog, DiskLogOptions, Pin};
pub use reader::LogReader;
pub use replay::{Loss, Opened};
