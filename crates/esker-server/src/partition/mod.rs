//! One replicated piece of a table: what its log says, and what a keyspace makes of it.
//!
//! `command` is what one entry of the log says, `machine` does it, `reads` and `scans` answer
//! without an entry; `replica` is all of it in one keyspace, whose `mark` says how far it has come.
//! A row's key is a raw key, its value has the header of `esker_rpc::value`.
//!
//! Law: the same commands upon the same rows give the same rows and the same answers, on every
//! replica: no clock but the one that commands carry. Nothing here starts a thread or waits for
//! anybody.
//!
//! Not here: who leads, the raft log, connections.

pub mod signature;
pub mod command;
pub mod overlay;
pub mod machine;
pub mod rows;
mod raw_keys;
pub mod reads;
pub mod scans;
pub mod mark;
pub mod ended;
pub mod replica;
