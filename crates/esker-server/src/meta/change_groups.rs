//! The command that changes which replicas of a group are wished.

use std::collections::{BTreeMap, BTreeSet};

use esker_raft::{GroupId, NodeId, ReplicaId};

use crate::meta::command::Wish;
use crate::meta::outcome::{Cause, Outcome, Refusal};
use crate::meta::rows::PartitionRow;
use crate::meta::state::State;
use crate::meta::touched::{Result, Touched};

/// Replicas that may be wished of one group: as many as it may have, and as many on their way.
const WISHED_MAX: usize = 10;

/// Changes what is wished of a group: never two replicas on a host, never fewer than there are to
/// be, and new replicas under ids that were never given.
pub(crate) fn wish(state: &mut State, wish: &Wish, touched: &mut Touched) -> Result {
    let row = state.partitions.get(&wish.group);
    let row = row.ok_or_else(|| Refusal::new(Cause::NoTable, "there is no such group"))?;
    if row.version != wish.version {
        return Err(Refusal::new(
            Cause::Stale,
            "other replicas of the group are wished since",
        ));
    }
    if !state.is_settled(wish.group) {
        return Err(Refusal::new(Cause::Stale, "the group is being made"));
    }
    let (wished, replicas) = wanted(row, wish)?;
    let least = state.wished_count(wish.group).min(row.wished.len()).max(1);
    if wished.len() < least {
        let why = format!("the group is to have {least} replicas at the least");
        return Err(Refusal::new(Cause::TooFewCopies, why));
    }
    let mut adopted = wish.adopt.iter();
    if adopted.any(|one| state.is_lost(wish.group, one.0)) {
        let why = "the group goes on without a replica that is to be wished again";
        return Err(Refusal::bad(why));
    }
    let is_there = |node: &&NodeId| state.nodes.contains_key(node);
    let mut new = wish.add.iter().chain(wish.adopt.iter().map(|one| &one.1));
    if let Some(node) = new.find(|node| !is_there(node)) {
        return Err(Refusal::new(
            Cause::NoNode,
            format!("there is no node {}", node.0),
        ));
    }
    // Those that share a host by a label that came later may be put right one by one.
    if shared_hosts(state, &wished) > shared_hosts(state, &row.wished) {
        return Err(Refusal::bad("two replicas would share a host"));
    }
    let row = PartitionRow {
        version: row.version + 1,
        replica_max: row.replica_max.max(replicas.last().map_or(0, |id| id.0)),
        first: row.first.clone(),
        unmade: row.unmade.iter().chain(&replicas).copied().collect(),
        wished,
    };
    state.partitions.insert(wish.group, row.pruned());
    touched.partition(wish.group);
    Ok(Outcome::Replicas { replicas })
}

/// Notes that replicas were made; what is not so or is known changes nothing.
pub(crate) fn note_made(
    state: &mut State,
    replicas: &[(GroupId, ReplicaId)],
    touched: &mut Touched,
) -> Outcome {
    for (group, replica) in replicas {
        if let Some(row) = state.partitions.get_mut(group)
            && row.unmade.remove(replica)
        {
            *row = row.clone().pruned();
            touched.partition(*group);
        }
    }
    Outcome::Done
}

impl PartitionRow {
    /// Without what is not needed any more: those that are wished no more need not be made, and
    /// once all of the first voters are made, nobody asks for them.
    fn pruned(mut self) -> PartitionRow {
        let wished = &self.wished;
        self.unmade.retain(|replica| wished.contains_key(replica));
        if !self
            .first
            .keys()
            .any(|replica| self.unmade.contains(replica))
        {
            self.first = BTreeMap::new();
        }
        self
    }
}

/// The replicas that are to be wished, and the ids of new ones.
fn wanted(
    row: &PartitionRow,
    wish: &Wish,
) -> Result<(BTreeMap<ReplicaId, NodeId>, Vec<ReplicaId>)> {
    let unsound = |why: &str| Err(Refusal::bad(why));
    let mut wished = row.wished.clone();
    for replica in &wish.drop {
        if wished.remove(replica).is_none() {
            return unsound("a replica is not wished, and cannot be dropped");
        }
    }
    for (replica, node) in &wish.adopt {
        let is_of_before = (1..=row.replica_max).contains(&replica.0);
        if !is_of_before || wished.insert(*replica, *node).is_some() {
            return unsound("a replica was never given, or is wished already");
        }
    }
    let ids = (row.replica_max + 1..).map(ReplicaId);
    let added: Vec<(ReplicaId, NodeId)> = ids.zip(wish.add.iter().copied()).collect();
    wished.extend(added.iter().copied());
    let nodes: BTreeSet<&NodeId> = wished.values().collect();
    if nodes.len() != wished.len() {
        return unsound("a node would have two replicas of the group");
    }
    if wished.len() > WISHED_MAX {
        return unsound("a group would have too many replicas");
    }
    Ok((wished, added.into_iter().map(|one| one.0).collect()))
}

/// Replicas that stand where another one of their group stands.
fn shared_hosts(state: &State, wished: &BTreeMap<ReplicaId, NodeId>) -> usize {
    let hosts: BTreeSet<_> = wished.values().map(|node| state.host(*node)).collect();
    wished.len() - hosts.len()
}
