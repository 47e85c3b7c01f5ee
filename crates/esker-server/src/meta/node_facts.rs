//! Nodes and plans as our own calls tell them.

use std::collections::{BTreeMap, BTreeSet};

use esker_raft::{GroupId, NodeId};
use esker_rpc::codec::scalars::{Address, Gpid};
use esker_rpc::error::ErrorName;
use esker_rpc::message::own::{BalanceResponse, BalanceStep, NodeFacts, NodeStay};

use crate::meta::balance::plan;
use crate::meta::balance_planner::{Move, What};
use crate::meta::describe::wire_level;
use crate::meta::ids::{META, PartitionId, TableId};
use crate::meta::limits::QUICK_MS;
use crate::meta::live::{Live, LiveNode};
use crate::meta::rows::{Level, NodeRow, Stay};
use crate::meta::state::State;

/// Steps of a plan that are told: what nodes say to one another has room for so many.
const STEPS_TOLD_MAX: usize = 1000;

/// Said of a node whose replicas are not known.
const COPIES_UNKNOWN: i32 = -1;

/// All nodes, and what counts on them.
pub(crate) fn node_facts(state: &State, live: &Live) -> Vec<NodeFacts> {
    let knows_groups = live.unheard_group(state).is_none();
    let mut facts: BTreeMap<NodeId, NodeFacts> = BTreeMap::new();
    for (node, row) in &state.nodes {
        let mut one = facts_of(state, live, *node, row);
        one.copies = copies(live, *node, knows_groups);
        if !one.is_alive {
            one.kept_for = kept_for(state, live, *node).unwrap_or_default();
        }
        facts.insert(*node, one);
    }
    for group in state.partitions.keys() {
        let is_orphan = is_orphan(state, live, *group);
        if let Some(known) = live.group(*group).filter(|_| *group != META)
            && let Some(leader) = facts.get_mut(&known.node)
        {
            leader.leads += 1;
        }
        for node in nodes_of(state, live, *group) {
            if let Some(one) = facts.get_mut(&node) {
                one.replicas += 1;
                one.leaderless += i32::from(is_orphan);
            }
        }
    }
    facts.into_values().collect()
}

fn facts_of(state: &State, live: &Live, node: NodeId, row: &NodeRow) -> NodeFacts {
    let long = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
    let successor = displaced_by(state, live, node);
    let is_alive = live.is_alive(node) && successor.is_none();
    let heard = live.node(node);
    let space = |of: fn(&LiveNode) -> u64| heard.map_or(0, |node| long(of(node)));
    let stuck = match (row.stay, is_alive) {
        (Stay::Stays, true) => Stuck::default(),
        _ => stuck(state, live, node),
    };
    NodeFacts {
        node: long(node.0),
        address: row.addresses.client.into(),
        meta: row.addresses.meta.map_or(Address::NONE, Address::from),
        peer: row.addresses.peer.to_string(),
        label: row.label.clone(),
        is_alive,
        silent_ms: if is_alive {
            0
        } else {
            long(live.silent_ms(node))
        },
        replaced_in_ms: match (is_alive, successor) {
            (true, _) => -1,
            // As soon as it counts as silent.
            (false, Some(_)) => long(QUICK_MS.saturating_sub(live.silent_ms(node))),
            (false, None) => long(live.replaced_ms(state, node)),
        },
        stay: match row.stay {
            Stay::Stays => NodeStay::NS_STAYS,
            Stay::Drains => NodeStay::NS_DRAINS,
            Stay::Leaves => NodeStay::NS_LEAVES,
        },
        leads: 0,
        replicas: 0,
        copies: COPIES_UNKNOWN,
        leaderless: 0,
        space_total: space(|node| node.report.space_total_bytes),
        space_free: space(|node| node.report.space_free_bytes),
        clock_ahead_ms: live.clock_apart_ms(node).unwrap_or(0),
        votes_in_meta: votes_in_meta(live, node),
        successor: successor.map_or(0, |other| long(other.0)),
        waits_for: stuck.why(state),
        kept_for: String::new(),
        leads_meta: live.meta_leader() == Some(node),
        stuck: match is_alive {
            true => 0,
            false => number(stuck.with(&orphans_on(state, live, node))),
        },
        tables_revision: heard.map_or(0, |node| long(node.report.tables_revision)),
    }
}

/// The node that joined later and lives at a node's address: that one has ended, though it was
/// heard a moment ago.
fn displaced_by(state: &State, live: &Live, node: NodeId) -> Option<NodeId> {
    let peer = |row: &NodeRow| row.addresses.peer;
    let own = state.nodes.get(&node).map(peer)?;
    let mut others = state.nodes.iter().filter(|other| *other.0 > node);
    let found = others.find(|(other, row)| peer(row) == own && live.is_alive(**other));
    found.map(|other| *other.0)
}

/// Until a change of the members is whole, those of before count as well.
fn votes_in_meta(live: &Live, node: NodeId) -> bool {
    let known = live.group(META);
    let settled = known.filter(|known| !known.configuration.is_joint());
    settled.is_some_and(|known| {
        let members = &known.configuration;
        let mut voters = members.voters.iter();
        voters.any(|replica| members.nodes.get(replica) == Some(&node))
    })
}

/// Replicas that a node has. What one has that is dead counts no more: only who counts on it does,
/// and as long as that is not known of every group nothing is.
fn copies(live: &Live, node: NodeId, knows_groups: bool) -> i32 {
    match live.node(node) {
        Some(heard) if live.silent_ms(node) < QUICK_MS => number(heard.replicas().count()),
        _ if live.silent_ms(node) >= QUICK_MS && knows_groups => 0,
        _ => COPIES_UNKNOWN,
    }
}

/// Nodes that a group counts on, or is to.
pub(crate) fn nodes_of(state: &State, live: &Live, group: GroupId) -> BTreeSet<NodeId> {
    let wished = state.partitions.get(&group).map(|row| row.wished.values());
    let members = live
        .group(group)
        .map(|known| known.configuration.nodes.values());
    let wished = wished.into_iter().flatten();
    wished
        .chain(members.into_iter().flatten())
        .copied()
        .collect()
}

/// Groups that count on a node, or are to.
pub(crate) fn groups_on(state: &State, live: &Live, node: NodeId) -> Vec<GroupId> {
    let groups = state.partitions.keys().copied();
    groups
        .filter(|group| nodes_of(state, live, *group).contains(&node))
        .collect()
}

/// Whether nobody leads a group that has rows, or may have.
fn is_orphan(state: &State, live: &Live, group: GroupId) -> bool {
    live.led_group(group).is_none() && state.may_have_rows(group)
}

/// Groups that count on a node, and that nobody leads: what it has of them may be the only copy.
pub(crate) fn orphans_on(state: &State, live: &Live, node: NodeId) -> Vec<GroupId> {
    let mut groups = groups_on(state, live, node);
    groups.retain(|group| is_orphan(state, live, *group));
    groups
}

/// Why a silent node is not let go of, if it is not: groups have no leader without it. Of tables
/// that were dropped only where of others there is none: they are kept as long as they can be
/// recalled.
pub(crate) fn kept_for(state: &State, live: &Live, node: NodeId) -> Option<String> {
    let id = node.0;
    let orphans = orphans_on(state, live, node);
    let (dropped, kept): (Vec<GroupId>, Vec<GroupId>) = orphans
        .into_iter()
        .partition(|group| state.is_dropped(*group));
    let without = |groups: &[GroupId], of: &str, first: GroupId| match groups.len() {
        1 => format!(
            "1 partition{of} has no leader without node {id} ({})",
            name_of(state, first)
        ),
        count => format!(
            "{count} partitions{of} have no leader without node {id} ({} is one)",
            name_of(state, first)
        ),
    };
    let start = match live.successor(state, node) {
        Some(_) => "bring back its directory",
        None => "start it again",
    };
    if let Some(first) = kept.first() {
        let without = without(&kept, "", *first);
        let recover = match state.tables.get(&PartitionId::of(*first).table) {
            Some(table) => format!(
                ", or if that is lost see what `esker table recover {}` says",
                table.name
            ),
            None => String::new(),
        };
        return Some(format!(
            "{without}: what it has may be the only copy; {start}{recover}"
        ));
    }
    let first = dropped.first()?;
    Some(format!(
        "{}: what it has may be the only copy as long as they can be recalled; {start}, or let go \
         of them for good: {}",
        without(&dropped, " of dropped tables", *first),
        how_it_goes(state, PartitionId::of(*first).table)
    ))
}

/// What a person says to have a dropped table gone at once, and not when it cannot be recalled any
/// more.
pub(crate) fn how_it_goes(state: &State, table: TableId) -> String {
    // By a name that no other table has: what is dropped then can be no other one.
    let mut names = (0..).map(|number| match number {
        0 => format!("dropped-{}", table.0),
        _ => format!("dropped-{}-{number}", table.0),
    });
    let name = names.find(|name| state.table(name).is_none());
    let name = name.expect("fewer tables than numbers");
    format!(
        "`esker table recall {} --as {name}`, then `esker table drop {name} --keep 1s`",
        table.0
    )
}

/// A partition as people call it.
pub(crate) fn name_of(state: &State, group: GroupId) -> String {
    let id = PartitionId::of(group);
    match state.tables.get(&id.table) {
        Some(table) => format!("{}.{}", table.name, id.index),
        None if group == META => "the meta service".to_owned(),
        None => id.to_string(),
    }
}

/// Replicas of a node that is to be emptied, or is silent, which go nowhere, by what they wait for.
#[derive(Debug, Default)]
pub(crate) struct Stuck {
    /// Every host that lives and stays has one of the same group.
    without_node: Vec<GroupId>,
    /// Those that have none are full.
    without_room: Vec<GroupId>,
    /// Nothing moves.
    frozen: Vec<GroupId>,
}

impl Stuck {
    /// How many groups, with these, which nobody leads.
    pub(crate) fn with(&self, orphans: &[GroupId]) -> usize {
        let all = [&self.without_node, &self.without_room, &self.frozen];
        let others = all.into_iter().flatten();
        let others = others.filter(|group| !orphans.contains(group));
        orphans.len() + others.count()
    }

    /// Why, in words that name a table; empty where none is stuck.
    pub(crate) fn why(&self, state: &State) -> String {
        let wait = |count: usize| match count {
            1 => "1 of its replicas waits".to_owned(),
            _ => format!("{count} of its replicas wait"),
        };
        if !self.frozen.is_empty() {
            return "nothing moves at this level: `esker balance --level steady`".to_owned();
        }
        let Some(first) = self.without_node.first() else {
            return match self.without_room.len() {
                0 => String::new(),
                count => format!("{} for room on the disks of other nodes", wait(count)),
            };
        };
        // Nobody sees a dropped table in a list, and it may be what is in the way for a week.
        let mut of_dropped = self.without_node.iter();
        let of_dropped = of_dropped.find(|group| state.is_dropped(**group));
        let which = match of_dropped {
            Some(group) => format!(
                "{} is of a table that was dropped and can be recalled; to let go of that for \
                 good: {}",
                name_of(state, *group),
                how_it_goes(state, PartitionId::of(*group).table)
            ),
            None => {
                // A table says more to people than the meta service does.
                let mut of_tables = self.without_node.iter().filter(|group| **group != META);
                format!(
                    "{} is one",
                    name_of(state, *of_tables.next().unwrap_or(first))
                )
            }
        };
        format!(
            "{} for another node: every host that lives and stays has one of the same partition \
             ({which})",
            wait(self.without_node.len())
        )
    }
}

/// Those replicas of a node. What is dead takes nothing, though it may come back, and neither does
/// a full disk.
pub(crate) fn stuck(state: &State, live: &Live, node: NodeId) -> Stuck {
    let level = state.cluster.as_ref().map(|row| row.level);
    let groups = groups_on(state, live, node);
    let mut stuck = Stuck::default();
    if level.is_none_or(|level| level <= Level::Frozen) {
        stuck.frozen = groups;
        return stuck;
    }
    let stays = |one: &(&NodeId, &NodeRow)| *one.0 != node && !one.1.is_draining();
    let staying = state.nodes.iter().filter(stays);
    let there: Vec<(&NodeId, &NodeRow)> = staying
        .filter(|one| live.silent_ms(*one.0) < QUICK_MS)
        .collect();
    for group in groups {
        let wished = state.partitions.get(&group).map(|row| row.wished.values());
        let others: Vec<&NodeId> = wished
            .into_iter()
            .flatten()
            .filter(|at| **at != node)
            .collect();
        if others.len() >= state.wished_count(group) {
            continue;
        }
        let hosts: BTreeSet<_> = others.iter().map(|at| state.host(**at)).collect();
        let is_place =
            |one: &&(&NodeId, &NodeRow)| one.1.fits(group) && !hosts.contains(&state.host(*one.0));
        let places: Vec<NodeId> = there.iter().filter(is_place).map(|one| *one.0).collect();
        let has_space = |at: &NodeId| live.node(*at).is_none_or(LiveNode::has_space);
        if places.is_empty() {
            stuck.without_node.push(group);
        } else if !places.iter().any(has_space) {
            stuck.without_room.push(group);
        }
    }
    stuck
}

/// The plan by which every node gets its share.
pub(crate) fn balance(state: &State, live: &Live) -> BalanceResponse {
    let plan = plan(state, live);
    let level = state
        .cluster
        .as_ref()
        .map_or(Level::Frozen, |row| row.level);
    let told = plan.steps.iter().take(STEPS_TOLD_MAX);
    BalanceResponse {
        err: ErrorName::OK,
        hint_message: match plan.unheard {
            0 => String::new(),
            1 => "1 partition has no leader, and nothing of it moves".to_owned(),
            count => format!("{count} partitions have no leader, and nothing of them moves"),
        },
        level: wire_level(level),
        steps: told.map(|step| wire_step(state, step)).collect(),
        is_whole: plan.is_whole && plan.steps.len() <= STEPS_TOLD_MAX,
        under_way: number(plan.under_way),
    }
}

fn wire_step(state: &State, step: &Move) -> BalanceStep {
    let id = PartitionId::of(step.group);
    let node = |node: NodeId| i64::try_from(node.0).unwrap_or(i64::MAX);
    BalanceStep {
        gpid: Gpid {
            app_id: id.table.wire(),
            partition_index: i32::try_from(id.index).unwrap_or(i32::MAX),
        },
        app_name: state
            .tables
            .get(&id.table)
            .map_or_else(String::new, |row| row.name.clone()),
        is_lead: matches!(step.what, What::Lead(_)),
        source: node(step.from),
        target: node(step.to),
        source_count: number(step.counts[0]),
        target_count: number(step.counts[1]),
        is_of_table: step.is_of_table,
        sentence: step.sentence(state),
    }
}

fn number(count: usize) -> i32 {
    i32::try_from(count).unwrap_or(i32::MAX)
}

#[cfg(test)]
mod tests;
