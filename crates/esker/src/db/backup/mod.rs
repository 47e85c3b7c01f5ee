//! Copies of a database, and what is done when one is damaged.
//!
//! Law: nothing here changes a database that is open; a copy is made of files that are held, and
//! repair works on a directory that nobody has.

pub mod checkpoint;
pub mod beside;
pub mod report;
pub mod lost_values;
pub mod lost;
pub mod runs;
pub mod segments;
pub mod salvage_file;
pub mod verify;
pub mod fit_prepares;
pub mod salvage;
pub mod survey;
pub mod log_check;
pub mod descent;
pub mod job;
pub mod claims;
pub mod rebuild;
pub mod mend;
pub mod remake;
pub mod repair;
pub mod aside;
