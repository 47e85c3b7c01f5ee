//! What the engine counts about itself.
//!
//! Law: counting is cheap enough to stay on, takes no lock and reads no clock: durations are
//! handed in by those who measured them. Values leave as snapshots, plain and comparable.
//!
//! Not here: what is known without counting, such as the size of a level (`store/version`).

pub(crate) mod thread_slot;
pub mod counter;
pub mod histogram;
pub mod memory_budget;
pub mod statistics;
