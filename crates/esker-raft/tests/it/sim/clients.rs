//! Who uses the cluster: writes, reads, changes of the members, transfers.

use std::collections::BTreeSet;

use esker_raft::{Change, ChangeStep, Configuration, GroupId, NodeId, ReplicaId, Token};

use crate::sim::plan::Planted;
use crate::sim::rng::Rng;
use crate::sim::world::World;

impl World {
    fn token(&mut self) -> Token {
        self.next_token += 1;
        Token(self.next_token)
    }

    /// A few calls of this tick.
    pub fn use_it(&mut self) {
        for group in self.groups() {
            if self.around.rng.hits(400) {
                self.write(group);
            }
            if self.around.rng.hits(self.around.plan.read) {
                self.read(group);
            }
            if self.around.rng.hits(self.around.plan.change) {
                self.change(group);
            }
            if self.around.rng.hits(self.around.plan.transfer) {
                self.transfer(group);
            }
        }
    }

    /// Mostly at the leader, at times anywhere, where it must be refused. Returns its token if it
    /// was taken.
    pub fn write(&mut self, group: GroupId) -> Option<Token> {
        let at = match self.around.rng.hits(900) {
            true => self.leader_of(group)?,
            false => self.any_node(),
        };
        let token = self.token();
        let mut payload = token.0.to_le_bytes().to_vec();
        let len = usize::try_from(self.around.rng.below(120)).expect("small");
        payload.resize(8 + len, u8::try_from(token.0 % 251).expect("a byte"));
        let shard = self.nodes[at].shard.as_mut()?;
        shard.propose(group, token, payload.into()).ok()?;
        if self.around.plan.planted == Planted::AckBeforeCommit {
            self.around.checks.acknowledged(group, token);
        }
        Some(token)
    }

    fn read(&mut self, group: GroupId) {
        let at = self.any_node();
        let token = self.token();
        self.around.checks.read_begins(group, token);
        if self.around.plan.planted == Planted::ReadLocally {
            self.nodes[at].read_locally(group, token, &mut self.around);
        } else if let Some(shard) = self.nodes[at].shard.as_mut() {
            // A node without the group refuses; so does one with too many reads.
            let _ = shard.read(group, token);
        }
    }

    fn any_node(&mut self) -> usize {
        let count = self.nodes.len() as u64;
        usize::try_from(self.around.rng.below(count)).expect("an index")
    }

    fn transfer(&mut self, group: GroupId) {
        let Some(at) = self.leader_of(group) else {
            return;
        };
        let Some(shard) = self.nodes[at].shard.as_mut() else {
            return;
        };
        let Some(status) = shard.status(group) else {
            return;
        };
        let voters: Vec<ReplicaId> = status.configuration.voters.iter().copied().collect();
        if let Some(to) = self.around.rng.pick(&voters) {
            // To itself, or to one that is silent: nothing comes of it.
            let _ = shard.transfer(group, to);
        }
    }

    fn change(&mut self, group: GroupId) {
        let Some(at) = self.leader_of(group) else {
            return;
        };
        let token = self.token();
        let nodes: Vec<NodeId> = self.nodes.iter().map(|node| node.id).collect();
        let Some(shard) = self.nodes[at].shard.as_mut() else {
            return;
        };
        let Some(status) = shard.status(group) else {
            return;
        };
        if let Some(change) = wish(&status.configuration, &nodes, &mut self.around.rng) {
            // Most wishes break a rule; which ones is what `membership` is tested for.
            let _ = shard.change(group, token, &change);
        }
    }
}

/// A change that somebody could wish for: often one that is refused.
fn wish(configuration: &Configuration, nodes: &[NodeId], rng: &mut Rng) -> Option<Change> {
    let taken: BTreeSet<NodeId> = configuration.nodes.values().copied().collect();
    let free: Vec<NodeId> = nodes
        .iter()
        .copied()
        .filter(|node| !taken.contains(node))
        .collect();
    let voters: Vec<ReplicaId> = configuration.voters.iter().copied().collect();
    let learners: Vec<ReplicaId> = configuration.learners.iter().copied().collect();
    let add = |rng: &mut Rng| {
        let node = rng.pick(&free)?;
        let id = ReplicaId(configuration.replica_max + 1);
        Some(ChangeStep::AddLearner(id, node))
    };
    let steps = match rng.below(6) {
        0 | 1 => vec![add(rng)?],
        2 => vec![ChangeStep::Promote(rng.pick(&learners)?)],
        3 if voters.len() > 2 => vec![ChangeStep::Remove(rng.pick(&voters)?)],
        3 => vec![ChangeStep::Remove(rng.pick(&learners)?)],
        4 if voters.len() > 2 => vec![ChangeStep::Demote(rng.pick(&voters)?)],
        _ => vec![
            ChangeStep::Promote(rng.pick(&learners)?),
            ChangeStep::Remove(rng.pick(&voters)?),
        ],
    };
    Some(Change { steps })
}
