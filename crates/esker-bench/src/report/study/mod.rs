//! What the numbers of a record say: rounds put together, ratios, tails, rates over time.
//!
//! Law: arithmetic only. Nothing here knows how a number is drawn or written.

pub mod rounds;
pub mod ratios;
pub mod tails;
pub mod flow;
pub mod line;
pub mod growth;
pub mod memory;
pub mod past;
pub mod contrast;
