//! The value log: large values, kept apart from the tree that points to them.
//!
//! A value is written once, to a segment, and is durable there; the tree holds a [`ValuePointer`].
//! Segments are allocated whole, filled by several threads at once, and never changed where they
//! were written; which of their values still count is known to the tree alone.
//!
//! Law: whatever is handed out was held against its checksum.
//!
//! Not here: when a segment is begun, synced or removed (`flow/values/value_log`), and moving
//! values out of mostly dead segments (`flow/compact`).

pub mod format;
pub mod pointer;
pub mod live_bytes;
pub mod writer;
pub mod packet;
pub mod ahead;
pub mod reader;
pub mod value_pool;
pub mod open_values;

pub use live_bytes::ValueLiveBytes;
pub use pointer::ValuePointer;
