//! What lies in the files of a database, as data: for tools and people.
//!
//! Law: reads files only, changes nothing, opens no database; and never stops at damage that it
//! can tell of and pass.

pub mod wal;
pub mod searchable;
pub mod sst;
pub mod manifest;
pub mod vlog;

pub use crate::db::inspect::manifest::manifest;
pub use crate::db::inspect::sst::sst;
pub use crate::db::inspect::vlog::vlog;
pub use crate::db::inspect::wal::wal;
