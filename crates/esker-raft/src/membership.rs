//! Which changes of the configuration a leader proposes, and which it refuses.
//!
//! The rules, each with its test: one change at a time; the leader is never removed or demoted, it
//! hands over first (trap 3: `raft` panics when a leader commits its own removal); an id is new or
//! it is refused; no node holds two replicas; a learner votes once it has caught up; and of the new
//! voters a majority is alive and has caught up, so that a change never stops a group that works.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::change::{Change, ChangeStep};
use crate::configuration::Configuration;
use crate::ids::ReplicaId;
use crate::limits::REPLICAS_MAX;

/// Why a change is not proposed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeRefusal {
    /// No step, too many, or two about one replica.
    Unsound,
    /// Another change is on its way, or not applied yet.
    ChangePending,
    /// It would remove or demote the leader: transfer the leadership first.
    TransferFirst(ReplicaId),
    /// The id of the new replica was used before.
    IdUsed(ReplicaId),
    /// The node of the new replica has one of this group.
    NodeTaken(ReplicaId),
    /// The replica is not in the role that the step needs.
    WrongRole(ReplicaId),
    /// The learner is not alive, or lacks too many entries to vote.
    NotCaughtUp(ReplicaId),
    /// Of those who would vote, no majority is alive and has caught up.
    NoLiveQuorum,
    /// More replicas than a group may have.
    TooMany,
}

impl fmt::Display for ChangeRefusal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ChangeRefusal::Unsound => write!(out, "a change needs steps about different replicas"),
            ChangeRefusal::ChangePending => write!(out, "another change is under way"),
            ChangeRefusal::TransferFirst(id) => write!(out, "{id} leads: transfer the lead first"),
            ChangeRefusal::IdUsed(id) => write!(out, "{id} was used before: take a larger id"),
            ChangeRefusal::NodeTaken(id) => write!(out, "the node of {id} has a replica already"),
            ChangeRefusal::WrongRole(id) => write!(out, "{id} is not in the role for this step"),
            ChangeRefusal::NotCaughtUp(id) => write!(out, "{id} lacks entries, or is silent"),
            ChangeRefusal::NoLiveQuorum => write!(out, "too few of the new voters are alive"),
            ChangeRefusal::TooMany => write!(out, "a group has at most {REPLICAS_MAX} replicas"),
        }
    }
}

impl std::error::Error for ChangeRefusal {}

/// What a leader knows when it is asked for a change.
#[derive(Clone, Debug)]
pub struct Facts {
    /// The leader itself.
    pub leader: ReplicaId,
    /// A change is appended and not applied, or a joint configuration not left.
    pub is_pending: bool,
    /// Whether each replica was heard lately, and lacks few enough entries.
    pub is_current: BTreeMap<ReplicaId, bool>,
}

/// Checks `change` to `configuration` against every rule.
pub fn check(
    configuration: &Configuration,
    change: &Change,
    facts: &Facts,
) -> Result<(), ChangeRefusal> {
    if !change.is_sound() {
        return Err(ChangeRefusal::Unsound);
    }
    if facts.is_pending || configuration.is_joint() {
        return Err(ChangeRefusal::ChangePending);
    }
    admits(configuration, change)?;
    for step in &change.steps {
        let replica = step.replica();
        match step {
            ChangeStep::Demote(_) | ChangeStep::Remove(_) if replica == facts.leader => {
                return Err(ChangeRefusal::TransferFirst(replica));
            }
            ChangeStep::Promote(_) if !is_current(facts, replica) => {
                return Err(ChangeRefusal::NotCaughtUp(replica));
            }
            _ => {}
        }
    }
    let voters = voters_after(configuration, change);
    let alive = voters.iter().filter(|&&id| is_current(facts, id)).count();
    if alive > voters.len() / 2 {
        Ok(())
    } else {
        Err(ChangeRefusal::NoLiveQuorum)
    }
}

/// The rules that follow from the configuration alone: replicas ask them again when they apply the
/// entry, and all come to the same answer.
pub(crate) fn admits(configuration: &Configuration, change: &Change) -> Result<(), ChangeRefusal> {
    let mut nodes: BTreeSet<_> = configuration.nodes.values().copied().collect();
    for step in &change.steps {
        let replica = step.replica();
        let is_sound = match step {
            ChangeStep::AddLearner(_, node) => {
                if replica.0 <= configuration.replica_max {
                    return Err(ChangeRefusal::IdUsed(replica));
                }
                if !nodes.insert(*node) {
                    return Err(ChangeRefusal::NodeTaken(replica));
                }
                true
            }
            ChangeStep::Promote(_) => configuration.learners.contains(&replica),
            ChangeStep::Demote(_) => configuration.voters.contains(&replica),
            ChangeStep::Remove(_) => configuration.contains(replica),
            // Nobody asks for it: a majority that could agree to it is not lost.
            ChangeStep::Alone(..) => false,
        };
        if !is_sound {
            return Err(ChangeRefusal::WrongRole(replica));
        }
    }
    if configuration.nodes.len() + change.added().len() > REPLICAS_MAX {
        return Err(ChangeRefusal::TooMany);
    }
    match voters_after(configuration, change).is_empty() {
        true => Err(ChangeRefusal::NoLiveQuorum),
        false => Ok(()),
    }
}

fn voters_after(configuration: &Configuration, change: &Change) -> BTreeSet<ReplicaId> {
    let mut voters = configuration.voters.clone();
    for step in &change.steps {
        match step {
            ChangeStep::AddLearner(..) | ChangeStep::Alone(..) => {}
            ChangeStep::Promote(replica) => {
                voters.insert(*replica);
            }
            ChangeStep::Demote(replica) | ChangeStep::Remove(replica) => {
                voters.remove(replica);
            }
        }
    }
    voters
}

fn is_current(facts: &Facts, replica: ReplicaId) -> bool {
    replica == facts.leader || facts.is_current.get(&replica).copied().unwrap_or(false)
}

#[cfg(test)]
mod tests;
