//! A few nodes led by hand: a test says who hears whom, and when a disk is done.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use esker_raft::{
    Change, ChangeStep, Committed, Configuration, Effect, Envelope, Event, FIRST, GroupId, Install,
    Mark, Member, NodeId, Options, Output, Point, ReplicaId, SaveNumber, ServedRead, Shard, Start,
    Token, decode_frame, encode_frame,
};

use crate::sim::disk::Disk;
use crate::sim::plan::Planted;

/// The one group of most tests.
pub const GROUP: GroupId = GroupId(1);

/// Its replica of that id.
pub fn member(replica: u64) -> Member {
    Member {
        group: GROUP,
        replica: ReplicaId(replica),
    }
}

/// One node, and all that came out of it.
pub struct Bench {
    pub shard: Shard,
    pub disk: Disk,
    /// Saves that wait to be synced; `None` while the disk does nothing.
    pub saved: Option<SaveNumber>,
    pub is_stuck: bool,
    /// Whether its state machine does nothing, and up to where it would have.
    pub is_slow: bool,
    pub waiting: Option<u64>,
    pub applied: Vec<Committed>,
    pub reads: Vec<ServedRead>,
    pub events: Vec<Event>,
    pub installs: Vec<Install>,
    pub sent: Vec<(NodeId, Envelope)>,
}

/// Nodes 1 to n, each with the replica of its number.
pub struct Rig {
    pub benches: Vec<Bench>,
    pub silent: BTreeSet<(u64, u64)>,
    /// The time that all nodes have: a tick is 100 ms.
    pub clock: Duration,
    options: Options,
    first: Vec<(ReplicaId, NodeId)>,
}

impl Rig {
    /// A group of `voters` on as many nodes, and `more` nodes without it.
    pub fn new(voters: u64, more: u64, options: &Options) -> Rig {
        let members: Vec<_> = (1..=voters).map(|n| (ReplicaId(n), NodeId(n))).collect();
        let benches = (1..=voters + more).map(|n| {
            let disk = Disk::new(Planted::Nothing);
            let log = Arc::new(disk.clone());
            let mut shard = Shard::new(NodeId(n), options.clone(), log, BTreeMap::new());
            if n <= voters {
                let start = Start::First(members.clone());
                shard
                    .start(GROUP, ReplicaId(n), start)
                    .expect("a new group starts");
            }
            Bench::new(shard, disk)
        });
        Rig {
            benches: benches.collect(),
            silent: BTreeSet::new(),
            clock: Duration::ZERO,
            options: options.clone(),
            first: members,
        }
    }

    /// One turn of every node, with what came out delivered; entries are applied at once.
    pub fn turn(&mut self, is_tick: bool) {
        if is_tick {
            self.clock += Duration::from_millis(100);
        }
        self.turn_where(|_| is_tick);
    }

    /// The same, with a tick for some nodes only.
    pub fn turn_where(&mut self, ticks: impl Fn(u64) -> bool) {
        let mut frames = Vec::new();
        for (index, bench) in self.benches.iter_mut().enumerate() {
            let from = index as u64 + 1;
            for (to, messages) in bench.turn(ticks(from), self.clock) {
                if !self.silent.contains(&(from, to.0)) {
                    frames.push((to, encode_frame(&messages)));
                }
            }
        }
        for (to, frame) in frames {
            let bench = &mut self.benches[usize::try_from(to.0).expect("small") - 1];
            for message in decode_frame(&frame).expect("what was sent reads") {
                bench.shard.offer(message).expect("there is room");
            }
        }
    }

    pub fn turns(&mut self, count: usize, is_tick: bool) {
        for _ in 0..count {
            self.turn(is_tick);
        }
    }

    /// Ticks until some node leads, and everyone has heard of it. Returns its number.
    pub fn elect(&mut self) -> u64 {
        for _ in 0..100 {
            self.turn(true);
            if let Some(leader) = self.leader() {
                self.turns(12, false);
                return leader;
            }
        }
        panic!("nobody leads after 100 ticks");
    }

    /// The node that leads in the largest term.
    pub fn leader(&self) -> Option<u64> {
        let status = self
            .benches
            .iter()
            .filter_map(|bench| bench.shard.status(GROUP));
        let leads = status.filter(|status| status.leader == Some(status.replica));
        leads
            .max_by_key(|status| status.term)
            .map(|status| status.replica.0)
    }

    pub fn at(&mut self, node: u64) -> &mut Bench {
        &mut self.benches[usize::try_from(node).expect("small") - 1]
    }

    /// Nobody hears `node`, and it hears nobody.
    pub fn isolate(&mut self, node: u64) {
        for other in 1..=self.benches.len() as u64 {
            self.silent.insert((node, other));
            self.silent.insert((other, node));
        }
    }

    /// Adds replica 9 on node 4, and has an image offered to it. Returns the image's index.
    pub fn add_learner(&mut self, leader: u64) -> u64 {
        for text in ["one", "two", "three"] {
            let write = Bytes::from_static(text.as_bytes());
            let shard = &mut self.at(leader).shard;
            shard.propose(GROUP, Token(1), write).expect("it leads");
            self.turns(4, false);
        }
        let change = Change::of(ChangeStep::AddLearner(ReplicaId(9), NodeId(4)));
        let shard = &mut self.at(leader).shard;
        shard
            .change(GROUP, Token(2), &change)
            .expect("all are well");
        self.turns(8, true);
        let is_asked = |event: &Event| {
            matches!(
                event,
                Event::Stray {
                    to: ReplicaId(9),
                    ..
                }
            )
        };
        let stray = self.at(4).events.iter().any(is_asked);
        assert!(
            stray,
            "its node is asked for a replica that it does not have"
        );
        let shard = &mut self.at(4).shard;
        shard
            .start(GROUP, ReplicaId(9), Start::Empty)
            .expect("it is new here");
        self.turns(10, true);
        let wanted = self.at(leader).events.iter().find_map(|event| match event {
            Event::ImageWanted(_, index) => Some(*index),
            _ => None,
        });
        let applied = self
            .at(leader)
            .shard
            .status(GROUP)
            .expect("it leads")
            .applied;
        assert!(wanted.is_some_and(|wanted| wanted <= applied));
        let image = Some((applied, Bytes::from_static(b"the state")));
        self.at(leader).shard.image_made(member(leader), image);
        self.turns(6, true);
        applied
    }

    /// The process of `node` ends, and another begins with what is on its disk. Its state machine
    /// has the first so many entries.
    pub fn restart(&mut self, node: u64, kept: usize) {
        let options = self.options.clone();
        let first = Configuration::first(FIRST.index, &self.first);
        let bench = self.at(node);
        bench.applied.truncate(kept);
        let members = bench
            .applied
            .iter()
            .rev()
            .find_map(|one| match &one.effect {
                Effect::Configuration(members) => Some(members.clone()),
                _ => None,
            });
        let last = bench.applied.last();
        let applied = last.map_or(FIRST, |last| Point {
            index: last.index,
            term: last.term,
        });
        let mark = Mark {
            applied,
            begun: FIRST,
            configuration: members.unwrap_or(first),
        };
        let log = Arc::new(bench.disk.clone());
        let state = bench.disk.state(GROUP).expect("it is on the disk");
        let start = Start::Again(Box::new(state), mark);
        let mut shard = Shard::new(NodeId(node), options, log, BTreeMap::new());
        let started = shard.start(GROUP, ReplicaId(node), start);
        started.expect("nothing is lost");
        (bench.shard, bench.saved) = (shard, None);
    }

    /// The nodes other than `node`.
    pub fn others(&self, node: u64) -> Vec<u64> {
        (1..=self.benches.len() as u64)
            .filter(|&other| other != node)
            .collect()
    }
}

impl Bench {
    fn new(shard: Shard, disk: Disk) -> Bench {
        Bench {
            shard,
            disk,
            saved: None,
            is_stuck: false,
            is_slow: false,
            waiting: None,
            applied: Vec::new(),
            reads: Vec::new(),
            events: Vec::new(),
            installs: Vec::new(),
            sent: Vec::new(),
        }
    }

    fn turn(&mut self, is_tick: bool, clock: Duration) -> BTreeMap<NodeId, Vec<Envelope>> {
        if let Some(number) = self.saved.filter(|_| !self.is_stuck) {
            self.disk.sync(number);
            self.shard.durable(number);
            self.saved = None;
        }
        let output = self.shard.turn(is_tick, clock);
        self.take(output)
    }

    fn take(&mut self, output: Output) -> BTreeMap<NodeId, Vec<Envelope>> {
        if !output.save.records.is_empty() {
            self.disk.save(&output.save);
            self.saved = Some(output.save.number);
        }
        for apply in output.applies {
            let last = apply.entries.last().map(|entry| entry.index);
            self.applied.extend(apply.entries);
            match self.is_slow {
                true => self.waiting = last,
                false => self
                    .shard
                    .applied(apply.member, last.expect("an apply has entries")),
            }
        }
        self.installs.extend(output.installs);
        self.reads.extend(output.reads);
        self.events.extend(output.events);
        for (to, messages) in &output.sends {
            self.sent
                .extend(messages.iter().map(|message| (*to, message.clone())));
        }
        output.sends
    }

    /// The payloads applied so far.
    pub fn writes(&self) -> Vec<Vec<u8>> {
        let writes = self.applied.iter().filter_map(|entry| match &entry.effect {
            Effect::Write(payload) => Some(payload.to_vec()),
            _ => None,
        });
        writes.collect()
    }

    /// Whether this node's group knows nobody who leads.
    pub fn leader(&self) -> Option<ReplicaId> {
        self.shard.status(GROUP).and_then(|status| status.leader)
    }
}
