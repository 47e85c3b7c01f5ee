//!
//! Law: one writer, any number of readers, and no reader ever waits. Nothing is changed or
//! removed once it is in; memory is freed all at once when the last holder lets go.
//!
//! In: entries of committed batches. Out: lookups, cursors, and the ordered stream of a flush.
//!
//! of older levels (`flow/read`).

pub mod arena;
pub mod fragment;
pub mod node;
pub mod skiplist;
pub mod memtable;
#[cfg(all(test, loom))]
mod loom_models;
