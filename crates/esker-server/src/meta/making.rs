//! Tables that are being made and cannot be where they were placed: they are placed anew.
//!
//! A table opens once each of its partitions can be written to, and has most of its first voters.
//! One that has lost most of them by then has no leader that could commit anything, and none of
//! them is replaced: only a leader could do that. Nor does it have one where most of them wait for
//! room on a disk. But nobody has written to such a table, so nothing is lost with it: it gets
//! another number, and its partitions begin on nodes that live, with as many replicas as ever.
//! Whatever those of before do then, they do under a number that nobody asks for, and they are
//! destroyed where they turn up. So silence is enough here, and to be wrong costs some seconds.

use std::collections::BTreeSet;

use esker_raft::{GroupId, NodeId, ReplicaId};

use crate::meta::command::Deed;
use crate::meta::ids::{PartitionId, TableId};
use crate::meta::limits::{QUICK_MS, REPAIRS_MAX};
use crate::meta::live::{Live, LiveNode};
use crate::meta::rows::{PartitionRow, TableRow, TableStatus};
use crate::meta::state::State;

/// Tables of which a partition cannot be written to as it is, where there are hosts enough that
/// live: a table never comes out of this with fewer replicas than it would have had.
pub(crate) fn made_anew(state: &State, live: &Live) -> Vec<Deed> {
    let made = state.tables.iter().filter(|(table, row)| {
        row.status == TableStatus::Creating && !state.may_have_opened(**table)
    });
    let due = made.filter_map(|(table, row)| {
        let candidates = candidates(state, live, *table, row)?;
        let mut groups = state.groups(*table);
        let is_stuck = groups.any(|(group, row)| cannot_begin(live, group, row, &candidates));
        let table = *table;
        is_stuck.then_some(Deed::MakeAnew { table, candidates })
    });
    due.take(REPAIRS_MAX).collect()
}

/// Nodes that live and have room, on hosts enough: those that have damaged nothing of the table,
/// for their disks may do so again, or all of them if there are not enough others.
fn candidates(state: &State, live: &Live, table: TableId, row: &TableRow) -> Option<Vec<NodeId>> {
    let fit = live.with_space(state);
    let fit = fit
        .into_iter()
        .filter(|node| !state.nodes[node].is_draining());
    let fit: Vec<NodeId> = fit.collect();
    let is_sound = |node: &NodeId| {
        let replicas = live.node(*node).into_iter().flat_map(LiveNode::replicas);
        let mut of_table = replicas.filter(|one| PartitionId::of(one.group).table == table);
        of_table.all(|one| one.damage.is_none())
    };
    let sound: Vec<NodeId> = fit.iter().copied().filter(is_sound).collect();
    let replicas = state.replicas_to_place(row);
    let is_enough = |nodes: &Vec<NodeId>| {
        let hosts: BTreeSet<_> = nodes.iter().map(|node| state.host(*node)).collect();
        hosts.len() >= replicas
    };
    [sound, fit].into_iter().find(is_enough)
}

/// Whether nobody leads the group so that it can be written to, and most of its first voters are
/// away, or wait for room on a disk and need not: `candidates` are where others have it.
fn cannot_begin(live: &Live, group: GroupId, row: &PartitionRow, candidates: &[NodeId]) -> bool {
    let waits = |(replica, node): (ReplicaId, NodeId)| {
        let reported = live.replica(node, group, replica);
        let goes_on = reported.is_some_and(|one| one.stall.is_none());
        !goes_on && live.full_ms(node) >= QUICK_MS && !candidates.contains(&node)
    };
    let there = voters(live, group, row).filter(|voter| !waits(*voter));
    live.led_group(group).is_none() && there.count() <= row.wished.len() / 2
}

/// Whether most first voters of a group are there, or about to be.
pub(crate) fn has_most(live: &Live, group: GroupId, row: &PartitionRow) -> bool {
    voters(live, group, row).count() > row.wished.len() / 2
}

/// The first voters of a group that are there, or about to be: of those that are wished, for that
/// does not change before the table is open.
fn voters(
    live: &Live,
    group: GroupId,
    row: &PartitionRow,
) -> impl Iterator<Item = (ReplicaId, NodeId)> {
    let wished = row.wished.iter().map(|(replica, node)| (*replica, *node));
    wished.filter(move |voter| may_vote(live, group, row, *voter))
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
