//! The write path: a batch to the log and into the memtables.
//!
//! Law: only `active` holds the log's writer and the live memtables, and only `commit` drives it.
//! What the rest of the database must do because of a write is returned, never called.
//!
//! Not here: flushing and compaction, which run later (`flow/flush`, `flow/compact`).

#[cfg(all(test, loom))]
pub mod patient;
pub mod stall_watch;
pub mod gate;
pub mod held_values;
pub mod debt;
pub mod write_controller;
pub mod sync;
pub mod segments;
pub mod follow_ups;
pub mod recent;
pub mod lock_holders;
pub mod prepared;
pub mod live_table;
pub mod used_segments;
pub mod active;
pub mod unclaimed;
pub mod tried_orders;
pub mod unlogged;
pub mod validation;
pub mod admission;
pub mod writer_hold;
pub mod commit;
pub mod value_durability;
pub mod marks;
pub mod holding;
pub mod preparing;
pub mod carried_segment;
pub mod chain;
pub mod strays;
pub mod replay;
