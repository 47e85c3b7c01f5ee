//! What is said: every call with its request and its response.
//!
//! `data` has what a data server is asked about keys, `node` what it is asked about itself, `meta`
//! what a meta server is asked (`balance` where replicas are, `own` what only ours is), and
//! `service` what both are. `calls` makes the calls of a door from
//! their table; `not_offered` has the names of those that Pegasus has besides.
//!
//! Law: the structs are the protocol's, field by field (the tests hold them against
//! `protocol.txt`). A call is in a table with its request, its response, whether it writes and
//! whether it is answered, or it is not offered.

pub mod call;
#[macro_use]
mod calls;
pub mod service;
pub mod data;
pub mod balance;
pub mod level;
pub mod own;
pub mod meta;
pub mod node;
pub mod not_offered;
#[cfg(test)]
mod tests;
