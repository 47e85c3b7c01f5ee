//! The brain of a cluster: which tables and nodes there are, and which replica belongs where.
//!
//! `rows` has what is kept, `state` all of it, `command` what changes it and `change` how, each
//! kind of it in a file of its own. A node tells what it has in a `report` and is told what must be
//! true there by `directive`s. `repair` says what is due because something is lost, `balance` what
//! is due because a node has more than its share.
//!
//! Law: plain values and pure functions: no file, clock, socket, thread or lock. The same commands
//! upon the same state give the same state and the same answers. What is wished is kept here; what
//! is, the groups' own configurations say.
//!
//! Not here: the log of the meta group and who leads it, connections, and the doing of directives.

pub mod limits;
pub mod codec;
pub mod ids;
pub mod epoch;
pub mod rows;
pub mod outcome;
pub mod settings;
pub mod command;
pub mod state;
pub mod placement;
pub mod touched;
mod change_nodes;
mod change_groups;
mod change_recoveries;
mod change_tables;
pub mod change;
pub mod report;
pub mod directive;
pub mod clock_gap;
pub mod handing;
pub mod live;
pub mod steps;
pub mod recovery;
pub mod plan;
pub mod target;
pub mod mending;
mod making;
pub mod repair;
mod balance_model;
pub mod balance_planner;
pub mod balance;
pub mod describe;
pub mod leaderless;
mod node_facts;
mod places;
pub mod notices;
mod recovery_admin;
pub mod admin;
#[cfg(test)]
mod trial;
