//! One node of a simulated cluster: the shipped stages, called one by one as dice say.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use esker::OwnLog;
use esker::internals::env::clock::Clock;
use esker::internals::env::fs::Fs;
use esker::internals::env::random::Random;
use esker::internals::env::sim::{CrashMode, SimWorld};
use esker_raft::{Effect, GroupId, Member, NodeId, Options, Record, ReplicaId, Ticket};
use esker_rpc::codec::scalars::Blob;
use esker_rpc::error::Status;
use esker_rpc::message::data::{CasCheckType, KeyAnswer, KeyCall, UpdateResponse};
use esker_rpc::rules::check::{Verdict, check};
use esker_rpc::time::WireSecond;
use esker_rpc::value::StoredValue;
use esker_server::disk_log::Pin;
use esker_server::meta::ids::META;
use esker_server::node::replicas::RaftLogHooks;
use esker_server::node::view::View;
use esker_server::node::{
    Answer, Applied, Ask, Create, Entry, Fetch, LogPressure, NodeEvent, NodeOptions, Now, Outcome,
    PageAnswer, PageRequest, Progress, Reply, RequestId, Stages, Wish, Work, identity, open,
};
use esker_server::partition::command::{Command, CommandWriter, Stamp};
use esker_server::reconcile::Space;

use crate::cluster_brain::{BRAINS, Brain, CLUSTER, Packet, Said, Slip};
use crate::partition_model::raw;
use crate::requests::arguments;

/// What a node, or whoever drives it, has that can go wrong, for tests that must notice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Planted {
    /// Nothing.
    Nothing,
    /// A save is told durable before it is synced.
    DurableTooEarly,
    /// The log is compacted up to what is applied, not to what is in files.
    CompactsTooFar,
    /// The hooks say that the log is durable when it is not, and saves are synced late. That does
    /// no harm by itself.
    HooksSayYes,
    /// Reads are served by whoever believes to lead, without asking anybody.
    UnclearedReads,
    /// Writes are acknowledged when they are asked for.
    AcknowledgesEarly,
    /// Some committed entry is never applied on one node.
    SkipsAnEntry,
    /// Pages of images lack their first row.
    ShortImages,
    /// A node whose disk is gone comes back with the replicas of before.
    WipedComesBack,
    /// What a leader's machine says of a write is told twice.
    TellsTwice,
    /// Writes that are overwritten are told as done.
    UndoneIsDone,
    /// Replies are forgotten.
    ForgetsReplies,
    /// A replica's view is of the state before an image.
    OldImageState,
    /// Term and vote are not written down, and are forgotten by a restart.
    ForgetsTerms,
    /// The first entry behind a restart is taken for applied.
    SkipsAtRestart,
    /// Two entries are applied under one another's index.
    WrongIndex,
    /// What a configuration was before is kept for the one that it is.
    OldConfiguration,
    /// In what is kept of a configuration learners are voters.
    LearnersVote,
    /// A purge destroys the replica of another partition.
    PurgesAnother,
    /// A read that consensus has not cleared yet is served.
    ReadsTooEarly,
    /// An entry is applied twice.
    AppliesTwice,
    /// Rows are tagged with the time of the replica's own clock.
    OwnTimeTags,
    /// Of several rows that are set as one, the first alone is, by the first entry of a life.
    HalvesAtRestart,
    /// The same wherever and whenever: all replicas are equal.
    HalvesMultiSets,
    /// Of several rows that are removed as one, the first alone is, everywhere.
    HalvesMultiRemoves,
    /// A check is held against what is there when it is asked for, before the entries ahead of it.
    ChecksTooEarly,
    /// Reads go by the node's clock alone, even where the partition's is ahead.
    ForgetsTheClock,
    /// What is set never ends, whatever was asked for.
    NeverEnds,
    /// Replicas take part from the opening on, whatever became of their group meanwhile.
    NeverHolds,
    /// Replicas that a recovery has given up take part once their node is freed.
    FreesAll,
    /// Replicas that are to be thrown away after a recovery stay, and take part.
    KeepsFenced,
    /// Of two replicas that are left the one with the shorter log goes on.
    TurnsLogsRound,
    /// Whoever is given up is thrown away before anybody has gone on.
    FencesEarly,
    /// Whoever was elected is told to lead, whether it ever commits anything or not.
    LeadsTooEarly,
    /// Consensus is never told what was applied in a turn in which it was not told at once.
    ForgetsTheApplied,
}

const DIR: &str = "/node";

/// What a simulated disk has room for: more than any run writes.
const DISK_BYTES: u64 = 1 << 40;

/// An image that is on its way here.
struct Fetching {
    fetch: Fetch,
    member: Member,
    from: NodeId,
    ticket: Ticket,
    failures: u32,
}

/// A running process.
struct Process {
    stages: Stages,
    fetching: BTreeMap<GroupId, Fetching>,
    brain: Option<Brain>,
    /// Those of whose groups an entry was applied in this life, for a planted mistake.
    begun: BTreeSet<GroupId>,
    /// What was applied, and consensus has not heard of yet.
    unheard: BTreeMap<Member, u64>,
}

/// A committed entry as consensus hands it out: whose, where, and what it does.
#[derive(Clone, Debug, PartialEq)]
pub struct HandedOut {
    pub member: Member,
    pub index: u64,
    pub term: u64,
    pub effect: Effect,
}

/// How a node differs from others.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Of its world.
    pub seed: u64,
    pub planted: Planted,
    pub read_promise: Duration,
    /// How far its clock of the day is ahead.
    pub skew_ms: i64,
    /// Where it is, if a side of meta is to drive it.
    pub place: Option<u64>,
}

impl Shape {
    /// Whether consensus hears late of what was applied, as it may where threads have the stages:
    /// who asked has the answer by then, and readers see it. Most nodes of a run are such.
    fn hears_late(&self, id: NodeId) -> bool {
        !(self.seed + id.0).is_multiple_of(3)
    }

    /// A node that is told from outside what to have, in a run of that seed.
    pub fn of(seed: u64, planted: Planted) -> Shape {
        Shape {
            seed: seed * 100,
            planted,
            read_promise: Duration::from_secs(seed % 2),
            skew_ms: 0,
            place: None,
        }
    }
}

/// Where and when a read was served: behind which entry, and by which time of the node.
#[derive(Clone, Copy, Debug)]
pub struct Moment {
    pub entry: u64,
    pub unix_us: u64,
}

/// A read that was served, or that must be asked for again.
pub struct Served {
    pub request: RequestId,
    pub answer: Option<(KeyAnswer, Moment)>,
}

/// What came out of a step.
#[derive(Default)]
pub struct Heard {
    pub frames: Vec<(NodeId, Vec<u8>)>,
    pub replies: Vec<(RequestId, Reply)>,
    pub reads: Vec<Served>,
    pub events: Vec<NodeEvent>,
    pub said: Said,
    pub handed_out: Vec<HandedOut>,
    /// Why the process has ended, if it has.
    pub ended: Option<String>,
}

/// One node, up or down.
pub struct Node {
    pub id: NodeId,
    pub world: SimWorld,
    process: Option<Process>,
    planted: Planted,
    pub shape: Shape,
    /// The replicas that it was told to have.
    pub wished: BTreeMap<GroupId, Create>,
    /// What is asked of reads that wait.
    pub asked_reads: BTreeMap<RequestId, KeyCall>,
    pub installs: u64,
    /// Reads that a lease has cleared.
    pub leased_reads: u64,
    /// Those that were served and not heard of yet.
    served: Vec<Served>,
}

pub fn now(tick: u64) -> Now {
    Now {
        monotonic: Duration::from_millis(tick * 100),
        unix_us: 1_700_000_000_000_000 + tick * 100_000,
    }
}

impl Node {
    /// A node with an empty disk, down.
    pub fn new(id: u64, shape: Shape) -> Node {
        let world = SimWorld::new(shape.seed + id);
        identity::create(&world.env(), Path::new(DIR), CLUSTER, NodeId(id)).unwrap();
        Node {
            id: NodeId(id),
            world,
            process: None,
            planted: shape.planted,
            shape,
            wished: BTreeMap::new(),
            asked_reads: BTreeMap::new(),
            installs: 0,
            leased_reads: 0,
            served: Vec::new(),
        }
    }

    /// The time of a tick by the clocks of this node.
    pub fn now(&self, tick: u64) -> Now {
        let now = now(tick);
        let unix_us = now.unix_us.saturating_add_signed(self.shape.skew_ms * 1000);
        Now { unix_us, ..now }
    }

    pub fn is_up(&self) -> bool {
        self.process.is_some()
    }

    /// A mistake: its replica of a group is destroyed though nobody has said so.
    pub fn purge_of(&mut self, group: GroupId, tick: u64) {
        let now = self.now(tick);
        let Some(process) = &mut self.process else {
            return;
        };
        if let Some(view) = process.stages.replicas.view(group) {
            process.stages.purge(view.member, now).unwrap();
        }
    }

    /// Starts the process with what is on the disk.
    pub fn boot(&mut self, tick: u64) {
        self.try_boot(tick).unwrap();
    }

    /// The same; an error if the disk is against it.
    pub fn try_boot(&mut self, tick: u64) -> esker::Result<()> {
        let options = NodeOptions {
            log_segment_bytes: 64 << 10,
            raft: Options {
                seed: 1,
                image_ticks_max: 60,
                read_promise: self.shape.read_promise,
                ..Options::default()
            },
            ..NodeOptions::default()
        };
        let (mut stages, found) = open(&self.world.env(), Path::new(DIR), options)?;
        assert!(found.damaged.is_empty(), "damaged: {:?}", found.damaged);
        assert_eq!(found.loss, None);
        let brain = self.shape.place.map(|place| {
            let mut brain = Brain::new(&stages, &found, place);
            brain.slip = match self.planted {
                Planted::PurgesAnother => Slip::PurgesAnother,
                Planted::FreesAll => Slip::FreesAll,
                Planted::KeepsFenced => Slip::KeepsFenced,
                Planted::TurnsLogsRound => Slip::TurnsLogsRound,
                Planted::LeadsTooEarly => Slip::LeadsTooEarly,
                _ => Slip::Nothing,
            };
            if self.id == NodeId(1) && brain.knowledge.nodes.is_empty() {
                let replica = ReplicaId(1);
                let member = Member {
                    group: META,
                    replica,
                };
                let first = vec![(replica, self.id)];
                // Without room it begins the next time.
                let _ = stages.create(Create { member, first }, self.now(tick));
            }
            brain
        });
        self.process = Some(Process {
            stages,
            fetching: BTreeMap::new(),
            brain,
            begun: BTreeSet::new(),
            unheard: BTreeMap::new(),
        });
        self.tell_wishes(tick);
        // A node that holds its replicas for a second after an opening votes in later terms: what
        // it forgot of those before it is seen where it does not.
        let never_holds = [Planted::NeverHolds, Planted::ForgetsTerms];
        if self.shape.place.is_none() || never_holds.contains(&self.planted) {
            // Nobody else says that no group has gone on without its replica here.
            self.ask(Ask::Free(BTreeSet::new()), tick);
        }
        Ok(())
    }

    /// Room on its disk; none while that is off.
    pub fn space(&self) -> Space {
        Space {
            total: DISK_BYTES,
            free: self.world.fs.free_bytes(Path::new(DIR)).unwrap_or(0),
        }
    }

    /// The side of meta, of a node that has one.
    pub fn brain(&mut self) -> Option<&mut Brain> {
        self.process.as_mut()?.brain.as_mut()
    }

    /// A packet has come.
    pub fn hear(&mut self, from: NodeId, packet: Packet, tick: u64) {
        let now = self.now(tick);
        let Some(Process { stages, brain, .. }) = &mut self.process else {
            return;
        };
        match (packet, brain) {
            (Packet::Frame(frame), _) => stages.consensus.ask(Ask::Frame(frame), now),
            (packet, Some(brain)) => brain.hear(from, packet, stages, now),
            _ => {}
        }
    }

    /// The stages, of a node that is up.
    pub fn stages(&self) -> Option<&Stages> {
        self.process.as_ref().map(|process| &process.stages)
    }

    // What is wished is said again and again.
    fn tell_wishes(&mut self, tick: u64) {
        let now = self.now(tick);
        let Some(process) = &mut self.process else {
            return;
        };
        for create in self.wished.values() {
            // It was destroyed here, or an older one still is: said again later.
            let _ = process.stages.create(create.clone(), now);
        }
    }

    pub fn wish(&mut self, create: Create, tick: u64) {
        self.wished.insert(create.member.group, create);
        self.tell_wishes(tick);
    }

    /// The power goes.
    pub fn crash(&mut self, mode: CrashMode, seed: u64) {
        self.process = None;
        self.asked_reads.clear();
        self.served.clear();
        self.world = self.world.after_crash(mode, seed);
    }

    /// The process is killed; what the system has it keeps.
    pub fn kill(&mut self) {
        self.process = None;
        self.asked_reads.clear();
        self.served.clear();
        self.world = self.world.after_kill();
    }

    /// The disk is lost with everything on it.
    pub fn wipe(&mut self, seed: u64) {
        self.process = None;
        self.asked_reads.clear();
        self.served.clear();
        self.world = SimWorld::with_disk(
            SimWorld::new(seed).fs.kill(),
            std::sync::Arc::clone(&self.world.clock),
            seed,
        );
        identity::create(&self.world.env(), Path::new(DIR), CLUSTER, self.id).unwrap();
    }

    pub fn is_leader(&self, group: GroupId) -> bool {
        let view = self
            .process
            .as_ref()
            .and_then(|process| process.stages.replicas.view(group));
        view.is_some_and(|view| view.is_leader())
    }

    /// Who leads, and where, as those hear that ask here.
    pub fn leader(&self, group: GroupId) -> Option<(ReplicaId, Option<NodeId>)> {
        self.process.as_ref()?.stages.replicas.view(group)?.leader()
    }

    pub fn applied(&self, group: GroupId) -> Option<(ReplicaId, u64)> {
        let process = self.process.as_ref()?;
        let view = process.stages.replicas.view(group)?;
        Some((view.member.replica, view.applied()))
    }

    pub fn status(&self, group: GroupId) -> Option<esker_raft::Status> {
        self.process.as_ref()?.stages.consensus.status(group)
    }

    /// All rows that it has, but for those that have ended by the partition's clock: files lose
    /// these at any time.
    pub fn rows(&self, group: GroupId) -> BTreeMap<Vec<u8>, Vec<u8>> {
        let process = self.process.as_ref().unwrap();
        let view = process.stages.replicas.view(group).unwrap();
        let now = WireSecond::of_unix(view.clock_us() / 1_000_000);
        let lives = |value: &[u8]| {
            group == META || !StoredValue::read(value).unwrap().expiry.is_expired(now)
        };
        let rows = view.keyspace.iter().unwrap().map(|row| row.unwrap());
        let rows = rows.filter(|(_, value)| lives(value));
        rows.map(|(key, value)| (key.to_vec(), value.to_vec()))
            .collect()
    }

    pub fn ask(&mut self, ask: Ask, tick: u64) {
        let now = self.now(tick);
        if let Some(process) = &mut self.process {
            process.stages.consensus.ask(ask, now);
        }
    }

    /// A read: it comes back among `Heard::reads`.
    pub fn read(&mut self, request: RequestId, group: GroupId, call: KeyCall, tick: u64) {
        self.tell_time(tick);
        let replicas = self
            .process
            .as_ref()
            .map(|process| &process.stages.replicas);
        let view = replicas.and_then(|replicas| replicas.view(group));
        if let (Some(replicas), Some(view)) = (replicas, view) {
            let clock = now(tick).monotonic;
            let too_early = self.planted == Planted::ReadsTooEarly && view.is_leader();
            let index = replicas.leased(&view, clock).or(too_early.then_some(0));
            if let Some(index) = index {
                assert!(view.applied() >= index);
                let answer = Some(self.serve(&view, &call));
                self.served.push(Served { request, answer });
                self.leased_reads += 1;
                return;
            }
        }
        self.asked_reads.insert(request, call);
        self.ask(Ask::Read { request, group }, tick);
    }

    // The clock of the day is what the tick makes of it, and whoever has set it.
    fn tell_time(&self, tick: u64) {
        let unix = Duration::from_micros(self.now(tick).unix_us);
        self.world.clock.set_unix_time(unix);
    }

    fn serve(&self, view: &View, call: &KeyCall) -> (KeyAnswer, Moment) {
        let moment = Moment {
            entry: view.applied(),
            unix_us: u64::try_from(self.world.clock.unix_time().as_micros()).unwrap(),
        };
        let clock_us = view.clock_us();
        if self.planted == Planted::ForgetsTheClock {
            view.set_applied(moment.entry, 0);
        }
        let answer = view.serve(call, &*self.world.clock).unwrap();
        view.set_applied(moment.entry, clock_us);
        (answer, moment)
    }

    /// A write as a node takes it up: as it was asked for, but for a planted mistake.
    pub fn take_up(&self, group: GroupId, call: KeyCall) -> KeyCall {
        let view = self.stages().and_then(|it| it.replicas.view(group));
        match (call, view) {
            (KeyCall::CheckAndMutate(mut it), Some(view))
                if self.planted == Planted::ChecksTooEarly =>
            {
                let key = raw(&it.hash_key, &it.check_sort_key);
                let read = view.serve(&KeyCall::Get(Blob::from(key)), &*self.world.clock);
                let KeyAnswer::Get(read) = read.unwrap() else {
                    unreachable!("a value is read");
                };
                let value = (read.error == Status::OK).then_some(&read.value[..]);
                it.check_type = match check(it.check_type, value, &it.check_operand) {
                    Verdict::Passed => CasCheckType::CT_NO_CHECK,
                    // Nothing is less than nothing.
                    _ => CasCheckType::CT_VALUE_BYTES_LESS,
                };
                it.check_operand = Blob::default();
                KeyCall::CheckAndMutate(it)
            }
            (call, _) => call,
        }
    }

    /// One turn, and some of what the disk and the state machines have to do.
    pub fn step(&mut self, tick: u64, is_tick: bool, dice: &mut Random) -> Heard {
        let now = self.now(tick);
        self.tell_time(tick);
        let Some(process) = &mut self.process else {
            return Heard::default();
        };
        let mut heard = Heard {
            reads: std::mem::take(&mut self.served),
            ..Heard::default()
        };
        if !process.unheard.is_empty() && dice.one_in(2) {
            process.hear_of_applied(now);
        }
        let outcome = process.turn(now, is_tick, self.planted, &mut heard.handed_out);
        self.installs += outcome.1;
        let outcome = outcome.0;
        heard.frames = outcome.frames;
        heard.replies = outcome.replies;
        let mut cleared_reads = Vec::new();
        let Process {
            stages,
            fetching,
            brain,
            ..
        } = process;
        for cleared in outcome.cleared {
            if cleared.request.0 & BRAINS > 0 {
                let brain = brain.as_mut().unwrap();
                brain.cleared(cleared, stages, now);
                continue;
            }
            let Some(call) = self.asked_reads.remove(&cleared.request) else {
                panic!("a read is cleared that nobody asked for, or twice");
            };
            let view = stages.replicas.cleared_view(cleared.member, cleared.index);
            cleared_reads.push((cleared.request, view, call));
        }
        for event in &outcome.events {
            if let Some(brain) = brain {
                brain.note(event);
            }
            if let NodeEvent::ImageOffered {
                member,
                from,
                from_node,
                ticket,
            } = event
            {
                // Without room for one it is offered again.
                let Ok(fetch) = Fetch::begin(&stages.db, *member, *from, ticket.clone()) else {
                    stages
                        .consensus
                        .ask(Ask::ImageFetched(*member, ticket.index, false), now);
                    continue;
                };
                let new = Fetching {
                    fetch,
                    member: *member,
                    from: *from_node,
                    ticket: ticket.clone(),
                    failures: 0,
                };
                fetching.insert(member.group, new);
            }
            if let NodeEvent::Damaged(member, why) = event {
                panic!("{member} is damaged: {why}");
            }
        }
        heard.events = outcome.events;
        for (request, view, call) in cleared_reads {
            let answer = view.map(|view| self.serve(&view, &call));
            heard.reads.push(Served { request, answer });
        }
        let Some(process) = &mut self.process else {
            return heard;
        };
        let is_slow = self.planted == Planted::HooksSayYes;
        if dice.one_in(if is_slow { 6 } else { 2 }) {
            heard.end(process.stages.write_log(now).err());
        }
        if dice.one_in(2) {
            let is_late = self.shape.hears_late(self.id) && !dice.one_in(3);
            let replies = process.apply(now, 1 + dice.below(12) as usize);
            match (is_late, self.planted) {
                (false, _) => process.hear_of_applied(now),
                (true, Planted::ForgetsTheApplied) => process.unheard.clear(),
                (true, _) => {}
            }
            let replies = replies.unwrap_or_else(|error| {
                heard.end(Some(error));
                Vec::new()
            });
            if self.planted == Planted::TellsTwice && dice.one_in(10) {
                heard.replies.extend(replies.clone());
            }
            if self.planted != Planted::ForgetsReplies || !dice.one_in(40) {
                heard.replies.extend(replies);
            }
        }
        let error = self.keep_up(tick, is_tick, dice).err();
        heard.end(error);
        self.think(&mut heard, tick);
        if self.shape.place.is_none() {
            assert_eq!(heard.ended, None);
        }
        heard
    }

    // The side of meta takes up what is its own of what was heard.
    fn think(&mut self, heard: &mut Heard, tick: u64) {
        let (now, space) = (self.now(tick), self.space());
        let Some(Process { stages, brain, .. }) = &mut self.process else {
            return;
        };
        let Some(brain) = brain else { return };
        let replies = std::mem::take(&mut heard.replies).into_iter();
        let (own, others): (Vec<_>, Vec<_>) = replies.partition(|row| row.0.0 & BRAINS > 0);
        heard.replies = others;
        for (request, reply) in own {
            brain.replied(request, &reply, stages, now);
        }
        brain.space = space;
        heard.said = brain.pass(stages, now);
        heard.ended = heard.ended.take().or(brain.stopped.take());
    }

    fn keep_up(&mut self, tick: u64, is_tick: bool, dice: &mut Random) -> esker::Result<()> {
        let now = self.now(tick);
        let Some(Process { stages, .. }) = &mut self.process else {
            return Ok(());
        };
        for view in stages.replicas.views() {
            // A log that goes too early is missed where the rows are in memory alone.
            let is_rare = self.planted == Planted::HooksSayYes;
            if dice.one_in(if is_rare { 300 } else { 15 }) {
                // It may have been dropped or replaced in this very step.
                let _ = view.keyspace.flush_soon();
            }
            let hooks = RaftLogHooks(std::sync::Arc::clone(&stages.replicas));
            match self.planted {
                Planted::CompactsTooFar => {
                    if let Ok(Some(mark)) = view.keyspace.mark() {
                        hooks.flushed(view.keyspace.name(), &mark);
                        let group = view.member.group;
                        let index = view.applied();
                        let pressure = LogPressure {
                            pins: vec![Pin { group, index }],
                            ..LogPressure::default()
                        };
                        stages.consensus.ask(Ask::LogPressure(pressure), now);
                    }
                }
                Planted::HooksSayYes => view.set_durable(u64::MAX),
                _ => {}
            }
        }
        if dice.one_in(3) {
            self.world.pool.run_all();
        }
        if is_tick && tick.is_multiple_of(10) {
            stages.upkeep(now)?;
            self.tell_wishes(tick);
        }
        Ok(())
    }

    /// Where images come from that are on their way here.
    pub fn fetches(&self) -> Vec<(GroupId, NodeId, PageRequest)> {
        let fetching = self.process.iter().flat_map(|process| &process.fetching);
        fetching
            .map(|(group, it)| (*group, it.from, it.fetch.request()))
            .collect()
    }

    /// Another node asks for a page.
    pub fn page(&mut self, request: &PageRequest, tick: u64) -> Option<PageAnswer> {
        let now = self.now(tick);
        let process = self.process.as_mut()?;
        let images = process.stages.applying.images();
        let bytes = request.encode();
        let (answer, ask) = images.answer(&PageRequest::decode(&bytes)?).unwrap();
        if let Some(ask) = ask {
            process.stages.consensus.ask(ask, now);
        }
        let mut answer = PageAnswer::decode(&answer.encode())?;
        if self.planted == Planted::ShortImages
            && let PageAnswer::Rows(rows, _) = &mut answer
        {
            rows.pop();
        }
        Some(answer)
    }

    /// The page that was asked for has come, or has not. Gives what the other node is to be told.
    pub fn take_page(
        &mut self,
        group: GroupId,
        answer: Option<PageAnswer>,
        tick: u64,
    ) -> Option<(NodeId, PageRequest)> {
        let now = self.now(tick);
        let Process {
            stages, fetching, ..
        } = self.process.as_mut()?;
        let mut it = fetching.remove(&group)?;
        let progress = match answer {
            Some(answer) => {
                let images = std::sync::Arc::clone(stages.applying.images());
                // Without room it is lost, and offered again.
                let taken = it.fetch.take(&stages.db, &images, answer);
                taken.unwrap_or(Progress::Lost)
            }
            None => {
                it.failures += 1;
                match it.failures > 20 {
                    true => Progress::Lost,
                    false => Progress::More,
                }
            }
        };
        let index = it.ticket.index;
        match progress {
            Progress::More => {
                fetching.insert(group, it);
                None
            }
            Progress::Arrived => {
                let ask = Ask::ImageFetched(it.member, index, true);
                stages.consensus.ask(ask, now);
                None
            }
            Progress::Lost => {
                let told = (it.from, it.fetch.word(Wish::Lost));
                // What cannot be dropped now is when it is opened.
                let _ = it.fetch.give_up(&stages.db);
                let ask = Ask::ImageFetched(it.member, index, false);
                stages.consensus.ask(ask, now);
                Some(told)
            }
        }
    }
}

impl Heard {
    fn end(&mut self, error: Option<esker::Error>) {
        self.ended = self.ended.take().or(error.map(|error| error.to_string()));
    }
}

impl Process {
    // What was applied waits until consensus looks for it, as in the shipped shell. Everything else
    // that it is to be told may overtake that.
    fn apply(&mut self, now: Now, entries_max: usize) -> esker::Result<Vec<(RequestId, Reply)>> {
        let Applied { asks, replies, .. } = self.stages.applying.run(entries_max)?;
        for ask in asks {
            match ask {
                Ask::Applied(member, index) => {
                    self.unheard.insert(member, index);
                }
                ask => self.stages.consensus.ask(ask, now),
            }
        }
        Ok(replies)
    }

    fn hear_of_applied(&mut self, now: Now) {
        for (member, index) in std::mem::take(&mut self.unheard) {
            self.stages.consensus.ask(Ask::Applied(member, index), now);
        }
    }

    fn turn(
        &mut self,
        now: Now,
        is_tick: bool,
        planted: Planted,
        handed_out: &mut Vec<HandedOut>,
    ) -> (Outcome, u64) {
        let stages = &mut self.stages;
        let turn = stages.consensus.turn(now, is_tick);
        let mut installs = 0;
        for mut save in turn.saves {
            if planted == Planted::DurableTooEarly {
                let told = Ask::Durable(save.number);
                stages.consensus.ask(told, now);
            }
            for record in &mut save.records {
                if let Record::Hard { state, .. } = record
                    && planted == Planted::ForgetsTerms
                {
                    (state.term, state.vote) = (1, 0);
                }
            }
            stages.logging.take(save);
        }
        for work in turn.work {
            let is_install = matches!(work, Work::Install(..));
            installs += u64::from(is_install);
            if planted == Planted::OldImageState && is_install {
                continue;
            }
            if let Work::Apply(member, entries) = &work {
                handed_out.extend(entries.iter().map(|it| HandedOut {
                    member: *member,
                    index: it.committed.index,
                    term: it.committed.term,
                    effect: it.committed.effect.clone(),
                }));
            }
            stages
                .applying
                .take(spoil(work, planted, now, &mut self.begun));
        }
        if is_tick {
            stages.applying.retry();
        }
        let mut replies = turn.replies;
        if planted == Planted::UndoneIsDone {
            let done = Reply::Done(Answer::Key(KeyAnswer::Put(UpdateResponse {
                error: Status::OK,
                ..UpdateResponse::default()
            })));
            replies
                .iter_mut()
                .filter(|row| row.1 == Reply::Undone)
                .for_each(|row| row.1 = done.clone());
        }
        let outcome = Outcome {
            frames: turn.frames,
            cleared: turn.cleared,
            replies,
            events: turn.events,
        };
        (outcome, installs)
    }
}

// Planted mistakes in what is applied.
fn spoil(work: Work, planted: Planted, now: Now, begun: &mut BTreeSet<GroupId>) -> Work {
    let Work::Apply(member, mut entries) = work else {
        return work;
    };
    let is_second = member.replica == ReplicaId(2);
    let is_first_here = begun.insert(member.group);
    match planted {
        Planted::SkipsAnEntry => entries
            .iter_mut()
            .filter(|it| is_second && it.committed.index == 30)
            .for_each(|it| it.committed.effect = Effect::Nothing),
        Planted::SkipsAtRestart if is_first_here && is_second => {
            if let Some(first) = entries.first_mut() {
                first.committed.effect = Effect::Nothing;
            }
        }
        Planted::WrongIndex | Planted::AppliesTwice if is_second => {
            for at in 1..entries.len() {
                let (before, here) = entries.split_at_mut(at);
                let (before, here) = (&mut before[at - 1].committed, &mut here[0].committed);
                let writes = |effect: &Effect| matches!(effect, Effect::Write(_));
                if !(writes(&before.effect) && writes(&here.effect)) {
                    continue;
                }
                match planted {
                    Planted::WrongIndex => std::mem::swap(&mut before.effect, &mut here.effect),
                    // What waits is counted by its bytes: it must not be more than came.
                    _ if bytes_of(&before.effect) <= bytes_of(&here.effect) => {
                        here.effect = before.effect.clone();
                    }
                    _ => {}
                }
            }
        }
        Planted::OldConfiguration | Planted::LearnersVote => {
            for it in &mut entries {
                let Effect::Configuration(members) = &mut it.committed.effect else {
                    continue;
                };
                if planted == Planted::LearnersVote {
                    let learners = std::mem::take(&mut members.learners);
                    members.voters.extend(learners);
                } else {
                    it.committed.effect = Effect::Nothing;
                }
            }
        }
        Planted::OwnTimeTags => {
            rewrite(&mut entries, |stamp, _| stamp.unix_us = now.unix_us);
        }
        Planted::HalvesAtRestart if is_first_here => {
            rewrite(&mut entries[..1], |_, call| halve(call));
        }
        Planted::HalvesMultiSets => rewrite(&mut entries, |_, call| halve(call)),
        Planted::HalvesMultiRemoves => rewrite(&mut entries, |_, call| {
            if let KeyCall::MultiRemove(it) = call {
                it.sort_keys[1] = it.sort_keys[0].clone();
            }
        }),
        Planted::NeverEnds => rewrite(&mut entries, |_, call| match call {
            KeyCall::Put(it) => it.expire_ts_seconds = 0,
            KeyCall::MultiPut(it) => it.expire_ts_seconds = 0,
            KeyCall::CheckAndSet(it) => it.set_expire_ts_seconds = 0,
            _ => {}
        }),
        _ => {}
    }
    Work::Apply(member, entries)
}

fn halve(call: &mut KeyCall) {
    if let KeyCall::MultiPut(it) = call {
        it.kvs.truncate(1);
    }
}

// Changes what entries of partitions say, in a way that makes none longer: what waits is counted by
// its bytes.
fn rewrite(entries: &mut [Entry], mut change: impl FnMut(&mut Stamp, &mut KeyCall)) {
    for it in entries {
        let Effect::Write(bytes) = &mut it.committed.effect else {
            continue;
        };
        // An entry of meta is none of a partition.
        let Some(mut command) = Command::read(bytes) else {
            continue;
        };
        let mut stamp = command.stamp;
        for call in &mut command.calls {
            change(&mut stamp, call);
        }
        let mut writer = CommandWriter::new(stamp);
        for call in &command.calls {
            let (name, arguments) = arguments(call);
            writer.push(name, &arguments);
        }
        *bytes = writer.finish().into();
    }
}

fn bytes_of(effect: &Effect) -> usize {
    match effect {
        Effect::Write(bytes) => bytes.len(),
        _ => 0,
    }
}
