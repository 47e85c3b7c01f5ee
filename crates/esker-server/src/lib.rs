//! The service: tables cut into partitions, each replicated, over the engine.
//!
//! What stands so far: the log that all Raft groups of a disk share, what a partition makes of its
//! entries, the doors for clients, and what nodes say to one another.

#![forbid(unsafe_code)]

pub mod log_lines;
pub mod reply;
pub mod disk_log;
pub mod partition;
pub mod front;
pub mod peer;
