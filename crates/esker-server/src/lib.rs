//! The service: tables cut into partitions, each replicated, over the engine.
//!
//! What stands so far is the log that all Raft groups of a disk share.

#![forbid(unsafe_code)]

pub mod disk_log;
