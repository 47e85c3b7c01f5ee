//! What the brain does by itself: a pure function of what is wished and what is, each second.

use esker_raft::NodeId;

use crate::meta::change_nodes::check_label;
use crate::meta::command::{Command, Deed};
use crate::meta::ids::TableId;
use crate::meta::limits::{QUICK_MS, REPAIRS_MAX};
use crate::meta::live::Live;
use crate::meta::making::{has_most, made_anew};
use crate::meta::mending::Mending;
use crate::meta::recovery::recovered;
use crate::meta::rows::{Level, NodeRow, Stay, TableStatus};
use crate::meta::state::State;

/// Replicas that one command says to be made.
const MADE_MAX: usize = 4096;

/// The commands that are due, to be proposed in this order.
///
/// Each is checked again when it is applied; one that came twice changes nothing the second time.
pub fn repairs(state: &State, live: &Live, unix_ms: u64) -> Vec<Command> {
    let Some(cluster) = &state.cluster else {
        return Vec::new();
    };
    let mut deeds = updated_nodes(state, live);
    deeds.extend(made(state, live));
    deeds.extend(opened(state, live));
    deeds.extend(recovered(state, live));
    deeds.extend(forgotten(state, unix_ms));
    deeds.extend(removed(state, live));
    if cluster.level > Level::Frozen {
        deeds.extend(made_anew(state, live));
        let wishes = Mending::new(state, live).wishes(REPAIRS_MAX);
        deeds.extend(wishes.into_iter().map(|wish| Deed::Wish { wish }));
    }
    deeds
        .into_iter()
        .map(|deed| Command { unix_ms, deed })
        .collect()
}

/// Nodes that were opened again, or are reached elsewhere than before.
fn updated_nodes(state: &State, live: &Live) -> Vec<Deed> {
    let differs = state.nodes.iter().filter_map(|(node, row)| {
        let report = &live.node(*node)?.report;
        // A label that is none leaves the one of before.
        let label = match check_label(&report.label) {
            Ok(()) => &report.label,
            Err(_) => &row.label,
        };
        let is_known = report.incarnation == row.incarnation
            && report.addresses == row.addresses
            && *label == row.label;
        (!is_known && report.incarnation >= row.incarnation).then(|| Deed::UpdateNode {
            node: *node,
            incarnation: report.incarnation,
            addresses: report.addresses.clone(),
            label: label.clone(),
        })
    });
    differs.collect()
}

/// Replicas that a node has reported for the first time, or has lost already.
fn made(state: &State, live: &Live) -> Option<Deed> {
    let mut replicas = Vec::new();
    for (group, row) in &state.partitions {
        for replica in &row.unmade {
            let Some(node) = row.wished.get(replica) else {
                continue;
            };
            let is_lost = live
                .node(*node)
                .is_some_and(|node| node.report.lost.contains(&(*group, *replica)));
            if is_lost || live.replica(*node, *group, *replica).is_some() {
                replicas.push((*group, *replica));
            }
        }
        if replicas.len() >= MADE_MAX {
            break;
        }
    }
    (!replicas.is_empty()).then_some(Deed::NoteMade { replicas })
}

/// Tables of which every partition can be written to: it is led, and has most of its replicas; and
/// those that were being made when the meta service went on without its majority, if anything of
/// them is there: that they were open, and written to, may be in entries that are lost. Of one that
/// is being made no loss is accepted.
fn opened(state: &State, live: &Live) -> Vec<Deed> {
    let creating = state
        .tables
        .iter()
        .filter(|table| table.1.status == TableStatus::Creating);
    let is_led = |table: TableId| {
        let mut groups = state.groups(table);
        groups.all(|(group, row)| live.led_group(group).is_some() && has_most(live, group, row))
    };
    let is_there = |table: TableId| {
        let mut groups = state.groups(table);
        state.may_have_opened(table) && groups.any(|group| live.has_any(state, group.0))
    };
    let due = creating
        .map(|table| *table.0)
        .filter(|table| is_led(*table) || is_there(*table));
    due.map(|table| Deed::OpenTable { table }).collect()
}

/// Nodes that are to leave, or joined anew without what they had, and on which nothing counts.
fn removed(state: &State, live: &Live) -> Vec<Deed> {
    let leaves = |node: NodeId, row: &NodeRow| {
        // At another one's address it may be on its way back with its own.
        let is_replaced = live.successor(state, node).is_some();
        row.stay == Stay::Leaves || is_replaced && live.silent_ms(node) >= QUICK_MS
    };
    let leaving = state
        .nodes
        .iter()
        .filter(|one| leaves(*one.0, one.1))
        .map(|one| *one.0);
    let is_wished = |node: NodeId| {
        let mut rows = state.partitions.values();
        rows.any(|row| row.wished.values().any(|at| *at == node))
    };
    let free = leaving.filter(|node| !is_wished(*node) && live.needs(state, *node).is_none());
    free.map(|node| Deed::RemoveNode { node }).collect()
}

/// Dropped tables whose time is over.
fn forgotten(state: &State, unix_ms: u64) -> Vec<Deed> {
    let is_over = |status| match status {
        TableStatus::Dropped { ends_s, .. } => ends_s <= unix_ms / 1000,
        _ => false,
    };
    let over = state.tables.iter().filter(|table| is_over(table.1.status));
    over.map(|table| Deed::ForgetTable { table: *table.0 })
        .collect()
}

#[cfg(test)]
mod tests;
