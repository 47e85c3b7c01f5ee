//! Three nodes keep the meta service, and two are lost: the third goes on, and no other one does.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use esker::internals::env::bundle::Env;
use esker::internals::env::fs::Fs;
use esker::internals::env::sim::fault_plan::{Calls, Fault, Plan};
use esker::internals::env::sim::{CrashMode, FaultFs, SimWorld};
use esker_raft::{Change, ChangeStep, Member, NodeId, ReplicaId, Status};
use esker_server::meta::command::{Command, Deed, NewNode, NewTable};
use esker_server::meta::epoch::{self, Claim, Epoch};
use esker_server::meta::ids::{ClusterId, META};
use esker_server::meta::rows::Addresses;
use esker_server::meta::state::State;
use esker_server::node::{
    Ask, Create, Fetch, NodeEvent, NodeOptions, Progress, RequestId, Stages, identity, open,
};
use esker_server::reconcile::{Due, Leading, Out, Succession};
use esker_server::shell::settings::Settings;
use esker_server::shell::{MetaFound, StartError, look_at_meta, recover_meta};

use crate::rejoining::{files, flip_in_raft_log};
use crate::sole_node::now;

const CLUSTER: u64 = 7;

/// Ticks in which anything is done that can be.
const LONG: u64 = 400;

const DIR: &str = "/node";

fn settings() -> Settings {
    Settings {
        dir: DIR.into(),
        log_segment: 256 << 10,
        ..Settings::default()
    }
}

/// Looks, with an empty directory for what that writes.
fn look(env: &Env) -> Result<MetaFound, StartError> {
    let mut folders = (0..).map(|number| format!("/look{number}"));
    let is_new = |folder: &String| !env.fs.exists(Path::new(folder)).unwrap();
    let scratch = folders.find(is_new).unwrap();
    look_at_meta(env, &settings(), Path::new(&scratch))
}

/// All that lies in a node's directory.
fn contents(fs: &dyn Fs) -> BTreeMap<PathBuf, Vec<u8>> {
    let folders = ["", "raft", "db"];
    let all = folders.iter().flat_map(|folder| files(fs, folder));
    let all = all.filter(|path| !folders[1..].iter().any(|folder| path.ends_with(folder)));
    let read = |path: PathBuf| {
        let file = fs.open_read(&path).unwrap();
        let mut bytes = vec![0; file.size_bytes() as usize];
        file.read_at(0, &mut bytes).unwrap();
        (path, bytes)
    };
    all.map(read).collect()
}

/// A node that runs.
struct One {
    stages: Stages,
    succession: Succession,
    leading: Leading,
    /// What it greets others with.
    said: Option<Claim>,
    /// The services of which it has heard, and whether they have gone on.
    heard: BTreeMap<Epoch, bool>,
    /// Those that it does not heed.
    refused: Vec<Epoch>,
    /// It has led the meta service in this life.
    has_led: bool,
}

impl One {
    fn open(env: &Env, node: u64) -> esker::Result<One> {
        let (mut stages, _) = open(env, Path::new(DIR), NodeOptions::default())?;
        let is_holding = stages.consensus.status(META).is_some();
        stages.hold(META);
        let kept = stages.applying.own_rows().fact(epoch::FACT)?;
        let kept = kept.map_or(Epoch::default(), |bytes| Epoch::decode(&bytes).unwrap());
        let refused = stages.applying.own_rows().fact(epoch::REFUSED)?;
        let refused = refused.map_or(Epoch::default(), |bytes| Epoch::decode(&bytes).unwrap());
        let mut leading = Leading::new(None);
        leading.go_on(kept, kept.node == NodeId(node));
        Ok(One {
            succession: Succession::new(NodeId(node), kept, is_holding).refusing(refused),
            stages,
            leading,
            said: None,
            heard: BTreeMap::new(),
            refused: Vec::new(),
            has_led: false,
        })
    }

    fn meta(&self) -> Option<Status> {
        self.stages.consensus.status(META)
    }

    fn state(&self) -> Arc<State> {
        let view = self.stages.replicas.view(META);
        view.and_then(|view| view.meta()).unwrap_or_default()
    }

    /// What it has heard of later services than it heeds, once others have greeted it so.
    fn hear(&mut self, said: &[Option<Claim>]) -> Vec<Claim> {
        for claim in said.iter().flatten() {
            *self.heard.entry(claim.epoch).or_default() |= claim.has_gone_on;
        }
        let claim = |(&epoch, &has_gone_on): (&Epoch, &bool)| Claim { epoch, has_gone_on };
        self.heard.iter().map(claim).collect()
    }

    fn settle(&mut self, due: Due, step: u64) -> esker::Result<()> {
        match due {
            Due::Keep(epoch) => {
                self.leading.go_on(epoch, self.succession.is_base());
                let rows = self.stages.applying.own_rows();
                rows.keep_fact(epoch::FACT, &epoch.encode())?;
            }
            Due::Purge(member) => self.stages.purge(member, now(step))?,
            Due::Say(claim) => self.said = Some(claim),
            Due::Await(epoch) => {
                let rows = self.stages.applying.own_rows();
                rows.keep_fact(epoch::HEARD, &epoch.encode())?;
            }
            Due::GoOnAlone(member, last) => {
                let ask = Ask::GoOnAlone(member, last);
                self.stages.consensus.ask(ask, now(step));
            }
            Due::Refuse(epoch) => {
                self.refused.push(epoch);
                let rows = self.stages.applying.own_rows();
                rows.keep_fact(epoch::REFUSED, &epoch.encode())?;
            }
            Due::Free => self.stages.consensus.ask(Ask::Free([].into()), now(step)),
        }
        Ok(())
    }
}

/// Nodes that there are at most: three that keep the meta service, and one that comes later.
const NODES: usize = 4;

/// Three nodes, up or down, and a place for another one.
struct Three {
    worlds: Vec<SimWorld>,
    ones: [Option<One>; NODES],
    step: u64,
    request: u64,
    /// The one that the list of nodes, which all were told, is without.
    unlisted: Option<NodeId>,
}

/// Addresses that nobody dials.
fn addresses() -> Addresses {
    let address = "127.0.0.1:1".parse().unwrap();
    Addresses {
        client: address,
        meta: Some(address),
        peer: "127.0.0.1:2".parse().unwrap(),
    }
}

fn new_node(nonce: u64) -> NewNode {
    NewNode {
        nonce,
        addresses: addresses(),
        label: String::new(),
    }
}

fn create_table(name: &str) -> Deed {
    let table = NewTable {
        name: name.to_owned(),
        partition_count: 1,
        replica_count: 1,
        kind: "pegasus".to_owned(),
        envs: [].into(),
        or_same: false,
        candidates: vec![NodeId(1)],
    };
    Deed::CreateTable { table }
}

impl Three {
    /// A cluster of three metas, with a table, all of it applied everywhere.
    fn begun() -> Three {
        let worlds = (0..NODES as u64).map(|node| SimWorld::new(5 + node));
        let mut three = Three {
            worlds: worlds.collect(),
            ones: [const { None }; NODES],
            step: 1,
            request: 0,
            unlisted: None,
        };
        for node in 0..3 {
            let env = three.worlds[node].env();
            identity::create(&env, Path::new(DIR), CLUSTER, NodeId(node as u64 + 1)).unwrap();
            three.open(node);
            let member = Member {
                group: META,
                replica: ReplicaId(node as u64 + 1),
            };
            let first = (1..=3).map(|id| (ReplicaId(id), NodeId(id))).collect();
            let one = three.ones[node].as_mut().unwrap();
            one.stages.create(Create { member, first }, now(1)).unwrap();
        }
        three.live(60);
        let begin = Deed::Begin {
            cluster: ClusterId(CLUSTER),
            name: "harbour".to_owned(),
            node: new_node(1),
        };
        for deed in [
            begin,
            Deed::RegisterNode { node: new_node(2) },
            Deed::RegisterNode { node: new_node(3) },
            create_table("ships"),
        ] {
            let leader = three.leader();
            three.propose(leader, deed);
        }
        three.live(20);
        for one in three.ones.iter().flatten() {
            assert_eq!(one.state().tables.len(), 1);
        }
        three
    }

    fn open(&mut self, node: usize) {
        let one = One::open(&self.worlds[node].env(), node as u64 + 1);
        self.ones[node] = Some(one.unwrap());
    }

    fn kill(&mut self, node: usize) {
        self.ones[node] = None;
        self.worlds[node] = self.worlds[node].after_kill();
    }

    /// The node that leads the meta service.
    #[track_caller]
    fn leader(&self) -> usize {
        let leads = |one: &One| {
            let status = one.meta()?;
            (status.leader == Some(status.replica)).then_some(())
        };
        let leads = |node: &usize| self.ones[*node].as_ref().and_then(leads).is_some();
        let leaders: Vec<usize> = (0..NODES).filter(leads).collect();
        assert_eq!(leaders.len(), 1, "{leaders:?}");
        leaders[0]
    }

    fn propose(&mut self, node: usize, deed: Deed) {
        self.request += 1;
        let unix_ms = 1_700_000_000_000;
        let ask = Ask::Command {
            request: RequestId(1_000_000 + self.request),
            group: META,
            bytes: Command { unix_ms, deed }.encode(),
        };
        let one = self.ones[node].as_mut().unwrap();
        one.stages.consensus.ask(ask, now(self.step));
        self.live(20);
    }

    fn change(&mut self, node: usize, step: ChangeStep) {
        self.request += 1;
        let ask = Ask::Change {
            request: RequestId(1_000_000 + self.request),
            group: META,
            change: Change::of(step),
        };
        let one = self.ones[node].as_mut().unwrap();
        one.stages.consensus.ask(ask, now(self.step));
        self.live(20);
    }

    fn live(&mut self, steps: u64) {
        for _ in 0..steps {
            self.tick().unwrap();
        }
    }

    /// What nodes say when they greet: those that run, all of whom hear one another.
    fn said(&self) -> [Option<Claim>; NODES] {
        std::array::from_fn(|node| self.ones[node].as_ref().and_then(|one| one.said))
    }

    /// Whether a node hears the leader of the service that it heeds.
    fn is_led(&self, node: usize) -> bool {
        let own = self.ones[node].as_ref().and_then(|one| one.said);
        let leads = |one: &One| {
            let epoch = one.said.map(|claim| claim.epoch);
            let status = one.meta();
            let is_it = epoch == own.map(|claim| claim.epoch) && epoch == Some(one.state().epoch());
            is_it && status.is_some_and(|status| status.leader == Some(status.replica))
        };
        self.ones.iter().flatten().any(leads)
    }

    fn tick(&mut self) -> esker::Result<()> {
        self.step += 1;
        let step = self.step;
        for node in 0..NODES {
            let (said, unlisted) = (self.said(), self.unlisted);
            let is_led = self.is_led(node);
            let Some(one) = &mut self.ones[node] else {
                continue;
            };
            let epoch = |said: Option<Claim>| said.map(|claim| claim.epoch);
            let own = epoch(one.said);
            let is_up = |other: NodeId| own.is_some() && epoch(said[other.0 as usize - 1]) == own;
            let (meta, state) = (one.meta(), one.state());
            let said = one.hear(&said);
            let was_removed = |node| state.was_removed(node) || unlisted == Some(node);
            let (later, refused) = one.succession.choose(&said, was_removed);
            let meta = (meta.as_ref(), state.epoch());
            let due = one
                .succession
                .pass((later, is_led), meta, is_up, now(step).monotonic);
            for due in refused.into_iter().chain(due) {
                one.settle(due, step)?;
            }
            self.lead(node);
            for is_tick in [true, false, false] {
                self.turn(node, is_tick)?;
            }
            self.worlds[node].pool.run_all();
        }
        Ok(())
    }

    /// The side of meta of a node: it does what is due.
    fn lead(&mut self, node: usize) {
        let (step, request) = (self.step, &mut self.request);
        let one = self.ones[node].as_mut().unwrap();
        let status = one.meta();
        let leader = status.as_ref().and_then(|status| status.leader);
        let is_here = status.is_some_and(|status| leader == Some(status.replica));
        one.has_led |= is_here;
        one.leading
            .lead(leader.map(|leader| NodeId(leader.0)), is_here);
        let state = one.state();
        let mut draw = || {
            *request += 1;
            RequestId(*request)
        };
        let elapsed = Duration::from_millis(50);
        one.leading.tick(&state, elapsed, now(step), &mut draw);
        for out in one.leading.take() {
            if let Out::Ask(ask) = out {
                one.stages.consensus.ask(ask, now(step));
            }
        }
    }

    fn turn(&mut self, node: usize, is_tick: bool) -> esker::Result<()> {
        let (step, said) = (self.step, self.said());
        let one = self.ones[node].as_mut().unwrap();
        let outcome = one.stages.turn(now(step), is_tick);
        one.stages.write_log(now(step))?;
        let applied = one.stages.apply(now(step), 100)?;
        let state = one.state();
        for (request, reply) in outcome.replies.into_iter().chain(applied) {
            one.leading.replied(request, &reply, &state, now(step));
        }
        let mut number = self.request;
        let mut draw = || {
            number += 1;
            RequestId(number)
        };
        let offered = outcome.events.iter().find_map(|event| match event {
            NodeEvent::ImageOffered {
                member,
                from,
                from_node,
                ticket,
            } => Some((*member, *from, *from_node, ticket.clone())),
            _ => None,
        });
        for cleared in outcome.cleared {
            one.leading
                .cleared(cleared.request, &state, now(step), &mut draw);
        }
        for out in one.leading.take() {
            if let Out::Ask(ask) = out {
                one.stages.consensus.ask(ask, now(step));
            }
        }
        self.request = number;
        if let Some((member, from, from_node, ticket)) = offered {
            let index = ticket.index;
            let mut fetch = Fetch::begin(&one.stages.db, member, from, ticket)?;
            let images = Arc::clone(one.stages.applying.images());
            let there = self.ones[from_node.0 as usize - 1].as_ref().unwrap();
            let offers = Arc::clone(there.stages.applying.images());
            let one = self.ones[node].as_mut().unwrap();
            let is_here = loop {
                let (answer, _) = offers.answer(&fetch.request())?;
                match fetch.take(&one.stages.db, &images, answer)? {
                    Progress::More => {}
                    progress => break progress == Progress::Arrived,
                }
            };
            let ask = Ask::ImageFetched(member, index, is_here);
            one.stages.consensus.ask(ask, now(step));
        }
        for (to, frame) in outcome.frames {
            let to = to.0 as usize - 1;
            // Nodes of two epochs do not converse.
            let epoch = |node: usize| said[node].map(|claim| claim.epoch);
            if to < NODES && epoch(node).is_some() && epoch(node) == epoch(to) {
                let there = self.ones[to].as_mut().unwrap();
                there.stages.consensus.ask(Ask::Frame(frame), now(step));
            }
        }
        Ok(())
    }

    /// The act, on the last node, which does not run.
    fn accept(&self, env: &Env) -> Result<(), String> {
        let settings = settings();
        let done = recover_meta(env, &settings, 99);
        done.map(|found| assert!(found.is_accepted))
            .map_err(|error| error.0)
    }

    /// The last node alone keeps the meta service, and has left out what may have been given.
    #[track_caller]
    fn has_gone_on(&self) {
        let one = self.ones[2].as_ref().unwrap();
        let status = one.meta().unwrap();
        let members: Vec<u64> = status.configuration.nodes.keys().map(|id| id.0).collect();
        assert_eq!(members, [3]);
        assert_eq!(status.leader, Some(ReplicaId(3)));
        let state = one.state();
        assert_eq!(state.epoch(), one.succession.epoch());
        assert_eq!(state.epoch().number, 1);
        assert_eq!(state.tables.len(), 1, "the table of before");
        let cluster = state.cluster.as_ref().unwrap();
        assert_eq!((cluster.next_table.0, cluster.next_node.0), (4098, 104));
        let meta = &state.partitions[&META];
        assert_eq!(meta.wished, [(ReplicaId(3), NodeId(3))].into());
        assert_eq!(meta.replica_max, 3 + 4096);
    }
}

fn lost_two() -> Three {
    let mut three = Three::begun();
    (0..3).for_each(|node| three.kill(node));
    three
}

// What lies on the disks, for another run with it.
fn copy(lost: &Three) -> Three {
    Three {
        worlds: lost.worlds.iter().map(SimWorld::after_kill).collect(),
        ones: [const { None }; NODES],
        ..*lost
    }
}

#[test]
fn a_meta_service_goes_on_with_one_of_three() {
    let mut three = lost_two();
    // Alone it never leads, however long it waits.
    three.open(2);
    three.live(LONG);
    assert!(!three.ones[2].as_ref().unwrap().has_led);
    three.kill(2);
    three.accept(&three.worlds[2].env()).unwrap();
    three.open(2);
    three.live(LONG);
    three.has_gone_on();
    // And after a restart, without another word.
    three.kill(2);
    three.open(2);
    three.live(LONG);
    three.has_gone_on();
    three.propose(2, create_table("boats"));
    let state = three.ones[2].as_ref().unwrap().state();
    let (id, _) = state.table("boats").unwrap();
    assert_eq!(id.0, 4098);
}

#[test]
fn a_loss_is_looked_at_first_and_refused_where_there_is_nothing_to_go_on_with() {
    let settings = settings();
    let three = lost_two();
    let env = three.worlds[2].env();
    let found = look(&env).unwrap();
    let members: Vec<u64> = found.members.values().map(|node| node.0).collect();
    assert_eq!(
        (found.node.0, found.replica.0, members),
        (3, 3, vec![1, 2, 3])
    );
    assert_eq!((found.table_count, found.node_count), (1, 3));
    assert!(found.last.1 > 4 && found.last.0 > 0, "{found:?}");
    assert!(!found.is_accepted);
    // Whoever looks says nothing to anybody, and leaves no trace in who had the directory open.
    let life = |env: &Env| identity::read(env, Path::new(DIR)).unwrap().unwrap();
    let before = life(&env);
    look(&env).unwrap();
    assert_eq!(life(&env), before);
    // Nor does it use up the room that is kept for an opening on a full disk.
    let reserve = Path::new(DIR).join("RESERVE");
    recover_meta(&three.worlds[1].env(), &settings, 98).unwrap();
    assert!(three.worlds[1].fs.exists(&reserve).unwrap());
    let full = three.worlds[1].after_kill();
    full.fs.set_free_bytes(0);
    // What is put beside it has no room there either.
    look(&full.env()).unwrap_err();
    assert!(full.fs.exists(&reserve).unwrap());
    let one = One::open(&env, 3).unwrap();
    assert_eq!(one.succession.epoch(), Epoch::default());
    // While it runs.
    let refused = recover_meta(&env, &settings, 99).unwrap_err();
    assert!(refused.0.contains("another process"), "{refused}");
    drop(one);
    // Nobody's, and one without a replica of meta.
    let world = SimWorld::new(9);
    let refused = recover_meta(&world.env(), &settings, 99).unwrap_err();
    assert!(refused.0.contains("no node's directory"), "{refused}");
    identity::create(&world.env(), Path::new(DIR), CLUSTER, NodeId(4)).unwrap();
    let refused = recover_meta(&world.env(), &settings, 99).unwrap_err();
    assert!(refused.0.contains("node 4 has no replica"), "{refused}");
    // The only one that there is.
    let world = SimWorld::new(10);
    identity::create(&world.env(), Path::new(DIR), CLUSTER, NodeId(1)).unwrap();
    let mut one = One::open(&world.env(), 1).unwrap();
    let member = Member {
        group: META,
        replica: ReplicaId(1),
    };
    let first = vec![(ReplicaId(1), NodeId(1))];
    one.stages.create(Create { member, first }, now(1)).unwrap();
    for step in 1..30 {
        one.stages.turn(now(step), true);
        one.stages.write_log(now(step)).unwrap();
        one.stages.apply(now(step), 100).unwrap();
    }
    drop(one);
    let world = world.after_kill();
    let refused = recover_meta(&world.env(), &settings, 99).unwrap_err();
    assert!(refused.0.contains("the only replica"), "{refused}");
}

// Each call meets another kind of power cut, whatever the run.
fn cut(three: &mut Three, skip: u64) {
    let mode = CrashMode::ALL[(skip % 5) as usize];
    three.ones[2] = None;
    three.worlds[2] = three.worlds[2].after_crash(mode, skip);
}

// The power fails at that call that changes the disk.
fn faulty(world: &SimWorld, skip: Option<u64>) -> (Env, Arc<FaultFs>) {
    let fs = Arc::new(FaultFs::new(Arc::clone(&world.fs) as Arc<dyn Fs>, 1));
    if let Some(skip) = skip {
        fs.set_plans(vec![Plan::once(Fault::PowerOff, Calls::Mutating, skip)]);
    }
    let env = world.env_with(Arc::clone(&fs) as Arc<dyn Fs>);
    (env, fs)
}

#[test]
fn the_act_is_whole_or_was_not_done_at_whatever_call_the_power_fails() {
    let lost = lost_two();
    let count = {
        let three = copy(&lost);
        let (env, fs) = faulty(&three.worlds[2], None);
        three.accept(&env).unwrap();
        fs.counts().mutating()
    };
    assert!(count > 10, "{count}");
    let mut done_count = 0;
    for skip in 0..count {
        let mut three = copy(&lost);
        let (env, _) = faulty(&three.worlds[2], Some(skip));
        let done = three.accept(&env);
        drop(env);
        cut(&mut three, skip);
        three.open(2);
        three.live(LONG);
        let one = three.ones[2].as_ref().unwrap();
        match one.succession.epoch().number {
            0 => {
                assert!(done.is_err() && !one.has_led, "call {skip}");
                // Nobody was given up: with one of the others it goes on.
                three.open(0);
                three.live(LONG);
                three.leader();
            }
            _ => {
                done_count += 1;
                three.has_gone_on();
            }
        }
    }
    assert!((1..count).contains(&done_count), "{done_count} of {count}");
}

#[test]
fn it_goes_on_at_whatever_call_the_power_fails_when_it_is_started() {
    let lost = lost_two();
    lost.accept(&lost.worlds[2].env()).unwrap();
    let lost = copy(&lost);
    let started = |skip: Option<u64>| {
        let mut three = copy(&lost);
        let (env, fs) = faulty(&three.worlds[2], skip);
        let went = One::open(&env, 3).and_then(|one| {
            three.ones[2] = Some(one);
            (0..LONG).try_for_each(|_| three.tick())
        });
        match skip {
            Some(skip) => cut(&mut three, skip),
            None => {
                went.unwrap();
                three.has_gone_on();
                three.kill(2);
            }
        }
        three.open(2);
        three.live(LONG);
        three.has_gone_on();
        fs.counts().mutating()
    };
    let count = started(None);
    assert!(count > 20, "{count}");
    for skip in 0..count {
        started(Some(skip));
    }
}

#[test]
fn who_comes_back_is_told_and_never_leads_in_whatever_order() {
    let lost = lost_two();
    lost.accept(&lost.worlds[2].env()).unwrap();
    for order in [&[0, 1][..], &[1, 0], &[0], &[1]] {
        for is_at_once in [true, false] {
            let mut three = copy(&lost);
            three.open(2);
            three.live(LONG);
            for node in order {
                three.open(*node);
                if !is_at_once {
                    three.live(LONG);
                }
            }
            three.live(LONG);
            let epoch = three.ones[2].as_ref().unwrap().succession.epoch();
            for node in order {
                let one = three.ones[*node].as_ref().unwrap();
                assert!(one.meta().is_none() && !one.has_led, "{order:?}");
                let has_gone_on = true;
                assert_eq!(one.said, Some(Claim { epoch, has_gone_on }));
            }
            three.has_gone_on();
            // Nor after another restart, where the one that went on is away.
            (0..3).for_each(|node| three.kill(node));
            order.iter().for_each(|node| three.open(*node));
            three.live(LONG);
            for node in order {
                assert!(!three.ones[*node].as_ref().unwrap().has_led, "{order:?}");
            }
        }
    }
}

#[test]
fn two_that_came_back_while_nobody_could_tell_them_yield_when_they_are_told() {
    let mut three = lost_two();
    three.accept(&three.worlds[2].env()).unwrap();
    three.open(2);
    three.live(LONG);
    three.kill(2);
    // Nobody is there who could know: that is what whoever accepted the loss has promised.
    three.open(0);
    three.open(1);
    three.live(LONG);
    let leader = three.leader();
    three.propose(leader, create_table("lost"));
    assert_eq!(three.ones[leader].as_ref().unwrap().state().tables.len(), 2);
    three.open(2);
    three.live(LONG);
    for node in 0..2 {
        assert!(three.ones[node].as_ref().unwrap().meta().is_none());
    }
    three.has_gone_on();
}

/// Of three that are well the third was killed and removed, and the loss of the others accepted on
/// it: it was not started since, and does not know.
fn removed() -> Three {
    let mut three = Three::begun();
    three.kill(2);
    three.live(LONG);
    let leader = three.leader();
    three.change(leader, ChangeStep::Remove(ReplicaId(3)));
    three.propose(leader, Deed::RemoveNode { node: NodeId(3) });
    let one = three.ones[leader].as_ref().unwrap();
    assert_eq!(one.meta().unwrap().configuration.nodes.len(), 2);
    assert!(one.state().was_removed(NodeId(3)));
    three.accept(&three.worlds[2].env()).unwrap();
    three
}

/// The first two have the meta service, and do whatever is asked of them.
#[track_caller]
fn is_healthy(three: &mut Three) {
    let leads = |one: &Option<One>| {
        let meta = one.as_ref().and_then(One::meta);
        meta.is_some_and(|meta| meta.leader == Some(meta.replica))
    };
    let leader = three.ones[..2].iter().position(leads);
    let leader = leader.expect("the meta service has no leader");
    let count = three.ones[leader].as_ref().unwrap().state().tables.len();
    three.propose(leader, create_table(&format!("table{count}")));
    for node in 0..2 {
        let one = three.ones[node].as_ref().unwrap();
        assert_eq!(one.succession.epoch(), Epoch::default());
        assert_eq!(one.state().tables.len(), count + 1);
    }
}

#[test]
fn the_node_that_was_removed_takes_the_meta_service_from_nobody() {
    let mut three = removed();
    three.open(2);
    three.live(LONG);
    let epoch = three.ones[2].as_ref().unwrap().succession.epoch();
    assert_eq!(epoch.number, 1);
    for node in 0..2 {
        assert_eq!(three.ones[node].as_ref().unwrap().refused, [epoch]);
    }
    is_healthy(&mut three);
    // One dies, or the other one does, or both: they wait for nobody.
    for down in [&[0][..], &[1], &[0, 1]] {
        down.iter().for_each(|node| three.kill(*node));
        three.live(LONG);
        down.iter().for_each(|node| three.open(*node));
        three.live(100);
        is_healthy(&mut three);
    }
    // While it was about to go on it was heeded as little, by those that were told a list.
    let mut three = removed();
    three.unlisted = Some(NodeId(3));
    (0..2).for_each(|node| three.kill(node));
    (0..3).for_each(|node| three.open(node));
    three.live(100);
    is_healthy(&mut three);
}

#[test]
fn to_look_changes_nothing_in_the_directory() {
    // Of a store that was closed, that was cut off from its power, or that is damaged.
    let three = lost_two();
    let mut worlds = vec![three.worlds[2].after_kill()];
    let modes = CrashMode::ALL.iter().enumerate();
    worlds.extend(modes.map(|(at, mode)| three.worlds[2].after_crash(*mode, at as u64)));
    let damaged = three.worlds[2].after_kill();
    flip_in_raft_log(&damaged, 200);
    worlds.push(damaged);
    for (at, world) in worlds.iter().enumerate() {
        let before = contents(&*world.fs);
        assert!(before.len() > 4, "{before:?}");
        let found = look(&world.env());
        assert_eq!(found.is_err(), at + 1 == worlds.len(), "{at}: {found:?}");
        assert!(
            contents(&*world.fs) == before,
            "{at}: something has changed"
        );
        // It sees what an opening sees, and as often as somebody looks.
        assert_eq!(look(&world.env()), found, "{at}");
        if let Ok(found) = found {
            // That the last entry is committed, the one with the table, need not be on the disk.
            assert!(found.table_count == 1 || at > 0, "{at}: {found:?}");
            assert_eq!((found.node_count, found.others.len()), (3, 2));
        }
    }
}

#[test]
fn one_that_has_no_vote_yet_goes_on_with_what_it_has() {
    let mut three = Three::begun();
    let leader = three.leader();
    identity::create(&three.worlds[3].env(), Path::new(DIR), CLUSTER, NodeId(4)).unwrap();
    three.open(3);
    let member = Member {
        group: META,
        replica: ReplicaId(4),
    };
    let first = Vec::new();
    let step = now(three.step);
    let one = three.ones[3].as_mut().unwrap();
    one.stages.create(Create { member, first }, step).unwrap();
    three.kill(3);
    let looks = |three: &Three| look(&three.worlds[3].env());
    let refused = looks(&three).unwrap_err();
    assert!(
        refused.0.contains("is new, and has nothing yet"),
        "{refused}"
    );
    three.open(3);
    three.change(leader, ChangeStep::AddLearner(ReplicaId(4), NodeId(4)));
    three.live(LONG);
    assert_eq!(three.ones[3].as_ref().unwrap().state().tables.len(), 1);
    (0..NODES).for_each(|node| three.kill(node));
    let found = looks(&three).unwrap();
    assert_eq!((found.votes(), found.table_count), (false, 1));
    recover_meta(&three.worlds[3].env(), &settings(), 7).unwrap();
    three.open(3);
    three.live(LONG);
    assert_eq!(three.leader(), 3);
    three.propose(3, create_table("boats"));
    assert_eq!(three.ones[3].as_ref().unwrap().state().tables.len(), 2);
    // Those that had a vote yield as any others.
    (0..3).for_each(|node| three.open(node));
    three.live(LONG);
    assert_eq!(three.leader(), 3);
}

#[test]
fn nobody_lets_go_of_its_replica_before_the_one_that_goes_on_has_gone_on() {
    let lost = lost_two();
    lost.accept(&lost.worlds[2].env()).unwrap();
    let mut before_count = 0;
    for ticks in 1.. {
        let mut three = copy(&lost);
        (0..3).for_each(|node| three.open(node));
        three.live(ticks);
        if three.ones[2].as_ref().unwrap().state().epoch().number == 1 {
            break;
        }
        before_count += 1;
        // Its disk is lost, for ever.
        three.kill(2);
        three.live(LONG);
        (0..2).for_each(|node| three.kill(node));
        for node in 0..2 {
            let found = recover_meta(&three.worlds[node].env(), &settings(), 7);
            assert!(found.is_ok(), "{ticks} ticks, node {}: {found:?}", node + 1);
        }
        // One of the two copies is the one that goes on, and the other one lets go of its own.
        three.worlds[1] = lost.worlds[1].after_kill();
        three.open(0);
        three.live(LONG);
        three.open(1);
        three.live(LONG);
        assert_eq!(three.leader(), 0, "{ticks} ticks");
        let state = three.ones[0].as_ref().unwrap().state();
        let number = state.epoch().number;
        assert!(number == 1 || ticks > 1 && number == 2, "{ticks} {number}");
        assert_eq!(state.epoch().node, NodeId(1));
        assert!(three.ones[1].as_ref().unwrap().meta().is_none());
    }
    assert!(before_count > 3, "{before_count}");
}

#[test]
fn what_somebody_once_heard_costs_nobody_the_last_copy() {
    let mut three = lost_two();
    three.accept(&three.worlds[2].env()).unwrap();
    three.open(2);
    three.open(1);
    three.live(LONG);
    three.has_gone_on();
    assert!(three.ones[1].as_ref().unwrap().meta().is_none());
    // For ever, and it was the only copy; another one has heard of it.
    three.kill(2);
    three.live(1);
    three.open(0);
    three.live(LONG);
    three.kill(0);
    recover_meta(&three.worlds[0].env(), &settings(), 7).expect("the last copy is gone");
    three.open(0);
    three.live(LONG);
    let state = three.ones[0].as_ref().unwrap().state();
    // What the one that is lost may have given is left out as well.
    let cluster = state.cluster.as_ref().unwrap();
    assert_eq!(
        (state.epoch().number, cluster.next_table.0),
        (2, 2 + 2 * 4096)
    );
    let epoch = state.epoch();
    let other = three.ones[1].as_ref().unwrap();
    assert_eq!(other.said.map(|claim| claim.epoch), Some(epoch));
}

#[test]
fn of_two_that_were_recovered_beside_one_another_one_holds() {
    let settings = settings();
    let mut three = lost_two();
    for (node, drawn) in [(1, 55), (2, 99)] {
        recover_meta(&three.worlds[node].env(), &settings, drawn).unwrap();
    }
    three.open(1);
    three.live(LONG);
    assert_eq!(three.leader(), 1);
    three.open(2);
    three.live(LONG);
    three.has_gone_on();
    assert!(three.ones[1].as_ref().unwrap().meta().is_none());
    // A second loss is a later one, whatever was drawn.
    three.kill(2);
    let refused = recover_meta(&three.worlds[2].env(), &settings, 1).unwrap_err();
    assert!(refused.0.contains("the only replica"), "{refused}");
}
