//! Bytes on the wire.
//!
//! `thrift` encodes values and structs, `scalars` has the types that look like structs and are
//! none, and `tables` makes a struct of the wire from the list of its fields. `frame` is what
//! stands around a request and around a reply; `request_reader` and `reply_reader` find these in
//! what a connection brings.
//!
//! Law: a length or a count is held against the bytes that are there, and against what decoding may
//! cost, before anything is allocated for it.
//!
//! Not here: what a struct means; `message` has them all.

pub mod thrift;
#[cfg(test)]
pub(crate) mod described;
pub mod scalars;
#[macro_use]
mod tables;
mod incoming;
pub mod frame;
pub mod request_reader;
pub mod reply_reader;

pub use incoming::Incoming;
