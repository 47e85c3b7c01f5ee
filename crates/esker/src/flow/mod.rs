//! How data moves between the stores.
//!
//! Law: nothing here changes the set of files. A flow that makes files returns an edit, and only
//! `db/install` applies one.

#[cfg(test)]
mod model;
pub mod event_queue;
pub mod file_events;
pub mod rate_limiter;
pub mod background_rate;
pub mod told_clock;
pub mod read;
pub mod dictionary_policy;
pub mod sampling;
pub mod sealed_keyspaces;
pub mod current;
pub mod flush_hold;
pub mod own_operands;
pub mod operands;
pub mod stripes;
pub mod retaining;
pub mod compaction_iterator;
pub mod values;
pub mod parallel_compression;
pub mod grandparent_boundaries;
pub mod output;
pub mod write;
pub mod flush;
pub mod compact;
