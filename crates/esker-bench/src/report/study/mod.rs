//! What the numbers of a record say: rounds put together, ratios, differences.
//!
//! Law: arithmetic only. Nothing here knows how a number is drawn or written.

pub mod workloads;
pub mod ratios;
pub mod contrast;
