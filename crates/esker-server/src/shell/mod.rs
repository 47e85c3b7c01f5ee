//! Threads, sockets and clocks around the stages of a node, and its configuration.
//!
//! `quantity` reads bytes and durations, `settings` is what a node may be told, `catalog` tells
//! each setting once, `config` reads files and words by it and says where each value came from.
//!
//! Law: a setting that nobody knows is refused with a hint; whatever starts here ends here.
//!
//! Not here: what a node does with a message.

pub mod quantity;
pub mod settings;
pub mod catalog;
pub mod config;
