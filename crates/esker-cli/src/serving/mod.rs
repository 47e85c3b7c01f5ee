//! Nodes of a cluster as processes on this machine: one of them, or several.
//!
//! `drawn` draws the numbers that a process needs to be told from others, `invitation` says how
//! clients reach a node, `serve` runs one, `recover_meta` has one that is stopped go on without the
//! others. `roster` is which nodes a cluster of this machine has,
//! `process` which process runs each, `removed` which of them the cluster has let go of, `nodes`
//! starts and ends them, and `cluster` is the command.
//! `ports` finds free ports for them, `pause` waits for what nobody tells.
//!
//! Not here: what a node does (`esker-server`).

mod drawn;
mod invitation;
mod pause;
mod ports;
mod roster;
mod process;
mod removed;
mod nodes;
mod living;
mod recover_meta;
pub mod serve;
pub mod cluster;
