//! The tool as a user meets it: the built binary, its output, its exit codes.

#![allow(clippy::disallowed_methods, reason = "a test stands in the real world")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod shown;
mod tool;
mod blocks;
mod beats;
#[allow(
    dead_code,
    reason = "the tests of the wire use more of the double than these"
)]
#[path = "../../../esker-rpc/tests/it/memory/mod.rs"]
mod memory;
#[path = "../../../esker-rpc/tests/it/memory/in_thread.rs"]
mod in_thread;
mod double;
mod codes;
mod file_sets;
mod escapes;
mod help;
mod installed;
mod json;
mod settings;
mod pipes;
mod paging;
mod loading;
mod round_trip;
mod bad_input;
mod beside;
mod care;
mod repair;
mod skip_damage;
mod restore;
mod inspect;
mod torn;
mod little_memory;
mod keyspaces;
mod prepared;
mod kill_demo;
mod kill_serve;
mod kill_cluster;
mod kv;
mod cluster_tables;
mod cluster_commands;
mod cluster_identity;
mod cluster_descriptors;
mod cluster_removed;
mod cluster_metas;
mod cluster_disk;
mod cluster_settings;
mod cluster_examples;
mod cluster_nodes;
mod cluster_recover;
mod cluster_meta_lost;
mod cluster_meta_damaged;
mod cluster_watch;
mod service_scenario;
mod nemesis;
