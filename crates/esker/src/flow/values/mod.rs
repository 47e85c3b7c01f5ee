//! The live value log: where large values go, who names which segment, and what moves them.
//!
//! Law: a value is in the page cache before the log has a pointer to it, and no file ever has a
//! pointer to no place. Choosing what to empty is pure.
//!
//! Not here: the bytes of a segment (`store/vlog`), and reading values (`flow/read/values`).

pub mod own_sizes;
pub mod owners;
pub mod segments;
pub mod due_syncs;
pub mod watch;
pub mod value_log;
pub mod own_segments;
pub mod value_sync;
pub mod flush;
pub mod relocation;
pub mod garbage;
