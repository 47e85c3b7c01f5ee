//! A change of who votes and who learns: its steps, and their bytes in an entry's context.
//!
//! | offset | size | type | meaning |
//! |---|---|---|---|
//! | 0 | 4 | u32, little-endian | count of steps |
//! | 4 | 17 each | see below | the steps |
//!
//! A step is its kind (u8: 0 add a learner, 1 promote, 2 demote, 3 remove, 4 stay alone), a
//! replica id (u64, above 0) and a u64: of an added one its node, of one that stays alone the
//! largest id that was ever given, otherwise 0. Valid if and only if kinds are known, there is a
//! step at least, no replica is in two of them, and who stays alone is in the only one.

use std::collections::BTreeSet;

use raft::eraftpb::{ConfChangeSingle, ConfChangeTransition, ConfChangeType, ConfChangeV2};

use crate::codec::{DecodeError, Put, Reader, count};
use crate::ids::{NodeId, ReplicaId};
use crate::limits::{CHANGE_STEPS_MAX, NUMBER_MAX};

const STEP_BYTES: usize = 17;

/// What becomes of one replica.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeStep {
    /// A new replica, under an id that was never used, gets the log and does not vote.
    AddLearner(ReplicaId, NodeId),
    /// A learner votes.
    Promote(ReplicaId),
    /// A voter becomes a learner.
    Demote(ReplicaId),
    /// A replica leaves, for ever.
    Remove(ReplicaId),
    /// All others up to the second id are lost for ever, and leave, also those that this log never
    /// heard of. Nobody proposes it but who goes on alone.
    Alone(ReplicaId, ReplicaId),
}

impl ChangeStep {
    /// The replica that the step is about.
    pub fn replica(self) -> ReplicaId {
        match self {
            ChangeStep::AddLearner(replica, _)
            | ChangeStep::Promote(replica)
            | ChangeStep::Demote(replica)
            | ChangeStep::Remove(replica)
            | ChangeStep::Alone(replica, _) => replica,
        }
    }
}

/// Steps that happen together, by way of a joint configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Each about another replica.
    pub steps: Vec<ChangeStep>,
}

impl Change {
    /// A change of one step.
    pub fn of(step: ChangeStep) -> Change {
        Change { steps: vec![step] }
    }

    /// Whether there are steps, few enough, and each is about another replica.
    pub fn is_sound(&self) -> bool {
        let replicas: BTreeSet<_> = self.steps.iter().map(|step| step.replica()).collect();
        let len = self.steps.len();
        let is_alone = |step: &ChangeStep| matches!(step, ChangeStep::Alone(..));
        let is_last_sound = |step: &ChangeStep| match step {
            ChangeStep::Alone(replica, last) => (replica.0..=NUMBER_MAX).contains(&last.0),
            _ => true,
        };
        (1..=CHANGE_STEPS_MAX).contains(&len)
            && replicas.len() == len
            && (len == 1 || !self.steps.iter().any(is_alone))
            && replicas.iter().all(|id| (1..=NUMBER_MAX).contains(&id.0))
            && self.steps.iter().all(is_last_sound)
    }

    /// The replicas that are new, and where they are.
    pub fn added(&self) -> Vec<(ReplicaId, NodeId)> {
        let added = self.steps.iter().filter_map(|step| match step {
            ChangeStep::AddLearner(replica, node) => Some((*replica, *node)),
            _ => None,
        });
        added.collect()
    }

    /// The bytes of an entry's context.
    pub fn encode(&self) -> Vec<u8> {
        assert!(self.is_sound());
        let mut out = Vec::new();
        out.put_u32(count(self.steps.len()));
        for step in &self.steps {
            let (kind, node) = match step {
                ChangeStep::AddLearner(_, node) => (0, node.0),
                ChangeStep::Promote(_) => (1, 0),
                ChangeStep::Demote(_) => (2, 0),
                ChangeStep::Remove(_) => (3, 0),
                ChangeStep::Alone(_, last) => (4, last.0),
            };
            out.put_u8(kind);
            out.put_u64(step.replica().0);
            out.put_u64(node);
        }
        out
    }

    /// The change in an entry's context.
    pub fn decode(context: &[u8]) -> Result<Change, DecodeError> {
        let mut reader = Reader::new(context);
        let mut steps = Vec::new();
        for _ in 0..reader.count(CHANGE_STEPS_MAX, STEP_BYTES, "count of steps")? {
            let kind = reader.u8("kind of a step")?;
            let replica = ReplicaId(reader.u64("replica of a step")?);
            let node = reader.u64("node of a step")?;
            steps.push(match (kind, node) {
                (0, node) => ChangeStep::AddLearner(replica, NodeId(node)),
                (1, 0) => ChangeStep::Promote(replica),
                (2, 0) => ChangeStep::Demote(replica),
                (3, 0) => ChangeStep::Remove(replica),
                (4, last) => ChangeStep::Alone(replica, ReplicaId(last)),
                _ => return Err(reader.refuse("step of a change")),
            });
        }
        reader.end()?;
        let change = Change { steps };
        if change.is_sound() {
            Ok(change)
        } else {
            Err(reader.refuse("change with each replica once"))
        }
    }

    /// As `raft` takes it: joint, and left without being told.
    pub(crate) fn as_raft(&self) -> ConfChangeV2 {
        let mut change = ConfChangeV2::default();
        change.set_transition(ConfChangeTransition::Implicit);
        let singles = self.steps.iter().map(|step| {
            let kind = match step {
                ChangeStep::AddLearner(..) | ChangeStep::Demote(_) => {
                    ConfChangeType::AddLearnerNode
                }
                ChangeStep::Promote(_) | ChangeStep::Alone(..) => ConfChangeType::AddNode,
                ChangeStep::Remove(_) => ConfChangeType::RemoveNode,
            };
            let mut single = ConfChangeSingle::default();
            single.set_change_type(kind);
            single.node_id = step.replica().0;
            single
        });
        change.set_changes(singles.collect::<Vec<_>>().into());
        change
    }
}
