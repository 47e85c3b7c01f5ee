//! What is done: whole benchmarks, each with its own command line and its own words.
//!
//! Law: a scenario drives a store through the trait alone and keeps what it saw as a record.

pub mod db_bench;
pub mod ycsb;
pub mod suite;
