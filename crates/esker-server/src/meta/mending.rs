//! Which replicas of which groups are to be replaced, added or let go.

use std::collections::{BTreeMap, BTreeSet};

use esker_raft::{Configuration, GroupId, NodeId, ReplicaId};

use crate::meta::command::Wish;
use crate::meta::ids::META;
use crate::meta::limits::{INCOMING_MAX, QUICK_MS};
use crate::meta::live::{Live, LiveGroup, LiveNode};
use crate::meta::rows::PartitionRow;
use crate::meta::state::State;
use crate::meta::target::target;

/// How a replica that is wished fares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Fate {
    /// Its node is away for good, as far as anybody can tell.
    Gone,
    /// Its node is there, and it has lost what it promised: it must come back under another id.
    Lost,
    /// Its node is to leave.
    Leaving,
    /// Another one of its group stands on its host, by a label that came later.
    Shared,
    /// It is well, or it may yet come back.
    Well,
}

/// One round over all groups: every wish that it makes counts for the next one.
pub(crate) struct Mending<'a> {
    state: &'a State,
    live: &'a Live,
    /// Replicas that are wished on each node.
    pub(crate) counts: BTreeMap<NodeId, usize>,
    /// So many nodes are silent that none is taken for dead.
    is_cut_off: bool,
    /// Replicas on their way to each node.
    incoming: BTreeMap<NodeId, usize>,
}

impl<'a> Mending<'a> {
    pub(crate) fn new(state: &'a State, live: &'a Live) -> Mending<'a> {
        let mut incoming: BTreeMap<NodeId, usize> = BTreeMap::new();
        for (group, row) in &state.partitions {
            let Some(known) = live.group(*group) else {
                continue;
            };
            let votes = |replica: &ReplicaId| known.configuration.voters.contains(replica);
            for (_, node) in row.wished.iter().filter(|wished| !votes(wished.0)) {
                *incoming.entry(*node).or_default() += 1;
            }
        }
        let counts = state.wished_counts();
        Mending {
            state,
            live,
            is_cut_off: live.is_cut_off(state),
            counts,
            incoming,
        }
    }

    /// The wishes of this round, at most `max`. A node takes a few replicas at a time: those of
    /// tables that were dropped, and are kept to be recalled, come where no other one wants in.
    pub(crate) fn wishes(&mut self, max: usize) -> Vec<Wish> {
        let mut wishes = Vec::new();
        let state = self.state;
        let groups = |is_dropped: bool| {
            let all = state.partitions.iter();
            all.filter(move |one| state.is_dropped(*one.0) == is_dropped)
        };
        for (group, row) in groups(false).chain(groups(true)) {
            if wishes.len() == max {
                break;
            }
            // Without a leader nothing can change, and what is silent now may be what leads next.
            let Some(known) = self.live.led_group(*group) else {
                continue;
            };
            if self.state.is_settled(*group)
                && let Some(wish) = self.wish(*group, row, known)
            {
                self.count(row, &wish);
                wishes.push(wish);
            }
        }
        wishes
    }

    /// Takes a wish for granted.
    pub(crate) fn count(&mut self, row: &PartitionRow, wish: &Wish) {
        for node in wish.add.iter().chain(wish.adopt.iter().map(|one| &one.1)) {
            *self.counts.entry(*node).or_default() += 1;
            *self.incoming.entry(*node).or_default() += 1;
        }
        for node in wish
            .drop
            .iter()
            .filter_map(|replica| row.wished.get(replica))
        {
            let count = self.counts.entry(*node).or_default();
            *count = count.saturating_sub(1);
        }
    }

    fn wish(&self, id: GroupId, row: &PartitionRow, known: &LiveGroup) -> Option<Wish> {
        let target = target(self.state, self.live, id);
        let wish = Wish {
            group: id,
            version: row.version,
            add: Vec::new(),
            adopt: Vec::new(),
            drop: Vec::new(),
        };
        let fates = self.fates(id, row, known, target);
        let worst = fates.iter().min_by_key(|fate| (fate.1, *fate.0));
        let (&replica, &fate) = worst?;
        let drop = vec![replica];
        if fate <= Fate::Lost {
            if row.wished.len() > target {
                return Some(Wish { drop, ..wish });
            }
            if let Some(adopt) = self.adoptable(id, row, replica, known) {
                return Some(Wish {
                    drop,
                    adopt: vec![adopt],
                    ..wish
                });
            }
            if let Some(node) = self.substitute(id, row, Some(replica), &known.configuration) {
                return Some(Wish {
                    drop,
                    add: vec![node],
                    ..wish
                });
            }
            // No other node is left: it comes back to where it was lost.
            let node = *row.wished.get(&replica)?;
            let may_stay = fate == Fate::Lost && !self.state.nodes.get(&node)?.is_draining();
            return may_stay.then(|| Wish {
                drop,
                add: vec![node],
                ..wish
            });
        }
        if row.wished.len() < target {
            let add = self.additions(id, row, known, target)?;
            return Some(Wish { add, ..wish });
        }
        if !is_at_rest(row, &known.configuration) {
            return None;
        }
        if row.wished.len() > target {
            return Some(Wish {
                drop: vec![self.superfluous(row, &fates, known)?],
                ..wish
            });
        }
        if fate <= Fate::Shared {
            let node = self.substitute(id, row, Some(replica), &known.configuration)?;
            return Some(Wish {
                drop,
                add: vec![node],
                ..wish
            });
        }
        None
    }

    fn fates(
        &self,
        id: GroupId,
        row: &PartitionRow,
        known: &LiveGroup,
        target: usize,
    ) -> BTreeMap<ReplicaId, Fate> {
        let alive = row
            .wished
            .values()
            .filter(|node| self.live.is_alive(**node))
            .count();
        let is_urgent = alive <= 1 && target > 1;
        let fates = row.wished.iter().map(|(replica, node)| {
            (
                *replica,
                self.fate(id, row, known, (*replica, *node), is_urgent),
            )
        });
        fates.collect()
    }

    fn fate(
        &self,
        id: GroupId,
        row: &PartitionRow,
        known: &LiveGroup,
        (replica, node): (ReplicaId, NodeId),
        is_urgent: bool,
    ) -> Fate {
        let Some(node_row) = self.state.nodes.get(&node) else {
            return Fate::Gone;
        };
        let is_silent = self.live.silent_ms(node) >= QUICK_MS;
        let is_gone = (is_urgent && is_silent) || self.live.is_gone(node);
        // Of one that is to leave, whoever drains it says that it is dead; and where another node
        // listens at its address, nobody comes back.
        let is_told = || node_row.is_draining() || self.live.successor(self.state, node).is_some();
        if is_gone && !self.is_cut_off || is_silent && is_told() {
            return Fate::Gone;
        }
        if self.live.is_alive(node) && self.is_lost(id, row, known, (replica, node)) {
            return Fate::Lost;
        }
        match node_row.is_draining() {
            true => Fate::Leaving,
            false if self.shares(row, replica, node) => Fate::Shared,
            false => Fate::Well,
        }
    }

    /// Whether a node that lives says that the replica is damaged, or does not have what it must.
    fn is_lost(
        &self,
        id: GroupId,
        row: &PartitionRow,
        known: &LiveGroup,
        (replica, node): (ReplicaId, NodeId),
    ) -> bool {
        let members = &known.configuration;
        let Some(live) = self.live.node(node) else {
            return false;
        };
        if members.has_left(replica) || live.report.lost.contains(&(id, replica)) {
            return true;
        }
        match self.live.replica(node, id, replica) {
            Some(reported) => reported.damage.is_some(),
            None => !row.unmade.contains(&replica) && live.lacks(id, replica),
        }
    }

    /// A member that is wished no more and lives, in the place of one that is lost.
    fn adoptable(
        &self,
        id: GroupId,
        row: &PartitionRow,
        lost: ReplicaId,
        known: &LiveGroup,
    ) -> Option<(ReplicaId, NodeId)> {
        let mut members = known
            .configuration
            .nodes
            .iter()
            .map(|(id, node)| (*id, *node));
        members.find(|&(replica, node)| {
            let reported = self.live.replica(node, id, replica);
            !row.wished.contains_key(&replica)
                && known.configuration.voters.contains(&replica)
                && reported.is_some_and(|one| one.damage.is_none())
                && self.is_open_to(id, row, Some(lost), node)
        })
    }

    /// A node for a new replica, in the place of `instead` if that is told: the one with the
    /// fewest.
    pub(crate) fn substitute(
        &self,
        id: GroupId,
        row: &PartitionRow,
        instead: Option<ReplicaId>,
        members: &Configuration,
    ) -> Option<NodeId> {
        let is_free = |node: &NodeId| {
            !members.nodes.values().any(|at| at == node)
                && self.incoming.get(node).copied().unwrap_or_default() < INCOMING_MAX
                && self.has_space(*node)
                && self.is_open_to(id, row, instead, *node)
        };
        let free = self.live.alive(self.state).filter(is_free);
        free.min_by_key(|node| (self.counts.get(node).copied().unwrap_or_default(), *node))
    }

    /// Nodes for as many more replicas as there are to be: of the meta group all of them or none,
    /// for two voters are worse than one.
    fn additions(
        &self,
        id: GroupId,
        row: &PartitionRow,
        known: &LiveGroup,
        target: usize,
    ) -> Option<Vec<NodeId>> {
        let mut with = row.clone();
        let mut added = Vec::new();
        let wanted = match id == META {
            true => target - row.wished.len(),
            false => 1,
        };
        for number in 0..wanted {
            let node = self.substitute(id, &with, None, &known.configuration)?;
            let replica = ReplicaId(u64::MAX - u64::try_from(number).unwrap_or(0));
            with.wished.insert(replica, node);
            added.push(node);
        }
        Some(added)
    }

    /// Whether the node lives and stays, and shares no host with another replica that is wished.
    fn is_open_to(
        &self,
        id: GroupId,
        row: &PartitionRow,
        instead: Option<ReplicaId>,
        node: NodeId,
    ) -> bool {
        let Some(node_row) = self.state.nodes.get(&node) else {
            return false;
        };
        let others = row
            .wished
            .iter()
            .filter(|wished| Some(*wished.0) != instead);
        let hosts: BTreeSet<_> = others.map(|wished| self.state.host(*wished.1)).collect();
        self.live.is_alive(node)
            && !node_row.is_draining()
            && node_row.fits(id)
            && !hosts.contains(&self.state.host(node))
            && !row.wished.values().any(|at| *at == node)
    }

    fn has_space(&self, node: NodeId) -> bool {
        self.live.node(node).is_some_and(LiveNode::has_space)
    }

    /// Whether the replica stands where another one does that came before it.
    fn shares(&self, row: &PartitionRow, replica: ReplicaId, node: NodeId) -> bool {
        let host = self.state.host(node);
        let mut before = row.wished.range(..replica);
        before.any(|other| self.state.host(*other.1) == host)
    }

    /// The replica that goes where there are too many: one whose node leaves, else one on the
    /// fullest node, and the leader last.
    fn superfluous(
        &self,
        row: &PartitionRow,
        fates: &BTreeMap<ReplicaId, Fate>,
        known: &LiveGroup,
    ) -> Option<ReplicaId> {
        let replicas = row.wished.iter();
        let chosen = replicas.min_by_key(|(replica, node)| {
            let count = self.counts.get(node).copied().unwrap_or_default();
            let leads = **replica == known.leader;
            (
                fates.get(replica).copied(),
                leads,
                std::cmp::Reverse(count),
                **replica,
            )
        });
        chosen.map(|one| *one.0)
    }
}

/// Whether the members of a group are those that are wished, and all of them vote.
pub(crate) fn is_at_rest(row: &PartitionRow, members: &Configuration) -> bool {
    !members.is_joint()
        && members.learners.is_empty()
        && members.voters.iter().eq(row.wished.keys())
}

#[cfg(test)]
mod tests;
