//! Sorted files that come from elsewhere and go elsewhere.
//!
//! They are written outside of a database, exported from one, and taken in by one.
//!
//! What goes between databases is a *file set*: a directory of sorted files, with the segments of
//! the value log that they point into, and the file `FILES`, which lists them and is written last.
//!
//! Law: files of the source are only read, and given second names. A set is checked whole before
//! anything of the database changes.

pub mod booking;
pub mod file_set;
pub mod sst_writer;
pub mod exporting;
pub mod source;
pub mod rewriting;
pub mod copies;
pub mod bringing;
pub mod staging;
pub mod placing;
pub mod held_writers;
pub mod adopting;
pub mod by_name;
