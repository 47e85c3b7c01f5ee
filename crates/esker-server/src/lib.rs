//! The service: tables cut into partitions, each replicated, over the engine.
//!
//! What stands so far: the log that all Raft groups of a disk share, what a partition makes of its
//! entries, a node of stages without its threads, the doors for clients, what nodes say to one
//! another, the brain that says which replica belongs where, and what brings its wishes and the
//! nodes together.

#![forbid(unsafe_code)]

pub mod log_lines;
pub mod reply;
pub mod disk_log;
pub mod throttle;
pub mod meta;
pub mod partition;
pub mod node;
pub mod reconcile;
pub mod front;
pub mod peer;
pub mod shell;
