//! Where the partitions of a table are, as one node sees it while nobody leads the meta group.
//!
//! Partitions go on without the meta group, and who has not asked before must find them. The node's
//! replica of the group knows the tables; who leads their partitions it learns from its own
//! replicas of them, and else names a node that has one and lives, which forwards what it is sent.
//!
//! The replica may be behind: of a table that it does not have open it says nothing, for that would
//! be the last word for who asks. A table that it has and that was dropped meanwhile is refused by
//! the nodes that have its partitions, and of two tables that changed names a client is told as one
//! that had asked before.

use std::collections::BTreeSet;

use esker_raft::{GroupId, NodeId};
use esker_rpc::codec::scalars::Gpid;
use esker_rpc::error::ErrorName;
use esker_rpc::message::meta::{PartitionConfiguration, QueryConfigRequest, QueryConfigResponse};

use crate::meta::describe::{client, number};
use crate::meta::ids::PartitionId;
use crate::meta::rows::{PartitionRow, TableRow, TableStatus};
use crate::meta::state::State;

/// What a node sees by itself.
pub trait Seen {
    /// The term of a group of which it has a replica, and who leads that as the replica knows.
    fn leader(&self, group: GroupId) -> Option<(u64, Option<NodeId>)>;

    /// Whether that node lives: it is this one, or its connection stands.
    fn is_alive(&self, node: NodeId) -> bool;
}

/// The partitions of a table. None where the leader alone could say it, or where no node lives that
/// has any of them: then another one may know more.
pub fn partitions(
    state: &State,
    seen: &dyn Seen,
    request: &QueryConfigRequest,
) -> Option<QueryConfigResponse> {
    let (id, table) = state.table(&request.app_name)?;
    if table.status != TableStatus::Open {
        return None;
    }
    let asked: BTreeSet<i32> = request.partition_indices.iter().copied().collect();
    let is_asked =
        |index: u32| asked.is_empty() || i32::try_from(index).is_ok_and(|it| asked.contains(&it));
    let mut is_anybody_there = false;
    let mut partitions = Vec::new();
    for (group, row) in state.groups(id) {
        if is_asked(PartitionId::of(group).index) {
            let (partition, is_there) = partition(state, seen, table, (group, row));
            is_anybody_there |= is_there;
            partitions.push(partition);
        }
    }
    is_anybody_there.then(|| QueryConfigResponse {
        err: ErrorName::OK,
        app_id: id.wire(),
        partition_count: number(table.partition_count),
        is_stateful: true,
        partitions,
    })
}

/// A partition, and whether anybody lives who has it.
fn partition(
    state: &State,
    seen: &dyn Seen,
    table: &TableRow,
    (group, row): (GroupId, &PartitionRow),
) -> (PartitionConfiguration, bool) {
    let id = PartitionId::of(group);
    let has_address = |node: &NodeId| state.nodes.contains_key(node);
    let known = seen.leader(group);
    let leader = known.and_then(|known| known.1).filter(has_address);
    let wished = || row.wished.values().copied().filter(has_address);
    let alive: Vec<NodeId> = wished().filter(|node| seen.is_alive(*node)).collect();
    let leader = leader.filter(|node| seen.is_alive(*node));
    let there = leader.or(alive.first().copied());
    // One is named in any case, for a client that meets a partition without a primary does without
    // the whole table.
    let primary = there.or_else(|| wished().next());
    let others = alive.iter().filter(|node| Some(**node) != primary);
    let partition = PartitionConfiguration {
        pid: Gpid {
            app_id: id.table.wire(),
            partition_index: number(id.index),
        },
        ballot: known.map_or(1, |known| i64::try_from(known.0).unwrap_or(i64::MAX).max(1)),
        max_replica_count: number(table.replica_count),
        primary: primary.map(|node| client(state, node)).unwrap_or_default(),
        secondaries: others.map(|node| client(state, *node)).collect(),
        ..PartitionConfiguration::default()
    };
    (partition, there.is_some())
}

#[cfg(test)]
mod tests;
