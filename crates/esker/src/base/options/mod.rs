//! What a user may set.
//!
//! Law: plain data and pure functions; nothing here acts. Each setting is told once, in the
//! catalogue; parsing, help, reports and the manifest all follow from there.

pub mod sst;
pub mod keyspace;
pub mod call;
pub mod db;
pub mod profile;
mod quantity;
pub mod codec;
