//! What the leader of the meta group remembers of reports, for as long as it leads.
//!
//! Nothing of it is kept: whoever leads next hears it all again within seconds.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;

use esker_raft::{Configuration, GroupId, NodeId, ReplicaId};

use crate::meta::clock_gap::ClockGap;
use crate::meta::handing::{Handing, Handings};
use crate::meta::ids::{META, PartitionId};
use crate::meta::limits::{ALIVE_MS, QUICK_MS, SILENT_MS_MAX};
use crate::meta::outcome::{Cause, Refusal};
use crate::meta::report::{ReplicaReport, Report, Role};
use crate::meta::rows::NodeRow;
use crate::meta::state::State;

/// The most that one call adds to the watched time: a pause of the leader is no silence of others.
const PASS_MS_MAX: u64 = 1000;

/// Nodes in no list that are remembered at most: a stranger on loopback may invent numbers.
const UNLISTED_MAX: usize = 16;

/// Said of a node whose number is given back, in its last words too: the tool looks for that.
pub const REMOVED: &str = "was removed: its directory is of no use any more";

/// The fact by which the directory of such a node says so, with those words.
pub(crate) const REMOVED_FACT: &str = "removed";

/// A node with less than one part in so many free gets no replicas.
const FREE_PART: u64 = 20;

/// So much is enough of the largest disk: what the engine keeps free, sixteen times.
const FREE_ENOUGH: u64 = 1 << 30;

/// What the nodes have reported since this leader listens.
#[derive(Clone, Debug, Default)]
pub struct Live {
    /// Milliseconds that this leader has watched.
    watched_ms: u64,
    nodes: BTreeMap<NodeId, LiveNode>,
    /// Nodes of this cluster that report and are in no list: where each listens, and when it was
    /// heard.
    unlisted: BTreeMap<NodeId, (SocketAddr, u64)>,
    groups: BTreeMap<GroupId, LiveGroup>,
    handings: Handings,
    /// Somebody has asked for a balance, and there is something left to do for it.
    is_balance_asked: bool,
    /// When it was counted last what everybody has.
    balanced_ms: u64,
}

/// A node as it reported last.
#[derive(Clone, Debug)]
pub struct LiveNode {
    heard_ms: u64,
    /// Since when it was never silent for long, and not opened again.
    up_ms: u64,
    /// What it said, but for its replicas.
    pub report: Report,
    replicas: BTreeMap<(GroupId, ReplicaId), ReplicaReport>,
    /// Some of them do not go on for now.
    is_stalled: bool,
    /// Since when each of its reports said that it has no room for more, if the last one did.
    full_since_ms: Option<u64>,
    /// How far its clock is from the leader's.
    clock: ClockGap,
    /// What it had when it reported the time before; none if it has reported once only.
    before: Option<BTreeSet<(GroupId, ReplicaId)>>,
}

/// A group as its leader reported last. It stays that when the leader is gone, until another one
/// reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiveGroup {
    /// Who leads, or did last.
    pub leader: ReplicaId,
    /// Where that is.
    pub node: NodeId,
    /// The term of that.
    pub term: u64,
    /// Up to where it has applied.
    pub applied: u64,
    /// The members.
    pub configuration: Configuration,
}

impl Live {
    /// Of a leader that has heard nobody yet.
    pub fn new() -> Live {
        Live::default()
    }

    /// Time has passed. Called at each tick; a longer pause counts as a second, for what happened
    /// in it nobody has watched.
    pub fn pass(&mut self, elapsed_ms: u64) {
        self.watched_ms += elapsed_ms.min(PASS_MS_MAX);
        self.handings.pass(self.watched_ms);
    }

    /// Takes a report up; false if it is not one of a node of this cluster, or of an older
    /// incarnation.
    pub fn hear(&mut self, state: &State, report: &Report) -> bool {
        if stranger(state, self, report).is_some() {
            return false;
        }
        if !state.nodes.contains_key(&report.node) {
            self.hear_unlisted(state, report);
            return false;
        }
        self.unlisted.remove(&report.node);
        let mut replicas = BTreeMap::new();
        for replica in &report.replicas {
            self.hear_leader(state, report.node, replica);
            replicas.insert((replica.group, replica.replica), replica.clone());
        }
        let before = self.nodes.get(&report.node);
        let was_up = self.is_alive(report.node)
            && before.is_some_and(|before| before.report.incarnation == report.incarnation);
        let up_ms = before.filter(|_| was_up).map(|before| before.up_ms);
        let clock = before.map(|before| before.clock).unwrap_or_default();
        let full_since_ms = before.and_then(|before| before.full_since_ms);
        let before = before.map(|before| before.replicas.keys().copied().collect());
        // One that is damaged waits for nothing any more.
        let is_stalled = |one: &ReplicaReport| one.stall.is_some() && one.damage.is_none();
        let is_stalled = replicas.values().any(is_stalled);
        let mut node = LiveNode {
            heard_ms: self.watched_ms,
            up_ms: up_ms.unwrap_or(self.watched_ms),
            report: report.without_replicas(),
            replicas,
            is_stalled,
            full_since_ms: None,
            clock,
            before,
        };
        if !node.has_space() {
            node.full_since_ms = full_since_ms.or(Some(self.watched_ms));
        }
        self.nodes.insert(report.node, node);
        if self.groups.len() > state.partitions.len() {
            self.groups
                .retain(|group, _| state.partitions.contains_key(group));
        }
        if self.nodes.len() > state.nodes.len() {
            self.nodes.retain(|node, _| state.nodes.contains_key(node));
        }
        true
    }

    // If its number may have been given in entries that are lost: nobody tells it to stop then.
    fn hear_unlisted(&mut self, state: &State, report: &Report) {
        let node = report.node;
        let was_never_given = |next: NodeId| node >= next || is_forgotten(state, node);
        let is_lost = state
            .cluster
            .as_ref()
            .is_some_and(|row| was_never_given(row.next_node));
        let has_room = self.unlisted.len() < UNLISTED_MAX || self.unlisted.contains_key(&node);
        if is_lost && has_room {
            let heard = (report.addresses.peer, self.watched_ms);
            self.unlisted.insert(node, heard);
        }
    }

    /// Nodes that live and are in no list, with where each listens for others.
    pub fn unlisted(&self) -> impl Iterator<Item = (NodeId, SocketAddr)> {
        let all = self.unlisted.iter();
        let heard = all.filter(|row| self.watched_ms - row.1.1 < ALIVE_MS);
        heard.map(|(node, (address, _))| (*node, *address))
    }

    /// A report that was taken up was of so many milliseconds later than it came, by the clocks of
    /// the day of both.
    pub fn hear_clock(&mut self, node: NodeId, ahead_ms: i64) {
        let watched_ms = self.watched_ms;
        if let Some(node) = self.nodes.get_mut(&node) {
            node.clock.hear(ahead_ms, watched_ms);
        }
    }

    /// By how many milliseconds the clock of a node that lives is ahead of this leader's, if the
    /// two are apart; less than 0 for one that is behind.
    pub fn clock_apart_ms(&self, node: NodeId) -> Option<i64> {
        let found = self.nodes.get(&node).filter(|_| self.is_alive(node));
        found?.clock.apart_ms()
    }

    fn hear_leader(&mut self, state: &State, node: NodeId, replica: &ReplicaReport) {
        let (Role::Leader, Some(configuration)) = (replica.role, &replica.configuration) else {
            return;
        };
        // Whoever a group goes on without has no word in it any more.
        if state.is_lost(replica.group, replica.replica) {
            return;
        }
        let known = self.groups.remove(&replica.group);
        // What was said before it went on may have a newer version, and is over.
        let recovery = state.recoveries.get(&replica.group);
        let recovery = recovery.filter(|row| row.has_gone_on(configuration));
        let known =
            known.filter(|known| recovery.is_none_or(|row| row.has_gone_on(&known.configuration)));
        let mut group = LiveGroup {
            leader: replica.replica,
            node,
            term: replica.term,
            applied: replica.applied,
            configuration: configuration.clone(),
        };
        if let Some(mut known) = known {
            // A new leader need not have applied the newest configuration yet, and one that was
            // deposed need not know.
            if known.configuration.version > group.configuration.version {
                group.configuration = known.configuration.clone();
            }
            if known.term > group.term {
                known.configuration = group.configuration;
                group = known;
            }
        }
        self.handings.leads(replica.group, group.leader);
        self.groups.insert(replica.group, group);
    }

    /// The group as its leader reported last.
    pub fn group(&self, group: GroupId) -> Option<&LiveGroup> {
        self.groups.get(&group)
    }

    /// The group, if its leader lives and leads still as far as anybody knows.
    pub fn led_group(&self, group: GroupId) -> Option<&LiveGroup> {
        let known = self.groups.get(&group)?;
        let leader = self.replica(known.node, group, known.leader)?;
        let leads = leader.role == Role::Leader && leader.term == known.term;
        (leads && self.is_alive(known.node)).then_some(known)
    }

    /// Whether a majority of a group's voters have applied who its members are: until then one that
    /// leaves may be needed for its vote on that.
    pub fn has_settled(&self, group: GroupId) -> bool {
        let Some(known) = self.groups.get(&group) else {
            return false;
        };
        let members = &known.configuration;
        let has_applied = |replica: &&ReplicaId| {
            let reported = self.replica(members.nodes[*replica], group, **replica);
            reported.is_some_and(|one| one.applied >= members.version)
        };
        let applied = members.voters.iter().filter(has_applied).count();
        !members.is_joint() && applied > members.voters.len() / 2
    }

    /// The node as it reported last.
    pub fn node(&self, node: NodeId) -> Option<&LiveNode> {
        self.nodes.get(&node)
    }

    /// Whether the node was heard a moment ago.
    pub fn is_alive(&self, node: NodeId) -> bool {
        let node = self.nodes.get(&node);
        node.is_some_and(|node| self.watched_ms - node.heard_ms < ALIVE_MS)
    }

    /// Milliseconds that the node has been there without a break; 0 if it is not.
    pub fn up_ms(&self, node: NodeId) -> u64 {
        let up = self.nodes.get(&node).filter(|_| self.is_alive(node));
        up.map_or(0, |up| self.watched_ms - up.up_ms)
    }

    /// Milliseconds that the node was watched and not heard.
    pub fn silent_ms(&self, node: NodeId) -> u64 {
        let heard_ms = self.nodes.get(&node).map_or(0, |node| node.heard_ms);
        self.watched_ms - heard_ms
    }

    /// Milliseconds for which the node has said that it has no room for more; 0 if it has some.
    pub fn full_ms(&self, node: NodeId) -> u64 {
        let since_ms = self.nodes.get(&node).and_then(|node| node.full_since_ms);
        since_ms.map_or(0, |since_ms| self.watched_ms - since_ms)
    }

    /// Whether the node was silent for as long as it may be before it is replaced.
    pub fn is_gone(&self, node: NodeId) -> bool {
        self.silent_ms(node) >= SILENT_MS_MAX
    }

    /// Milliseconds after which a silent node is replaced, if it stays silent.
    pub fn replaced_ms(&self, state: &State, node: NodeId) -> u64 {
        let leaves = state.nodes.get(&node).is_some_and(NodeRow::is_draining);
        let after_ms = match leaves || self.successor(state, node).is_some() {
            true => QUICK_MS,
            false => SILENT_MS_MAX,
        };
        after_ms.saturating_sub(self.silent_ms(node))
    }

    /// The node that lives where a silent one was reached: that one's directory was lost, and it
    /// has joined anew.
    pub fn successor(&self, state: &State, node: NodeId) -> Option<NodeId> {
        let peer = state.nodes.get(&node)?.addresses.peer;
        let mut others = state.nodes.iter().filter(|other| *other.0 > node);
        let found =
            others.find(|(other, row)| row.addresses.peer == peer && self.is_alive(**other));
        found.filter(|_| !self.is_alive(node)).map(|other| *other.0)
    }

    /// The leader of a group is to hand over to `to`.
    pub fn hand_over(&mut self, group: GroupId, to: ReplicaId) {
        self.handings.begin(group, to, self.watched_ms);
    }

    /// How the lead of that group fares, if it was to be handed over.
    pub fn handing(&self, group: GroupId) -> Option<Handing> {
        self.handings.of(group, self.watched_ms)
    }

    /// How many leads are on their way.
    pub fn leads_under_way(&self) -> usize {
        self.handings.under_way(self.watched_ms)
    }

    /// Whether so much time has passed since this was true the last time.
    pub(crate) fn is_balance_due(&mut self, every_ms: u64) -> bool {
        let is_due = self.watched_ms >= self.balanced_ms + every_ms;
        if is_due {
            self.balanced_ms = self.watched_ms;
        }
        is_due
    }

    /// Somebody asks for a balance, or there is nothing left to do for it.
    pub fn ask_balance(&mut self, is_asked: bool) {
        self.is_balance_asked = is_asked;
    }

    /// Whether somebody has asked for a balance that is not done.
    pub fn is_balance_asked(&self) -> bool {
        self.is_balance_asked
    }

    /// Whether so few nodes live that the fault is likely between them and this leader: then nobody
    /// is taken for dead but who is drained.
    pub fn is_cut_off(&self, state: &State) -> bool {
        2 * self.alive(state).count() <= state.nodes.len()
    }

    /// Whether this leader has heard every node, or has listened for as long as one that lives may
    /// be silent: before that it would take for dead, or for empty, whom it does not know.
    pub fn is_informed(&self, state: &State) -> bool {
        let is_heard = |node: &NodeId| self.nodes.contains_key(node);
        self.watched_ms >= ALIVE_MS || state.nodes.keys().all(is_heard)
    }

    /// A group that has members which nobody has told yet.
    pub fn unheard_group(&self, state: &State) -> Option<GroupId> {
        // Members of one that never had a leader are those that are wished.
        let mut groups = state.partitions.keys();
        let is_unheard =
            |group: &&GroupId| state.is_settled(**group) && !self.groups.contains_key(*group);
        groups.find(is_unheard).copied()
    }

    /// The nodes that live.
    pub fn alive<'a>(&'a self, state: &'a State) -> impl Iterator<Item = NodeId> + 'a {
        let nodes = state.nodes.keys().copied();
        nodes.filter(|node| self.is_alive(*node))
    }

    /// The nodes that live and have room for more; where none has, all of which everything goes on.
    pub fn with_space(&self, state: &State) -> Vec<NodeId> {
        let those = |is_it: fn(&LiveNode) -> bool| -> Vec<NodeId> {
            let alive = self.alive(state);
            alive
                .filter(|node| self.nodes.get(node).is_some_and(is_it))
                .collect()
        };
        let with_space = Some(those(LiveNode::has_space)).filter(|some| !some.is_empty());
        with_space.unwrap_or_else(|| those(|node| !node.is_stalled))
    }

    /// Whether a node that lives has a sound replica of the group that has begun.
    pub fn has_any(&self, state: &State, group: GroupId) -> bool {
        let nodes = self.alive(state).filter_map(|node| self.node(node));
        let mut replicas = nodes.flat_map(|node| node.of_group(group));
        replicas.any(|one| one.damage.is_none() && one.applied > 0)
    }

    /// The replica as its node reported it last.
    pub fn replica(
        &self,
        node: NodeId,
        group: GroupId,
        replica: ReplicaId,
    ) -> Option<&ReplicaReport> {
        self.nodes.get(&node)?.replicas.get(&(group, replica))
    }

    /// Whether a node that lives reports the replica, and it can be counted on.
    pub fn has_sound(&self, node: NodeId, group: GroupId, replica: ReplicaId) -> bool {
        let reported = self.replica(node, group, replica);
        self.is_alive(node) && reported.is_some_and(ReplicaReport::is_sound)
    }

    /// Groups of which a member is on that node, as their leaders reported last.
    pub fn members_on(&self, node: NodeId) -> impl Iterator<Item = GroupId> {
        let groups = self.groups.iter();
        let groups = groups.filter(move |group| {
            let mut nodes = group.1.configuration.nodes.values();
            nodes.any(|at| *at == node)
        });
        groups.map(|group| *group.0)
    }

    /// Why a node cannot be removed yet, if it cannot: a group counts on it, or may.
    pub fn needs(&self, state: &State, node: NodeId) -> Option<Refusal> {
        let members = self.members_on(node).count();
        let id = node.0;
        if members > 0 {
            let why = format!("node {id} is a member of {members} groups: drain it first");
            return Some(Refusal::new(Cause::NodeInUse, why));
        }
        self.unheard_group(state).map(|group| {
            let partition = PartitionId::of(group);
            let why = format!("nobody has heard yet who the members of {partition} are");
            Refusal::new(Cause::NodeInUse, why)
        })
    }

    /// Whether this leader has heard who leads the meta group: itself.
    pub fn meta_leader(&self) -> Option<NodeId> {
        self.groups.get(&META).map(|group| group.node)
    }
}

impl LiveNode {
    /// Whether two reports, one after the other, were without the replica: a single one may have
    /// come late, or from a moment in which the replica changed its keyspace.
    pub fn lacks(&self, group: GroupId, replica: ReplicaId) -> bool {
        let key = (group, replica);
        let before = self.before.as_ref();
        !self.replicas.contains_key(&key) && before.is_some_and(|before| !before.contains(&key))
    }

    /// Whether it has room for more: its log and its compactions need some of its disk. Where one
    /// replica does not go on for want of it the others would not either, had they more to do.
    pub fn has_space(&self) -> bool {
        let part = self.report.space_total_bytes / FREE_PART;
        let is_short = self.report.space_free_bytes < part.min(FREE_ENOUGH);
        !is_short && !self.is_stalled
    }

    /// Its replicas.
    pub fn replicas(&self) -> impl Iterator<Item = &ReplicaReport> {
        self.replicas.values()
    }

    /// Its replicas of one group.
    pub fn of_group(&self, group: GroupId) -> impl Iterator<Item = &ReplicaReport> {
        let range = (group, ReplicaId(0))..=(group, ReplicaId(u64::MAX));
        self.replicas.range(range).map(|one| one.1)
    }
}

/// Why a report is not taken, if it is not: who sent it must stop.
pub fn stranger(state: &State, live: &Live, report: &Report) -> Option<String> {
    let node = report.node.0;
    // The state may not have been read yet.
    let cluster = state.cluster.as_ref()?;
    if report.cluster != cluster.id {
        return Some(format!(
            "the node is of cluster {:016x}, and this one is {:016x}",
            report.cluster.0, cluster.id.0
        ));
    }
    // A number that this state has not given yet: the state is the one that is behind.
    if report.node >= cluster.next_node || is_forgotten(state, report.node) {
        return None;
    }
    let Some(row) = state.nodes.get(&report.node) else {
        // As long as a group counts on it, it is not the one that breaks it.
        let is_needed = live.members_on(report.node).next().is_some();
        let why = format!("node {node} {REMOVED}");
        return (!is_needed).then_some(why);
    };
    let heard = live.nodes.get(&report.node);
    let incarnation = heard.map_or(0, |heard| heard.report.incarnation);
    if report.incarnation < row.incarnation.max(incarnation) {
        return Some(format!("node {node} was opened again elsewhere"));
    }
    None
}

/// Whether the node may have got its number by entries that are lost.
fn is_forgotten(state: &State, node: NodeId) -> bool {
    !state.nodes.contains_key(&node) && state.may_forget_node(node)
}

#[cfg(test)]
mod tests;
