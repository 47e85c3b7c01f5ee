//! Other engines behind the benchmark's traits, and all engines measured in turns.
//!
//! Every engine runs through the loop, the keys and the values of `esker-bench`, with settings that
//! are told alike and translated aloud. Each rival is a feature, off unless asked for.
//!
//! - `engines`: the adapters.
//! - `compare`: the work, the turns, the verdicts.

#![allow(
    clippy::disallowed_methods,
    reason = "a benchmark stands in the real world: files, clocks and threads are its subject"
)]

pub mod engines;
pub mod compare;
