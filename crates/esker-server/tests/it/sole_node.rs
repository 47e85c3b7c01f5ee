//! One node, one voter: written to, read from, killed at every call, opened again.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use esker::OwnLog;
use esker::internals::env::bundle::Env;
use esker::internals::env::fs::Fs;
use esker::internals::env::sim::fault_plan::{Calls, Fault, Plan};
use esker::internals::env::sim::{CrashMode, FaultFs, SimWorld};
use esker_raft::{Effect, GroupId, Member, NodeId, ReplicaId};
use esker_rpc::codec::scalars::Blob;
use esker_rpc::error::Status;
use esker_rpc::message::data::{KeyAnswer, KeyCall, UpdateRequest};
use esker_server::node::keyspace_name::group_of;
use esker_server::node::replicas::RaftLogHooks;
use esker_server::node::{
    Answer, Ask, Create, Found, NodeOptions, Now, Reply, RequestId, Stages, Work, identity, open,
};
use esker_server::partition::mark::ReplicaMark;

use crate::partition_model::raw;
use crate::requests::write;
use crate::symptom;

pub const DIR: &str = "/node";

pub fn now(step: u64) -> Now {
    Now {
        monotonic: Duration::from_millis(step * 50),
        unix_us: 1_700_000_000_000_000 + step * 50_000,
    }
}

fn group() -> GroupId {
    group_of(1, 0)
}

pub fn member() -> Member {
    Member {
        group: group(),
        replica: ReplicaId(1),
    }
}

fn options() -> NodeOptions {
    NodeOptions {
        log_segment_bytes: 32 << 10,
        // Everything that is in files is compacted, and a log of some segments is a long one.
        log_bytes_max: 128 << 10,
        kept_entries: 0,
        ..NodeOptions::default()
    }
}

pub fn open_node(env: &Env) -> esker::Result<(Stages, Found)> {
    open(env, Path::new(DIR), options())
}

/// What can go wrong, for tests that must notice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mistake {
    /// Nothing.
    #[default]
    Nothing,
    /// Writes are acknowledged when they are asked for.
    AcknowledgesEarly,
    /// Saves are told durable before they are synced.
    DurableTooEarly,
    /// The log is compacted up to what is applied, not to what is in files.
    CompactsTooFar,
    /// A committed entry is not applied.
    SkipsAnEntry,
    /// A mark says one entry more than was applied.
    MarkAhead,
    /// Answers are told twice.
    TellsTwice,
}

/// What a client has asked for, and was told.
#[derive(Default)]
pub struct Client {
    mistake: Mistake,
    answered: BTreeSet<RequestId>,
    asked: BTreeMap<u64, Vec<u8>>,
    pub acknowledged: Vec<u64>,
}

fn put(key: Vec<u8>, value: &str) -> KeyCall {
    KeyCall::Put(UpdateRequest {
        key: Blob::from(key),
        value: Blob::of(value.as_bytes()),
        ..UpdateRequest::default()
    })
}

impl Client {
    fn hear(&mut self, replies: Vec<(RequestId, Reply)>) {
        for (request, reply) in replies {
            assert!(
                self.answered.insert(request),
                "{request:?} is answered twice"
            );
            match reply {
                Reply::Done(Answer::Key(KeyAnswer::Put(put))) => {
                    assert_eq!(put.error, Status::OK);
                    self.acknowledged.push(request.0);
                }
                Reply::Done(other) => panic!("no answer to a put: {other:?}"),
                _ => {}
            }
        }
    }
}

// A short life: `steps` turns with a write in each, everything done at once, flushes between.
pub fn live(
    stages: &mut Stages,
    world: &SimWorld,
    steps: std::ops::Range<u64>,
    client: &mut Client,
) -> esker::Result<()> {
    let first = vec![(ReplicaId(1), NodeId(1))];
    let member = member();
    stages.create(Create { member, first }, now(steps.start))?;
    for step in steps {
        let key = raw(b"harbour", format!("{step:06}").as_bytes());
        let request = RequestId(step);
        client.asked.insert(step, key.clone());
        if client.mistake == Mistake::AcknowledgesEarly {
            client.acknowledged.push(step);
        }
        let ask = write(request, group(), &put(key, "in port"));
        stages.consensus.ask(ask, now(step));
        for is_tick in [true, false] {
            client.hear(turn(stages, now(step), is_tick, client.mistake));
            // Not always before state machines have their turn.
            if step % 3 != 0 {
                stages.write_log(now(step))?;
            }
            let replies = stages.apply(now(step), 100)?;
            if client.mistake == Mistake::TellsTwice {
                client.hear(replies.clone());
            }
            client.hear(replies);
            err_on_purpose(stages, client.mistake);
        }
        if step % 5 == 0
            && let Some(view) = stages.replicas.view(group())
        {
            view.keyspace.flush_soon()?;
        }
        world.pool.run_all();
        if step % 4 == 0 {
            stages.upkeep(now(step))?;
        }
    }
    Ok(())
}

// One turn, with a mistake in it.
fn turn(stages: &mut Stages, now: Now, is_tick: bool, mistake: Mistake) -> Vec<(RequestId, Reply)> {
    let turn = stages.consensus.turn(now, is_tick);
    for save in turn.saves {
        if mistake == Mistake::DurableTooEarly {
            stages.consensus.ask(Ask::Durable(save.number), now);
        }
        stages.logging.take(save);
    }
    for mut work in turn.work {
        if let Work::Apply(_, entries) = &mut work
            && mistake == Mistake::SkipsAnEntry
        {
            let skipped = entries.iter_mut().filter(|it| it.committed.index == 9);
            skipped.for_each(|it| it.committed.effect = Effect::Nothing);
        }
        stages.applying.take(work);
    }
    turn.replies
}

fn err_on_purpose(stages: &Stages, mistake: Mistake) {
    let Some(view) = stages.replicas.view(group()) else {
        return;
    };
    let Ok(Some(mark)) = view.keyspace.mark() else {
        return;
    };
    match mistake {
        Mistake::CompactsTooFar => {
            let hooks = RaftLogHooks(Arc::clone(&stages.replicas));
            hooks.flushed(view.keyspace.name(), &mark);
        }
        Mistake::MarkAhead => {
            let mut ahead = ReplicaMark::decode(&mark).unwrap();
            ahead.raft.applied.index = view.applied() + 1;
            let mut batch = stages.db.batch();
            batch.mark(&view.keyspace, ahead.encode());
            // The power may have failed.
            let _ = batch.commit();
        }
        _ => {}
    }
}

pub fn rows(stages: &Stages) -> BTreeMap<Vec<u8>, Vec<u8>> {
    let view = stages.replicas.view(group()).unwrap();
    let rows = view.keyspace.iter().unwrap().map(|row| row.unwrap());
    rows.map(|(key, value)| (key.to_vec(), value.to_vec()))
        .collect()
}

// Opens what is left on the disk, lets it come to rest, and holds it against what was told.
fn check(world: &SimWorld, client: &Client, story: &str) {
    let env = world.env();
    let (mut stages, found) = open_node(&env).unwrap_or_else(|error| panic!("{story}: {error}"));
    assert!(found.damaged.is_empty(), "{story}: {:?}", found.damaged);
    assert_eq!(found.loss, None, "{story}");
    let mut after = Client::default();
    live(&mut stages, world, 500..512, &mut after).unwrap();
    let rows = rows(&stages);
    for request in client.acknowledged.iter().chain(&after.acknowledged) {
        let key = client
            .asked
            .get(request)
            .or(after.asked.get(request))
            .unwrap();
        assert!(rows.contains_key(key), "{story}: write {request} is lost");
    }
    assert!(
        after.acknowledged.len() > 5,
        "{story}: {:?}",
        after.acknowledged
    );
    let asked: Vec<_> = client.asked.values().chain(after.asked.values()).collect();
    assert!(
        rows.keys().all(|key| asked.contains(&key)),
        "{story}: a row that nobody wrote"
    );
}

pub fn new_world(seed: u64) -> SimWorld {
    let world = SimWorld::new(seed);
    identity::create(&world.env(), Path::new(DIR), 77, NodeId(1)).unwrap();
    world
}

#[test]
fn a_sole_voter_answers_each_write_once_and_keeps_it() {
    let world = new_world(1);
    let mut client = Client::default();
    {
        let (mut stages, _) = open_node(&world.env()).unwrap();
        live(&mut stages, &world, 1..60, &mut client).unwrap();
        let unique: BTreeSet<_> = client.acknowledged.iter().collect();
        assert_eq!(unique.len(), client.acknowledged.len(), "told twice");
        assert!(client.acknowledged.len() > 50);
    }
    check(&world.after_kill(), &client, "killed");
}

// One life that ends at the `skip`th call that changes the disk, and what is left of it.
fn run(skip: u64, mode: CrashMode, mistake: Mistake) {
    let world = new_world(3);
    let faulty = Arc::new(FaultFs::new(Arc::clone(&world.fs) as Arc<dyn Fs>, 1));
    let plan = Plan::once(Fault::PowerOff, Calls::Mutating, skip);
    faulty.set_plans(vec![plan]);
    let mut client = Client {
        mistake,
        ..Client::default()
    };
    if let Ok((mut stages, _)) = open_node(&world.env_with(faulty)) {
        // It ends where the power does.
        let _ = live(&mut stages, &world, 1..24, &mut client);
    }
    let after = world.after_crash(mode, skip);
    check(&after, &client, &format!("call {skip}, {mode:?}"));
}

fn is_found(mistake: Mistake, symptoms: &[&str]) {
    let failed = |skip: u64| {
        let mode = CrashMode::ALL[(skip % 5) as usize];
        symptom::of(|| run(skip, mode, mistake))
    };
    symptom::is_found(&mistake, 0..200, symptoms, failed);
}

macro_rules! found {
    ($($name:ident: $mistake:ident $symptoms:expr;)*) => {
        $(#[test]
        fn $name() {
            is_found(Mistake::$mistake, &$symptoms);
        })*
    };
}

found! {
    a_write_of_a_sole_node_that_is_acknowledged_when_asked_for_is_found: AcknowledgesEarly
        ["is lost"];
    an_acknowledgement_of_a_sole_node_before_the_sync_is_found: DurableTooEarly ["is lost"];
    a_truncation_of_a_sole_node_before_the_flush_is_found: CompactsTooFar ["the log lacks entries"];
    an_entry_that_a_sole_node_skips_is_found: SkipsAnEntry ["no answer to a put", "is lost"];
    a_mark_of_a_sole_node_that_is_ahead_is_found: MarkAhead ["is lost", "the log lacks entries"];
    an_answer_that_a_sole_node_gives_twice_is_found: TellsTwice ["is answered twice"];
}

#[test]
fn nothing_acknowledged_is_lost_at_whatever_call_the_power_fails() {
    let count = {
        let world = new_world(3);
        let faulty = Arc::new(FaultFs::new(Arc::clone(&world.fs) as Arc<dyn Fs>, 1));
        let env = world.env_with(Arc::clone(&faulty) as Arc<dyn Fs>);
        let (mut stages, _) = open_node(&env).unwrap();
        live(&mut stages, &world, 1..24, &mut Client::default()).unwrap();
        faulty.counts().mutating()
    };
    assert!(count > 60, "{count}");
    for skip in 0..count {
        // Each call meets another kind of power cut, whatever the run.
        let mode = CrashMode::ALL[(skip % 5) as usize];
        run(skip, mode, Mistake::Nothing);
    }
}

#[test]
fn writes_of_a_sole_replica_that_does_not_go_on_are_turned_away() {
    // What is proposed there has no answer before there is room, and nobody else can lead.
    let world = new_world(7);
    let mut client = Client::default();
    let (mut stages, _) = open_node(&world.env()).unwrap();
    live(&mut stages, &world, 1..30, &mut client).unwrap();
    let view = stages.replicas.view(group()).unwrap();
    view.set_stall(Some("there is no room".to_owned()));
    let mut ask = |number: u64| {
        let call = put(raw(b"harbour", b"pier"), "in port");
        let ask = write(RequestId(number), group(), &call);
        stages.consensus.ask(ask, now(number));
        let mut replies = Vec::new();
        for _ in 0..3 {
            replies.extend(stages.turn(now(number), false).replies);
            stages.write_log(now(number)).unwrap();
            replies.extend(stages.apply(now(number), 100).unwrap());
        }
        replies
    };
    assert_eq!(ask(40), [(RequestId(40), Reply::Busy)]);
    view.set_stall(None);
    let replies = ask(41);
    assert!(
        matches!(replies[..], [(RequestId(41), Reply::Done(_))]),
        "{replies:?}"
    );
}

#[test]
fn a_node_opens_on_a_full_disk_by_the_room_that_it_kept() {
    // Not a byte is free, not even for the number of its life.
    fn keeping(world: &SimWorld) -> esker::Result<(Stages, Found)> {
        let options = NodeOptions {
            keeps_reserve: true,
            ..options()
        };
        open(&world.env(), Path::new(DIR), options)
    }
    let world = new_world(5);
    let mut client = Client::default();
    {
        let (mut stages, _) = keeping(&world).unwrap();
        live(&mut stages, &world, 1..60, &mut client).unwrap();
    }
    let world = world.after_kill();
    world.fs.set_free_bytes(0);
    let refused = open_node(&world.env()).map(|_| ());
    assert!(refused.unwrap_err().is_shortage(), "it has no room");
    let world = world.after_kill();
    {
        let (stages, found) = keeping(&world).unwrap();
        assert!(found.is_short_of_space);
        assert!(found.damaged.is_empty(), "{:?}", found.damaged);
        let view = stages.replicas.view(group()).unwrap();
        assert!(view.keyspace.iter().unwrap().next().is_some());
    }
    // Once there is room again it is kept for the next time.
    let world = world.after_kill();
    world.fs.set_free_bytes(1 << 30);
    {
        let (_, found) = keeping(&world).unwrap();
        assert!(!found.is_short_of_space);
    }
    let reserve = Path::new(DIR).join("RESERVE");
    assert!(world.fs.exists(&reserve).unwrap());
    check(&world.after_kill(), &client, "after a full disk");
}
