//! A cluster in one thread: the shipped shards on simulated disks and a simulated network.
//!
//! Law: the same seed gives the same run. A planted bug lives here, in what stands around a shard,
//! and never in the crate.

pub mod clock;
pub mod rng;
pub mod plan;
pub mod disk;
pub mod machine;
pub mod checks;
pub mod net;
pub mod node;
pub mod world;
pub mod clients;
pub mod faults;
pub mod run;
