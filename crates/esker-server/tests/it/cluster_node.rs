//! One node of a simulated cluster: the shipped stages, called one by one as dice say.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use esker::OwnLog;
use esker::internals::env::random::Random;
use esker::internals::env::sim::{CrashMode, SimWorld};
use esker_raft::{GroupId, Member, NodeId, Options, ReplicaId, Ticket};
use esker_rpc::codec::scalars::Blob;
use esker_rpc::error::Status;
use esker_rpc::message::data::{KeyAnswer, KeyCall, UpdateResponse};
use esker_server::disk_log::Pin;
use esker_server::node::replicas::RaftLogHooks;
use esker_server::node::{
    Answer, Ask, Create, Fetch, LogPressure, NodeEvent, NodeOptions, Now, Outcome, PageAnswer,
    PageRequest, Progress, Reply, RequestId, Stages, Wish, Work, identity, open,
};

/// What a node, or whoever drives it, has that can go wrong, for tests that must notice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Planted {
    /// Nothing.
    Nothing,
    /// A save is told durable before it is synced.
    DurableTooEarly,
    /// The log is compacted up to what is applied, not to what is in files.
    CompactsTooFar,
    /// The hooks say that the log is durable when it is not, and saves are synced late.
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
}

const DIR: &str = "/node";

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
}

/// What came out of a step.
#[derive(Default)]
pub struct Heard {
    pub frames: Vec<(NodeId, Vec<u8>)>,
    pub replies: Vec<(RequestId, Reply)>,
    pub reads: Vec<(RequestId, Option<KeyAnswer>)>,
    pub events: Vec<NodeEvent>,
}

/// One node, up or down.
pub struct Node {
    pub id: NodeId,
    world: SimWorld,
    process: Option<Process>,
    planted: Planted,
    /// The replicas that it was told to have.
    pub wished: BTreeMap<GroupId, Create>,
    /// What is asked of reads that wait.
    pub asked_reads: BTreeMap<RequestId, Vec<u8>>,
    pub installs: u64,
    /// Reads that a lease has cleared.
    pub leased_reads: u64,
    /// Those that were served and not heard of yet.
    served: Vec<(RequestId, Option<KeyAnswer>)>,
    read_promise: Duration,
}

pub fn now(tick: u64) -> Now {
    Now {
        monotonic: Duration::from_millis(tick * 100),
        unix_us: 1_700_000_000_000_000 + tick * 100_000,
    }
}

impl Node {
    /// A node with an empty disk, down.
    pub fn new(id: u64, seed: u64, planted: Planted) -> Node {
        let world = SimWorld::new(seed * 100 + id);
        identity::create(&world.env(), Path::new(DIR), 77, NodeId(id)).unwrap();
        Node {
            id: NodeId(id),
            world,
            process: None,
            planted,
            wished: BTreeMap::new(),
            asked_reads: BTreeMap::new(),
            installs: 0,
            leased_reads: 0,
            served: Vec::new(),
            read_promise: Duration::from_secs(seed % 2),
        }
    }

    pub fn is_up(&self) -> bool {
        self.process.is_some()
    }

    /// Starts the process with what is on the disk.
    pub fn boot(&mut self, tick: u64) {
        let options = NodeOptions {
            log_segment_bytes: 64 << 10,
            raft: Options {
                seed: 1,
                image_ticks_max: 60,
                read_promise: self.read_promise,
                ..Options::default()
            },
            ..NodeOptions::default()
        };
        let (stages, found) = open(&self.world.env(), Path::new(DIR), options).unwrap();
        assert!(found.damaged.is_empty(), "damaged: {:?}", found.damaged);
        assert_eq!(found.loss, None);
        self.process = Some(Process {
            stages,
            fetching: BTreeMap::new(),
        });
        self.tell_wishes(tick);
    }

    // What is wished is said again and again.
    fn tell_wishes(&mut self, tick: u64) {
        let Some(process) = &mut self.process else {
            return;
        };
        for create in self.wished.values() {
            // It was destroyed here, or an older one still is: said again later.
            let _ = process.stages.create(create.clone(), now(tick));
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
        identity::create(&self.world.env(), Path::new(DIR), 77, self.id).unwrap();
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

    /// All rows that it has.
    pub fn rows(&self, group: GroupId) -> BTreeMap<Vec<u8>, Vec<u8>> {
        let process = self.process.as_ref().unwrap();
        let view = process.stages.replicas.view(group).unwrap();
        let rows = view.keyspace.iter().unwrap().map(|row| row.unwrap());
        rows.map(|(key, value)| (key.to_vec(), value.to_vec()))
            .collect()
    }

    pub fn ask(&mut self, ask: Ask, tick: u64) {
        if let Some(process) = &mut self.process {
            process.stages.consensus.ask(ask, now(tick));
        }
    }

    /// A read of a row: it comes back among `Heard::reads`.
    pub fn read(&mut self, request: RequestId, group: GroupId, key: Vec<u8>, tick: u64) {
        let replicas = self
            .process
            .as_ref()
            .map(|process| &process.stages.replicas);
        let view = replicas.and_then(|replicas| replicas.view(group));
        if let (Some(replicas), Some(view)) = (replicas, view)
            && let Some(index) = replicas.leased(&view, now(tick).monotonic)
        {
            assert!(view.applied() >= index);
            let answer = view.serve(&KeyCall::Get(Blob(key)), &*self.world.clock);
            self.served.push((request, Some(answer.unwrap())));
            self.leased_reads += 1;
            return;
        }
        self.asked_reads.insert(request, key);
        self.ask(Ask::Read { request, group }, tick);
    }

    /// One turn, and some of what the disk and the state machines have to do.
    pub fn step(&mut self, tick: u64, is_tick: bool, dice: &mut Random) -> Heard {
        let Some(process) = &mut self.process else {
            return Heard::default();
        };
        let mut heard = Heard {
            reads: std::mem::take(&mut self.served),
            ..Heard::default()
        };
        let outcome = process.turn(tick, is_tick, self.planted);
        self.installs += outcome.1;
        let outcome = outcome.0;
        heard.frames = outcome.frames;
        heard.replies = outcome.replies;
        let Process { stages, fetching } = process;
        for cleared in outcome.cleared {
            let Some(key) = self.asked_reads.remove(&cleared.request) else {
                panic!("a read is cleared that nobody asked for, or twice");
            };
            let view = stages.replicas.cleared_view(cleared.member, cleared.index);
            let call = KeyCall::Get(Blob(key));
            let answer = view.map(|view| view.serve(&call, &*self.world.clock).unwrap());
            heard.reads.push((cleared.request, answer));
        }
        for event in &outcome.events {
            if let NodeEvent::ImageOffered {
                member,
                from,
                from_node,
                ticket,
            } = event
            {
                let fetch = Fetch::begin(&stages.db, *member, *from, ticket.clone()).unwrap();
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
        let is_slow = self.planted == Planted::HooksSayYes;
        if dice.one_in(if is_slow { 6 } else { 2 }) {
            stages.write_log(now(tick)).unwrap();
        }
        if dice.one_in(2) {
            let replies = stages
                .apply(now(tick), 1 + dice.below(12) as usize)
                .unwrap();
            if self.planted == Planted::TellsTwice && dice.one_in(10) {
                heard.replies.extend(replies.clone());
            }
            if self.planted != Planted::ForgetsReplies || !dice.one_in(40) {
                heard.replies.extend(replies);
            }
        }
        self.keep_up(tick, is_tick, dice);
        heard
    }

    fn keep_up(&mut self, tick: u64, is_tick: bool, dice: &mut Random) {
        let Some(Process { stages, .. }) = &mut self.process else {
            return;
        };
        for view in stages.replicas.views() {
            if dice.one_in(15) {
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
                        stages.consensus.ask(Ask::LogPressure(pressure), now(tick));
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
            stages.upkeep(now(tick)).unwrap();
            self.tell_wishes(tick);
        }
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
        let process = self.process.as_mut()?;
        let images = process.stages.applying.images();
        let bytes = request.encode();
        let (answer, ask) = images.answer(&PageRequest::decode(&bytes)?).unwrap();
        if let Some(ask) = ask {
            process.stages.consensus.ask(ask, now(tick));
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
        let Process { stages, fetching } = self.process.as_mut()?;
        let mut it = fetching.remove(&group)?;
        let progress = match answer {
            Some(answer) => {
                let images = std::sync::Arc::clone(stages.applying.images());
                it.fetch.take(&stages.db, &images, answer).unwrap()
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
                stages.consensus.ask(ask, now(tick));
                None
            }
            Progress::Lost => {
                let told = (it.from, it.fetch.word(Wish::Lost));
                it.fetch.give_up(&stages.db).unwrap();
                let ask = Ask::ImageFetched(it.member, index, false);
                stages.consensus.ask(ask, now(tick));
                Some(told)
            }
        }
    }
}

impl Process {
    fn turn(&mut self, tick: u64, is_tick: bool, planted: Planted) -> (Outcome, u64) {
        let stages = &mut self.stages;
        let turn = stages.consensus.turn(now(tick), is_tick);
        let mut installs = 0;
        for save in turn.saves {
            if planted == Planted::DurableTooEarly {
                let told = Ask::Durable(save.number);
                stages.consensus.ask(told, now(tick));
            }
            stages.logging.take(save);
        }
        for work in turn.work {
            let is_install = matches!(work, Work::Install(..));
            installs += u64::from(is_install);
            if planted == Planted::OldImageState && is_install {
                continue;
            }
            let work = match work {
                Work::Apply(member, mut entries) if planted == Planted::SkipsAnEntry => {
                    let is_due = member.replica == ReplicaId(2);
                    entries
                        .iter_mut()
                        .filter(|it| is_due && it.committed.index == 30)
                        .for_each(|it| it.committed.effect = esker_raft::Effect::Nothing);
                    Work::Apply(member, entries)
                }
                work => work,
            };
            stages.applying.take(work);
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
