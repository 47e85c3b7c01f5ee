//! How a replica goes that has left its group: not before a majority of those who stay know.
//!
//! The entry that removes a replica may be committed with its own vote, and it may be the only one
//! who knows so: the leader commits it, applies it, and is out. Those who stay are then in a joint
//! configuration that needs its vote. If it were destroyed at once, they would wait for it for
//! ever. (The simulator found that: seed 11933.) So it stays and votes, and asks, until a majority
//! of the new voters say that they have applied its removal and will still know after a crash. Of
//! any majority that is alive later one knows then, and tells the others with its next request for
//! votes.

use std::collections::BTreeSet;

use crate::configuration::Configuration;
use crate::ids::ReplicaId;

/// What a replica knows that has left.
#[derive(Debug)]
pub(crate) struct Leaving {
    /// The newest configuration without it.
    pub(crate) configuration: Configuration,
    /// Who says that it has applied the removal.
    pub(crate) knowing: BTreeSet<ReplicaId>,
    pub(crate) is_told: bool,
}

impl Leaving {
    pub(crate) fn new(configuration: Configuration) -> Leaving {
        Leaving {
            configuration,
            knowing: BTreeSet::new(),
            is_told: false,
        }
    }

    /// Whether a majority of those who stay know.
    pub(crate) fn is_known(&self) -> bool {
        let voters = &self.configuration.voters;
        voters.intersection(&self.knowing).count() > voters.len() / 2
    }
}
