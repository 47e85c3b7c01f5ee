//! What the leader of meta says of nodes to whoever reads its log: once when it becomes so.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;

use esker_raft::{GroupId, NodeId};

use crate::log_lines::{Level, counted};
use crate::meta::ids::{PartitionId, TableId};
use crate::meta::limits::QUICK_MS;
use crate::meta::live::{Live, LiveNode};
use crate::meta::node_facts::{kept_for, orphans_on, stuck};
use crate::meta::rows::TableStatus;
use crate::meta::state::State;

/// Milliseconds of a second.
const MS_PER_S: u64 = 1000;

/// How a node that is not heard fares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Silence {
    /// It may be on its way back.
    MayReturn,
    /// What it has is made anew elsewhere.
    IsReplaced,
}

/// What was said last.
#[derive(Debug, Default)]
pub struct Notices {
    known: BTreeSet<NodeId>,
    silent: BTreeMap<NodeId, Silence>,
    stalled: BTreeSet<NodeId>,
    recovering: BTreeSet<GroupId>,
    /// Tables that are being made: their names, and when they were created.
    making: BTreeMap<TableId, (String, u64)>,
    apart: BTreeSet<NodeId>,
    unlisted: BTreeSet<NodeId>,
}

impl Notices {
    /// What is new since the last look, in lines.
    pub fn look(&mut self, state: &State, live: &Live) -> Vec<String> {
        let known: BTreeSet<NodeId> = state.nodes.keys().copied().collect();
        let gone = self.known.difference(&known);
        let mut lines: Vec<String> = gone
            .map(|node| {
                format!(
                    "node {} is let go of: its number is given to nobody",
                    node.0
                )
            })
            .collect();
        self.silent.retain(|node, _| known.contains(node));
        self.known = known;
        let counts = state.wished_counts();
        for node in state.nodes.keys() {
            let before = self.silent.get(node).copied();
            let now = silence(state, live, *node);
            if before == now {
                continue;
            }
            match now {
                None if !live.is_alive(*node) => continue,
                None => {
                    lines.push(format!("node {} is back", node.0));
                    self.silent.remove(node);
                    continue;
                }
                Some(silence) => {
                    let count = counts.get(node).copied().unwrap_or_default();
                    lines.push(of_silent(state, live, *node, (silence, count)));
                }
            }
            self.silent.extend(now.map(|now| (*node, now)));
        }
        lines.extend(self.stalls(state, live));
        lines.extend(self.recoveries(state));
        lines.extend(self.made_anew(state));
        lines
    }

    /// Tables that were being made, and have another number now.
    fn made_anew(&mut self, state: &State) -> Vec<String> {
        let before = std::mem::take(&mut self.making).into_iter();
        let gone = before.filter(|(table, _)| !state.tables.contains_key(table));
        let lines = gone.filter_map(|(_, (name, created_s))| {
            let anew = state.table(&name);
            let (anew, _) = anew.filter(|anew| anew.1.created_s == created_s)?;
            Some(format!(
                "table {name} could not be made where it was placed, for most of the first \
                 replicas of a partition are gone, away, or without room: it is made elsewhere, as \
                 table {}",
                anew.0
            ))
        });
        let lines = lines.collect();
        let tables = state.tables.iter();
        let making = tables.filter(|table| table.1.status == TableStatus::Creating);
        self.making = making
            .map(|(id, row)| (*id, (row.name.clone(), row.created_s)))
            .collect();
        lines
    }

    /// Partitions that are to go on without most of their replicas, and that have gone on.
    fn recoveries(&mut self, state: &State) -> Vec<String> {
        let mut lines = Vec::new();
        for (group, row) in &state.recoveries {
            let partition = PartitionId::of(*group);
            let (base, node) = (row.base, row.node.0);
            match (self.recovering.contains(group), row.is_done) {
                (false, false) => lines.push(format!(
                    "the loss of most replicas of partition {partition} was accepted: {base} on \
                     node {node} is to go on alone"
                )),
                (true, true) => lines.push(format!(
                    "partition {partition} has gone on with {base} on node {node} alone; whoever \
                     of the others comes back is thrown away"
                )),
                _ => {}
            }
        }
        let undone = state.recoveries.iter().filter(|row| !row.1.is_done);
        self.recovering = undone.map(|row| *row.0).collect();
        lines
    }

    /// Nodes whose clock is far from that of the leader of meta, and those where that is mended.
    pub fn clocks(&mut self, state: &State, live: &Live) -> Vec<(Level, String)> {
        let mut lines = Vec::new();
        let before = std::mem::take(&mut self.apart);
        let here = live
            .meta_leader()
            .map_or("this node".to_owned(), |node| format!("node {}", node.0));
        for node in live.alive(state) {
            let id = node.0;
            let Some(ahead_ms) = live.clock_apart_ms(node) else {
                if before.contains(&node) {
                    let line = format!("the clock of node {id} is near that of {here} again");
                    lines.push((Level::Note, line));
                }
                continue;
            };
            self.apart.insert(node);
            if before.contains(&node) {
                continue;
            }
            let seconds = (ahead_ms.unsigned_abs() + MS_PER_S / 2) / MS_PER_S;
            let (side, what) = match ahead_ms > 0 {
                true => ("ahead of", "end early"),
                false => ("behind", "end late"),
            };
            let line = format!(
                "the clock of node {id} is {seconds} s {side} that of {here}: records {what} where \
                 it leads"
            );
            lines.push((Level::Warning, line));
        }
        // Of one that is silent it is not known: it is told again when it is back.
        lines
    }

    /// Nodes that report and are in no list.
    pub fn unlisted(&mut self, live: &Live) -> Vec<(Level, String)> {
        let all: BTreeMap<NodeId, SocketAddr> = live.unlisted().collect();
        let new = all.iter().filter(|row| !self.unlisted.contains(row.0));
        let lines = new.map(|(node, address)| (Level::Warning, of_unlisted(*node, *address)));
        let lines = lines.collect();
        self.unlisted = all.into_keys().collect();
        lines
    }

    /// Nodes whose replicas do not go on, and why not.
    fn stalls(&mut self, state: &State, live: &Live) -> Vec<String> {
        let mut lines = Vec::new();
        let before = std::mem::take(&mut self.stalled);
        for node in live.alive(state) {
            let replicas = live.node(node).into_iter().flat_map(LiveNode::replicas);
            let mut stalled = replicas.filter_map(|one| one.stall.as_deref());
            let why = stalled.next();
            let (id, count) = (node.0, stalled.count() + 1);
            match why {
                Some(why) => {
                    self.stalled.insert(node);
                    if !before.contains(&node) {
                        lines.push(match count {
                            1 => format!(
                                "1 replica on node {id} does not go on, and counts for nothing \
                                 until it does: {why}"
                            ),
                            _ => format!(
                                "{count} replicas on node {id} do not go on, and count for \
                                 nothing until they do: {why}"
                            ),
                        });
                    }
                }
                None if before.contains(&node) => {
                    lines.push(format!("all replicas on node {id} go on again"));
                }
                None => {}
            }
        }
        lines
    }
}

/// What becomes of the replicas of a silent node, as many as are wished there, and what to do.
fn of_silent(
    state: &State,
    live: &Live,
    node: NodeId,
    (silence, wished): (Silence, usize),
) -> String {
    let id = node.0;
    let silent = format!(
        "node {id} is silent for {} s",
        live.silent_ms(node) / MS_PER_S
    );
    // Without a leader nothing is made anew, and nothing of what has nowhere to go.
    let orphans = orphans_on(state, live, node);
    let stuck = stuck(state, live, node);
    let kept = stuck.with(&orphans);
    let replicas = match (kept, wished.saturating_sub(kept)) {
        (0, 1) => "its 1 replica is".to_owned(),
        (0, _) => format!("its {} are", counted(wished, "replica")),
        (_, 0) => String::new(),
        (_, 1) => "1 of its replicas is".to_owned(),
        (_, count) => format!("{count} of its replicas are"),
    };
    let why = match live.successor(state, node) {
        Some(other) => format!("node {} is at its address now", other.0),
        None => "it counts as dead".to_owned(),
    };
    let is_any = !replicas.is_empty();
    let fate = match silence {
        Silence::MayReturn if is_any => {
            let wait_s = live.replaced_ms(state, node) / MS_PER_S;
            let now = match orphans.len() {
                0 => format!(", or now by `esker node remove {id}`"),
                _ => String::new(),
            };
            format!(": {replicas} made anew elsewhere in {wait_s} s{now}")
        }
        Silence::IsReplaced if is_any => {
            format!(", and {why}: {replicas} made anew elsewhere, where there is a host for them")
        }
        Silence::MayReturn => String::new(),
        Silence::IsReplaced => format!(", and {why}"),
    };
    let waits = match (stuck.why(state).as_str(), silence) {
        ("", _) => String::new(),
        (why, Silence::MayReturn) => format!("; {why}: start it again, or bring another one"),
        (why, Silence::IsReplaced) => format!("; {why}"),
    };
    match kept_for(state, live, node) {
        Some(why) => format!("{silent}{fate}{waits}; {why}"),
        None => format!("{silent}{fate}{waits}"),
    }
}

/// What is to be known of a node that is in no list.
pub(crate) fn of_unlisted(node: NodeId, address: SocketAddr) -> String {
    format!(
        "node {} at {address} reports, and is in no list: what gave it its number is lost with the \
         meta service of before, and what it has counts for nothing. Started with an empty \
         directory it joins as a new node; keep the one of now until every table is whole",
        node.0
    )
}

fn silence(state: &State, live: &Live, node: NodeId) -> Option<Silence> {
    if live.is_alive(node) || live.silent_ms(node) < QUICK_MS {
        return None;
    }
    Some(match live.replaced_ms(state, node) {
        0 => Silence::IsReplaced,
        _ => Silence::MayReturn,
    })
}

#[cfg(test)]
mod tests;
