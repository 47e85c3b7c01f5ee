//! Who has how much of what, in numbers that a balance changes before anybody moves anything.
//!
//! A node counts that lives and stays. Counted are replicas that are wished and leads as they were
//! heard last, or are on their way; of tables that are not dropped, and not of the meta group.

use std::collections::{BTreeMap, BTreeSet};

use esker_raft::{GroupId, NodeId, ReplicaId};

use crate::meta::handing::Handing;
use crate::meta::ids::{META, PartitionId, TableId};
use crate::meta::live::{Live, LiveNode};
use crate::meta::mending::is_at_rest;
use crate::meta::rows::PartitionRow;
use crate::meta::state::State;

/// How many each node has.
pub(crate) type Counts = BTreeMap<NodeId, usize>;

/// What the nodes have, of one table or of all.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shares {
    pub(crate) replicas: Counts,
    pub(crate) leads: Counts,
}

/// A group as far as a balance goes.
#[derive(Clone, Debug)]
pub(crate) struct Piece {
    pub(crate) id: GroupId,
    pub(crate) wished: BTreeMap<ReplicaId, NodeId>,
    pub(crate) leader: Option<ReplicaId>,
    /// Replicas that could lead.
    pub(crate) sound: BTreeSet<ReplicaId>,
    /// Its lead may be handed over.
    pub(crate) may_hand_over: bool,
    /// One of its replicas may move: it has as many as it should, and all are sound.
    pub(crate) may_move: bool,
    replica_max: u64,
}

/// A table as far as a balance goes.
#[derive(Clone, Debug)]
pub(crate) struct TablePieces {
    pub(crate) pieces: Vec<Piece>,
    pub(crate) shares: Shares,
}

/// All tables, and what the nodes have of them.
pub(crate) struct Model<'a> {
    pub(crate) state: &'a State,
    /// Nodes that count.
    pub(crate) nodes: BTreeSet<NodeId>,
    /// Those of them that have room for more.
    pub(crate) open: BTreeSet<NodeId>,
    pub(crate) tables: Vec<TablePieces>,
    pub(crate) all: Shares,
    /// Groups that are not what they are wished to be.
    pub(crate) under_way: usize,
    /// Groups without a leader that was heard: what is to be done there nobody knows.
    pub(crate) unheard: usize,
}

impl<'a> Model<'a> {
    /// What is so, as the leader of meta has heard it.
    pub(crate) fn new(state: &'a State, live: &'a Live) -> Model<'a> {
        let stays = |node: &NodeId| state.nodes.get(node).is_some_and(|row| !row.is_draining());
        let nodes: BTreeSet<NodeId> = live.alive(state).filter(stays).collect();
        let has_space = |node: &NodeId| live.node(*node).is_some_and(LiveNode::has_space);
        let open = nodes.iter().copied().filter(has_space).collect();
        let mut model = Model {
            state,
            open,
            tables: Vec::new(),
            all: Shares::of(&nodes),
            under_way: 0,
            unheard: 0,
            nodes,
        };
        let mut tables: BTreeMap<TableId, TablePieces> = BTreeMap::new();
        for (group, row) in state.partitions.iter().filter(|one| *one.0 != META) {
            let id = PartitionId::of(*group).table;
            let Some(table) = state.tables.get(&id).filter(|table| !table.is_dropped()) else {
                continue;
            };
            let replicas = usize::try_from(table.replica_count).unwrap_or(usize::MAX);
            let piece = Piece::new(state, live, (*group, row), replicas);
            let known = live.group(*group);
            let rests = known.is_none_or(|known| is_at_rest(row, &known.configuration));
            model.under_way += usize::from(!rests);
            model.unheard += usize::from(live.led_group(*group).is_none());
            let table = tables.entry(id).or_insert_with(|| TablePieces {
                pieces: Vec::new(),
                shares: Shares::of(&model.nodes),
            });
            // Who leads and is wished no more hands over by itself.
            let leads_at = piece.leader_node().or(known.map(|known| known.node));
            for shares in [&mut table.shares, &mut model.all] {
                for node in piece.wished.values() {
                    raise(&mut shares.replicas, *node);
                }
                leads_at
                    .iter()
                    .for_each(|node| raise(&mut shares.leads, *node));
            }
            table.pieces.push(piece);
        }
        model.tables = tables.into_values().collect();
        model
    }

    /// The lead of a group is handed over.
    pub(crate) fn hand_over(&mut self, (table, piece): (usize, usize), to: ReplicaId) {
        let table = &mut self.tables[table];
        let piece = &mut table.pieces[piece];
        let before = piece.leader_node();
        piece.leader = Some(to);
        let after = piece.leader_node();
        for shares in [&mut table.shares, &mut self.all] {
            shift(&mut shares.leads, before, after);
        }
    }

    /// A replica of a group moves; a lead stays with the others if there are any.
    pub(crate) fn shift(&mut self, at: (usize, usize), replica: ReplicaId, to: NodeId) {
        let table = &mut self.tables[at.0];
        let piece = &mut table.pieces[at.1];
        let from = piece.wished.remove(&replica);
        piece.replica_max += 1;
        let new = ReplicaId(piece.replica_max);
        piece.sound.remove(&replica);
        let heir = piece.wished.keys().find(|one| piece.sound.contains(one));
        let heir = heir.copied().unwrap_or(new);
        piece.wished.insert(new, to);
        piece.sound.insert(new);
        let leads = piece.leader == Some(replica);
        for shares in [&mut table.shares, &mut self.all] {
            shift(&mut shares.replicas, from, Some(to));
        }
        if leads {
            let after = piece.wished.get(&heir).copied();
            piece.leader = Some(heir);
            for shares in [&mut table.shares, &mut self.all] {
                shift(&mut shares.leads, from, after);
            }
        }
    }

    /// Whether a replica of the group may stand on `to` instead of where `replica` stands.
    pub(crate) fn is_free(&self, piece: &Piece, replica: ReplicaId, to: NodeId) -> bool {
        let mut others = piece.wished.iter().filter(|one| *one.0 != replica);
        let host = self.state.host(to);
        others.all(|(_, node)| self.state.host(*node) != host)
            && !piece.wished.values().any(|node| *node == to)
    }
}

impl Piece {
    fn new(
        state: &State,
        live: &Live,
        (id, row): (GroupId, &PartitionRow),
        replicas: usize,
    ) -> Piece {
        let led = live.led_group(id).filter(|_| state.is_settled(id));
        let rests = led.is_some_and(|led| is_at_rest(row, &led.configuration));
        let wished = row.wished.iter();
        let sound = wished.filter(|(replica, node)| live.has_sound(**node, id, **replica));
        let sound: BTreeSet<ReplicaId> = sound.map(|one| *one.0).collect();
        let handing = live.handing(id);
        let leader = match handing {
            Some(Handing::UnderWay(to)) => Some(to),
            _ => live.group(id).map(|known| known.leader),
        };
        Piece {
            id,
            leader: leader.filter(|leader| row.wished.contains_key(leader)),
            may_hand_over: rests && handing.is_none(),
            may_move: rests
                && !matches!(handing, Some(Handing::UnderWay(_)))
                && row.wished.len() == replicas
                && sound.len() == replicas,
            sound,
            wished: row.wished.clone(),
            replica_max: row.replica_max,
        }
    }

    /// Where it is led.
    pub(crate) fn leader_node(&self) -> Option<NodeId> {
        self.wished.get(&self.leader?).copied()
    }

    /// Its replica on that node.
    pub(crate) fn on(&self, node: NodeId) -> Option<ReplicaId> {
        let mut replicas = self.wished.iter();
        replicas.find(|one| *one.1 == node).map(|one| *one.0)
    }
}

impl Shares {
    fn of(nodes: &BTreeSet<NodeId>) -> Shares {
        let none: Counts = nodes.iter().map(|node| (*node, 0)).collect();
        Shares {
            replicas: none.clone(),
            leads: none,
        }
    }
}

/// Takes note of one more, if the node counts.
fn raise(counts: &mut Counts, node: NodeId) {
    if let Some(count) = counts.get_mut(&node) {
        *count += 1;
    }
}

fn shift(counts: &mut Counts, from: Option<NodeId>, to: Option<NodeId>) {
    if let Some(count) = from.and_then(|from| counts.get_mut(&from)) {
        *count = count.saturating_sub(1);
    }
    if let Some(count) = to.and_then(|to| counts.get_mut(&to)) {
        *count += 1;
    }
}
