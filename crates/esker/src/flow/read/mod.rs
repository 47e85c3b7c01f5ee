//! The read path: from memtables and sorted files to what one reader sees.
//!
//! Sources are always listed by age, newest first: the live memtable, sealed memtables, the runs
//! of level 0, then each deeper level.
//!
//! Law of age: for any one key, all entries and range deletions in a newer source have larger
//! sequence numbers than those in an older one. Everything here may stop at the first source
//! that settles a key, and may seek an older source over what a newer one deleted.
//!
//! Law: nothing here writes, schedules work or keeps statistics; a read returns what it saw.
//!
//! Not here: snapshots and the public iterator (`db`), how one source is searched (`store`).

pub mod range_tombstones;
pub mod memtable_tombstones;
pub mod fold;
pub mod lookup_outcome;
pub mod values;
pub mod lazy_value;
pub mod seek_target;
pub mod open_runs;
pub mod view;
pub mod newest;
pub mod get;
pub mod lasting;
pub mod multi_get;
pub mod approximate;
pub mod folded;
pub mod run_cursor;
pub mod sources;
pub mod merge_head;
pub mod merging;
pub mod cursor_state;
pub mod tombstone_aggregator;
pub mod reader;
pub mod skip;
pub mod visible;
pub mod walk;
pub mod scan;

#[cfg(test)]
pub(crate) mod model;
#[cfg(test)]
pub(crate) mod model_lookahead;
#[cfg(test)]
pub(crate) mod model_view;
