//! What tests of a node begin with: a group of three.

use esker_raft::{Configuration, NodeId, ReplicaId, Status};

/// What a replica of a group of three knows of itself: each on the node of its number, in term 3,
/// with twenty entries, and with nobody who leads.
pub fn one_of_three(replica: u64) -> Status {
    let voters: Vec<_> = (1..=3).map(|id| (ReplicaId(id), NodeId(id))).collect();
    Status {
        replica: ReplicaId(replica),
        term: 3,
        leader: None,
        is_established: false,
        commit: 20,
        applied: 20,
        compacted: 1,
        last: 20,
        last_term: 3,
        configuration: Configuration::first(1, &voters),
        is_going_alone: false,
        damage: None,
    }
}
