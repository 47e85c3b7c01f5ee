//! The steps of a balance, one after another, each upon the counts that the ones before leave.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use esker_raft::{GroupId, NodeId, ReplicaId};

use crate::meta::balance_model::{Counts, Model, Piece};
use crate::meta::ids::PartitionId;
use crate::meta::live::Live;
use crate::meta::state::State;

/// Edges that are listed for the price of a look: it takes less to list one than to follow it, and
/// all are listed anew for each step.
const EDGES_PER_LOOK: usize = 4;

/// What moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// The lead, to this replica.
    Lead(ReplicaId),
    /// This replica.
    Replica(ReplicaId),
}

/// A step of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Move {
    /// The group.
    pub group: GroupId,
    /// What moves.
    pub what: What,
    /// From where.
    pub from: NodeId,
    /// To where.
    pub to: NodeId,
    /// How many both have before.
    pub counts: [usize; 2],
    /// These are counts of the table, and not of all tables.
    pub is_of_table: bool,
}

impl Move {
    /// The step as a sentence without a full stop.
    pub fn sentence(&self, state: &State) -> String {
        let id = PartitionId::of(self.group);
        let name = state.tables.get(&id.table).map_or("?", |table| &table.name);
        let (from, to, [left, right]) = (self.from.0, self.to.0, self.counts);
        let what = match self.what {
            What::Lead(_) => format!("hand the lead of {name}.{}", id.index),
            What::Replica(_) => format!("move a replica of {name}.{}", id.index),
        };
        let (kind, whose) = match (self.what, self.is_of_table) {
            (What::Lead(_), true) => ("leads", " of the table"),
            (What::Lead(_), false) => ("leads", ""),
            (What::Replica(_), true) => ("replicas", " of the table"),
            (What::Replica(_), false) => ("replicas", ""),
        };
        format!("{what} from node {from} ({left} {kind}{whose}) to node {to} ({right})")
    }
}

/// That a lead could go to a node.
#[derive(Clone, Copy)]
struct Edge {
    at: (usize, usize),
    heir: ReplicaId,
    from: NodeId,
    to: NodeId,
}

/// A plan that is being made.
pub(crate) struct Planner<'a> {
    pub(crate) model: Model<'a>,
    pub(crate) steps: Vec<Move>,
    pub(crate) looks_left: usize,
    /// A group that was used is left alone from then on.
    pub(crate) is_each_once: bool,
}

impl<'a> Planner<'a> {
    pub(crate) fn new(state: &'a State, live: &'a Live, looks_left: usize) -> Planner<'a> {
        Planner {
            model: Model::new(state, live),
            steps: Vec::new(),
            looks_left,
            is_each_once: false,
        }
    }

    /// Leads are handed over until there are so many steps, or nothing gets better.
    pub(crate) fn leads(&mut self, steps_max: usize) {
        for table in 0..self.model.tables.len() {
            while self.steps.len() < steps_max {
                let Some(path) = self.path_in(table) else {
                    break;
                };
                self.follow(&path, true);
            }
        }
        while self.steps.len() < steps_max {
            let Some(path) = self.path_in_all() else {
                break;
            };
            self.follow(&path, false);
        }
    }

    /// Replicas move until there are so many steps, or nothing gets better.
    pub(crate) fn moves(&mut self, steps_max: usize) {
        loop {
            let before = self.steps.len();
            for table in 0..self.model.tables.len() {
                while self.steps.len() < steps_max {
                    let Some((at, replica, to)) = self.move_in(table) else {
                        break;
                    };
                    self.shift((at, replica, to), true);
                }
            }
            // What moved for the sake of all may have made room in a table.
            if self.steps.len() < steps_max
                && let Some((at, replica, to)) = self.move_in_all()
            {
                self.shift((at, replica, to), false);
            }
            if self.steps.len() == before || self.steps.len() >= steps_max {
                return;
            }
        }
    }

    fn path_in(&mut self, table: usize) -> Option<Vec<Edge>> {
        let leads = &self.model.tables[table].shares.leads;
        if !self.is_uneven(leads) {
            return None;
        }
        let (edges, looks) = self.edges(table..table + 1, |_, _| true);
        self.looks_left = self.looks_left.saturating_sub(looks);
        path(&edges, leads, &self.model.open, &mut self.looks_left)
    }

    /// A way that makes all together more even and no table less.
    fn path_in_all(&mut self) -> Option<Vec<Edge>> {
        if !self.is_uneven(&self.model.all.leads) {
            return None;
        }
        let tables = &self.model.tables;
        let has_more = |edge: &Edge, table: usize| {
            let leads = &tables[table].shares.leads;
            leads[&edge.from] > leads[&edge.to]
        };
        let (edges, looks) = self.edges(0..tables.len(), has_more);
        self.looks_left = self.looks_left.saturating_sub(looks);
        let leads = &self.model.all.leads;
        let path = path(&edges, leads, &self.model.open, &mut self.looks_left)?;
        let used: BTreeSet<usize> = path.iter().map(|edge| edge.at.0).collect();
        let is_worse = |table: usize| {
            let before = &self.model.tables[table].shares.leads;
            let mut after = before.clone();
            for edge in path.iter().filter(|edge| edge.at.0 == table) {
                after.entry(edge.from).and_modify(|count| *count -= 1);
                after.entry(edge.to).and_modify(|count| *count += 1);
            }
            squares(&after) > squares(before)
        };
        (!used.into_iter().any(is_worse)).then_some(path)
    }

    /// The edges of some tables, by the node that they lead away from, and how many looks that was.
    fn edges(
        &self,
        tables: std::ops::Range<usize>,
        is_used: impl Fn(&Edge, usize) -> bool,
    ) -> (BTreeMap<NodeId, Vec<Edge>>, usize) {
        let mut looked = 0;
        let mut edges: BTreeMap<NodeId, Vec<Edge>> = BTreeMap::new();
        for table in tables {
            let pieces = self.model.tables[table].pieces.iter().enumerate();
            for (number, piece) in pieces.filter(|one| one.1.may_hand_over) {
                let from = piece.leader_node();
                let Some(from) = from.filter(|from| self.model.nodes.contains(from)) else {
                    continue;
                };
                for (heir, to) in piece.wished.iter().filter(|one| *one.1 != from) {
                    looked += 1;
                    let edge = Edge {
                        at: (table, number),
                        heir: *heir,
                        from,
                        to: *to,
                    };
                    let is_open = piece.sound.contains(heir) && self.model.open.contains(to);
                    if is_open && is_used(&edge, table) {
                        edges.entry(from).or_default().push(edge);
                    }
                }
            }
        }
        (edges, looked / EDGES_PER_LOOK)
    }

    fn move_in(&mut self, table: usize) -> Option<((usize, usize), ReplicaId, NodeId)> {
        let counts = &self.model.tables[table].shares.replicas;
        if !self.is_uneven(counts) {
            return None;
        }
        let pairs = pairs(counts, &self.model.all.replicas, &self.model.open);
        pairs
            .into_iter()
            .find_map(|(from, to)| self.movable(table, from, to))
    }

    fn move_in_all(&mut self) -> Option<((usize, usize), ReplicaId, NodeId)> {
        let counts = &self.model.all.replicas;
        if !self.is_uneven(counts) {
            return None;
        }
        for (from, to) in pairs(counts, counts, &self.model.open) {
            for table in 0..self.model.tables.len() {
                let counts = &self.model.tables[table].shares.replicas;
                if counts[&from] > counts[&to]
                    && let Some(found) = self.movable(table, from, to)
                {
                    return Some(found);
                }
            }
        }
        None
    }

    /// A replica of the table that can move from one node to the other: one that does not lead, if
    /// there is one.
    fn movable(
        &mut self,
        table: usize,
        from: NodeId,
        to: NodeId,
    ) -> Option<((usize, usize), ReplicaId, NodeId)> {
        let pieces = &self.model.tables[table].pieces;
        self.looks_left = self.looks_left.saturating_sub(pieces.len());
        if self.looks_left == 0 {
            return None;
        }
        let found = |(number, piece): (usize, &Piece)| {
            let replica = piece.on(from)?;
            let is_free = piece.may_move && self.model.is_free(piece, replica, to);
            is_free.then_some((piece.leader == Some(replica), number, replica))
        };
        let (_, number, replica) = pieces.iter().enumerate().filter_map(found).min()?;
        Some(((table, number), replica, to))
    }

    /// Whether one node has two more than one that could take one.
    fn is_uneven(&self, counts: &Counts) -> bool {
        let least = self.model.open.iter().map(|node| counts[node]).min();
        let most = counts.values().max();
        least
            .zip(most)
            .is_some_and(|(least, most)| *most >= least + 2)
    }

    fn follow(&mut self, path: &[Edge], is_of_table: bool) {
        for edge in path {
            let shares = match is_of_table {
                true => &self.model.tables[edge.at.0].shares,
                false => &self.model.all,
            };
            self.steps.push(Move {
                group: self.piece(edge.at).id,
                what: What::Lead(edge.heir),
                from: edge.from,
                to: edge.to,
                counts: [shares.leads[&edge.from], shares.leads[&edge.to]],
                is_of_table,
            });
            self.model.hand_over(edge.at, edge.heir);
            self.used(edge.at);
        }
    }

    fn shift(&mut self, (at, replica, to): ((usize, usize), ReplicaId, NodeId), is_of_table: bool) {
        let piece = self.piece(at);
        let (group, from) = (piece.id, piece.wished[&replica]);
        let shares = match is_of_table {
            true => &self.model.tables[at.0].shares,
            false => &self.model.all,
        };
        self.steps.push(Move {
            group,
            what: What::Replica(replica),
            from,
            to,
            counts: [shares.replicas[&from], shares.replicas[&to]],
            is_of_table,
        });
        self.model.shift(at, replica, to);
        self.used(at);
    }

    fn piece(&self, at: (usize, usize)) -> &Piece {
        &self.model.tables[at.0].pieces[at.1]
    }

    fn used(&mut self, at: (usize, usize)) {
        if self.is_each_once {
            let piece = &mut self.model.tables[at.0].pieces[at.1];
            (piece.may_hand_over, piece.may_move) = (false, false);
        }
    }
}

/// A shortest way along which one lead each is handed over, from a node to one that has two fewer
/// at the least. Where there is none, no handing over makes the counts more even.
fn path(
    edges: &BTreeMap<NodeId, Vec<Edge>>,
    leads: &Counts,
    open: &BTreeSet<NodeId>,
    looks_left: &mut usize,
) -> Option<Vec<Edge>> {
    if *looks_left == 0 {
        return None;
    }
    let least = open.iter().map(|node| leads[node]).min()?;
    let mut sources: Vec<NodeId> = edges.keys().copied().collect();
    sources.sort_by_key(|node| (std::cmp::Reverse(leads[node]), *node));
    for source in sources.into_iter().filter(|node| leads[node] >= least + 2) {
        let mut came_by: BTreeMap<NodeId, Edge> = BTreeMap::new();
        let mut queue = VecDeque::from([source]);
        while let Some(at) = queue.pop_front() {
            for edge in edges.get(&at).into_iter().flatten() {
                *looks_left = looks_left.saturating_sub(1);
                if *looks_left == 0 {
                    return None;
                }
                if edge.to == source || came_by.contains_key(&edge.to) {
                    continue;
                }
                came_by.insert(edge.to, *edge);
                if leads[&edge.to] + 2 <= leads[&source] {
                    return Some(way_back(&came_by, source, edge.to));
                }
                queue.push_back(edge.to);
            }
        }
    }
    None
}

fn way_back(came_by: &BTreeMap<NodeId, Edge>, source: NodeId, end: NodeId) -> Vec<Edge> {
    let mut way = Vec::new();
    let mut at = end;
    while at != source {
        let edge = came_by[&at];
        way.push(edge);
        at = edge.from;
    }
    way.reverse();
    way
}

/// Nodes of which one has two more than the other at the least, the most uneven ones first.
fn pairs(counts: &Counts, all: &Counts, open: &BTreeSet<NodeId>) -> Vec<(NodeId, NodeId)> {
    let key = |node: &NodeId| (counts[node], all[node], *node);
    let mut least: Vec<NodeId> = open.iter().copied().collect();
    least.sort_by_key(key);
    let mut most: Vec<NodeId> = counts.keys().copied().collect();
    most.sort_by_key(key);
    let with = |from: NodeId| {
        let fewer = least
            .iter()
            .take_while(move |to| counts[&from] >= counts[*to] + 2);
        fewer.map(move |to| (from, *to))
    };
    most.iter().rev().flat_map(|from| with(*from)).collect()
}

fn squares(counts: &Counts) -> usize {
    counts.values().map(|count| count * count).sum()
}
