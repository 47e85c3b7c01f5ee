//! What the calls mean, as pure functions: a server, its test double and the client share them.
//!
//! `filter` and `check` look at one value, `counter` at a number in one, `expiry` says when a value
//! ends after a write, `range` which raw keys a read covers, `limits` how far one goes.
//!
//! Law: no clock, no storage; what a function needs is in its arguments.

pub mod limits;
pub mod filter;
pub mod counter;
pub mod check;
pub mod expiry;
pub mod range;
