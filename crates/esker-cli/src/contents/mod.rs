//! What lies in a file of a database, as text or as lines of JSON.

pub mod page;
pub mod wal;
pub mod sst;
pub mod manifest;
pub mod vlog;
