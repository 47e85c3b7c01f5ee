//! The outside world: files, clocks, threads, randomness.
//!
//! Law: only `env/real` touches the operating system; everything else, on every floor, asks the
//! traits here, so that a test can put `env/sim` in its place.

pub mod fs;
pub mod copy;
pub mod copying;
pub mod overlay;
pub mod clock;
pub mod primitives;
pub mod signal;
pub mod process;
pub mod pool;
pub mod joint_work;
pub mod random;
pub mod pages;
pub mod spare_pages;
pub mod real;
pub mod bundle;
pub mod sim;
