//! All nodes, one tick after the other.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use esker::internals::env::random::Random;
use esker_raft::{GroupId, NodeId};
use esker_server::meta::ids::META;
use esker_server::meta::rows::TableStatus;
use esker_server::meta::state::State;
use esker_server::node::RequestId;
use esker_server::node::keyspace_name::group_of;

use crate::cluster_brain::{Packet, new_node};
use crate::cluster_node::{Heard, Node, Planted, Shape};
use crate::net::Net;
use crate::whole::checks::{Checks, mix};
use crate::whole::clients::{Clients, Waiting};
use crate::whole::plan::Plan;

/// Where a node may be: a machine with an address. What is on it may be lost.
pub struct Place {
    /// Its address on the network.
    pub number: NodeId,
    /// The node, up or down, once it has a number of the cluster.
    pub node: Option<Node>,
    pub shape: Shape,
    /// What a node drew here that asks for a number, and from when on it does.
    pub nonce: u64,
    pub joins_at: u64,
    pub down_until: u64,
    pub paused_until: u64,
    pub full_until: u64,
    /// Requests of clients that wait here.
    pub asked: BTreeMap<RequestId, Waiting>,
}

/// A cluster under simulation.
pub struct World {
    pub plan: Plan,
    pub dice: Random,
    pub tick: u64,
    /// Counts what clients did, as the time of their histories.
    pub moment: u64,
    /// The moment from which on nothing goes wrong any more.
    pub calm: u64,
    pub places: Vec<Place>,
    pub net: Net<Packet>,
    /// Links that are cut, each in one way.
    pub cut: BTreeSet<(NodeId, NodeId)>,
    pub clients: Clients,
    pub checks: Checks,
    /// Elections that faults have heeded.
    pub elections: u64,
    pub next_nonce: u64,
    pub has_dropped: bool,
    pub wipes: u64,
    pub trace: u64,
}

impl World {
    pub fn new(plan: Plan) -> World {
        let mut dice = Random::new(plan.seed);
        let place = |number: u64, dice: &mut Random| {
            let skew = i64::try_from(dice.below(2 * plan.skew_ms + 1)).unwrap();
            Place {
                number: NodeId(number),
                node: None,
                shape: Shape {
                    seed: plan.seed * 1000 + number * 10,
                    planted: plan.planted,
                    read_promise: plan.read_promise,
                    skew_ms: skew - i64::try_from(plan.skew_ms).unwrap(),
                    place: Some(number),
                },
                nonce: 1000 + number,
                joins_at: if number < 4 { number * 5 } else { number * 40 },
                down_until: 0,
                paused_until: 0,
                full_until: 0,
                asked: BTreeMap::new(),
            }
        };
        let mut places: Vec<Place> = (1..=plan.places)
            .map(|number| place(number, &mut dice))
            .collect();
        let mut first = Node::new(1, places[0].shape);
        first.boot(0);
        places[0].node = Some(first);
        let weather = plan.weather;
        World {
            trace: plan.seed,
            places,
            net: Net::in_weather(weather),
            dice,
            tick: 0,
            moment: 0,
            calm: 0,
            cut: BTreeSet::new(),
            clients: Clients::default(),
            checks: Checks::default(),
            elections: 0,
            next_nonce: 2000,
            has_dropped: false,
            wipes: 0,
            plan,
        }
    }

    /// Whether a process runs at that place and gets on.
    pub fn runs(&self, at: usize) -> bool {
        let place = &self.places[at];
        place.paused_until <= self.tick && place.node.as_ref().is_some_and(Node::is_up)
    }

    pub fn place_of(&self, node: NodeId) -> Option<usize> {
        let is_there = |place: &Place| place.node.as_ref().is_some_and(|it| it.id == node);
        self.places.iter().position(is_there)
    }

    /// What the newest replica of meta says.
    pub fn state(&self) -> Arc<State> {
        let nodes = self.places.iter().filter_map(|place| place.node.as_ref());
        let newest = nodes
            .filter_map(|node| node.stages()?.replicas.view(META))
            .max_by_key(|view| view.applied());
        newest.and_then(|view| view.meta()).unwrap_or_default()
    }

    /// The partitions of all tables that can be used.
    pub fn open_groups(&self) -> Vec<GroupId> {
        let state = self.state();
        let open = state
            .tables
            .iter()
            .filter(|row| row.1.status == TableStatus::Open);
        open.flat_map(|(table, row)| (0..row.partition_count).map(|one| group_of(table.0, one)))
            .collect()
    }

    /// One tick of the world: what arrives, and then each node in turn.
    pub fn step(&mut self) {
        self.tick += 1;
        self.join();
        self.deliver();
        for at in 0..self.places.len() {
            self.revive(at);
            if self.runs(at) {
                self.name_a_seed(at);
                let is_tick = !self.dice.one_in(8);
                let node = self.places[at].node.as_mut().unwrap();
                let heard = node.step(self.tick, is_tick, &mut self.dice);
                self.hear(at, heard);
            }
        }
        self.fetch();
        for place in &self.places {
            if let Some(node) = &place.node {
                self.checks.look(node);
            }
        }
        if self.tick.is_multiple_of(16) {
            self.compare();
        }
    }

    // Who knows nobody yet asks those that it was told to join, one after another.
    fn name_a_seed(&mut self, at: usize) {
        let other = usize::try_from(self.tick / 10 % self.plan.places).unwrap();
        let seed = self.places[other].node.as_ref().map(|node| node.id);
        let node = self.places[at].node.as_mut().unwrap();
        if let Some(brain) = node.brain() {
            brain.seed = seed.filter(|_| brain.knowledge.nodes.is_empty());
        }
    }

    // The rows of one group on all nodes, now and then.
    fn compare(&mut self) {
        let state = self.state();
        let pick = self.dice.below(state.partitions.len().max(1) as u64);
        let drawn = state.partitions.keys().nth(usize::try_from(pick).unwrap());
        let Some(&group) = drawn else { return };
        for place in &self.places {
            if let Some(node) = &place.node {
                self.checks.compare(node, group);
            }
        }
    }

    // Machines without a node ask somebody for a number.
    fn join(&mut self) {
        for at in 0..self.places.len() {
            let place = &self.places[at];
            let is_due = self.tick >= place.joins_at && self.tick.is_multiple_of(7);
            if place.node.is_some() || !is_due {
                continue;
            }
            let packet = Packet::Register(new_node(place.number.0, place.nonce));
            let from = place.number;
            let to = NodeId(1 + self.dice.below(self.plan.places));
            self.net
                .send(from, vec![(to, packet)], self.tick, &mut self.dice);
        }
    }

    // Who goes on after a pause acts before it reads what came meanwhile.
    fn deliver(&mut self) {
        let (tick, cut) = (self.tick, &self.cut);
        let paused: BTreeSet<NodeId> = self
            .places
            .iter()
            .filter(|place| place.paused_until >= tick)
            .map(|place| place.number)
            .collect();
        let arrived = self.net.arrived(
            tick,
            |from, to| cut.contains(&(from, to)),
            |to| !paused.contains(&to),
        );
        for (from, to, packet) in arrived {
            let place = self
                .places
                .iter_mut()
                .find(|place| place.number == to)
                .unwrap();
            if let Packet::Number(nonce, number) = packet {
                if place.node.is_none() && place.nonce == nonce {
                    let mut node = Node::new(number.0, place.shape);
                    node.boot(tick);
                    place.node = Some(node);
                }
            } else if let Some(node) = &mut place.node {
                node.hear(from, packet, tick);
            }
        }
    }

    fn revive(&mut self, at: usize) {
        let (tick, place) = (self.tick, &mut self.places[at]);
        let Some(node) = place.node.as_mut().filter(|node| !node.is_up()) else {
            return;
        };
        if place.down_until > tick {
            return;
        }
        if let Err(error) = node.try_boot(tick) {
            assert!(place.full_until > 0, "{:?} does not open: {error}", node.id);
            node.kill();
            place.down_until = tick + 10;
        }
    }

    /// A process is gone, and with it all that waited there; some hear that its links broke.
    pub fn lose(&mut self, at: usize) {
        self.places[at].asked.clear();
        let Some(gone) = self.places[at].node.as_ref().map(|node| node.id) else {
            return;
        };
        let tick = self.tick;
        for other in 0..self.places.len() {
            let is_told = self.dice.one_in(2) && other != at && self.runs(other);
            if let (true, Some(node)) = (is_told, self.places[other].node.as_mut()) {
                node.ask(esker_server::node::Ask::NodeGone(gone), tick);
            }
        }
    }

    /// The machine of a place loses everything; another node is to come there.
    pub fn empty(&mut self, at: usize) {
        self.lose(at);
        self.wipes += 1;
        self.next_nonce += 1;
        let place = &mut self.places[at];
        place.node = None;
        place.nonce = self.next_nonce;
        place.shape.seed += 100_000;
        place.joins_at = self.tick + 5;
        (place.down_until, place.paused_until, place.full_until) = (0, 0, 0);
    }

    fn hear(&mut self, at: usize, heard: Heard) {
        let from = self.places[at].number;
        let skew_us = self.plan.skew_ms * 1000;
        let latest_us = crate::cluster_node::now(self.tick).unix_us + skew_us;
        self.checks.handed_out(&heard.handed_out, latest_us);
        let mut packets = Vec::new();
        for (to, frame) in heard.frames {
            self.trace = mix(self.trace, frame.len() as u64);
            if let Some(to) = self.place_of(to) {
                packets.push((self.places[to].number, Packet::Frame(frame)));
            }
        }
        for (to, packet) in heard.said.to_nodes {
            if let Some(to) = self.place_of(to) {
                packets.push((self.places[to].number, packet));
            }
        }
        packets.extend(heard.said.to_places);
        self.net.send(from, packets, self.tick, &mut self.dice);
        for served in heard.reads {
            self.trace = mix(self.trace, served.request.0);
            self.read_served(at, served);
        }
        for (request, reply) in heard.replies {
            self.trace = mix(self.trace, request.0 << 1);
            self.replied(at, request, &reply);
        }
        if let Some(why) = heard.ended {
            self.end(at, &why);
        }
    }

    // A process has ended by itself.
    fn end(&mut self, at: usize, why: &str) {
        if why.contains("was removed: its directory") {
            // It was let go for good.
            return self.empty(at);
        }
        let place = &mut self.places[at];
        assert!(place.full_until > 0, "{:?} has ended: {why}", place.number);
        place.node.as_mut().unwrap().kill();
        place.down_until = self.tick + 10;
        self.lose(at);
    }

    fn fetch(&mut self) {
        let tick = self.tick;
        for at in 0..self.places.len() {
            if !self.runs(at) {
                continue;
            }
            let fetches = self.places[at].node.as_ref().unwrap().fetches();
            for (group, from, request) in fetches {
                let other = self.place_of(from).filter(|other| self.runs(*other));
                let here = self.places[at].number;
                let is_cut = other.is_none_or(|other| {
                    let there = self.places[other].number;
                    self.cut.contains(&(here, there)) || self.cut.contains(&(there, here))
                });
                let is_lost = self.dice.one_in(self.plan.weather.lost_one_in);
                let answer = match other.filter(|_| !is_cut && !is_lost) {
                    Some(other) => {
                        let node = self.places[other].node.as_mut().unwrap();
                        node.page(&request, tick)
                    }
                    None => None,
                };
                let node = self.places[at].node.as_mut().unwrap();
                if let Some((to, word)) = node.take_page(group, answer, tick)
                    && let Some(to) = self.place_of(to).filter(|to| self.runs(*to))
                {
                    self.places[to].node.as_mut().unwrap().page(&word, tick);
                }
            }
        }
    }

    /// Whether somebody who loses his disk comes back as if nothing were.
    pub fn is_careless(&self) -> bool {
        self.plan.planted == Planted::WipedComesBack
    }
}
