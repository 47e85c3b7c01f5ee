//! An image on its way between two nodes, while the power of either one fails at any of its calls.
//!
//! One node has a group alone; a learner on the other gets an image of several pages, is made a
//! voter, and clients write all the while.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use esker::internals::env::fs::Fs;
use esker::internals::env::sim::fault_plan::{Calls, Fault, Plan};
use esker::internals::env::sim::{CrashMode, FaultFs, SimWorld};
use esker_raft::{Change, ChangeStep, GroupId, Member, NodeId, Options, ReplicaId, Status, Ticket};
use esker_rpc::codec::scalars::Blob;
use esker_rpc::message::data::{KeyAnswer, KeyCall, UpdateRequest};
use esker_server::node::keyspace_name::group_of;
use esker_server::node::{
    Answer, Ask, Create, Fetch, NodeEvent, NodeOptions, PageAnswer, PageRequest, Progress, Reply,
    RequestId, Stages, Wish, identity, open,
};

use crate::cluster_node::now;
use crate::partition_model::raw;
use crate::requests::write;
use crate::sole_node::DIR;
use crate::symptom;

/// Rows of before, and bytes of each: three pages.
const ROWS: u64 = 36;
const ROW_BYTES: usize = 64 << 10;

/// Ticks after which all must be well: an image that came to nothing is offered again after sixty.
const TICKS_MAX: u64 = 400;

/// Ticks of the same without a fault.
const TICKS_OF_PEACE: u64 = 100;

/// Ticks for which a node is down.
const DOWN: u64 = 3;

/// In vain asked for a page so often, an image counts as lost.
const FAILURES_MAX: u32 = 20;

/// Numbers of the requests that change members.
const CHANGES: u64 = 1 << 32;

const SENDER: usize = 0;
const RECEIVER: usize = 1;

fn group() -> GroupId {
    group_of(1, 0)
}

// The replica of that side.
fn member(side: usize) -> Member {
    let group = group();
    let replica = ReplicaId(side as u64 + 1);
    Member { group, replica }
}

fn node(side: usize) -> NodeId {
    NodeId(side as u64 + 1)
}

fn put(number: u64, bytes: usize) -> KeyCall {
    let key = raw(b"harbour", format!("{number:06}").as_bytes());
    let digits = number.to_string().into_bytes();
    KeyCall::Put(UpdateRequest {
        key: Blob::from(key),
        value: Blob::from(digits.into_iter().cycle().take(bytes).collect::<Vec<u8>>()),
        ..UpdateRequest::default()
    })
}

/// An image that is on its way.
struct Fetching {
    fetch: Fetch,
    ticket: Ticket,
    failures: u32,
}

/// Frames for the other one, and answers.
type Turned = (Vec<Vec<u8>>, Vec<(RequestId, Reply)>);

/// One node, up or down.
struct Side {
    side: usize,
    world: SimWorld,
    /// What its process has of the disk.
    faulty: Arc<FaultFs>,
    stages: Option<Stages>,
    fetching: Option<Fetching>,
    up_at: u64,
    /// Images that it has begun to fetch, and how often its power failed within one.
    begun: u64,
    cut_within: u64,
    /// Calls that changed its disk when one was there.
    arrived: u64,
    /// A planted mistake: saves are told durable before they are synced, and that late.
    tells_early: bool,
}

impl Side {
    fn new(side: usize, world: SimWorld) -> Side {
        Side {
            side,
            faulty: Arc::new(FaultFs::new(Arc::clone(&world.fs) as Arc<dyn Fs>, 1)),
            world,
            stages: None,
            fetching: None,
            up_at: 0,
            begun: 0,
            cut_within: 0,
            arrived: 0,
            tells_early: false,
        }
    }

    fn boot(&mut self, tick: u64) {
        let fs = Arc::clone(&self.world.fs) as Arc<dyn Fs>;
        self.faulty = Arc::new(FaultFs::new(fs, 1));
        let env = self.world.env_with(Arc::clone(&self.faulty) as Arc<dyn Fs>);
        let options = NodeOptions {
            log_segment_bytes: 256 << 10,
            kept_entries: 0,
            raft: Options {
                seed: 1,
                image_ticks_max: 60,
                ..Options::default()
            },
            ..NodeOptions::default()
        };
        let (mut stages, found) = open(&env, Path::new(DIR), options).unwrap();
        let damaged = found.damaged;
        assert!(
            damaged.is_empty(),
            "side {} is damaged: {damaged:?}",
            self.side
        );
        stages.consensus.ask(Ask::Free(BTreeSet::new()), now(tick));
        self.stages = Some(stages);
        self.wish(tick);
    }

    // Said again at each opening.
    fn wish(&mut self, tick: u64) {
        let member = member(self.side);
        let first = match self.side {
            SENDER => vec![(member.replica, node(SENDER))],
            _ => Vec::new(),
        };
        let stages = self.stages.as_mut().unwrap();
        stages.create(Create { member, first }, now(tick)).unwrap();
    }

    fn status(&self) -> Option<Status> {
        self.stages.as_ref()?.consensus.status(group())
    }

    fn leads(&self) -> bool {
        let status = self.status();
        status.is_some_and(|status| status.leader == Some(member(self.side).replica))
    }

    fn ask(&mut self, ask: Ask, tick: u64) {
        if let Some(stages) = &mut self.stages {
            stages.consensus.ask(ask, now(tick));
        }
    }

    // One turn, and all that the disk and the state machine have to do.
    fn turn(&mut self, tick: u64) -> esker::Result<Turned> {
        let time = now(tick);
        let Some(stages) = &mut self.stages else {
            return Ok(Default::default());
        };
        let turn = stages.consensus.turn(time, true);
        for save in turn.saves {
            if self.tells_early {
                stages.consensus.ask(Ask::Durable(save.number), time);
            }
            stages.logging.take(save);
        }
        for work in turn.work {
            stages.applying.take(work);
        }
        stages.applying.retry();
        for event in turn.events {
            match event {
                NodeEvent::ImageOffered {
                    member,
                    from,
                    ticket,
                    ..
                } => {
                    self.begun += 1;
                    self.fetching = None;
                    let fetch = Fetch::begin(&stages.db, member, from, ticket.clone())?;
                    self.fetching = Some(Fetching {
                        fetch,
                        ticket,
                        failures: 0,
                    });
                }
                NodeEvent::Damaged(member, why) => panic!("{member} is damaged: {why}"),
                _ => {}
            }
        }
        let mut replies = turn.replies;
        if !self.tells_early || tick.is_multiple_of(5) {
            stages.write_log(time)?;
        }
        replies.extend(stages.apply(time, 100)?);
        if tick.is_multiple_of(4) {
            for view in stages.replicas.views() {
                // It may have been replaced in this very turn.
                let _ = view.keyspace.flush_soon();
            }
            stages.upkeep(time)?;
        }
        self.world.pool.run_all();
        let frames = turn.frames.into_iter().map(|frame| frame.1);
        Ok((frames.collect(), replies))
    }

    // The power is off: what the disk has of it is what is left.
    fn die(&mut self, skip: u64, tick: u64) {
        self.cut_within += u64::from(self.fetching.is_some());
        self.fetching = None;
        self.stages = None;
        let mode = CrashMode::ALL[(skip % 5) as usize];
        self.world = self.world.after_crash(mode, skip);
        self.up_at = tick + DOWN;
    }

    /// Another node asks for a page, or tells what became of the image.
    fn page(&mut self, request: &PageRequest, tick: u64) -> Option<PageAnswer> {
        let stages = self.stages.as_mut()?;
        // Rows that cannot be read any more: the power has just failed.
        let (answer, ask) = stages.applying.images().answer(request).ok()?;
        if let Some(ask) = ask {
            stages.consensus.ask(ask, now(tick));
        }
        Some(answer)
    }

    fn rows(&self) -> BTreeMap<Vec<u8>, Vec<u8>> {
        let stages = self.stages.as_ref().unwrap();
        let view = stages.replicas.view(group()).unwrap();
        let rows = view.keyspace.iter().unwrap().map(|row| row.unwrap());
        rows.map(|(key, value)| (key.to_vec(), value.to_vec()))
            .collect()
    }

    fn keyspaces(&self) -> Vec<String> {
        let names = self.stages.as_ref().unwrap().db.keyspaces();
        let own = names.into_iter().filter(|name| name.starts_with("r."));
        own.collect()
    }
}

/// Both nodes.
struct Pair {
    sides: [Side; 2],
    tick: u64,
    asked: BTreeMap<RequestId, u64>,
    acknowledged: Vec<u64>,
    /// Nobody writes any more.
    rests: bool,
}

// The disk of a node that has the group alone, with rows of three pages in files.
fn sender_disk() -> SimWorld {
    let mut side = Side::new(SENDER, empty_disk(SENDER));
    side.boot(0);
    for tick in 1..40 + ROWS {
        if tick > 40 {
            let number = tick - 40;
            let ask = write(RequestId(number), group(), &put(number, ROW_BYTES));
            side.ask(ask, tick);
        }
        side.turn(tick).unwrap();
    }
    for tick in 100..110 {
        side.turn(tick).unwrap();
    }
    assert_eq!(side.rows().len() as u64, ROWS - 1);
    side.stages = None;
    side.world.after_kill()
}

fn empty_disk(side: usize) -> SimWorld {
    let world = SimWorld::new(side as u64 + 7);
    identity::create(&world.env(), Path::new(DIR), 77, node(side)).unwrap();
    world
}

impl Pair {
    fn new(disk: &SimWorld) -> Pair {
        let mut sides = [
            Side::new(SENDER, disk.after_kill()),
            Side::new(RECEIVER, empty_disk(RECEIVER)),
        ];
        sides.iter_mut().for_each(|side| side.boot(200));
        Pair {
            sides,
            tick: 200,
            asked: BTreeMap::new(),
            acknowledged: Vec::new(),
            rests: false,
        }
    }

    // One tick of both; `cut` is what a power cut leaves, of the side that meets one.
    fn step(&mut self, cut: u64) {
        self.tick += 1;
        let tick = self.tick;
        for at in [SENDER, RECEIVER] {
            let side = &mut self.sides[at];
            if side.stages.is_none() && side.up_at <= tick {
                side.boot(tick);
            }
            // It may have failed since the last turn.
            let turned = match side.faulty.is_off() {
                true => None,
                false => Some(side.turn(tick)),
            };
            if side.stages.is_some() && side.faulty.is_off() {
                side.die(cut, tick);
                self.asked.clear();
            }
            let Some(turned) = turned.filter(|_| side.stages.is_some()) else {
                continue;
            };
            let (frames, replies) = turned.unwrap();
            for frame in frames {
                self.sides[1 - at].ask(Ask::Frame(frame), tick);
            }
            for (request, reply) in replies {
                let number = self.asked.remove(&request);
                if let (Some(number), Reply::Done(Answer::Key(KeyAnswer::Put(_)))) = (number, reply)
                {
                    self.acknowledged.push(number);
                }
            }
        }
        self.fetch(cut);
        self.mend();
        self.use_it();
    }

    fn fetch(&mut self, cut: u64) {
        let tick = self.tick;
        let [sender, receiver] = &mut self.sides;
        let Some(mut it) = receiver.fetching.take() else {
            return;
        };
        let answer = sender.page(&it.fetch.request(), tick);
        let stages = receiver.stages.as_mut().unwrap();
        let images = Arc::clone(stages.applying.images());
        let progress = match answer {
            Some(answer) => it.fetch.take(&stages.db, &images, answer),
            None => {
                it.failures += 1;
                let is_lost = it.failures > FAILURES_MAX;
                Ok(if is_lost {
                    Progress::Lost
                } else {
                    Progress::More
                })
            }
        };
        let is_here = match progress {
            Ok(Progress::More) => {
                receiver.fetching = Some(it);
                return;
            }
            Ok(progress) => progress == Progress::Arrived,
            Err(error) => {
                assert!(receiver.faulty.is_off(), "{error}");
                receiver.fetching = Some(it);
                return receiver.die(cut, tick);
            }
        };
        receiver.arrived = receiver.faulty.counts().mutating();
        let index = it.ticket.index;
        let wish = if is_here { Wish::Arrived } else { Wish::Lost };
        let word = it.fetch.word(wish);
        if !is_here {
            it.fetch.give_up(&stages.db).unwrap();
        }
        let told = Ask::ImageFetched(member(RECEIVER), index, is_here);
        stages.consensus.ask(told, now(tick));
        sender.page(&word, tick);
    }

    // The other replica is to be a voter.
    fn mend(&mut self) {
        let tick = self.tick;
        let Some(status) = self.sides[SENDER].status() else {
            return;
        };
        if !tick.is_multiple_of(5) || !self.sides[SENDER].leads() {
            return;
        }
        let (members, other) = (status.configuration, member(RECEIVER).replica);
        let step = match (members.nodes.contains_key(&other), members.votes(other)) {
            (false, _) => ChangeStep::AddLearner(other, node(RECEIVER)),
            (true, false) => ChangeStep::Promote(other),
            (true, true) => return,
        };
        let ask = Ask::Change {
            request: RequestId(CHANGES + tick),
            group: group(),
            change: Change::of(step),
        };
        self.sides[SENDER].ask(ask, tick);
    }

    fn use_it(&mut self) {
        let tick = self.tick;
        let leader = self.sides.iter_mut().find(|side| side.leads());
        if let Some(side) = leader.filter(|_| tick.is_multiple_of(6) && !self.rests) {
            let request = RequestId(1000 + tick);
            self.asked.insert(request, tick);
            side.ask(write(request, group(), &put(tick, 10)), tick);
        }
    }

    fn is_whole(&self) -> bool {
        let all = self.sides.iter().map(Side::status);
        let all: Vec<Status> = all.flatten().collect();
        let voters: BTreeSet<ReplicaId> = [SENDER, RECEIVER].map(|at| member(at).replica).into();
        let is_well = |status: &Status| {
            status.configuration.voters == voters
                && !status.configuration.is_joint()
                && status.leader.is_some()
                && (status.applied, status.commit) == (all[0].commit, all[0].commit)
        };
        all.len() == 2 && all.iter().all(is_well)
    }
}

/// What a run came to.
#[derive(Debug, Default)]
struct Told {
    /// Calls of each side that change its disk, if no power failed.
    calls: [u64; 2],
    /// Those of the receiver when the image was there.
    arrived: u64,
    begun: u64,
    cut_within: u64,
}

/// A run in which the power of a side fails at one of its calls; panics where something is wrong.
fn run(disk: &SimWorld, cut: Option<(usize, u64)>, tells_early: bool) -> Told {
    let mut pair = Pair::new(disk);
    pair.sides[RECEIVER].tells_early = tells_early;
    let skip = cut.map_or(0, |cut| cut.1);
    if let Some((side, skip)) = cut {
        let plan = Plan::once(Fault::PowerOff, Calls::Mutating, skip);
        pair.sides[side].faulty.set_plans(vec![plan]);
    }
    let before = [0, 1].map(|at: usize| pair.sides[at].faulty.counts().mutating());
    let began = pair.tick;
    let until_whole = |pair: &mut Pair| {
        while !pair.is_whole() {
            pair.step(skip);
            let status = || pair.sides.iter().map(Side::status).collect::<Vec<_>>();
            let is_late = pair.tick > began + TICKS_MAX;
            assert!(
                !is_late,
                "{cut:?}: it does not become whole: {:?}",
                status()
            );
        }
    };
    until_whole(&mut pair);
    // What is left over of the way there goes behind that, and the power may still fail.
    pair.rests = true;
    (0..20).for_each(|_| pair.step(skip));
    until_whole(&mut pair);
    (0..5).for_each(|_| pair.step(skip));
    let [sender, receiver] = &pair.sides;
    if let Some((side, _)) = cut {
        assert!(
            pair.sides[side].up_at > 0,
            "{cut:?}: the power never failed"
        );
    } else {
        assert!(pair.tick < began + TICKS_OF_PEACE, "{}", pair.tick - began);
    }
    let rows = receiver.rows();
    assert!(rows == sender.rows(), "{cut:?}: replicas differ");
    for number in (1..ROWS).chain(pair.acknowledged.iter().copied()) {
        let key = raw(b"harbour", format!("{number:06}").as_bytes());
        assert!(rows.contains_key(&key), "{cut:?}: row {number} is lost");
    }
    assert!(!pair.acknowledged.is_empty(), "{cut:?}: nobody wrote");
    for side in &pair.sides {
        let names = side.keyspaces();
        assert_eq!(names.len(), 1, "{cut:?}: what is left of images: {names:?}");
    }
    let calls = |at: usize| pair.sides[at].faulty.counts().mutating();
    Told {
        calls: [0, 1].map(|at| calls(at).saturating_sub(before[at])),
        arrived: receiver.arrived.saturating_sub(before[RECEIVER]),
        begun: receiver.begun,
        cut_within: receiver.cut_within,
    }
}

fn sweep(side: usize, step: u64) {
    let disk = sender_disk();
    let peace = run(&disk, None, false);
    let count = peace.calls[side];
    println!("{count} calls of side {side} without a fault: {peace:?}");
    assert_eq!(peace.begun, 1);
    assert!(count > 30, "{count}");
    let (mut begun, mut cut_within) = (0, 0);
    for skip in (0..count).step_by(usize::try_from(step).unwrap()) {
        let told = run(&disk, Some((side, skip)), false);
        begun += told.begun - 1;
        cut_within += told.cut_within;
    }
    println!("{begun} images more were begun; {cut_within} power cuts within one");
    // Cuts that meet no image would prove nothing.
    assert!(begun > 0, "no image was in vain");
    assert!(
        side == SENDER || cut_within > 0,
        "none met the receiver within one"
    );
}

#[test]
fn a_node_that_gets_an_image_becomes_whole_at_whatever_call_its_power_fails() {
    sweep(RECEIVER, 1);
}

#[test]
fn a_node_that_gives_an_image_stays_whole_at_whatever_call_its_power_fails() {
    sweep(SENDER, 1);
}

#[test]
fn a_switch_to_an_image_before_the_log_has_it_is_found() {
    let disk = sender_disk();
    let peace = run(&disk, None, true);
    let calls = peace.arrived..peace.calls[RECEIVER];
    let symptoms = ["its keyspace is missing", "the log lacks entries"];
    symptom::is_found(&"a switch too early", calls, &symptoms, |skip| {
        symptom::of(|| {
            run(&disk, Some((RECEIVER, skip)), true);
        })
    });
}

#[test]
fn an_image_whose_reader_is_gone_is_let_go_of() {
    let disk = sender_disk();
    let mut pair = Pair::new(&disk);
    while pair.sides[RECEIVER].fetching.is_none() {
        pair.step(0);
        assert!(pair.tick < 200 + TICKS_MAX, "no image is offered");
    }
    pair.sides[RECEIVER].die(0, u64::MAX - DOWN);
    let held = |pair: &Pair| {
        let stages = pair.sides[SENDER].stages.as_ref().unwrap();
        stages.db.stats().snapshots.len()
    };
    assert_eq!(held(&pair), 1);
    for _ in 0..esker_server::node::limits::IMAGE_TICKS_MAX + 100 {
        pair.step(0);
    }
    assert_eq!(held(&pair), 0, "what nobody reads is held on the disk");
    // Its reader gets another one.
    pair.sides[RECEIVER].up_at = pair.tick;
    let until = pair.tick + TICKS_MAX;
    while !pair.is_whole() {
        pair.step(0);
        assert!(pair.tick < until, "{:?}", pair.sides[RECEIVER].status());
    }
    assert!(pair.sides[RECEIVER].rows() == pair.sides[SENDER].rows());
}

#[test]
fn an_image_that_has_arrived_is_let_go_of_soon() {
    let disk = sender_disk();
    let mut pair = Pair::new(&disk);
    let held = |pair: &Pair| {
        let stages = pair.sides[SENDER].stages.as_ref().unwrap();
        stages.db.stats().snapshots.len()
    };
    let mut was_held = false;
    while !pair.is_whole() {
        pair.step(0);
        was_held |= held(&pair) == 1;
        assert!(pair.tick < 200 + TICKS_MAX, "it does not become whole");
    }
    assert!(was_held, "no image was offered");
    for _ in 0..2 * esker_server::node::limits::IMAGE_TICKS_SPARE {
        pair.step(0);
    }
    assert_eq!(held(&pair), 0, "it is held for all keyspaces");
}
