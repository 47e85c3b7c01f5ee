//! The world as it is: the files, clocks and threads of the operating system.
//!
//! Law: the only place that names `std::fs`, a clock of `std::time`, `std::thread` or a system
//! call. Nothing here knows what the files mean. Errors carry the operation in their message
//! and the path as their file.
//!
//! Not here: what the traits promise (`env/fs.rs` and its neighbours), the simulation of all
//! this (`env/sim`).

pub(crate) mod system;
pub(crate) mod bus_errors;
pub(crate) mod map;
pub mod descriptors;
pub mod place;
pub mod os_file;
pub mod held;
pub mod append;
pub mod log;
pub mod extent;
pub mod lock;
pub mod fs;
pub mod clock;
pub(crate) mod fork;
pub mod team;
pub mod pool;
