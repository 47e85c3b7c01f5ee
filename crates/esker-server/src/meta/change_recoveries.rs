//! Commands by which a group goes on without most of its voters, as docs/decisions/0033 has it.

use std::collections::{BTreeMap, BTreeSet};

use esker_raft::{GroupId, NodeId, ReplicaId};

use crate::meta::change_nodes::begun;
use crate::meta::command::Recover;
use crate::meta::epoch::Epoch;
use crate::meta::ids::{META, TableId};
use crate::meta::limits::{
    FORGOTTEN_NODES_MAX, FORGOTTEN_REPLICAS_MAX, FORGOTTEN_REVISIONS_MAX, FORGOTTEN_TABLES_MAX,
};
use crate::meta::outcome::{Cause, Outcome, Refusal};
use crate::meta::rows::{EpochRow, PartitionRow, RecoveryRow};
use crate::meta::state::State;
use crate::meta::touched::{Result, Touched};

/// Has a group go on with one replica: it alone is wished, and all others that were ever given are
/// lost. One that is under way with another base is given up: that one is lost, too.
pub(crate) fn recover(
    state: &mut State,
    recover: &Recover,
    unix_ms: u64,
    touched: &mut Touched,
) -> Result {
    let (group, base, node) = (recover.group, recover.base, recover.node);
    let row = state.partitions.get(&group).filter(|_| group != META);
    let row = row.ok_or_else(|| Refusal::new(Cause::NoTable, "there is no such partition"))?;
    let is_wished_alone = row.wished.len() == 1 && row.wished.contains_key(&base);
    let goes_on = state.recoveries.get(&group).filter(|row| !row.is_done);
    if is_wished_alone && goes_on.is_some_and(|row| row.base == base) {
        return Ok(Outcome::Done);
    }
    if row.version != recover.version || !state.is_settled(group) {
        let why = "other replicas of the partition are wished since: ask again";
        return Err(Refusal::new(Cause::Stale, why));
    }
    if !(1..=row.replica_max).contains(&base.0) || !state.nodes.contains_key(&node) {
        let why = format!("there is no {base} on node {}", node.0);
        return Err(Refusal::bad(why));
    }
    let last = ReplicaId(row.replica_max);
    let row = PartitionRow {
        version: row.version + 1,
        replica_max: row.replica_max,
        first: BTreeMap::new(),
        unmade: BTreeSet::new(),
        wished: BTreeMap::from([(base, node)]),
    };
    state.partitions.insert(group, row);
    touched.partition(group);
    let row = RecoveryRow {
        base,
        node,
        last,
        decided_ms: unix_ms,
        is_done: false,
    };
    state.recoveries.insert(group, row);
    touched.recovery(group);
    Ok(Outcome::Done)
}

/// Notes that groups have gone on with these replicas; what is not so or is known changes nothing.
pub(crate) fn note_recovered(
    state: &mut State,
    groups: &[(GroupId, ReplicaId)],
    touched: &mut Touched,
) -> Outcome {
    for (group, base) in groups {
        if let Some(row) = state.recoveries.get_mut(group)
            && row.base == *base
            && !row.is_done
        {
            row.is_done = true;
            touched.recovery(*group);
        }
    }
    Outcome::Done
}

/// The meta group has gone on with one replica, which alone is wished. The lost ones may have given
/// numbers in entries that are not here: those are left out, lest anything has one that another
/// has. An epoch that is not later than this one changes nothing.
pub(crate) fn recover_meta(
    state: &mut State,
    epoch: Epoch,
    unix_ms: u64,
    touched: &mut Touched,
) -> Result {
    if epoch <= state.epoch() {
        return Ok(Outcome::Done);
    }
    let times = Epoch::left_out(state.epoch(), epoch.number);
    // Of two that were decided beside one another both leave out what either did not know.
    let beside = state.epochs.get(&epoch.number);
    let beside = beside.map(|row| (row.tables_from, row.nodes_from));
    let cluster = begun(state)?;
    let (table, node) = (cluster.next_table, cluster.next_node);
    let tables = FORGOTTEN_TABLES_MAX.saturating_mul(u32::try_from(times).unwrap_or(u32::MAX));
    cluster.next_table = TableId(table.0.saturating_add(tables));
    cluster.next_node = NodeId(node.0 + times * FORGOTTEN_NODES_MAX);
    // Nodes may have been told more than is known here, and are to be told anew.
    cluster.tables_revision += times * FORGOTTEN_REVISIONS_MAX;
    cluster.nodes_revision += times * FORGOTTEN_REVISIONS_MAX;
    let row = EpochRow {
        epoch,
        decided_ms: unix_ms,
        tables_from: beside.map_or(table, |from| from.0.min(table)),
        tables_to: cluster.next_table,
        nodes_from: beside.map_or(node, |from| from.1.min(node)),
        nodes_to: cluster.next_node,
    };
    touched.cluster();
    state.epochs.insert(epoch.number, row);
    touched.epoch(epoch.number);
    for (group, row) in &mut state.partitions {
        match *group == META {
            true => {
                *row = PartitionRow {
                    version: row.version + 1,
                    replica_max: row.replica_max.max(epoch.last.0),
                    first: BTreeMap::new(),
                    unmade: BTreeSet::new(),
                    wished: BTreeMap::from([(epoch.base, epoch.node)]),
                };
            }
            false => row.replica_max += times * FORGOTTEN_REPLICAS_MAX,
        }
        touched.partition(*group);
    }
    Ok(Outcome::Done)
}
