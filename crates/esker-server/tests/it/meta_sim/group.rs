//! A group without Raft: who leads, what is acknowledged, and the rules for its members.

use std::collections::{BTreeMap, BTreeSet};

use esker_raft::{Change, ChangeStep, Configuration, NodeId, ReplicaId};

/// A replica on a disk.
#[derive(Clone, Debug)]
pub struct Copy {
    pub replica: ReplicaId,
    /// How many writes of its group it has; none before its first image.
    pub writes: Option<u64>,
    /// It takes no part any more.
    pub is_damaged: bool,
}

/// What is true of a group, whatever anybody reports.
#[derive(Clone, Debug)]
pub struct Group {
    pub members: Configuration,
    pub leader: Option<ReplicaId>,
    pub term: u64,
    /// Writes that were acknowledged.
    pub writes: u64,
}

/// The copies of a group that take part, by where they are.
pub type Copies<'a> = BTreeMap<NodeId, &'a mut Copy>;

impl Group {
    /// A group that was never led, if a majority of its first voters is there.
    pub fn new(first: &[(ReplicaId, NodeId)]) -> Group {
        Group {
            members: Configuration::first(1, first),
            leader: None,
            term: 1,
            writes: 0,
        }
    }

    fn copy<'a>(&self, copies: &'a Copies<'_>, replica: ReplicaId) -> Option<&'a Copy> {
        let copy = copies.get(self.members.nodes.get(&replica)?)?;
        (copy.replica == replica && copy.writes.is_some()).then_some(&**copy)
    }

    fn has_majority(&self, copies: &Copies<'_>, voters: &BTreeSet<ReplicaId>) -> bool {
        let alive = voters
            .iter()
            .filter(|id| self.copy(copies, **id).is_some())
            .count();
        alive > voters.len() / 2
    }

    /// Whether it can elect and write with these copies.
    pub fn has_quorum(&self, copies: &Copies<'_>) -> bool {
        let outgoing = &self.members.outgoing;
        self.has_majority(copies, &self.members.voters)
            && (outgoing.is_empty() || self.has_majority(copies, outgoing))
    }

    /// A moment passes: an election if need be, a write, and images for those that wait.
    ///
    /// # Panics
    ///
    /// If those that could elect a leader have lost a write that was acknowledged.
    pub fn live(&mut self, copies: &mut Copies<'_>, draw: u64) {
        if !self.has_quorum(copies) {
            self.leader = None;
            return;
        }
        let leads = |id: ReplicaId| self.copy(copies, id).is_some();
        if !self.leader.is_some_and(leads) {
            let voters = self.members.voters.iter().copied();
            let full = |id: &ReplicaId| {
                let copy = self.copy(copies, *id);
                copy.is_some_and(|copy| copy.writes == Some(self.writes))
            };
            let full: Vec<ReplicaId> = voters.filter(full).collect();
            assert!(
                !full.is_empty(),
                "a majority without what was acknowledged: {self:?}"
            );
            let place = usize::try_from(draw).unwrap_or(0) % full.len();
            (self.leader, self.term) = (Some(full[place]), self.term + 1);
        }
        if self.members.is_joint() {
            self.members.outgoing = BTreeSet::new();
            self.members.auto_leave = false;
            self.members.version += 1;
            self.members.nodes = self.kept_nodes();
        }
        self.writes += 1;
        // Not everybody has every write at once; a majority has.
        let members = self.members.nodes.clone();
        for (replica, node) in members {
            if let Some(copy) = copies.get_mut(&node)
                && copy.replica == replica
                && !copy.is_damaged
            {
                copy.writes = Some(self.writes);
            }
        }
    }

    fn kept_nodes(&self) -> BTreeMap<ReplicaId, NodeId> {
        let members = &self.members;
        let mut nodes = members.nodes.clone();
        nodes.retain(|id, _| {
            members.voters.contains(id)
                || members.outgoing.contains(id)
                || members.learners.contains(id)
        });
        nodes
    }

    /// The leader proposes a change; it refuses what Raft's rules refuse.
    pub fn change(&mut self, change: &Change, version: u64, copies: &Copies<'_>) -> bool {
        let members = &self.members;
        if members.version != version || members.is_joint() || self.leader.is_none() {
            return false;
        }
        let mut next = members.clone();
        for step in &change.steps {
            let replica = step.replica();
            let is_sound = match step {
                ChangeStep::AddLearner(_, node) => {
                    let is_free = !next.nodes.values().any(|at| at == node);
                    let is_new = replica.0 > next.replica_max;
                    next.replica_max = next.replica_max.max(replica.0);
                    next.nodes.insert(replica, *node);
                    is_free && is_new && next.learners.insert(replica)
                }
                ChangeStep::Promote(_) => {
                    let copy = self.copy(copies, replica);
                    let is_current = copy.is_some_and(|copy| copy.writes == Some(self.writes));
                    next.voters.insert(replica);
                    is_current && next.learners.remove(&replica)
                }
                ChangeStep::Remove(_) => {
                    let was = next.voters.remove(&replica) || next.learners.remove(&replica);
                    was && self.leader != Some(replica)
                }
                ChangeStep::Demote(_) | ChangeStep::Alone(..) => false,
            };
            if !is_sound {
                return false;
            }
        }
        if next.voters.is_empty() || !self.has_majority_of(copies, &next) {
            return false;
        }
        next.version += 1;
        let is_joint = next.voters != members.voters && change.steps.len() > 1;
        if is_joint {
            next.outgoing = members.voters.clone();
            next.auto_leave = true;
            self.members = next;
        } else {
            self.members = next;
            self.members.nodes = self.kept_nodes();
        }
        true
    }

    fn has_majority_of(&self, copies: &Copies<'_>, next: &Configuration) -> bool {
        let with_next = Group {
            members: next.clone(),
            ..self.clone()
        };
        with_next.has_majority(copies, &next.voters)
    }

    /// The leader hands over.
    pub fn transfer(&mut self, to: ReplicaId, copies: &Copies<'_>) {
        let copy = self.copy(copies, to);
        let is_current = copy.is_some_and(|copy| copy.writes == Some(self.writes));
        if is_current && self.members.voters.contains(&to) {
            (self.leader, self.term) = (Some(to), self.term + 1);
        }
    }
}
