//! The service: tables cut into partitions, each replicated, over the engine.
//!
//! What stands so far: the log that all Raft groups of a disk share, and what a partition makes of
//! its entries.

#![forbid(unsafe_code)]

pub mod disk_log;
pub mod partition;
