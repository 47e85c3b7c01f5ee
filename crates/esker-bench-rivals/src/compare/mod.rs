//! The comparison: the same work on every engine, in turns, and what came of it against the goals.
//!
//! Law: nothing here knows what is special about an engine; a workload that an engine cannot run is
//! left out for that engine and shown as such.

pub mod workloads;
pub mod request;
pub mod work;
pub mod chapter;
pub mod board;
pub mod goals;
pub mod table;
pub mod reviews;
pub mod reviews_sql;
pub mod check;
pub mod turns;

pub use turns::run;
