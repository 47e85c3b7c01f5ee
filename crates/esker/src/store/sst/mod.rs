//! Sorted files (sorted string tables): written once, front to back, and then only read.
//!
//! Law: a file is described by its bytes alone; every block is checked whenever it is read from
//! the file, and what is damaged is `Corruption`, with file and offset.

#[cfg(test)]
pub mod memory_file;
pub mod format;
pub mod adoption;
pub mod origin;
pub mod passing;
pub mod props;
pub mod contract;
pub mod tally;
pub mod filter;
pub mod file_memory;
pub mod range_deletes;
pub mod index;
pub mod block;
pub mod opening;
pub mod rank;
pub mod recount;
pub mod saving;
pub mod draft;
pub mod block_based;
pub mod searchable;
pub mod any_footer;
pub mod any_builder;
pub mod renumbered;
pub mod any_reader;
pub mod salvage;
pub mod open_files;

pub use adoption::FileBinding;
pub use any_builder::AnyBuilder;
pub use any_reader::{AnyCursor, AnyReader};
pub use block::fetch::BlockCache;
pub use contract::{BuildSettings, FinishedSst, Found};
pub use open_files::OpenFiles;
pub use props::Props;
