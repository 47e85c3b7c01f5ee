//! What is measured: latencies, throughput over time, what the process used, when work is due.
//!
//! Law: nothing here knows an engine or a workload.

pub mod summary;
pub mod latency;
pub mod series;
pub mod process;
pub mod neighbour;
pub mod pace;
pub mod clock;
