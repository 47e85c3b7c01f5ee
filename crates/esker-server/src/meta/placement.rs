//! Where replicas of a new table go: to all nodes alike, and never two of a group to one host.

use std::collections::{BTreeMap, BTreeSet};

use esker_raft::NodeId;

use crate::meta::state::{Host, State};

/// What a node has.
struct Count {
    /// Of the new table.
    replicas: usize,
    /// Of all that were there before.
    others: usize,
    /// Partitions of the new table of which it is the first node.
    firsts: usize,
}

/// Nodes for the replicas of new partitions: `replicas` of each, evenly over `candidates`, and none
/// twice on a host. None if there are fewer hosts than replicas.
///
/// A table is even by itself, and what does not come out even goes to nodes that have few of
/// others: else the balancer would move what was placed just now. The first node of each partition
/// comes by turns too: it is the first to stand for election.
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
    let mut counts: BTreeMap<NodeId, Count> = BTreeMap::new();
    for node in candidates {
        let others = wished.get(node).copied().unwrap_or_default();
        counts.insert(
            *node,
            Count {
                replicas: 0,
                others,
                firsts: 0,
            },
        );
    }
    let placed = (0..partitions).map(|_| {
        let mut order: Vec<NodeId> = candidates.iter().copied().collect();
        order.sort_by_key(|node| (counts[node].replicas, counts[node].others, *node));
        let mut taken = BTreeSet::new();
        order.retain(|node| taken.len() < replicas && taken.insert(state.host(*node)));
        order.sort_by_key(|node| (counts[node].firsts, *node));
        for (rank, node) in order.iter().enumerate() {
            let count = counts.get_mut(node).expect("a candidate");
            count.replicas += 1;
            count.firsts += usize::from(rank == 0);
        }
        order
    });
    Some(placed.collect())
}
