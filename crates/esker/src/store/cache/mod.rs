//! Blocks kept in memory.
//!
//! Law: never more bytes than the budget, whoever calls what; a lookup takes one short shared
//! lock and moves nothing.
//!
//! In: blocks as they were read and checked. Out: shared handles onto them. What is evicted lives
//! on while somebody holds it, and counts as pinned.
//!
//! Not here: reading and checking blocks (`store/sst/block`), who gets how much memory (`db`).

pub mod block_key;
pub mod pinned;
pub mod table;
pub mod ghost;
pub mod shard;
pub mod sharded;
