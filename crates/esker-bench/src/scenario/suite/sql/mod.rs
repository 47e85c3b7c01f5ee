//! Reviews in tables of a SQL server: who takes part, with which settings, and what came of it.
//!
//! Law: nothing here starts a server or speaks to one. That takes a client, which the crate
//! `esker-bench-rivals` brings: it is built for `make reviews-sql` and for nothing else.

pub mod contender;
pub mod plan;
pub mod request;
pub mod board;
pub mod told;
