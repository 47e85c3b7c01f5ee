//! libkvs: the C interface of key-value-system 0.1 (FoOTOo Lab, 2012), on the Esker engine.
//!
//! Programs written for that library build against `kvs.h` and run against `libkvs.so.1` as they
//! are; docs/kvs.md tells what is the same and what is better. From the ground up: why a call is
//! refused, what a caller asked for, the log for people, the three files, one open store, how a
//! call answers, and the border to C, the only file with unsafe code.
#![cfg_attr(
    test,
    allow(clippy::disallowed_methods, reason = "tests start threads")
)]

pub mod refusal;
pub mod config;
pub mod text_log;
pub mod files;
pub mod instance;
pub mod answer;
pub mod abi;
