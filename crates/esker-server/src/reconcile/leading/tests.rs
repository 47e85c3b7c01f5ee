//! Tests of the side of the meta group's leader, with a state machine of one replica.

use std::net::SocketAddrV4;

use esker::internals::env::random::Random;
use esker_raft::{Configuration, GroupId, ReplicaId};
use esker_rpc::error::ErrorName;
use esker_rpc::message::meta::{
    CreateTableOptions, CreateTableRequest, ListTablesRequest, QueryConfigRequest,
};

use super::*;
use crate::meta::directive::{Directive, decode_directives};
use crate::meta::ids::ClusterId;
use crate::meta::report::{ReplicaReport, Role};
use crate::meta::rows::Addresses;

const HERE: NodeId = NodeId(1);

/// One node, whose meta group commits at once whatever is proposed.
struct Bench {
    leading: Leading,
    state: State,
    next: u64,
    asked: Vec<Ask>,
    answers: BTreeMap<CallId, Told<MetaAnswer>>,
    numbers: BTreeMap<CallId, Told<Result<NodeId, ErrorCode>>>,
    directives: BTreeMap<CallId, Told<Vec<u8>>>,
    /// All of these.
    told: BTreeSet<CallId>,
    /// What the node has made of what it was told.
    made: Vec<(GroupId, ReplicaId)>,
    /// The number by which its reports ask whether what it holds is free.
    asks: u64,
    /// How far the clock of who reports is ahead.
    ahead_ms: u64,
}

fn addresses(port: u16) -> Addresses {
    let at = |port| SocketAddrV4::new([127, 0, 0, 1].into(), port);
    Addresses {
        client: at(port),
        meta: Some(at(port + 1)),
        peer: at(port + 2).into(),
    }
}

fn node(nonce: u64) -> NewNode {
    NewNode {
        nonce,
        addresses: addresses(34_000),
        label: String::new(),
    }
}

fn now(monotonic_ms: u64) -> Now {
    Now {
        monotonic: Duration::from_millis(monotonic_ms),
        unix_us: 1_700_000_000_000_000 + 1000 * monotonic_ms,
    }
}

impl Bench {
    fn new() -> Bench {
        let founding = Deed::Begin {
            cluster: ClusterId(77),
            name: "bench".to_owned(),
            node: node(1),
        };
        Bench {
            leading: Leading::new(Some(founding)),
            state: State::default(),
            next: 0,
            asked: Vec::new(),
            answers: BTreeMap::new(),
            numbers: BTreeMap::new(),
            directives: BTreeMap::new(),
            told: BTreeSet::new(),
            made: Vec::new(),
            asks: 0,
            ahead_ms: 0,
        }
    }

    /// One that leads, whose cluster has begun, and whose only node has reported.
    fn begun() -> Bench {
        let mut bench = Bench::new();
        bench.leading.lead(Some(HERE), true);
        for second in 1..5 {
            bench.tick(1000 * second);
            bench.settle(1000 * second);
            bench.report(100_000 + second);
        }
        bench
    }

    fn call(&mut self, make: impl FnOnce(&mut Leading, &mut dyn FnMut() -> RequestId)) {
        let next = &mut self.next;
        make(&mut self.leading, &mut || {
            *next += 1;
            RequestId(*next)
        });
        self.take();
    }

    fn admin(&mut self, id: u64, call: MetaCall) {
        self.call(|leading, draw| leading.admin(CallId(id), call, draw));
    }

    fn tick(&mut self, monotonic_ms: u64) {
        let state = self.state.clone();
        self.call(|leading, draw| {
            leading.tick(&state, Duration::from_secs(1), now(monotonic_ms), draw);
        });
    }

    fn take(&mut self) {
        for out in self.leading.take() {
            let id = match out {
                Out::Ask(ask) => {
                    self.asked.push(ask);
                    continue;
                }
                Out::Admin(id, told) => {
                    self.answers.insert(id, told);
                    id
                }
                Out::Register(id, told) => {
                    self.numbers.insert(id, told);
                    id
                }
                Out::Report(id, told) => {
                    self.directives.insert(id, told);
                    id
                }
            };
            assert!(self.told.insert(id), "{id:?} was told twice");
        }
    }

    /// Does one thing that consensus was asked for; false if there is none.
    fn step(&mut self, monotonic_ms: u64) -> bool {
        if self.asked.is_empty() {
            return false;
        }
        match self.asked.remove(0) {
            Ask::Read { request, .. } => {
                let state = self.state.clone();
                self.call(|leading, draw| {
                    leading.cleared(request, &state, now(monotonic_ms), draw);
                });
            }
            Ask::Command { request, bytes, .. } => {
                let applied = self.state.apply(&bytes).unwrap();
                let reply = Reply::Done(Answer::Meta(applied.answer));
                self.reply(request, &reply, monotonic_ms);
            }
            other => panic!("{other:?}"),
        }
        true
    }

    fn reply(&mut self, request: RequestId, reply: &Reply, monotonic_ms: u64) {
        let state = self.state.clone();
        assert!(
            self.leading
                .replied(request, reply, &state, now(monotonic_ms))
        );
        self.take();
    }

    fn settle(&mut self, monotonic_ms: u64) {
        while self.step(monotonic_ms) {}
    }

    /// The node reports what it has, and makes what it is told.
    fn report(&mut self, id: u64) {
        let member = |&(group, replica): &(GroupId, ReplicaId)| ReplicaReport {
            stall: None,
            leaderless: None,
            group,
            replica,
            role: Role::Leader,
            term: 2,
            applied: 5,
            bytes: 0,
            damage: None,
            configuration: Some(Configuration::first(1, &[(replica, HERE)])),
        };
        let meta = (META, ReplicaId(1));
        let report = Report {
            cluster: ClusterId(77),
            node: HERE,
            incarnation: 1,
            addresses: addresses(34_000),
            label: String::new(),
            tables_revision: 0,
            nodes_revision: 0,
            space_total_bytes: 1 << 30,
            space_free_bytes: 1 << 29,
            replicas: self.made.iter().chain([&meta]).map(member).collect(),
            lost: Vec::new(),
            asks: self.asks,
            unix_ms: now(0).unix_ms() + self.ahead_ms,
        };
        let state = self.state.clone();
        self.call(|leading, draw| leading.report(CallId(id), &report, (&state, now(0)), draw));
        let Some(Ok(bytes)) = self.directives.get(&CallId(id)) else {
            return;
        };
        for directive in decode_directives(bytes).unwrap() {
            if let Directive::Create { group, replica, .. } = directive {
                self.made.push((group, replica));
            }
        }
    }
}

fn create(name: &str) -> MetaCall {
    MetaCall::CreateTable(CreateTableRequest {
        app_name: name.to_owned(),
        options: CreateTableOptions {
            partition_count: 4,
            replica_count: 1,
            app_type: "pegasus".to_owned(),
            is_stateful: true,
            ..CreateTableOptions::default()
        },
    })
}

fn list() -> MetaCall {
    MetaCall::ListTables(ListTablesRequest::default())
}

fn created(bench: &Bench, id: u64) -> (ErrorName, i32) {
    match bench.answers.get(&CallId(id)) {
        Some(Ok(MetaAnswer::CreateTable(answer))) => (answer.err.clone(), answer.appid),
        other => panic!("{other:?}"),
    }
}

#[test]
fn who_founds_a_cluster_begins_it_once() {
    let mut bench = Bench::new();
    bench.tick(0);
    assert!(bench.asked.is_empty(), "it does not lead yet");
    bench.leading.lead(Some(HERE), true);
    bench.tick(1000);
    bench.tick(2000);
    assert!(
        matches!(bench.asked[..], [Ask::Read { .. }]),
        "first it looks"
    );
    assert!(bench.step(2000), "it is cleared");
    bench.tick(2500);
    bench.tick(2600);
    assert!(
        matches!(bench.asked[..], [Ask::Command { .. }]),
        "one is on its way"
    );
    bench.settle(2600);
    assert_eq!(bench.state.cluster.as_ref().unwrap().id, ClusterId(77));
    bench.tick(3000);
    let begins = |ask: &Ask| {
        matches!(ask, Ask::Command { bytes, .. }
        if matches!(Command::decode(bytes).unwrap().deed, Deed::Begin { .. }))
    };
    assert!(!bench.asked.iter().any(begins));
}

#[test]
fn who_begins_to_lead_looks_with_the_first_report() {
    let mut bench = Bench::begun();
    bench.leading.lead(None, false);
    bench.leading.lead(Some(HERE), true);
    bench.asked.clear();
    bench.report(1);
    assert!(
        matches!(bench.asked[..], [Ask::Read { .. }]),
        "before any tick"
    );
    bench.report(2);
    assert_eq!(bench.asked.len(), 1, "once is enough");
    assert!(bench.step(6000));
    bench.report(3);
    assert_eq!(bench.asked.len(), 0, "it knows");
}

#[test]
fn who_has_not_looked_yet_tells_nobody_anything() {
    // The state here is empty: it may be that nothing was read of it yet.
    let mut bench = Bench::begun();
    let state = std::mem::take(&mut bench.state);
    bench.leading.lead(None, false);
    bench.leading.lead(Some(HERE), true);
    bench.report(1);
    assert!(matches!(&bench.directives[&CallId(1)], Ok(bytes)
        if decode_directives(bytes).unwrap().is_empty()));
    bench.state = state;
    bench.tick(9000);
    bench.settle(9000);
    bench.report(8);
    bench.made.clear();
    bench.admin(2, create("ships"));
    bench.settle(9500);
    bench.report(3);
    assert_eq!(bench.made.len(), 4);
}

#[test]
fn who_creates_a_table_hears_of_it_when_every_partition_has_a_leader() {
    let mut bench = Bench::begun();
    bench.admin(1, create("ships"));
    bench.settle(5000);
    assert!(!bench.told.contains(&CallId(1)), "nobody has made anything");
    bench.report(2000);
    assert_eq!(bench.made.len(), 4);
    bench.report(2001);
    for second in 6..10 {
        bench.tick(1000 * second);
        bench.settle(1000 * second);
    }
    assert_eq!(created(&bench, 1), (ErrorName::OK, 1));
    let query = QueryConfigRequest {
        app_name: "ships".to_owned(),
        partition_indices: Vec::new(),
    };
    bench.admin(2, MetaCall::QueryConfig(query));
    bench.settle(10_000);
    let Some(Ok(MetaAnswer::QueryConfig(answer))) = bench.answers.get(&CallId(2)) else {
        panic!("{:?}", bench.answers.get(&CallId(2)));
    };
    assert_eq!((&answer.err, answer.partitions.len()), (&ErrorName::OK, 4));
}

#[test]
fn who_creates_a_table_that_is_placed_anew_is_told_its_last_number() {
    let mut bench = Bench::begun();
    bench.admin(1, create("ships"));
    bench.settle(5000);
    let deed = Deed::MakeAnew {
        table: crate::meta::ids::TableId(1),
        candidates: vec![HERE],
    };
    let unix_ms = now(5000).unix_ms();
    bench.state.apply_command(&Command { unix_ms, deed });
    bench.tick(5500);
    assert!(!bench.told.contains(&CallId(1)), "it is being made");
    bench.report(2000);
    bench.report(2001);
    for second in 6..10 {
        bench.tick(1000 * second);
        bench.settle(1000 * second);
    }
    assert_eq!(created(&bench, 1), (ErrorName::OK, 2));
}

#[test]
fn who_creates_a_table_does_not_wait_for_ever() {
    let mut bench = Bench::begun();
    bench.admin(1, create("ships"));
    bench.settle(5000);
    bench.tick(5000 + 9999);
    assert!(!bench.told.contains(&CallId(1)));
    bench.tick(5000 + 10_000);
    created(&bench, 1);
}

#[test]
fn who_does_not_lead_says_who_does() {
    let mut bench = Bench::begun();
    bench.leading.lead(Some(NodeId(4)), false);
    bench.admin(1, list());
    bench.call(|leading, draw| leading.register(CallId(2), node(9), draw));
    bench.report(3);
    let other = Untold::NotLeader(Some(NodeId(4)));
    assert_eq!(bench.answers.get(&CallId(1)), Some(&Err(other)));
    assert_eq!(bench.numbers.get(&CallId(2)), Some(&Err(other)));
    assert_eq!(bench.directives.get(&CallId(3)), Some(&Err(other)));
    bench.tick(9000);
    assert!(bench.asked.is_empty(), "it proposes nothing either");
}

#[test]
fn a_call_that_was_looked_up_by_a_deposed_leader_is_not_answered_from_its_state() {
    let mut bench = Bench::begun();
    bench.admin(1, list());
    bench.leading.lead(Some(NodeId(4)), false);
    bench.settle(6000);
    let other = Untold::NotLeader(Some(NodeId(4)));
    assert_eq!(bench.answers.get(&CallId(1)), Some(&Err(other)));
}

#[test]
fn a_creator_that_waits_is_answered_by_a_node_that_leads_no_more() {
    let mut bench = Bench::begun();
    bench.admin(1, create("ships"));
    bench.settle(5000);
    bench.leading.lead(None, false);
    bench.tick(6000);
    assert!(
        !bench.told.contains(&CallId(1)),
        "the next leader opens the table"
    );
    bench.tick(15_000);
    assert_eq!(created(&bench, 1), (ErrorName::OK, 1));
}

#[test]
fn a_node_gets_one_number_however_often_it_asks() {
    let mut bench = Bench::begun();
    for id in 1..=2 {
        bench.call(|leading, draw| leading.register(CallId(id), node(9), draw));
        bench.settle(6000);
        assert_eq!(bench.numbers.get(&CallId(id)), Some(&Ok(Ok(NodeId(2)))));
    }
}

#[test]
fn beyond_the_bound_callers_are_told_that_it_is_busy() {
    let mut bench = Bench::begun();
    for id in 0..CALLS_MAX as u64 + 3 {
        bench.admin(id, list());
    }
    assert_eq!(bench.told.iter().filter(|id| id.0 < 2000).count(), 3);
    bench.settle(7000);
    assert!((0..CALLS_MAX as u64 + 3).all(|id| bench.told.contains(&CallId(id))));
}

#[test]
fn whatever_happens_each_call_is_told_once() {
    for seed in 0..200 {
        let mut dice = Random::new(seed);
        let mut bench = Bench::begun();
        let (mut calls, mut at) = (10_000, 10_000);
        for _ in 0..200 {
            at += dice.below(700);
            match dice.below(9) {
                0 => bench.leading.lead(Some(HERE), true),
                1 => bench.leading.lead(None, false),
                2 => bench.tick(at),
                3 => {
                    calls += 1;
                    bench.report(calls);
                }
                4 | 5 => {
                    calls += 1;
                    let name = format!("t{}", dice.below(9));
                    bench.admin(
                        calls,
                        if dice.one_in(2) {
                            create(&name)
                        } else {
                            list()
                        },
                    );
                }
                6 => {
                    // Consensus gives something up, or cannot say.
                    let request = match bench.asked.pop() {
                        Some(Ask::Read { request, .. } | Ask::Command { request, .. }) => request,
                        _ => continue,
                    };
                    let replies = [
                        Reply::Unknown,
                        Reply::Undone,
                        Reply::Busy,
                        Reply::NotLeader(None),
                    ];
                    let reply = &replies[dice.below(4) as usize];
                    bench.reply(request, reply, at);
                }
                _ => {
                    let _is_done = bench.step(at);
                }
            }
            bench.take();
        }
        bench.settle(at);
        bench.leading.lead(None, false);
        bench.tick(at + 10_000);
        let told = (10_001..=calls).all(|id| bench.told.contains(&CallId(id)));
        assert!(told, "seed {seed}");
        assert!(bench.leading.waits.is_empty() && bench.leading.due.is_empty());
    }
}

/// The directives that a call was answered with.
fn directives_of(bench: &Bench, id: u64) -> Vec<Directive> {
    match bench.directives.get(&CallId(id)) {
        Some(Ok(bytes)) => decode_directives(bytes).unwrap(),
        other => panic!("{other:?}"),
    }
}

fn is_free(directive: &Directive) -> bool {
    matches!(directive, Directive::Free { .. })
}

#[test]
fn a_node_is_freed_by_a_read_that_was_begun_after_it_asked() {
    let mut bench = Bench::begun();
    bench.asks = 5;
    bench.report(1);
    assert!(!bench.told.contains(&CallId(1)), "it looks first");
    assert!(bench.step(6000));
    let held = Vec::new();
    let free = Directive::Free { asked: 5, held };
    assert!(directives_of(&bench, 1).contains(&free));
    // What was proposed by then may come behind the read, and be of a replica there.
    let call = Call::Admin(MetaCall::RecoverTable(Default::default()));
    let request = RequestId(1 << 40);
    bench.report(2);
    bench
        .leading
        .waits
        .insert(request, Wait::Entry(CallId(9), call));
    assert!(bench.step(6000));
    assert!(!directives_of(&bench, 2).iter().any(is_free));
    bench.reply(request, &Reply::Undone, 6000);
    bench.report(3);
    assert!(bench.step(6000));
    assert!(directives_of(&bench, 3).contains(&free));
}

#[test]
fn who_was_deposed_meanwhile_frees_nobody() {
    let mut bench = Bench::begun();
    bench.asks = 5;
    bench.report(1);
    bench.leading.lead(Some(NodeId(4)), false);
    assert!(bench.step(6000));
    let other = Untold::NotLeader(Some(NodeId(4)));
    assert_eq!(bench.directives.get(&CallId(1)), Some(&Err(other)));
    // It leads again, and has heard nobody in that reign.
    let mut bench = Bench::begun();
    bench.asks = 5;
    bench.report(1);
    bench.leading.lead(None, false);
    bench.leading.lead(Some(HERE), true);
    assert!(bench.step(6000));
    assert_eq!(directives_of(&bench, 1), []);
    // The read comes to nothing.
    let mut bench = Bench::begun();
    bench.asks = 5;
    bench.report(1);
    let Some(Ask::Read { request, .. }) = bench.asked.pop() else {
        panic!("it looks first");
    };
    bench.reply(request, &Reply::Busy, 6000);
    // Who asks must not believe that a leader has answered.
    let here = Untold::NotLeader(Some(HERE));
    assert_eq!(bench.directives.get(&CallId(1)), Some(&Err(here)));
}

#[test]
fn clocks_are_held_against_the_one_that_hears_them() {
    let mut bench = Bench::begun();
    let mut said = Vec::new();
    for (number, ahead_ms) in [(1, 0), (20, 60_000), (40, 0)] {
        bench.ahead_ms = ahead_ms;
        for second in number..number + 10 {
            bench.report(second);
            bench.tick(10_000 + 1000 * second);
            bench.settle(10_000 + 1000 * second);
            said.extend(bench.leading.notices(&bench.state));
        }
        let count = usize::from(ahead_ms > 0);
        assert_eq!(bench.leading.clocks_apart(&bench.state), count);
    }
    let words = [
        "the clock of node 1 is 60 s ahead",
        "is near that of node 1 again",
    ];
    assert_eq!(said.len(), words.len(), "{said:?}");
    assert!(
        said.iter()
            .zip(words)
            .all(|(line, words)| line.1.contains(words)),
        "{said:?}"
    );
}

/// The epoch of a meta service that went on there.
fn went_on(node: NodeId) -> Epoch {
    Epoch {
        number: 1,
        drawn: 2,
        base: ReplicaId(1),
        node,
        last: ReplicaId(4097),
    }
}

#[test]
fn a_meta_service_that_went_on_alone_tells_nobody_anything_before_its_state_says_so() {
    let mut bench = Bench::begun();
    bench.asks = 3;
    let epoch = went_on(HERE);
    bench.leading.go_on(epoch, true);
    bench.report(1);
    bench.admin(2, create("temp"));
    bench.call(|leading, draw| leading.register(CallId(3), node(9), draw));
    // Reads are cleared, and there is nothing that may be told by what they see.
    for _ in 0..4 {
        bench.step(6000);
    }
    let nothing = Ok(encode_directives(&[]));
    assert_eq!(bench.directives[&CallId(1)], nothing);
    let early = ErrorName::Known(ErrorCode::ServiceNotActive);
    assert_eq!(created(&bench, 2).0, early);
    let early = Ok(Err(ErrorCode::ServiceNotActive));
    assert_eq!(bench.numbers[&CallId(3)], early);
    bench.tick(7000);
    bench.settle(7000);
    assert_eq!(bench.state.epoch(), epoch);
    bench.report(4);
    bench.settle(7500);
    let told = directives_of(&bench, 4);
    assert!(
        told.iter()
            .any(|one| matches!(one, Directive::Nodes { .. })),
        "{told:?}"
    );
    bench.admin(5, create("temp"));
    bench.settle(8000);
    assert_eq!(bench.state.tables.len(), 1);
}

#[test]
fn a_meta_service_that_another_one_takes_the_place_of_says_nothing_in_its_name() {
    // Its replica leads still, and the one that went on is elsewhere: it is mute, and stays so.
    let mut bench = Bench::begun();
    bench.asks = 3;
    let epoch = went_on(NodeId(HERE.0 + 1));
    bench.leading.go_on(epoch, false);
    bench.report(1);
    for _ in 0..4 {
        bench.step(6000);
    }
    bench.tick(7000);
    bench.settle(7000);
    assert_eq!(bench.state.epoch(), Epoch::default());
    let nothing = Ok(encode_directives(&[]));
    assert_eq!(bench.directives[&CallId(1)], nothing);
}
