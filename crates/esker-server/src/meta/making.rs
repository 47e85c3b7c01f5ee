//! Tables that are being made and cannot be where they were placed: they are placed anew.
//!
//! A table opens once each of its partitions has had a leader. One that has lost most of its first
//! voters by then never has one, and none of them is replaced: only a leader could do that. But
//! nobody has written to such a table, so nothing is lost with it: it gets another number, and its
//! partitions begin on nodes that live, with as many replicas as ever. Whatever those of before do
//! then, they do under a number that nobody asks for, and they are destroyed where they turn up. So
//! silence is enough here, and to be wrong costs some seconds.

use std::collections::BTreeSet;

use esker_raft::{GroupId, NodeId, ReplicaId};

use crate::meta::command::Deed;
use crate::meta::ids::TableId;
use crate::meta::limits::{QUICK_MS, REPAIRS_MAX};
use crate::meta::live::Live;
use crate::meta::rows::{PartitionRow, TableRow, TableStatus};
use crate::meta::state::State;

/// Tables of which a partition will have no leader as it is, where there are hosts enough that
/// live: a table never comes out of this with fewer replicas than it would have had.
pub(crate) fn made_anew(state: &State, live: &Live) -> Vec<Deed> {
    let fit = live.with_space(state);
    let fit = fit
        .into_iter()
        .filter(|node| !state.nodes[node].is_draining());
    let candidates: Vec<NodeId> = fit.collect();
    let hosts: BTreeSet<_> = candidates.iter().map(|node| state.host(*node)).collect();
    let has_place = |row: &TableRow| {
        let replicas = row.replica_count.min(state.host_count());
        usize::try_from(replicas).is_ok_and(|replicas| replicas <= hosts.len())
    };
    let is_due = |table: TableId, row: &TableRow| {
        let mut groups = state.groups(table);
        row.status == TableStatus::Creating
            && !state.may_have_opened(table)
            && has_place(row)
            && groups.any(|(group, row)| cannot_begin(live, group, row))
    };
    let due = state
        .tables
        .iter()
        .filter(|table| is_due(*table.0, table.1));
    let due = due.map(|(table, _)| Deed::MakeAnew {
        table: *table,
        candidates: candidates.clone(),
    });
    due.take(REPAIRS_MAX).collect()
}

/// Whether nobody has led the group, and most of its first voters are away: those that are wished,
/// for that does not change before the table is open.
fn cannot_begin(live: &Live, group: GroupId, row: &PartitionRow) -> bool {
    let there = row
        .wished
        .iter()
        .filter(|(replica, node)| may_vote(live, group, row, (**replica, **node)));
    live.group(group).is_none() && there.count() <= row.wished.len() / 2
}

/// Whether a first voter is there, or about to be: one that nobody has reported yet is made on a
/// node that lives, and a node that was silent for a moment may be on its way back.
fn may_vote(
    live: &Live,
    group: GroupId,
    row: &PartitionRow,
    (replica, node): (ReplicaId, NodeId),
) -> bool {
    let Some(heard) = live.node(node).filter(|_| live.is_alive(node)) else {
        return live.silent_ms(node) < QUICK_MS;
    };
    match live.replica(node, group, replica) {
        Some(reported) => reported.damage.is_none(),
        None if heard.report.lost.contains(&(group, replica)) => false,
        None => row.unmade.contains(&replica) || !heard.lacks(group, replica),
    }
}

#[cfg(test)]
mod tests;
