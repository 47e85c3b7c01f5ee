//! The wire that clients of Apache Pegasus speak, and a client for it.
//!
//! A table is cut into partitions by a hash of the hash key. A client asks a meta server which
//! data server leads which partition, and then sends its calls there. This crate has the bytes of
//! both conversations, what every call means, and a client.
//!
//! - `error`: the names of errors on the wire, and what a client does about each.
//! - `time`, `keys`, `value`: seconds since 2016, raw keys and their hashes, the header of values.
//! - `codec`: the thrift subset, and the frames around it.
//! - `message`: every call with its request and its response.
//! - `rules`: what the calls mean, as pure functions.
//! - `client`: who asks.
//!
//! Law: bytes of strangers never cause a panic, nor more memory than 16 times their length and
//! 4 KiB. Nothing here knows an engine, a file, or how data is replicated.

pub mod error;
pub mod time;
pub mod keys;
pub mod value;
#[cfg(test)]
pub(crate) mod dice;
#[macro_use]
pub mod codec;
pub mod message;
pub mod rules;
pub mod client;
