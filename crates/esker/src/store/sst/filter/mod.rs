//! "Surely not here" in a few bits.
//!
//! Law: a filter may say "maybe" to any key and must say it to every key that was added. It
//! speaks of whole user keys, by their 64-bit hash.

pub mod bloom;
pub mod block;
