//! The brain in a world of nodes that report at random, die, come back, are wiped and drained.
//!
//! `world` has the nodes and what is on their disks, `group` what a group makes of what its leader
//! is told, by Raft's rules and without Raft, `even` looks at rounds of balance,
//! and `run` draws what happens and looks at the end.

pub mod dice;
pub mod group;
pub mod world;
pub mod even;
pub mod run;
