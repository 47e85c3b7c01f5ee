//! What must be true of the service, line by line, on clusters of processes that it starts itself.
//!
//! `ground` is what lines stand on, `table_calls` calls a
//! table and etcd, and each of the others measures: `speed` writes and reads, `cost` what the wire
//! costs over the engine, `idle` what many partitions cost while nobody asks, `growth` what they
//! cost under load, `failover` what a client misses when a node is killed, `recovery` how long one
//! takes to serve again, `rebuild` how long one that lost its disk. `run` goes through them.

pub mod ground;
pub mod table_calls;
pub mod speed;
pub mod cost;
pub mod idle;
pub mod growth;
pub mod failover;
pub mod recovery;
pub mod rebuild;
pub mod run;
