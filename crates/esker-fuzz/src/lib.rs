//! Fuzz targets as plain functions of bytes: one per format and per parser.
//!
//! Each returns for any bytes and panics where a promise is broken. `fuzz/` has libfuzzer call
//! them; the tests of this crate call them for every input that is kept in `kept/`, for small
//! changes of these, and for what the fuzzer once found.

pub mod mutation;
pub mod sorted_file;
pub mod wire_calls;
pub mod raft_log;
pub mod raft_message;
pub mod peer_frame;
pub mod file_set;
pub mod http_head;
pub mod starts;

pub mod batch_reader;
pub mod block;
pub mod database;
pub mod filter;
pub mod load;
pub mod manifest;
pub mod merge;
pub mod names;
pub mod phrase;
pub mod rpc_frame;
pub mod rpc_message;
pub mod searchable;
pub mod settings;
pub mod sst_reader;
pub mod vlog;
pub mod wal_reader;

/// What a target does with one input.
pub type Run = fn(&[u8]);

/// Every target by its name, which is that of its binary in `fuzz/Cargo.toml`.
pub const TARGETS: [(&str, Run); 21] = [
    ("batch_reader", batch_reader::run),
    ("block", block::run),
    ("database", database::run),
    ("file_set", file_set::run),
    ("filter", filter::run),
    ("http_head", http_head::run),
    ("load", load::run),
    ("manifest", manifest::run),
    ("merge", merge::run),
    ("names", names::run),
    ("peer_frame", peer_frame::run),
    ("phrase", phrase::run),
    ("raft_log", raft_log::run),
    ("raft_message", raft_message::run),
    ("rpc_frame", rpc_frame::run),
    ("rpc_message", rpc_message::run),
    ("searchable", searchable::run),
    ("settings", settings::run),
    ("sst_reader", sst_reader::run),
    ("vlog", vlog::run),
    ("wal_reader", wal_reader::run),
];
