//! A whole cluster in one thread, from a seed, in which everything goes wrong that may.
//!
//! Real partitions and the real meta service are on simulated disks, networks and clocks.
//! Nodes join one after the other, groups grow from one voter, tables are made, grow and are
//! dropped, nodes drain and lose their disks, and the balancer is at work in all of it. At every
//! step what no run may show is looked for; what clients saw is held against what they may see; and
//! once the faults end, everything must become whole.

pub mod linear;
mod linear_trials;
pub mod calls;
pub mod order;
pub mod plan;
pub mod checks;
pub mod clients;
pub mod world;
pub mod faults;
pub mod wholeness;
pub mod run;
mod storms;
mod clocks;
mod failover;
mod making;
mod planted;
pub mod recovering;
mod recovering_again;
