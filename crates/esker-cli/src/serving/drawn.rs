//! A number that no other process draws.

use std::hash::{BuildHasher, RandomState};
use std::process;

/// Draws a number from the randomness of the system, with this process's number in it.
pub fn draw() -> u64 {
    RandomState::new().hash_one(process::id())
}
