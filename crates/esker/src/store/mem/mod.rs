//! The memtable: the newest entries of one keyspace, in order, in memory.
//!
//! Law: one writer, any number of readers, and no reader ever waits. Nothing is changed or
//! removed once it is in; memory is freed all at once when the last holder lets go.
//!
//! In: entries of committed batches. Out: lookups, cursors, and the ordered stream of a flush.
//!
//! What lies below the memtable is of no use to anybody else, and hands out addresses that only the
//! list of entries can vouch for: those modules are private.
//!
//! Not here: when a memtable is full and who seals it (`flow/write`), how its entries meet those
//! of older levels (`flow/read`).

mod arena;
mod fragment;
mod node;
mod target;
mod index_node;
mod index;
mod entry_list;
pub mod named_values;
pub mod range_deletes;
pub mod memtable;
#[cfg(all(test, loom))]
mod loom_models;
