//! What goes wrong, and what is asked of the meta service meanwhile.

use std::collections::{BTreeMap, BTreeSet};

use esker::internals::env::sim::CrashMode;
use esker_raft::{GroupId, NodeId};
use esker_rpc::message::balance::SetReplicaCountRequest;
use esker_rpc::message::meta::{
    CreateTableOptions, CreateTableRequest, DropTableOptions, DropTableRequest, MetaCall,
};
use esker_rpc::message::own::{ChangeNodeRequest, NodeDeed};
use esker_server::meta::ids::PartitionId;
use esker_server::meta::rows::TableStatus;
use esker_server::meta::state::State;
use esker_server::node::Ask;

use crate::cluster_node::Node;
use crate::whole::world::World;

/// Tables that are made, one after the other.
const TABLES: u64 = 3;

/// The entry with which a group begins; whoever leads it writes another one.
const FIRST: u64 = 1;

/// Bytes that a full disk has left.
const FULL: u64 = 20_000;

/// Bytes that a disk has that is not full.
const ROOM: u64 = 1 << 50;

impl World {
    fn hits(&mut self, one_in: u64) -> bool {
        one_in > 0 && self.dice.one_in(one_in)
    }

    /// The faults of this tick.
    pub fn hurt(&mut self) {
        let plan = self.plan.clone();
        if self.hits(plan.power_cut) {
            (0..self.places.len()).for_each(|at| self.crash(at));
        }
        let is_behind_election = self.checks.elections > self.elections;
        self.elections = self.checks.elections;
        if is_behind_election && self.hits(plan.behind_election) {
            (0..self.places.len()).for_each(|at| self.crash(at));
        }
        if self.hits(plan.cut) {
            self.cut_links();
        }
        if self.hits(plan.wipe) {
            self.wipe();
        }
        for at in 0..self.places.len() {
            self.refill(at);
            if self.places[at].node.is_none() {
                continue;
            }
            if self.hits(plan.crash) {
                self.crash(at);
            }
            if self.hits(plan.pause) {
                self.places[at].paused_until = self.tick + 5 + self.dice.below(60);
            }
            if self.hits(plan.full) {
                let place = &mut self.places[at];
                place.full_until = self.tick + 20 + self.dice.below(150);
                place.node.as_ref().unwrap().world.fs.set_free_bytes(FULL);
            }
            if plan.skew_ms > 0 && self.hits(300) {
                // Somebody sets the clock.
                let skew = i64::try_from(self.dice.below(plan.skew_ms)).unwrap();
                self.places[at].shape.skew_ms = skew;
                self.places[at].node.as_mut().unwrap().shape.skew_ms = skew;
            }
        }
        if self.hits(plan.hand_over) {
            self.hand_over();
        }
    }

    fn refill(&mut self, at: usize) {
        let place = &mut self.places[at];
        if place.full_until > 0 && place.full_until <= self.tick {
            place.full_until = 0;
            if let Some(node) = &place.node {
                node.world.fs.set_free_bytes(ROOM);
            }
        }
    }

    fn crash(&mut self, at: usize) {
        let mode = CrashMode::ALL[usize::try_from(self.dice.below(5)).unwrap()];
        let (seed, down) = (self.dice.next_u64(), 3 + self.dice.below(60));
        let (is_kill, tick) = (self.dice.one_in(3), self.tick);
        let place = &mut self.places[at];
        let Some(node) = place.node.as_mut().filter(|node| node.is_up()) else {
            return;
        };
        match is_kill {
            true => node.kill(),
            false => node.crash(mode, seed),
        }
        if place.full_until > tick {
            node.world.fs.set_free_bytes(FULL);
        }
        (place.down_until, place.paused_until) = (tick + down, 0);
        self.lose(at);
    }

    fn cut_links(&mut self) {
        self.cut.clear();
        let all: Vec<NodeId> = self.places.iter().map(|place| place.number).collect();
        let kind = self.dice.below(6);
        let (side, alone) = (self.dice.next_u64(), 1 + self.dice.below(self.plan.places));
        for &one in &all {
            for &other in &all {
                let is_cut = match kind {
                    // Two sides that do not hear one another.
                    0 => (side >> one.0 & 1) != (side >> other.0 & 1),
                    // One way only, between some.
                    1 => self.dice.one_in(4),
                    // Some pairs.
                    2 => (side >> (one.0 * other.0) & 3) == 0,
                    // One that hears all and is heard by nobody, or the other way round.
                    3 => one.0 == alone,
                    4 => other.0 == alone,
                    _ => false,
                };
                if is_cut && one != other {
                    self.cut.insert((one, other));
                }
            }
        }
    }

    // Whether every group would be safe without that node: it has no member there, or three voters
    // or more that are all there and lack nothing.
    fn can_spare(&self, gone: NodeId) -> bool {
        let state = self.state();
        let nodes = self.places.iter().filter_map(|place| place.node.as_ref());
        let views = nodes.filter_map(|node| Some(node.stages()?.replicas.views()));
        // Some may be known to nobody but those who have them.
        let here: BTreeSet<GroupId> = views.flatten().map(|view| view.member.group).collect();
        let mut groups = state.partitions.keys().chain(&here);
        let is_sound =
            |group| self.is_being_made(&state, group, gone) || self.is_sound(group, gone);
        state.cluster.is_some() && groups.all(|group| is_sound(*group))
    }

    /// Whether the table of that group is not open, and nobody can write to the group if that node
    /// is gone: no leader has committed anything, nor will by what the node has acknowledged. It
    /// may have voted for one.
    pub fn is_being_made(&self, state: &State, group: GroupId, gone: NodeId) -> bool {
        let nodes = self.places.iter().filter_map(|place| place.node.as_ref());
        let mut statuses = nodes.filter_map(|node| Some((node.id, node.status(group)?)));
        let was_led =
            statuses.any(|(node, it)| it.commit > FIRST || node == gone && it.last > FIRST);
        let table = state.tables.get(&PartitionId::of(group).table);
        !was_led && table.is_some_and(|row| row.status == TableStatus::Creating)
    }

    fn is_sound(&self, group: GroupId, gone: NodeId) -> bool {
        let nodes: BTreeMap<NodeId, &Node> = self
            .places
            .iter()
            .filter_map(|place| place.node.as_ref().map(|node| (node.id, node)))
            .collect();
        let statuses: Vec<_> = nodes
            .values()
            .filter_map(|node| Some((node.id, node.status(group)?)))
            .collect();
        let leads = |it: &&(NodeId, esker_raft::Status)| it.1.leader == Some(it.1.replica);
        let leaders: Vec<_> = statuses.iter().filter(leads).collect();
        let [(_, leader)] = leaders[..] else {
            // It may be in the making there.
            let state = self.state();
            let row = state.partitions.get(&group);
            let is_wished = row.is_some_and(|row| row.wished.values().any(|node| *node == gone));
            return statuses.is_empty() && !is_wished;
        };
        let members = &leader.configuration;
        let has = |replica, node: &NodeId| {
            let it = statuses.iter().find(|it| it.0 == *node);
            it.is_some_and(|it| {
                let same = it.1.configuration.version == members.version;
                it.1.replica == replica && same && it.1.last >= leader.last
            })
        };
        let is_whole = members
            .nodes
            .iter()
            .all(|(replica, node)| has(*replica, node));
        let is_at_rest = !members.is_joint() && members.learners.is_empty();
        let is_free = !members.nodes.values().any(|node| *node == gone);
        is_whole && is_at_rest && (is_free || members.voters.len() >= 3)
    }

    // A machine loses its disk.
    fn wipe(&mut self) {
        let pick = self.dice.below(self.places.len() as u64);
        let at = usize::try_from(pick).unwrap();
        let all_run =
            (0..self.places.len()).all(|at| self.runs(at) || self.places[at].node.is_none());
        let Some(node) = &self.places[at].node else {
            return;
        };
        let id = node.id;
        if !all_run || !self.can_spare(id) {
            return;
        }
        if !self.is_careless() {
            return self.empty(at);
        }
        // It comes back under its number with the replicas that it had.
        let (seed, tick) = (self.dice.next_u64(), self.tick);
        self.lose(at);
        let node = self.places[at].node.as_mut().unwrap();
        let made = node
            .brain()
            .map(|brain| brain.made.clone())
            .unwrap_or_default();
        node.wished
            .extend(made.into_iter().map(|create| (create.member.group, create)));
        node.wipe(seed);
        node.boot(tick);
    }

    // The lead of a group goes to another voter.
    fn hand_over(&mut self) {
        let state = self.state();
        let pick = self.dice.below(state.partitions.len().max(1) as u64);
        let drawn = state.partitions.keys().nth(usize::try_from(pick).unwrap());
        let Some(&group) = drawn else { return };
        let draw = self.dice.next_u64();
        let tick = self.tick;
        for at in 0..self.places.len() {
            let Some(node) = self.places[at].node.as_mut() else {
                continue;
            };
            let Some(status) = node.status(group).filter(|_| node.is_leader(group)) else {
                continue;
            };
            let voters = status.configuration.voters.iter();
            let others: Vec<_> = voters.filter(|it| **it != status.replica).collect();
            if others.is_empty() {
                continue;
            }
            let to = *others[usize::try_from(draw % others.len() as u64).unwrap()];
            // Nobody waits for what comes of it.
            let request =
                esker_server::node::RequestId(crate::cluster_brain::BRAINS | u64::from(u32::MAX));
            node.ask(Ask::Transfer { request, group, to }, tick);
        }
    }

    /// Somebody asks the leader of meta for something.
    pub fn administer(&mut self) {
        let one_in = self.plan.administer;
        if !self.hits(one_in) {
            return;
        }
        let state = self.state();
        let hosts = u64::from(state.host_count());
        let draw = match state.tables.is_empty() {
            true => 8,
            false => self.dice.below(10),
        };
        let small = state.tables.values().find(|row| {
            row.status == TableStatus::Open && u64::from(row.replica_count) < hosts.min(3)
        });
        let draining = state.nodes.iter().find(|row| row.1.is_draining());
        let call = match (draw, small, draining) {
            (0..=4, Some(row), _) => MetaCall::SetReplicaCount(SetReplicaCountRequest {
                app_name: row.name.clone(),
                max_replica_count: i32::try_from(hosts.min(3)).unwrap(),
            }),
            (5, _, Some((node, _))) => change(*node, NodeDeed::ND_UNDRAIN),
            (6, _, None) if hosts > 3 => {
                let nodes: Vec<NodeId> = state.nodes.keys().copied().collect();
                let pick = self.dice.below(nodes.len() as u64);
                change(nodes[usize::try_from(pick).unwrap()], NodeDeed::ND_DRAIN)
            }
            (7, ..) if !self.has_dropped && self.tick > 400 => {
                self.has_dropped = true;
                MetaCall::DropTable(DropTableRequest {
                    app_name: "t1".to_owned(),
                    options: DropTableOptions {
                        success_if_not_exist: true,
                        reserve_seconds: Some(1 + i64::try_from(draw).unwrap()),
                    },
                })
            }
            _ if hosts > 0 => {
                let name = format!("t{}", 1 + draw % TABLES);
                if state.tables.values().any(|row| row.name == name) {
                    return;
                }
                create(name, 2, hosts)
            }
            _ => return,
        };
        self.ask_meta(&call);
    }

    /// Asks whoever believes to lead meta.
    pub fn ask_meta(&mut self, call: &MetaCall) {
        for place in &mut self.places {
            let brain = place.node.as_mut().and_then(Node::brain);
            if let Some(brain) = brain.filter(|brain| brain.is_leading()) {
                brain.admin(call.clone());
            }
        }
    }

    /// All faults end.
    pub fn heal(&mut self) {
        let calm = crate::whole::plan::Plan::calm(self.plan.seed);
        self.plan = crate::whole::plan::Plan {
            planted: self.plan.planted,
            read_promise: self.plan.read_promise,
            heal_ticks: self.plan.heal_ticks,
            ..calm
        };
        self.net.weather = self.plan.weather;
        self.cut.clear();
        self.calm = self.moment;
        for at in 0..self.places.len() {
            let place = &mut self.places[at];
            (place.down_until, place.paused_until) = (0, 0);
            place.full_until = place.full_until.min(self.tick);
            place.joins_at = 0;
            self.refill(at);
        }
    }

    /// What somebody in charge does at the end: every node stays, every table has three replicas.
    pub fn mend(&mut self) {
        let state = self.state();
        let hosts = u64::from(state.host_count());
        let small = state.tables.values().find(|row| {
            row.status == TableStatus::Open && u64::from(row.replica_count) < hosts.min(3)
        });
        let is_there = state.tables.values().any(|row| row.name == "t3");
        if !is_there && hosts > 0 {
            self.ask_meta(&create("t3".to_owned(), 2, hosts));
        } else if let Some((node, _)) = state.nodes.iter().find(|row| row.1.is_draining()) {
            self.ask_meta(&change(*node, NodeDeed::ND_UNDRAIN));
        } else if let Some(row) = small {
            self.ask_meta(&MetaCall::SetReplicaCount(SetReplicaCountRequest {
                app_name: row.name.clone(),
                max_replica_count: i32::try_from(hosts.min(3)).unwrap(),
            }));
        }
    }
}

fn change(node: NodeId, deed: NodeDeed) -> MetaCall {
    MetaCall::ChangeNode(ChangeNodeRequest {
        node: i64::try_from(node.0).unwrap(),
        deed,
    })
}

/// A new table with so many partitions, and three replicas of each as far as there are hosts.
pub fn create(app_name: String, partition_count: i32, hosts: u64) -> MetaCall {
    MetaCall::CreateTable(CreateTableRequest {
        app_name,
        options: CreateTableOptions {
            partition_count,
            replica_count: i32::try_from(hosts.min(3)).unwrap(),
            success_if_exist: true,
            app_type: "pegasus".to_owned(),
            is_stateful: true,
            envs: BTreeMap::new(),
            atomic_idempotent: None,
        },
    })
}
