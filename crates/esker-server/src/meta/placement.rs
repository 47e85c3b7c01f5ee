//! Where replicas go: to nodes that have few, and never two of a group to one host.

use std::collections::{BTreeMap, BTreeSet};

use esker_raft::NodeId;

use crate::meta::state::{Host, State};

/// Nodes for the replicas of new partitions: `replicas` of each, evenly over `candidates`, and none
/// twice on a host. None if there are fewer hosts than replicas.
///
/// The first node of each partition comes by turns too: it is the first to stand for election.
pub fn place(
    state: &State,
    candidates: &BTreeSet<NodeId>,
    partitions: u32,
    replicas: usize,
) -> Option<Vec<Vec<NodeId>>> {
    let hosts: BTreeSet<Host<'_>> = candidates.iter().map(|node| state.host(*node)).collect();
    if hosts.len() < replicas || replicas == 0 {
        return None;
    }
    let wished = state.wished_counts();
    let mut counts: BTreeMap<NodeId, (usize, usize)> = BTreeMap::new();
    for node in candidates {
        counts.insert(*node, (wished.get(node).copied().unwrap_or_default(), 0));
    }
    let placed = (0..partitions).map(|_| {
        let mut order: Vec<NodeId> = candidates.iter().copied().collect();
        order.sort_by_key(|node| (counts[node], *node));
        let mut taken = BTreeSet::new();
        order.retain(|node| taken.len() < replicas && taken.insert(state.host(*node)));
        order.sort_by_key(|node| (counts[node].1, *node));
        for (rank, node) in order.iter().enumerate() {
            let count = counts.get_mut(node).expect("a candidate");
            count.0 += 1;
            count.1 += usize::from(rank == 0);
        }
        order
    });
    Some(placed.collect())
}
