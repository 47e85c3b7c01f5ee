//! What a user may set.
//!
//! Law: plain data; nothing here acts. Each setting is told once.

pub mod sst;
pub mod keyspace;
pub mod call;
pub mod db;
