//! Integration tests of the service.
#![allow(clippy::unwrap_used, reason = "a test that meets an error has failed")]

#[path = "../../../esker-raft/tests/it/seeds.rs"]
mod seeds;
mod symptom;
mod log_model;
mod log_crash;
mod log_damage;
mod log_segments;
mod partition_model;
mod partition;
mod requests;
mod sole_node;
mod rejoining;
mod creating;
mod busy_partition;
mod net;
mod cluster_brain;
mod cluster_node;
mod full_leader;
mod image_crash;
mod front;
mod peers;
mod meta_machine;
mod meta_alone;
mod served;
mod doors;
mod cluster;
mod whole;
mod meta_sim;
mod meta;
mod fixture;
#[path = "../../../esker-rpc/tests/it/calls.rs"]
mod calls;
#[path = "../../../esker-rpc/tests/it/scans.rs"]
mod scans;
#[allow(
    dead_code,
    reason = "the tests of the wire use more of the double than these"
)]
#[path = "../../../esker-rpc/tests/it/memory/mod.rs"]
mod memory;
mod double;
