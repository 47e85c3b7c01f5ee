//! A test double: tables in memory behind the wire, with the meaning of every call and no safety.
//!
//! `partition` has the rows of one partition and answers calls on keys, `scans` are the scans under
//! way in it. `cluster` knows tables and nodes, `admin` answers what a meta server is asked,
//! `own` what only one of Esker is; `listener`
//! is the sockets, and `fault` what goes wrong at one of them when a test says so.
//!
//! Nothing is on disk, nothing is replicated: what is said to be a secondary has no rows. For
//! trying clients and for tests, and for nothing else.

pub mod fault;
pub mod scans;
pub mod partition;
pub mod cluster;
pub mod own;
pub mod admin;
pub mod listener;
