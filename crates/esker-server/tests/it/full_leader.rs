//! A leader that cannot do what is committed, or cannot commit: who waits there is answered.

use std::collections::{BTreeMap, BTreeSet};

use esker::internals::env::random::Random;
use esker_raft::{GroupId, Member, NodeId, ReplicaId};
use esker_rpc::codec::scalars::Blob;
use esker_rpc::message::data::{KeyCall, UpdateRequest};
use esker_server::node::keyspace_name::group_of;
use esker_server::node::{Ask, Create, Reply, RequestId};

use crate::cluster_node::{Heard, Node, Planted, Shape};
use crate::net::Net;
use crate::partition_model::raw;
use crate::requests::write;

/// Ticks after which everything has happened that is waited for.
const SOON: u64 = 400;

/// Ticks within which each call is answered: 100 for those that wait for an entry of a lead that is
/// gone, fewer for all others, and some for steps in which a node does nothing.
const ANSWERED: u64 = 150;

/// Ticks of calls.
const CALLS: u64 = 12;

fn group() -> GroupId {
    group_of(1, 0)
}

/// Three nodes with one group, and what was asked of them.
struct Three {
    seed: u64,
    nodes: Vec<Node>,
    net: Net<Vec<u8>>,
    dice: Random,
    tick: u64,
    /// Nobody hears it, and it hears nobody.
    cut: Option<NodeId>,
    asked: BTreeMap<u64, Vec<u8>>,
    waiting: BTreeSet<u64>,
    replies: BTreeMap<u64, Reply>,
    last: u64,
}

impl Three {
    fn new(seed: u64) -> Three {
        let shape = Shape::of(seed, Planted::Nothing);
        let mut nodes: Vec<Node> = (1..=3).map(|id| Node::new(id, shape)).collect();
        let first: Vec<_> = (1..=3).map(|id| (ReplicaId(id), NodeId(id))).collect();
        for node in &mut nodes {
            let replica = ReplicaId(node.id.0);
            let group = group();
            let member = Member { group, replica };
            let first = first.clone();
            node.wish(Create { member, first }, 0);
            node.boot(0);
        }
        Three {
            seed,
            nodes,
            net: Net::default(),
            dice: Random::new(seed),
            tick: 0,
            cut: None,
            asked: BTreeMap::new(),
            waiting: BTreeSet::new(),
            replies: BTreeMap::new(),
            last: 0,
        }
    }

    fn step(&mut self) {
        let (tick, cut) = (self.tick, self.cut);
        let is_cut = |from, to| cut == Some(from) || cut == Some(to);
        for (_, to, frame) in self.net.arrived(tick, is_cut, |_| true) {
            self.node(to).ask(Ask::Frame(frame), tick);
        }
        for at in 0..self.nodes.len() {
            let heard = self.nodes[at].step(tick, true, &mut self.dice);
            self.hear(at, heard);
        }
        self.tick += 1;
    }

    fn hear(&mut self, at: usize, heard: Heard) {
        let id = self.nodes[at].id;
        self.net.send(id, heard.frames, self.tick, &mut self.dice);
        for served in heard.reads {
            assert!(self.waiting.remove(&served.request.0), "read twice");
        }
        for (request, reply) in heard.replies {
            self.nodes[at].asked_reads.remove(&request);
            // What was asked of the group itself is no call.
            if self.asked.contains_key(&request.0) {
                assert!(self.waiting.remove(&request.0), "{request:?} is told twice");
                self.replies.insert(request.0, reply);
            }
        }
    }

    fn until(&mut self, what: &str, is_it: impl Fn(&Three) -> bool) {
        let end = self.tick + SOON;
        while !is_it(self) {
            assert!(self.tick < end, "seed {}: {what}: never", self.seed);
            self.step();
        }
    }

    fn node(&mut self, id: NodeId) -> &mut Node {
        let mut nodes = self.nodes.iter_mut();
        nodes.find(|node| node.id == id).unwrap()
    }

    fn leader(&self) -> Option<NodeId> {
        let node = self.nodes.iter().find(|node| node.is_leader(group()))?;
        Some(node.id)
    }

    fn leads(&self, id: NodeId) -> bool {
        let mut nodes = self.nodes.iter();
        nodes.any(|node| node.id == id && node.is_leader(group()))
    }

    fn draw(&mut self, key: Vec<u8>) -> RequestId {
        self.last += 1;
        self.asked.insert(self.last, key);
        self.waiting.insert(self.last);
        RequestId(self.last)
    }

    /// A write of a row of its own, and a read of it.
    fn call(&mut self, id: NodeId) {
        let key = raw(b"harbour", format!("{:06}", self.last).as_bytes());
        let put = KeyCall::Put(UpdateRequest {
            key: Blob::from(key.clone()),
            value: Blob::of(&[b'v'; 200]),
            ..UpdateRequest::default()
        });
        let tick = self.tick;
        let request = self.draw(key.clone());
        self.node(id).ask(write(request, group(), &put), tick);
        let request = self.draw(Vec::new());
        let get = KeyCall::Get(Blob::from(key));
        self.node(id).read(request, group(), get, tick);
    }

    fn begin(&mut self) -> NodeId {
        self.until("nobody leads", |three| three.leader().is_some());
        let leader = self.leader().unwrap();
        for _ in 0..CALLS {
            self.call(leader);
            self.step();
        }
        self.until("calls are not answered", |three| three.waiting.is_empty());
        leader
    }

    /// Whether the disk of that node has room for rows; the raft log has some in any case.
    fn set_room(&mut self, id: NodeId, has_room: bool) {
        let stages = self.node(id).stages().unwrap();
        let reserve = if has_room { "1MiB" } else { "900TiB" };
        stages.db.set("disk.free_min", reserve).unwrap();
    }

    fn is_stalled(&self, id: NodeId) -> bool {
        let node = self.nodes.iter().find(|node| node.id == id).unwrap();
        let view = node.stages().unwrap().replicas.view(group()).unwrap();
        view.is_stalled()
    }

    /// A leader that stands still for want of room, and what it was asked meanwhile.
    fn begin_and_fill(&mut self) -> NodeId {
        let full = self.begin();
        self.set_room(full, false);
        let end = self.tick + SOON;
        while !self.is_stalled(full) {
            assert!(self.tick < end, "seed {}: it has room", self.seed);
            self.call(full);
            self.step();
        }
        full
    }

    #[track_caller]
    fn all_are_answered(&mut self) {
        for _ in 0..ANSWERED {
            self.step();
        }
        let (seed, waiting) = (self.seed, &self.waiting);
        assert!(waiting.is_empty(), "seed {seed}: not answered: {waiting:?}");
    }

    /// With all of them there again, what was told is so. Gives how many were told that nobody
    /// knows of those that were done, and of those that were not.
    fn check(&mut self) -> (usize, usize) {
        self.until("nobody leads at last", |three| three.leader().is_some());
        let leader = self.leader().unwrap();
        let applied = |three: &Three| -> Vec<_> {
            let nodes = three.nodes.iter();
            nodes
                .map(|node| node.applied(group()).map(|it| it.1))
                .collect()
        };
        self.call(leader);
        self.until("replicas are not equal", |three| {
            let all = applied(three);
            three.waiting.is_empty() && all.iter().all(|one| *one == all[0])
        });
        let rows = self.nodes[0].rows(group());
        let (mut there, mut gone) = (0, 0);
        for (request, reply) in &self.replies {
            let key = &self.asked[request];
            if key.is_empty() {
                // A read that was not served says nothing.
                continue;
            }
            let (seed, is_there) = (self.seed, rows.contains_key(key));
            match reply {
                Reply::Done(_) => assert!(is_there, "seed {seed}: {request} is lost"),
                Reply::Unknown if is_there => there += 1,
                Reply::Unknown => gone += 1,
                told => assert!(!is_there, "seed {seed}: {request} is there: {told:?}"),
            }
        }
        (there, gone)
    }
}

#[test]
fn who_waits_for_a_leader_without_room_is_answered_when_it_leads_no_more() {
    // What was committed is done by the others, and the old leader cannot say so.
    let mut unsure = 0;
    for seed in 0..8 {
        let mut three = Three::new(seed);
        let full = three.begin_and_fill();
        // Calls that came a moment before.
        three.step();
        let other = ReplicaId(full.0 % 3 + 1);
        let end = three.tick + SOON;
        while three.leads(full) {
            assert!(three.tick < end, "seed {seed}: it leads on");
            let (request, tick) = (RequestId(u64::MAX - three.tick), three.tick);
            let ask = Ask::Transfer {
                request,
                group: group(),
                to: other,
            };
            three.node(full).ask(ask, tick);
            (0..5).for_each(|_| three.step());
        }
        three.all_are_answered();
        assert!(three.is_stalled(full), "seed {seed}");
        three.set_room(full, true);
        let (there, gone) = three.check();
        assert_eq!(gone, 0, "seed {seed}: it was committed");
        unsure += there;
    }
    // A run in which nobody waited proves nothing.
    assert!(unsure > 8, "{unsure}");
}

#[test]
fn who_waits_for_a_leader_without_room_is_answered_though_it_leads_on() {
    // As where no other disk has room either, or no other node is there.
    for seed in 0..4 {
        let mut three = Three::new(seed);
        let full = three.begin_and_fill();
        three.all_are_answered();
        three.set_room(full, true);
        three.check();
    }
}

#[test]
fn who_waits_for_a_leader_that_was_cut_off_is_answered_before_it_is_back() {
    // Some of what it was asked last reached the others, and some did not: it cannot know.
    let mut unsure = (0, 0);
    for seed in 0..8 {
        let mut three = Three::new(seed);
        let lonely = three.begin();
        three.call(lonely);
        three.step();
        three.call(lonely);
        three.step();
        three.cut = Some(lonely);
        three.call(lonely);
        three.until("it leads for ever", |three| !three.leads(lonely));
        three.all_are_answered();
        three.cut = None;
        let (there, gone) = three.check();
        unsure = (unsure.0 + there, unsure.1 + gone);
    }
    assert!(unsure.0 > 0 && unsure.1 > 0, "{unsure:?}");
}
