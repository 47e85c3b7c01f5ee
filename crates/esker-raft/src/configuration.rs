//! Who votes and who learns in a group, where each of them is, and which ids were ever used.
//!
//! | offset | size | type | meaning |
//! |---|---|---|---|
//! | 0 | 8 | u64, little-endian | version: index of the entry that made it |
//! | 8 | 8 | u64, little-endian | the largest replica id that the group has ever had |
//! | 16 | 1 | u8 | 1 if the joint configuration is left without being told |
//! | 17 | 4 | u32, little-endian | count of replicas |
//! | 21 | 17 each | see below | replicas in the order of their ids |
//!
//! A replica is its id (u64, above 0), its node (u64) and its roles (u8): bit 0 it votes, bit 1 it
//! votes in the configuration that is being left, bit 2 it learns, bit 3 it learns once that one is
//! left. Valid if and only if ids rise and are at most the largest one, each replica has one of the
//! bits 0 to 2 at least, none both learns and votes, bit 3 comes with bit 1 and without bit 0, and
//! only a joint configuration, one with a bit 1, is left without being told.

use std::collections::{BTreeMap, BTreeSet};

use raft::eraftpb::ConfState;

use crate::codec::{DecodeError, Put, Reader, count};
use crate::ids::{NodeId, ReplicaId};
use crate::limits::{NUMBER_MAX, REPLICAS_MAX};

const VOTES: u8 = 1;
const VOTES_OUTGOING: u8 = 2;
const LEARNS: u8 = 4;
const LEARNS_NEXT: u8 = 8;
const REPLICA_BYTES: usize = 17;

/// The members of a group as of one index.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Configuration {
    /// Index of the entry that made it; 0 of one that is not known yet.
    pub version: u64,
    /// The largest replica id that the group has ever had.
    pub replica_max: u64,
    /// A joint configuration is left as soon as it is applied.
    pub auto_leave: bool,
    /// Who votes.
    pub voters: BTreeSet<ReplicaId>,
    /// Who votes as well, until a joint configuration is left.
    pub outgoing: BTreeSet<ReplicaId>,
    /// Who gets the log and does not vote.
    pub learners: BTreeSet<ReplicaId>,
    /// Who becomes a learner once the joint configuration is left.
    pub learners_next: BTreeSet<ReplicaId>,
    /// Where each replica is.
    pub nodes: BTreeMap<ReplicaId, NodeId>,
}

impl Configuration {
    /// The configuration that a group begins with, at `index`.
    ///
    /// # Panics
    ///
    /// On no voter at all, or a replica id of 0.
    pub fn first(index: u64, voters: &[(ReplicaId, NodeId)]) -> Configuration {
        assert!(!voters.is_empty());
        assert!(voters.iter().all(|voter| voter.0.0 > 0));
        Configuration {
            version: index,
            replica_max: voters.iter().map(|voter| voter.0.0).max().unwrap_or(0),
            voters: voters.iter().map(|voter| voter.0).collect(),
            nodes: voters.iter().copied().collect(),
            ..Configuration::default()
        }
    }

    /// Whether `replica` is a member in any role.
    pub fn contains(&self, replica: ReplicaId) -> bool {
        self.nodes.contains_key(&replica)
    }

    /// Whether `replica` votes, in a joint configuration on either side.
    pub fn votes(&self, replica: ReplicaId) -> bool {
        self.voters.contains(&replica) || self.outgoing.contains(&replica)
    }

    /// Whether two sets of voters must agree.
    pub fn is_joint(&self) -> bool {
        !self.outgoing.is_empty()
    }

    /// Whether `replica` was a member once and never will be again.
    ///
    /// Ids are not used again, so this stays true whatever else happens in the group.
    pub fn has_left(&self, replica: ReplicaId) -> bool {
        replica.0 <= self.replica_max && !self.contains(replica)
    }

    /// Where `replica` stands among all who vote, counted from 0; none if it does not vote.
    pub fn rank(&self, replica: ReplicaId) -> Option<usize> {
        let mut voters = self.voters.union(&self.outgoing);
        voters.position(|&voter| voter == replica)
    }

    /// As `raft` has it.
    pub(crate) fn conf_state(&self) -> ConfState {
        let ids = |set: &BTreeSet<ReplicaId>| set.iter().map(|id| id.0).collect::<Vec<_>>();
        ConfState {
            voters: ids(&self.voters),
            voters_outgoing: ids(&self.outgoing),
            learners: ids(&self.learners),
            learners_next: ids(&self.learners_next),
            auto_leave: self.auto_leave,
            ..ConfState::default()
        }
    }

    /// What `raft` has made of this one at `index`, when `added` were told to it.
    pub(crate) fn next(
        &self,
        index: u64,
        state: &ConfState,
        added: &[(ReplicaId, NodeId)],
    ) -> Configuration {
        let ids = |list: &[u64]| {
            list.iter()
                .map(|&id| ReplicaId(id))
                .collect::<BTreeSet<_>>()
        };
        let mut next = Configuration {
            version: index,
            replica_max: self.replica_max,
            auto_leave: state.auto_leave,
            voters: ids(&state.voters),
            outgoing: ids(&state.voters_outgoing),
            learners: ids(&state.learners),
            learners_next: ids(&state.learners_next),
            nodes: self.nodes.clone(),
        };
        for (replica, node) in added {
            next.replica_max = next.replica_max.max(replica.0);
            next.nodes.insert(*replica, *node);
        }
        let members: BTreeSet<ReplicaId> = [&next.voters, &next.outgoing, &next.learners]
            .into_iter()
            .flatten()
            .copied()
            .collect();
        next.nodes.retain(|replica, _| members.contains(replica));
        next
    }

    /// Appends the configuration to `out`.
    pub fn encode(&self, out: &mut Vec<u8>) {
        assert!(self.nodes.len() <= REPLICAS_MAX);
        out.put_u64(self.version);
        out.put_u64(self.replica_max);
        out.put_u8(u8::from(self.auto_leave));
        out.put_u32(count(self.nodes.len()));
        for (replica, node) in &self.nodes {
            let role = |set: &BTreeSet<ReplicaId>, bit| if set.contains(replica) { bit } else { 0 };
            out.put_u64(replica.0);
            out.put_u64(node.0);
            out.put_u8(
                role(&self.voters, VOTES)
                    | role(&self.outgoing, VOTES_OUTGOING)
                    | role(&self.learners, LEARNS)
                    | role(&self.learners_next, LEARNS_NEXT),
            );
        }
    }

    /// The configuration that `bytes` are, all of them.
    pub fn decode(bytes: &[u8]) -> Result<Configuration, DecodeError> {
        let mut reader = Reader::new(bytes);
        let found = Configuration::read(&mut reader)?;
        reader.end()?;
        Ok(found)
    }

    pub(crate) fn read(reader: &mut Reader<'_>) -> Result<Configuration, DecodeError> {
        let mut found = Configuration {
            version: reader.u64_to(NUMBER_MAX, "version of a configuration")?,
            replica_max: reader.u64_to(NUMBER_MAX, "largest replica id")?,
            auto_leave: reader.flag("whether a configuration is left")?,
            ..Configuration::default()
        };
        let mut last = 0;
        for _ in 0..reader.count(REPLICAS_MAX, REPLICA_BYTES, "count of replicas")? {
            let replica = ReplicaId(reader.u64_to(found.replica_max, "replica id")?);
            let node = NodeId(reader.u64("node of a replica")?);
            let roles = reader.u8("roles of a replica")?;
            let is_sound = match roles {
                LEARNS => true,
                _ if roles & LEARNS_NEXT != 0 => roles == LEARNS_NEXT | VOTES_OUTGOING,
                _ => roles != 0 && roles & !(VOTES | VOTES_OUTGOING) == 0,
            };
            if replica.0 <= last || !is_sound {
                return Err(reader.refuse("replica with its roles"));
            }
            last = replica.0;
            found.nodes.insert(replica, node);
            for (set, bit) in [
                (&mut found.voters, VOTES),
                (&mut found.outgoing, VOTES_OUTGOING),
                (&mut found.learners, LEARNS),
                (&mut found.learners_next, LEARNS_NEXT),
            ] {
                if roles & bit != 0 {
                    set.insert(replica);
                }
            }
        }
        if found.auto_leave && !found.is_joint() {
            return Err(reader.refuse("joint configuration to leave"));
        }
        Ok(found)
    }
}
