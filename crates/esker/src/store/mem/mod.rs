//! The memtable: the newest entries of one keyspace, in order, in memory.
//!
//! Law: one writer, any number of readers, and no reader ever waits. Nothing is changed or
//! removed once it is in; memory is freed all at once when the last holder lets go.
//!
//! In: entries of committed batches. Out: lookups, cursors, and the ordered stream of a flush.
//!
//! Not here: when a memtable is full and who seals it (`flow/write`), how its entries meet those
//! of older levels (`flow/read`).

pub mod arena;
pub mod fragment;
pub mod node;
pub mod target;
pub mod index_node;
pub mod index;
pub mod entry_list;
pub mod named_values;
pub mod range_deletes;
pub mod memtable;
#[cfg(all(test, loom))]
mod loom_models;
