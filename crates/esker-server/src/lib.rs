//! The service: tables cut into partitions, each replicated, over the engine.
//!
//! From the lowest: `log_lines` bounds what is logged, `reply` is what a call is answered with,
//! `disk_log` the log that all Raft groups of a disk share, `throttle` the limits of tables. `meta`
//! is the brain that says which replica belongs where, `partition` what a partition makes of its
//! entries, `node` a machine in stages, and `reconcile` brings together what the brain wishes and
//! what the node has. `front` has the doors for clients and `peer` those for nodes; `shell` gives
//! the stages threads, sockets and clocks.

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
