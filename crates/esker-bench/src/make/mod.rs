//! What is written and asked for: keys and values, from seeds.
//!
//! Law: the same seed makes the same sequence, on every machine. What a dialect prescribes to the
//! byte stands beside the neutral generators and is used by that dialect only.

pub mod random;
pub mod zipf;
pub mod keys;
pub mod dice;
pub mod slices;
pub mod prose;
