//! Temporary.
pub mod sharded;
