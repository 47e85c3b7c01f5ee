//! One node: a shard with its disk and state machines, and its owner's work.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use esker_raft::{
    Body, Envelope, Event, GroupId, Keep, Mark, Member, NodeId, Options, Output, ReplicaId,
    SaveNumber, Shard, Start, Ticket, Token, decode_frame, encode_frames,
};

use crate::sim::checks::Checks;
use crate::sim::clock::NodeClock;
use crate::sim::disk::Disk;
use crate::sim::machine::Machine;
use crate::sim::net::Net;
use crate::sim::plan::{Plan, Planted};
use crate::sim::rng::{Rng, mix, mix_bytes};

/// What all nodes share.
pub struct Around {
    pub plan: Plan,
    pub rng: Rng,
    pub now: u64,
    pub net: Net,
    pub checks: Checks,
    pub trace: u64,
    /// The voters that every group begins with.
    pub voters: Vec<(ReplicaId, NodeId)>,
    pub up: Vec<NodeId>,
}

/// Work that takes its time.
enum Later {
    MakeImage(Member),
    Fetch(Member, NodeId, u64),
    Destroy(GroupId, ReplicaId),
}

/// One node, up or down.
pub struct Node {
    pub id: NodeId,
    pub disk: Disk,
    pub machines: BTreeMap<GroupId, Machine>,
    /// The replicas that this node was told to have, and whether the group begins with them.
    pub assigned: BTreeMap<GroupId, (ReplicaId, bool)>,
    pub shard: Option<Shard>,
    pub down_until: u64,
    pub paused_until: u64,
    tick_rate: u64,
    pub clock: NodeClock,
    incarnation: u64,
    saves: VecDeque<(u64, SaveNumber)>,
    destroying: Vec<(SaveNumber, GroupId, ReplicaId)>,
    later: Vec<(u64, Later)>,
}

impl Node {
    pub fn new(id: NodeId, around: &mut Around) -> Node {
        Node {
            id,
            disk: Disk::new(around.plan.planted),
            machines: BTreeMap::new(),
            assigned: BTreeMap::new(),
            shard: None,
            down_until: 0,
            paused_until: 0,
            tick_rate: 850 + around.rng.below(150),
            clock: NodeClock::new(id, around),
            incarnation: 0,
            saves: VecDeque::new(),
            destroying: Vec::new(),
            later: Vec::new(),
        }
    }

    /// Starts the process, with what is on the disk.
    pub fn boot(&mut self, around: &mut Around) {
        self.incarnation += 1;
        let mut options = options(&around.plan);
        if around.plan.planted != Planted::ReuseReadNames {
            options.incarnation = self.incarnation;
        }
        let log = Arc::new(self.disk.clone());
        let mut shard = Shard::new(self.id, options, log, self.disk.all_destroyed());
        for (group, (replica, is_first)) in self.assigned.clone() {
            let wipes = around.plan.planted == Planted::ReuseReplicaId && around.rng.hits(500);
            if wipes && self.incarnation > 1 {
                self.disk.wipe(group);
            }
            if let Some(state) = self
                .disk
                .state(group)
                .filter(|state| state.replica < replica)
            {
                // The crash came before the older replica was gone for good.
                shard.destroy(group, state.replica);
            }
            let start = match self
                .disk
                .state(group)
                .filter(|state| state.replica == replica)
            {
                Some(state) => self.again(group, state, around),
                None => {
                    let is_first = is_first && !(wipes && self.incarnation > 1);
                    let start = match is_first {
                        true => Start::First(around.voters.clone()),
                        false => Start::Empty,
                    };
                    let mark = match is_first {
                        true => Mark::first(&around.voters),
                        false => Mark::default(),
                    };
                    self.machines.insert(group, Machine::new(mark));
                    start
                }
            };
            let started = shard.start(group, replica, start);
            started.unwrap_or_else(|error| around.checks.fail(&error.to_string()));
        }
        self.shard = Some(shard);
    }

    fn again(
        &mut self,
        group: GroupId,
        mut state: esker_raft::LogState,
        around: &mut Around,
    ) -> Start {
        let machine = self.machines.entry(group).or_default();
        match around.plan.planted {
            Planted::ForgetVote => state.hard.vote = 0,
            Planted::ForgetHardState => {
                (state.hard.vote, state.hard.term) = (0, state.last.term);
            }
            Planted::SkipEntry if state.hard.commit > machine.live.mark.applied.index => {
                let index = machine.live.mark.applied.index + 1;
                if let Ok(term) = esker_raft::LogRead::term(&self.disk, group, index) {
                    machine.live.mark.applied = esker_raft::Point { index, term };
                }
            }
            Planted::ApplyTwice if machine.live.mark.applied.index > state.compacted.index + 1 => {
                let index = machine.live.mark.applied.index - 1;
                if let Ok(term) = esker_raft::LogRead::term(&self.disk, group, index) {
                    machine.live.mark.applied = esker_raft::Point { index, term };
                }
            }
            _ => {}
        }
        Start::Again(Box::new(state), machine.live.mark.clone())
    }

    /// The power goes.
    pub fn crash(&mut self, around: &mut Around) {
        self.shard = None;
        let kept = self.disk.crash(&mut around.rng);
        kept.iter().for_each(|record| around.checks.saved(record));
        self.saves.clear();
        self.destroying.clear();
        self.later.clear();
        for machine in self.machines.values_mut() {
            machine.crash();
        }
        self.down_until = around.now + 5 + around.rng.below(60);
    }

    /// A frame has arrived.
    pub fn receive(&mut self, frame: &[u8], around: &mut Around) {
        let Some(shard) = &mut self.shard else { return };
        let messages = decode_frame(frame).expect("what was sent reads");
        for message in messages {
            around.trace = mix(around.trace, message.group.0);
            shard.offer(message).expect("an inbox has room for a few");
        }
    }

    /// What a running node does in one tick of the world.
    pub fn step(&mut self, around: &mut Around) {
        self.sync_some(around);
        self.apply_some(around);
        self.do_later(around);
        self.flush_some(around);
        let is_tick = around.rng.hits(self.tick_rate);
        self.turn(is_tick, around);
        // What the turn began often goes on at once, as in a loop that has work.
        if self.shard.as_ref().is_some_and(Shard::is_busy) {
            self.turn(false, around);
        }
    }

    fn sync_some(&mut self, around: &mut Around) {
        let Some(shard) = &mut self.shard else { return };
        while self.saves.front().is_some_and(|row| row.0 <= around.now) {
            let Some((_, number)) = self.saves.pop_front() else {
                return;
            };
            let durable = self.disk.sync(number);
            durable
                .iter()
                .for_each(|record| around.checks.saved(record));
            if around.plan.planted != Planted::AckBeforeDurable {
                shard.durable(number);
            }
            for (_, group, replica) in self.destroying.extract_if(.., |row| row.0 <= number) {
                around.checks.destroyed(group, replica);
            }
        }
    }

    fn apply_some(&mut self, around: &mut Around) {
        let Some(shard) = &mut self.shard else { return };
        for (&group, machine) in &mut self.machines {
            let count = around.rng.below(6);
            for _ in 0..count {
                let Some(entry) = machine.apply() else { break };
                let term = shard.status(group).map_or(u64::MAX, |status| status.term);
                around.checks.applied(group, term, &entry, &machine.live);
                if let (Some(token), esker_raft::Effect::Write(_)) = (entry.token, &entry.effect) {
                    around.checks.acknowledged(group, token);
                }
                shard.applied(member_of(&self.assigned, group), entry.index);
            }
        }
    }

    fn flush_some(&mut self, around: &mut Around) {
        let Some(shard) = &mut self.shard else { return };
        for (&group, machine) in &mut self.machines {
            if around.rng.hits(around.plan.flush) {
                machine.flush();
                shard.compact(
                    member_of(&self.assigned, group),
                    machine.flushed.mark.applied.index,
                    Keep::ForFollowers,
                );
            }
        }
    }

    fn do_later(&mut self, around: &mut Around) {
        let now = around.now;
        let due: Vec<_> = self.later.extract_if(.., |row| row.0 <= now).collect();
        for (_, later) in due {
            let Some(shard) = &mut self.shard else { return };
            match later {
                Later::MakeImage(member) => {
                    let Some(machine) = self.machines.get(&member.group) else {
                        continue;
                    };
                    let mut index = machine.live.mark.applied.index;
                    if around.plan.planted == Planted::MislabelledImage {
                        index = index.saturating_sub(1);
                    }
                    shard.image_made(member, Some((index, machine.contents().into())));
                }
                Later::Fetch(member, from, index) => {
                    let cut = around.net.cut.contains(&(from, self.id));
                    let is_here = !cut && around.up.contains(&from);
                    shard.image_fetched(member, index, is_here);
                }
                Later::Destroy(group, replica) => self.destroy(group, replica, around),
            }
        }
    }

    fn destroy(&mut self, group: GroupId, replica: ReplicaId, around: &mut Around) {
        let Some(shard) = &mut self.shard else { return };
        if shard
            .status(group)
            .is_none_or(|status| status.replica != replica)
        {
            return;
        }
        shard.destroy(group, replica);
        if around.plan.planted != Planted::ForgetTombstone {
            self.machines.remove(&group);
            self.assigned.remove(&group);
        }
        self.turn_with(false, around, Some((group, replica)));
    }

    fn turn(&mut self, is_tick: bool, around: &mut Around) {
        self.turn_with(is_tick, around, None);
    }

    fn turn_with(
        &mut self,
        is_tick: bool,
        around: &mut Around,
        destroyed: Option<(GroupId, ReplicaId)>,
    ) {
        let Some(shard) = &mut self.shard else { return };
        let clock = self.clock.at(around.now);
        let output = shard.turn(is_tick, clock);
        if let Some((group, replica)) = destroyed {
            self.destroying.push((output.save.number, group, replica));
        }
        self.take(output, around);
    }

    fn take(&mut self, output: Output, around: &mut Around) {
        if around.plan.planted == Planted::ResetBeforeSwitch && !output.installs.is_empty() {
            // The log is reset, and the power goes before the state machine has switched.
            self.disk.save(&output.save);
            self.disk.sync(output.save.number);
            self.crash(around);
            return;
        }
        for install in &output.installs {
            let machine = self.machines.entry(install.member.group).or_default();
            machine.install(&install.ticket);
            around.checks.image_count += 1;
            around.checks.state_is(install.member.group, &machine.live);
        }
        let number = output.save.number;
        if !output.save.records.is_empty() {
            around.trace = mix(around.trace, number.0);
            self.disk.save(&output.save);
            let last = self.saves.back().map_or(0, |row| row.0);
            let due = around.now + around.rng.below(4);
            self.saves.push_back((due.max(last), number));
        }
        for (to, messages) in output.sends {
            self.send(to, messages, around);
        }
        for apply in output.applies {
            let machine = self.machines.entry(apply.member.group).or_default();
            for entry in &apply.entries {
                let last = machine
                    .queue
                    .back()
                    .map_or(machine.live.mark.applied.index, |e| e.index);
                if entry.index != last + 1 {
                    around
                        .checks
                        .fail("an entry is left out, or handed out twice");
                }
                machine.queue.push_back(entry.clone());
            }
        }
        for read in output.reads {
            let applied = self.machines[&read.group].live.mark.applied.index;
            around.checks.read_served(read.token, read.index, applied);
        }
        for event in output.events {
            self.hear(event, around);
        }
        let Some(shard) = &mut self.shard else { return };
        if around.plan.planted == Planted::AckBeforeDurable {
            shard.durable(number);
        }
    }

    fn send(&self, to: NodeId, messages: Vec<Envelope>, around: &mut Around) {
        for message in &messages {
            around.checks.sent(message);
        }
        let messages = match around.plan.planted {
            Planted::WrongImageMembers => self.with_members_of_today(messages),
            _ => messages,
        };
        for frame in encode_frames(&messages) {
            around.trace = mix_bytes(around.trace, &frame);
            let chance = (&around.plan, &mut around.rng);
            around.net.send((self.id, to), &frame, around.now, chance);
        }
    }

    // What a host does that takes the members from where it finds them first.
    fn with_members_of_today(&self, messages: Vec<Envelope>) -> Vec<Envelope> {
        let changed = messages.into_iter().map(|message| {
            let ticket = match &message.body {
                Body::Step(step) => step.ticket(),
                _ => None,
            };
            let Some(ticket) = ticket else { return message };
            let Some(status) = self.shard.as_ref().and_then(|s| s.status(message.group)) else {
                return message;
            };
            let mut wrong = status.configuration;
            wrong.version = ticket.configuration.version;
            swap_ticket(
                &message,
                &ticket,
                Ticket {
                    configuration: wrong,
                    ..ticket.clone()
                },
            )
        });
        changed.collect()
    }

    fn hear(&mut self, event: Event, around: &mut Around) {
        around.checks.event(&event);
        let now = around.now;
        match event {
            Event::Leader {
                group,
                term,
                leader: Some(leader),
            } => {
                around.trace = mix(mix(around.trace, term), leader.0);
                if self.assigned.get(&group).is_some_and(|row| row.0 == leader) {
                    around.checks.leads(group, term, leader, &self.disk);
                }
            }
            Event::ImageWanted(member, _) => {
                let due = now + around.rng.below(10);
                self.later.push((due, Later::MakeImage(member)));
            }
            Event::ImageOffered {
                member,
                from_node,
                ticket,
                ..
            } => {
                let due = now + around.rng.below(20);
                self.later
                    .push((due, Later::Fetch(member, from_node, ticket.index)));
            }
            Event::Left(group, replica) => {
                let due = now + around.rng.below(30);
                self.later.push((due, Later::Destroy(group, replica)));
            }
            Event::Stray { group, to, .. } => self.assign(group, to, around),
            _ => {}
        }
    }

    // A replica that the group has added is told to this node by a message to it.
    fn assign(&mut self, group: GroupId, replica: ReplicaId, around: &mut Around) {
        if let Some(&(older, _)) = self.assigned.get(&group) {
            if older >= replica {
                return;
            }
            self.destroy(group, older, around);
        }
        let Some(shard) = &mut self.shard else { return };
        if shard.start(group, replica, Start::Empty).is_ok() {
            self.assigned.insert(group, (replica, false));
            self.machines.insert(group, Machine::new(Mark::default()));
        }
    }

    /// Whether this node leads `group`, as far as it knows.
    pub fn leads(&self, group: GroupId) -> bool {
        let status = self.shard.as_ref().and_then(|shard| shard.status(group));
        status.is_some_and(|status| status.leader == Some(status.replica))
    }

    /// A read that a careless host serves at once.
    pub fn read_locally(&self, group: GroupId, token: Token, around: &mut Around) {
        let applied = self
            .machines
            .get(&group)
            .map_or(0, |m| m.live.mark.applied.index);
        if applied > 0 {
            around.checks.read_served(token, applied, applied);
        }
    }
}

fn swap_ticket(message: &Envelope, ticket: &Ticket, other: Ticket) -> Envelope {
    let (mut bytes, mut tail) = (Vec::new(), Vec::new());
    message.encode(&mut bytes);
    ticket.encode(&mut tail);
    bytes.truncate(bytes.len() - tail.len());
    other.encode(&mut bytes);
    Envelope::decode(&bytes).expect("another ticket in its place")
}

fn options(plan: &Plan) -> Options {
    Options {
        seed: plan.seed,
        incarnation: 0,
        message_bytes_max: 512,
        inflight_messages_max: 8,
        apply_bytes_max: 1024,
        proposals_max: 64,
        proposal_bytes_max: 4096,
        apply_lag_max: 200,
        reads_max: 64,
        cache_bytes_max: 1024,
        log_lag_max: 30,
        image_ticks_max: 40,
        catch_up_max: 10,
        read_promise: plan.read_promise,
        ..Options::default()
    }
}

fn member_of(assigned: &BTreeMap<GroupId, (ReplicaId, bool)>, group: GroupId) -> Member {
    let replica = assigned[&group].0;
    Member { group, replica }
}
