//! What a node is told in answer to its report: a pure function of what is wished and what is.

use esker_raft::{GroupId, NodeId, ReplicaId};

use crate::meta::directive::{Directive, KnownNode, TableFacts};
use crate::meta::handing::Handing;
use crate::meta::ids::{PartitionId, TableId};
use crate::meta::limits::DIRECTIVES_MAX;
use crate::meta::live::{Live, LiveGroup, stranger};
use crate::meta::recovery;
use crate::meta::report::{ReplicaReport, Report};
use crate::meta::rows::{Level, PartitionRow, TableRow, TableStatus};
use crate::meta::settings;
use crate::meta::state::State;
use crate::meta::steps::{Step, next_step};

/// What a voter has applied that its group begins with, and nothing since.
const FIRST_APPLIED: u64 = 1;

/// What must be true on the node that has sent `report`, which `live` has heard.
///
/// Only what follows from the state, the group's own configuration and the report is said; a node
/// may be told the same many times, by more than one who thinks that it leads.
pub fn directives(state: &State, live: &Live, report: &Report) -> Vec<Directive> {
    if let Some(why) = stranger(state, live, report) {
        return vec![Directive::Stop { why }];
    }
    if live.node(report.node).is_none() {
        return Vec::new();
    }
    let told = knowledge(state, report);
    let destroyed = report.replicas.iter();
    let destroyed = destroyed.filter_map(|replica| gone(state, live, replica));
    let recovered = report.replicas.iter();
    let recovered = recovered.filter_map(|replica| recovery::told(state, live, replica));
    let created = state.partitions.iter();
    let created = created.filter_map(|(group, row)| created_here(state, live, report, *group, row));
    let steps = report
        .replicas
        .iter()
        .filter_map(|replica| step(state, live, (replica.group, replica.replica), report.node));
    let work = steps
        .chain(destroyed)
        .chain(created)
        .chain(recovered)
        .take(DIRECTIVES_MAX);
    told.into_iter().chain(work).collect()
}

/// The lists of tables and nodes, if the node knows others.
fn knowledge(state: &State, report: &Report) -> Vec<Directive> {
    let Some(cluster) = &state.cluster else {
        return Vec::new();
    };
    let mut told = Vec::new();
    if report.tables_revision != cluster.tables_revision {
        told.push(Directive::Tables {
            revision: cluster.tables_revision,
            tables: state
                .tables
                .iter()
                .map(|(id, row)| facts(*id, row))
                .collect(),
        });
    }
    if report.nodes_revision != cluster.nodes_revision {
        let nodes = state.nodes.iter();
        told.push(Directive::Nodes {
            revision: cluster.nodes_revision,
            nodes: nodes
                .map(|(id, row)| KnownNode {
                    node: *id,
                    incarnation: row.incarnation,
                    addresses: row.addresses.clone(),
                })
                .collect(),
        });
    }
    told
}

fn facts(table: TableId, row: &TableRow) -> TableFacts {
    TableFacts {
        table,
        name: row.name.clone(),
        partition_count: row.partition_count,
        is_dropped: row.is_dropped(),
        default_ttl_s: settings::default_ttl_s(&row.envs),
        validates_hash: settings::validates_hash(&row.envs),
        envs: row.envs.clone(),
    }
}

/// That a replica goes: its group has let it go for ever, its table is forgotten, or it waits for
/// an image that it is not wished to get any more. Of one that its group goes on without says
/// `recovery` when it goes.
///
/// A table or a replica that this state never gave a number to is none of ours to destroy: the
/// state may be the one that is behind.
fn gone(state: &State, live: &Live, reported: &ReplicaReport) -> Option<Directive> {
    let (group, replica) = (reported.group, reported.replica);
    let table = PartitionId::of(group).table;
    let next_table = state.cluster.as_ref()?.next_table;
    let was_given = table.0 > 0 && table < next_table && !state.may_forget_table(table);
    if was_given && !state.tables.contains_key(&table) {
        let without = None;
        return Some(Directive::Destroy {
            group,
            replica,
            without,
        });
    }
    if state.is_lost(group, replica) {
        return None;
    }
    let known = live.group(group)?;
    if known.configuration.has_left(replica) {
        if !live.has_settled(group) {
            return None;
        }
        let without = Some(known.configuration.clone());
        return Some(Directive::Destroy {
            group,
            replica,
            without,
        });
    }
    // It never had a vote, so nobody counts on it, even if it becomes a member just now.
    let row = state.partitions.get(&group)?;
    let is_spare = reported.applied == 0
        && replica.0 <= row.replica_max
        && !row.wished.contains_key(&replica)
        && !known.configuration.contains(replica);
    is_spare.then_some(Directive::Discard { group, replica })
}

/// That a replica is made here, which no node has reported yet: a first voter, or a new one that
/// waits for the log. One that was reported once is never made again.
fn created_here(
    state: &State,
    live: &Live,
    report: &Report,
    group: GroupId,
    row: &PartitionRow,
) -> Option<Directive> {
    // Of almost all of them, and this is asked of all for each report.
    if row.unmade.is_empty() {
        return None;
    }
    let mut wished = row.wished.iter();
    let (&replica, _) = wished.find(|wished| *wished.1 == report.node)?;
    let is_here = live.node(report.node)?.of_group(group).next().is_some();
    let is_lost = report.lost.contains(&(group, replica));
    if is_here || is_lost || !row.unmade.contains(&replica) || !is_wanted(state, group) {
        return None;
    }
    let is_first = row.first.contains_key(&replica);
    if is_first && !may_begin(state, live, group, row) {
        return None;
    }
    let first = match is_first {
        true => row
            .first
            .iter()
            .map(|(replica, node)| (*replica, *node))
            .collect(),
        false => Vec::new(),
    };
    Some(Directive::Create {
        group,
        replica,
        first,
    })
}

/// Whether voters that the group begins with are made. That some were, and have entries, may be
/// what a meta service of before knew alone: an empty one in their place would vote as if they had
/// none, and pass for what is left of them.
fn may_begin(state: &State, live: &Live, group: GroupId, row: &PartitionRow) -> bool {
    let has_nothing = |node: &NodeId| {
        let heard = live.node(*node).filter(|_| live.is_alive(*node));
        heard.is_some_and(|it| it.of_group(group).all(|one| one.applied <= FIRST_APPLIED))
    };
    !state.may_have_opened(PartitionId::of(group).table)
        || live.led_group(group).is_some()
        || row.first.values().all(has_nothing)
}

/// Whether replicas of the group are made: not of a table that was dropped before it was open.
fn is_wanted(state: &State, group: GroupId) -> bool {
    let table = state.tables.get(&PartitionId::of(group).table);
    let status = table.map(|table| table.status);
    !matches!(
        status,
        Some(TableStatus::Dropped {
            was_open: false,
            ..
        })
    )
}

/// What the leader of a group does next, if `replica` on `node` is that.
fn step(
    state: &State,
    live: &Live,
    (id, replica): (GroupId, ReplicaId),
    node: NodeId,
) -> Option<Directive> {
    let level = state.cluster.as_ref()?.level;
    let group = live.led_group(id)?;
    if level <= Level::Frozen || (group.leader, group.node) != (replica, node) {
        return None;
    }
    if !state.is_settled(id) {
        return None;
    }
    let row = state.partitions.get(&id)?;
    // A member that this state never gave: it is the state of a leader that was deposed.
    if group.configuration.replica_max > row.replica_max {
        return None;
    }
    let step = next_step(id, row, group, live).or_else(|| handed_over(live, id, group))?;
    Some(match step {
        Step::Change(change) => Directive::Change {
            group: id,
            version: group.configuration.version,
            change,
        },
        Step::Transfer(to) => Directive::Transfer { group: id, to },
    })
}

/// That the lead goes to who is to have it, where nothing else is to be done.
fn handed_over(live: &Live, id: GroupId, group: &LiveGroup) -> Option<Step> {
    let Some(Handing::UnderWay(to)) = live.handing(id) else {
        return None;
    };
    let is_fit = to != group.leader && group.configuration.voters.contains(&to);
    is_fit.then_some(Step::Transfer(to))
}

#[cfg(test)]
mod tests;
