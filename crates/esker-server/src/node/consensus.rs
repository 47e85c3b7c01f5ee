//! The stage that has the groups: requests and messages in; saves, frames, work and answers out.
//!
//! Nothing here waits, and nothing loops over all groups but the tick. Writes of a group that came
//! since the turn before become one entry, or a few.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use esker_raft::{
    Change, GroupId, Keep, Member, NodeId, Refusal, ReplicaId, SaveNumber, Shard, StartError,
    Status, Token, decode_frame,
};

use crate::node::ask::{Ask, Begin, LogPressure, Work};
use crate::node::limits::{HOLD_MAX, QUEUED_MAX, WAITING_BYTES_MAX};
use crate::node::replicas::Replicas;
use crate::node::request::{Answer, Now, Reply, RequestId};
use crate::node::seat::{
    Content, Held, Lead, ProposedWrites, QueuedWrite, Seat, Waiting, payloads,
};
use crate::node::turn::{NodeEvent, Turn};
use crate::partition::command::Stamp;

/// The groups of a node. One thread calls it.
pub struct Consensus {
    pub(crate) shard: Shard,
    pub(crate) replicas: Arc<Replicas>,
    pub(crate) cluster: u8,
    kept_entries: u64,
    pub(crate) seats: BTreeMap<GroupId, Seat>,
    /// Groups with writes of this turn.
    pub(crate) written: BTreeSet<GroupId>,
    /// Groups with requests that wait for a leader.
    pub(crate) holding: BTreeSet<GroupId>,
    /// Groups whose lead this replica hands over.
    leaving: BTreeSet<GroupId>,
    /// Groups of which it is known which replica leads and not on which node.
    pub(crate) unplaced: BTreeSet<GroupId>,
    pub(crate) waiting: BTreeMap<Token, Waiting>,
    /// Bytes of the writes that are queued, held, or wait for their entry.
    pub(crate) waiting_bytes: usize,
    next_token: u64,
    pressure: LogPressure,
    /// Replicas that the next save destroys.
    pub(crate) destroying: Vec<Member>,
    /// Replicas that begin with the next save.
    pub(crate) beginning: Vec<Member>,
    /// What may be done once a save is durable, oldest first.
    pub(crate) after_saves: VecDeque<(SaveNumber, Work)>,
    /// The last save that has records, and the last that is durable.
    pub(crate) last_saved: SaveNumber,
    pub(crate) last_durable: SaveNumber,
    pub(crate) out: Turn,
}

impl Consensus {
    /// The groups of `shard`, none of which has begun yet. Each keeps so many entries that nobody
    /// lacks.
    pub fn new(
        shard: Shard,
        replicas: Arc<Replicas>,
        (cluster, kept_entries): (u8, u64),
    ) -> Consensus {
        Consensus {
            shard,
            replicas,
            cluster,
            kept_entries,
            seats: BTreeMap::new(),
            written: BTreeSet::new(),
            holding: BTreeSet::new(),
            leaving: BTreeSet::new(),
            unplaced: BTreeSet::new(),
            waiting: BTreeMap::new(),
            waiting_bytes: 0,
            next_token: 0,
            pressure: LogPressure::default(),
            destroying: Vec::new(),
            beginning: Vec::new(),
            after_saves: VecDeque::new(),
            last_saved: SaveNumber(0),
            last_durable: SaveNumber(0),
            out: Turn::default(),
        }
    }

    /// Takes what happened, for the next turn.
    pub fn ask(&mut self, ask: Ask, now: Now) {
        match ask {
            Ask::Frame(frame) => self.frame(&frame),
            Ask::Write {
                request,
                group,
                name,
                arguments,
            } => {
                let content = Content::Call(name, arguments);
                self.admit(group, Held::Write(QueuedWrite { request, content }), now);
            }
            Ask::Command {
                request,
                group,
                bytes,
            } => {
                let content = Content::Command(bytes);
                self.admit(group, Held::Write(QueuedWrite { request, content }), now);
            }
            Ask::Read { request, group } => self.admit(group, Held::Read(request), now),
            Ask::Change {
                request,
                group,
                change,
            } => self.change(request, group, &change),
            Ask::Transfer { request, group, to } => {
                let reply = match self.shard.transfer(group, to) {
                    Ok(()) => {
                        self.leave(group);
                        Reply::Done(Answer::Nothing)
                    }
                    Err(refusal) => self.refused(group, refusal),
                };
                self.reply(request, reply);
            }
            Ask::Begin(begin) => self.begin(begin),
            Ask::Destroy(member) => self.destroy(member),
            Ask::Free(held) => self.shard.free(&held),
            Ask::GoOnAlone(member, last) => {
                // What cannot be begun now is said again.
                let _begun = self.shard.go_on_alone(member, last);
            }
            Ask::NodeGone(node) => self.shard.node_gone(node),
            Ask::Durable(number) => self.durable(number),
            Ask::Applied(member, index) => self.shard.applied(member, index),
            Ask::Retired(member) => self.shard.retire(member, "its state cannot be read"),
            Ask::ImageMade(member, index) => {
                let image = index.map(|index| (index, Vec::new().into()));
                self.shard.image_made(member, image);
            }
            Ask::ImageSent(member, to, arrived) => self.shard.image_sent(member, to, arrived),
            Ask::ImageGone(member, index) => self.shard.image_gone(member, index),
            Ask::ImageFetched(member, index, is_here) => {
                self.shard.image_fetched(member, index, is_here);
            }
            Ask::LogPressure(pressure) => self.feel(pressure),
        }
    }

    /// One turn: everything that follows from what was asked, and a tick if it is time.
    pub fn turn(&mut self, now: Now, is_tick: bool) -> Turn {
        if is_tick {
            self.compact_flushed();
            for group in self.replicas.take_used_leases() {
                self.shard.renew(group);
            }
        }
        self.let_go_of_late(now);
        self.stay(now);
        for group in std::mem::take(&mut self.written) {
            self.propose(group, now);
        }
        let output = self.shard.turn(is_tick, now.monotonic);
        self.absorb(output, now);
        if is_tick {
            self.place_leaders(now);
            self.let_go_of_unsure(now);
        }
        std::mem::take(&mut self.out)
    }

    /// Whether another turn has something to do before anything is asked.
    pub fn is_busy(&self) -> bool {
        self.shard.is_busy() || !self.written.is_empty() || !self.destroying.is_empty()
    }

    /// Whether something waits for what is applied, so that it is to be told at once.
    pub fn awaits_applied(&self) -> bool {
        self.shard.awaits_applied()
    }

    /// What a group knows of itself.
    pub fn status(&self, group: GroupId) -> Option<Status> {
        self.shard.status(group)
    }

    /// The groups that have a replica which takes part here.
    pub fn groups(&self) -> impl Iterator<Item = GroupId> {
        self.shard.groups()
    }

    fn frame(&mut self, frame: &[u8]) {
        let messages = match decode_frame(frame) {
            Ok(messages) => messages,
            Err(error) => {
                let event = NodeEvent::BadFrame(error.to_string());
                self.out.events.push(event);
                return;
            }
        };
        // What is not taken is sent again: a follower whose machines are behind, or whose
        // log has no room, takes no more.
        let is_behind =
            self.pressure.is_full || self.replicas.unapplied_bytes() > WAITING_BYTES_MAX;
        for message in messages {
            let is_behind = || is_behind || self.replicas.is_behind(message.group);
            if brings_entries(&message) && is_behind() {
                continue;
            }
            // A message that is dropped is lost, which Raft endures.
            let _ = self.shard.offer(message);
        }
    }

    // A request is queued, held, or answered.
    pub(crate) fn admit(&mut self, group: GroupId, held: Held, now: Now) {
        let request = held.request();
        let is_write = matches!(held, Held::Write(_));
        let bytes = self.waiting_bytes + self.replicas.unapplied_bytes() + held.size_bytes();
        let has_no_room = self.pressure.is_full || bytes > WAITING_BYTES_MAX;
        let view = self.replicas.view(group).filter(|_| is_write);
        let is_behind = view.as_ref().is_some_and(|view| view.is_behind());
        // What is proposed then has no answer before there is room; another one is about to lead.
        let stands_still = view.is_some_and(|view| view.is_stalled());
        let is_full =
            is_write && (has_no_room || is_behind || stands_still && self.is_alone(group));
        let Some(seat) = self.seats.get_mut(&group).filter(|seat| !seat.is_damaged) else {
            self.reply(request, Reply::NotLeader(None));
            return;
        };
        if is_full || seat.waiting_count() >= QUEUED_MAX {
            self.reply(request, Reply::Busy);
            return;
        }
        match (seat.lead, held) {
            (Lead::There(node), _) => self.reply(request, Reply::NotLeader(node)),
            (Lead::Here, Held::Write(write)) if !stands_still => {
                self.waiting_bytes += write.size_bytes();
                seat.writes.push(write);
                self.written.insert(group);
            }
            (Lead::Here, Held::Read(request)) => self.read(request, group),
            (Lead::Nobody | Lead::Leaving | Lead::Here, held) => {
                self.waiting_bytes += held.size_bytes();
                seat.held.push_back((now.monotonic + HOLD_MAX, held));
                self.holding.insert(group);
            }
        }
    }

    fn read(&mut self, request: RequestId, group: GroupId) {
        let token = self.token();
        match self.shard.read(group, token) {
            Ok(()) => {
                self.waiting.insert(token, Waiting::Read(request));
            }
            Err(refusal) => {
                let reply = self.refused(group, refusal);
                self.reply(request, reply);
            }
        }
    }

    fn change(&mut self, request: RequestId, group: GroupId, change: &Change) {
        let token = self.token();
        match self.shard.change(group, token, change) {
            Ok(()) => {
                self.waiting.insert(token, Waiting::Change(request));
            }
            Err(refusal) => {
                let reply = self.refused(group, refusal);
                self.reply(request, reply);
            }
        }
    }

    fn propose(&mut self, group: GroupId, now: Now) {
        let Some(seat) = self.seats.get_mut(&group) else {
            return;
        };
        let writes = std::mem::take(&mut seat.writes);
        if seat.lead == Lead::Leaving {
            // They came in the turn in which it began.
            let held = writes.into_iter().map(Held::Write);
            seat.held
                .extend(held.map(|one| (now.monotonic + HOLD_MAX, one)));
            self.holding.insert(group);
            return;
        }
        let stamp = Stamp {
            unix_us: now.unix_us,
            default_ttl_s: self.replicas.default_ttl_s(group),
            cluster: self.cluster,
        };
        for payload in payloads(writes, stamp) {
            let token = self.token();
            match self.shard.propose(group, token, payload.bytes.into()) {
                Ok(()) => {
                    let writes = ProposedWrites {
                        group,
                        requests: payload.requests,
                        bytes: payload.write_bytes,
                        time: now.monotonic,
                    };
                    self.waiting.insert(token, Waiting::Writes(writes));
                }
                Err(refusal) => {
                    self.waiting_bytes -= payload.write_bytes;
                    let reply = self.refused(group, refusal);
                    for request in payload.requests {
                        self.reply(request, reply.clone());
                    }
                }
            }
        }
    }

    // What is said of a proposal that was not taken.
    fn refused(&self, group: GroupId, refusal: Refusal) -> Reply {
        match refusal {
            Refusal::NoGroup => Reply::NotLeader(None),
            Refusal::NotLeader(leader) => {
                Reply::NotLeader(leader.and_then(|leader| self.node_of(group, leader)))
            }
            Refusal::Transferring | Refusal::Busy => Reply::Busy,
            Refusal::Size => Reply::Undone,
            Refusal::Change(_) => Reply::Refused(refusal),
        }
    }

    pub(crate) fn node_of(&self, group: GroupId, replica: ReplicaId) -> Option<NodeId> {
        let status = self.shard.status(group)?;
        status.configuration.nodes.get(&replica).copied()
    }

    /// A replica takes part from now on. Errors: what its disk has lost.
    pub(crate) fn begin_replica(&mut self, begin: Begin) -> Result<(), StartError> {
        let member = begin.member;
        self.shard
            .start(member.group, member.replica, begin.start)?;
        self.seats.insert(member.group, Seat::new(member));
        self.beginning.push(member);
        Ok(())
    }

    fn begin(&mut self, begin: Begin) {
        let member = begin.member;
        match self.begin_replica(begin) {
            Ok(()) => {}
            // It runs already, or a newer one does: whoever asked asked twice.
            Err(StartError::Running(running)) if running >= member.replica => {}
            Err(error) => {
                let why = error.to_string();
                self.out.work.push(Work::Retire(member, why.clone()));
                self.out.events.push(NodeEvent::Damaged(member, why));
            }
        }
    }

    pub(crate) fn destroy(&mut self, member: Member) {
        self.shard.destroy(member.group, member.replica);
        let found = self.seats.get(&member.group);
        if found.is_some_and(|seat| seat.member.replica <= member.replica) {
            self.answer_seat(member.group);
            self.seats.remove(&member.group);
        }
        self.destroying.push(member);
    }

    fn durable(&mut self, number: SaveNumber) {
        self.shard.durable(number);
        while self.after_saves.front().is_some_and(|row| row.0 <= number) {
            let Some((_, work)) = self.after_saves.pop_front() else {
                return;
            };
            self.do_after_save(work);
        }
        self.last_durable = number;
    }

    /// Has done what waited for a save.
    pub(crate) fn do_after_save(&mut self, work: Work) {
        if let Work::Drop(member) = work {
            self.out.events.push(NodeEvent::Destroyed(member));
        }
        self.out.work.push(work);
    }

    fn feel(&mut self, pressure: LogPressure) {
        let keep = match pressure.is_tight {
            true => Keep::Nothing,
            false => Keep::ForFollowers,
        };
        for pin in &pressure.pins {
            // What was in files before this life counts as well.
            if let Some(view) = self.replicas.view(pin.group) {
                self.shard.compact(view.member, view.flushed(), keep);
            }
        }
        self.replicas.set_log_is_full(pressure.has_no_room);
        self.pressure = pressure;
    }

    // Logs of which more is in files need less.
    fn compact_flushed(&mut self) {
        for (member, index) in self.replicas.take_flushed() {
            let unneeded = index.saturating_sub(self.kept_entries);
            self.shard.compact(member, unneeded, Keep::ForFollowers);
        }
    }

    // The lead of a group is being handed over. Nobody is told that the node is busy: within
    // milliseconds another one leads, or this one stays.
    fn leave(&mut self, group: GroupId) {
        if let Some(seat) = self.seats.get_mut(&group)
            && seat.lead == Lead::Here
            && self.shard.is_transferring(group)
        {
            seat.lead = Lead::Leaving;
            self.leaving.insert(group);
        }
    }

    // Nothing came of handing these over: this replica leads on.
    fn stay(&mut self, now: Now) {
        let leaving = self.leaving.iter().copied();
        let ended = leaving.filter(|group| !self.shard.is_transferring(*group));
        for group in ended.collect::<Vec<_>>() {
            self.leaving.remove(&group);
            if let Some(seat) = self.seats.get_mut(&group)
                && seat.lead == Lead::Leaving
            {
                seat.lead = Lead::Here;
                self.admit_held(group, now);
            }
        }
    }

    // Requests that have waited for a leader for too long.
    fn let_go_of_late(&mut self, now: Now) {
        let mut late = Vec::new();
        self.holding.retain(|group| {
            let Some(seat) = self.seats.get_mut(group) else {
                return false;
            };
            let is_late = |row: &(Duration, Held)| row.0 <= now.monotonic;
            while seat.held.front().is_some_and(is_late) {
                let Some((_, held)) = seat.held.pop_front() else {
                    break;
                };
                self.waiting_bytes -= held.size_bytes();
                late.push(held.request());
            }
            !seat.held.is_empty()
        });
        for request in late {
            self.reply(request, Reply::NotLeader(None));
        }
    }

    /// Answers everybody who waits in the seat of a group.
    pub(crate) fn answer_seat(&mut self, group: GroupId) {
        let Some(seat) = self.seats.get_mut(&group) else {
            return;
        };
        let node = match seat.lead {
            Lead::There(node) => node,
            Lead::Here | Lead::Leaving | Lead::Nobody => None,
        };
        let held = seat.held.drain(..).map(|(_, held)| held);
        let queued = seat.writes.drain(..).map(Held::Write);
        let all: Vec<Held> = queued.chain(held).collect();
        self.holding.remove(&group);
        self.written.remove(&group);
        for held in all {
            self.waiting_bytes -= held.size_bytes();
            self.reply(held.request(), Reply::NotLeader(node));
        }
    }

    pub(crate) fn reply(&mut self, request: RequestId, reply: Reply) {
        self.out.replies.push((request, reply));
    }

    fn token(&mut self) -> Token {
        self.next_token += 1;
        Token(self.next_token)
    }
}

fn brings_entries(message: &esker_raft::Envelope) -> bool {
    match &message.body {
        esker_raft::Body::Step(step) => step.entry_count() > 0,
        _ => false,
    }
}
