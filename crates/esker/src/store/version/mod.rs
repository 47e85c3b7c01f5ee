//! Which files make up the tree, now and before.
//!
//! A version is an immutable value: for each keyspace its settings and, level by level, the runs
//! of sorted files that hold its data. A change is data too, an edit: it is logged in the
//! manifest first, then applied to the current version, which gives the next one. Readers keep
//! the levels of their keyspace that they began with for as long as they need its files.
//!
//! Law: no file is created or removed here, the manifest's own and CURRENT excepted.
//!
//! Not here: who makes edits (`flow`), who installs them (`db/install`), who removes the files
//! that no version needs (`db/file_deletion`).

pub mod numbers;
pub mod file;
pub mod identity;
#[cfg(test)]
pub(crate) mod plain_file;
pub mod run;
pub mod levels;
pub mod edit;
pub mod format;
pub mod encode;
pub mod decode;
pub mod keyspace_map;
pub mod state;
pub mod needed_format;
pub mod apply;
pub mod history;
pub mod current;
pub mod recovery;
pub mod remains;
pub mod manifest;
#[cfg(test)]
mod crash_disk;

pub use crate::store::version::apply::apply;
pub use crate::store::version::edit::{Change, Edit, SettingsText};
pub use crate::store::version::file::FileRecord;
pub use crate::store::version::format::{FORMAT_NEWEST, FORMAT_VERSION};
pub use crate::store::version::history::History;
pub use crate::store::version::levels::{Levels, LevelsEdit};
pub use crate::store::version::recovery::{ManifestReport, read_manifest};
pub use crate::store::version::run::{Run, RunId};
pub use crate::store::version::state::{Identity, KeyspaceState, Orders, Version};
