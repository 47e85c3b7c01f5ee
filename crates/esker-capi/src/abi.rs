//! The border to C, a file for each section of `esker/c.h`; the only room with unsafe code.
//!
//! What every function relies on, and the header says: a pointer that is not NULL points to as many
//! bytes as the size beside it says, or to a string that ends with NUL, or to a live object of its
//! type, or to room for what is written there; nobody changes those bytes during the call; and an
//! object that the header gives to one thread at a time is in no other call. Every NULL is looked
//! at, and every panic stays inside.
#![allow(
    unsafe_code,
    reason = "pointers from C; what they lead to is called in safe code"
)]
#![allow(
    clippy::missing_safety_doc,
    reason = "one rule for all, at the head of this file and in c.h"
)]

pub mod arguments;
pub mod home;
pub mod callback;
pub mod about;
pub mod value;
pub mod database;
pub mod keyspace;
pub mod snapshot;
pub mod reading;
pub mod merge_operator;
pub mod comparator;
pub mod retain_rule;
pub mod keyspace_options;
pub mod keyspaces;
pub mod builder;
pub mod watching;
pub mod numbers;
pub mod held_locks;
pub mod pressure;
pub mod repairing;
pub mod writing;
pub mod conditional;
pub mod batch;
pub mod own_log;
pub mod iterator;
pub mod transaction;
pub mod transaction_moments;
pub mod transaction_locks;
pub mod interrupter;
pub mod transaction_writes;
pub mod savepoints;
pub mod prepared;
pub mod files;

#[cfg(test)]
mod tests;
