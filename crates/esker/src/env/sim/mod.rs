//! The world as tests wish it: files in memory, faults, time and threads that obey a seed.
//!
//! Law: same seed and same calls, same run; nothing here touches the operating system. The
//! engine that runs on it is the shipped code, not a model of it.
//!
//! A test of durability is: build a [`world`], work, take a crash image of its [`fs`], open it
//! again, compare with a model. A test of error paths puts a [`fault`] file system in between.
//!
//! Not here: the real things (`env/real`), the contract both keep (`env/fs/contract.rs`).

pub mod sparse;
pub mod crash;
pub mod content;
pub mod tree;
pub mod disk;
pub mod fs;
pub mod fault_plan;
pub mod fault;
pub mod clock;
pub mod pool;
pub mod world;

pub use crate::env::sim::crash::CrashMode;
pub use crate::env::sim::fault::FaultFs;
pub use crate::env::sim::fs::SimFs;
pub use crate::env::sim::world::SimWorld;
