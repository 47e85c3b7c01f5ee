//! One group on three nodes: consensus, raft log and engine together, through power cuts.

use std::collections::{BTreeMap, BTreeSet};

use esker::internals::env::random::Random;
use esker::internals::env::sim::CrashMode;
use esker_raft::{NodeId, Token};
use esker_rpc::codec::frame::RequestHead;
use esker_rpc::codec::request_reader::RequestReader;
use esker_rpc::codec::scalars::Blob;
use esker_rpc::error::Status;
use esker_rpc::message::data::{IncrRequest, KeyAnswer, KeyCall, UpdateRequest};
use esker_rpc::value::StoredValue;
use esker_server::partition::command::{CommandWriter, Stamp};

use crate::group_node::{Net, Node, Planted, Told};
use crate::partition_model::raw;

/// What clients did.
#[derive(Default)]
struct Clients {
    next: u64,
    /// What each proposal wrote: the row of its own.
    asked: BTreeMap<u64, Vec<u8>>,
    acknowledged: Vec<u64>,
    undone: Vec<u64>,
    /// The sums that were told of the counter. A leader that was cut off may tell of its own late.
    counted: BTreeSet<i64>,
}

fn counter() -> Vec<u8> {
    raw(b"harbour", b"ships")
}

impl Clients {
    // A write of a row of its own, and one more ship.
    fn propose(&mut self, node: &mut Node, now: u64) {
        self.next += 1;
        let (token, row) = (
            self.next,
            raw(b"harbour", format!("{:06}", self.next).as_bytes()),
        );
        let put = KeyCall::Put(UpdateRequest {
            key: Blob(row.clone()),
            value: Blob::of(b"in port"),
            ..UpdateRequest::default()
        });
        let incr = KeyCall::Incr(IncrRequest {
            key: Blob(counter()),
            increment: 1,
            expire_ts_seconds: 0,
        });
        let stamp = Stamp {
            unix_us: 1_700_000_000_000_000 + now,
            default_ttl_s: 0,
            cluster: 1,
        };
        let mut writer = CommandWriter::new(stamp);
        for call in [put, incr] {
            let mut reader = RequestReader::new(1 << 20);
            call.put(reader.buffer(), &RequestHead::default(), 1);
            let request = reader.next().unwrap().unwrap();
            writer.push(&request.name, &request.arguments.unwrap());
        }
        if node.propose(Token(token), writer.finish()) {
            self.asked.insert(token, row);
        }
    }

    fn hear(&mut self, told: Vec<(Token, Told)>) {
        for (token, told) in told {
            match told {
                Told::Answers(answers) => {
                    let [KeyAnswer::Put(put), KeyAnswer::Incr(incr)] = &answers[..] else {
                        panic!("{answers:?}");
                    };
                    assert_eq!((put.error, incr.error), (Status::OK, Status::OK));
                    assert!(self.counted.insert(incr.new_value), "told twice");
                    self.acknowledged.push(token.0);
                }
                Told::Undone => self.undone.push(token.0),
                Told::Unknown => {}
            }
        }
    }
}

/// A run of a cluster; panics where something is wrong.
fn run(seed: u64, planted: Planted) {
    let mut dice = Random::new(seed);
    let mut nodes: Vec<Node> = (1..=3).map(|id| Node::new(id, seed, planted)).collect();
    let (mut net, mut clients) = (Net::default(), Clients::default());
    let mut cut: Vec<NodeId> = Vec::new();
    let end = 700;
    for now in 0..end + 600 {
        let is_calm = now >= end;
        if is_calm {
            cut.clear();
            nodes
                .iter_mut()
                .filter(|node| !node.is_up())
                .for_each(Node::boot);
        } else {
            disturb(&mut nodes, &mut cut, &mut dice);
        }
        for (to, frame) in net.arrived(now, &cut) {
            let node = nodes.iter_mut().find(|node| node.id == to);
            node.unwrap().receive(&frame);
        }
        let unneeded = nodes.iter().map(|node| node.flushed).min();
        for node in &mut nodes {
            if node.leader() == Some(node.replica) && now < end + 300 && dice.one_in(3) {
                clients.propose(node, now);
            }
            let frames = node.step(!dice.one_in(8), unneeded.unwrap_or(0), &mut dice);
            net.send(node.id, frames, now, &mut dice);
            clients.hear(std::mem::take(&mut node.told));
        }
    }
    check(&nodes, &clients, seed);
}

// A node goes down, comes up, is cut off or joined again; in the end sometimes all go down at once.
fn disturb(nodes: &mut [Node], cut: &mut Vec<NodeId>, dice: &mut Random) {
    let mode = CrashMode::ALL[dice.below(5) as usize];
    if dice.one_in(250) {
        for node in nodes.iter_mut().filter(|node| node.is_up()) {
            node.crash(mode, dice.next_u64());
        }
    }
    for node in nodes {
        match (node.is_up(), dice.below(120)) {
            (true, 0) => node.crash(mode, dice.next_u64()),
            (false, 1..=6) => node.boot(),
            (_, 7) => cut.push(node.id),
            (_, 8..=14) => cut.retain(|id| *id != node.id),
            _ => {}
        }
    }
}

fn check(nodes: &[Node], clients: &Clients, seed: u64) {
    let applied: Vec<u64> = nodes.iter().map(Node::applied).collect();
    assert!(
        applied.iter().all(|it| *it == applied[0]),
        "seed {seed}: not whole: {applied:?}"
    );
    let rows = nodes[0].rows();
    for node in &nodes[1..] {
        assert!(node.rows() == rows, "seed {seed}: replicas differ");
    }
    let rows: BTreeMap<_, _> = rows.into_iter().collect();
    for token in &clients.acknowledged {
        let row = &clients.asked[token];
        assert!(
            rows.contains_key(row),
            "seed {seed}: {token} was acknowledged and is lost"
        );
    }
    for token in &clients.undone {
        let row = &clients.asked[token];
        assert!(
            !rows.contains_key(row),
            "seed {seed}: {token} was told undone and is there"
        );
    }
    let count = StoredValue::read(&rows[&counter()]).unwrap();
    let count: i64 = str::from_utf8(count.user).unwrap().parse().unwrap();
    assert_eq!(
        count,
        rows.len() as i64 - 1,
        "seed {seed}: each row was counted once"
    );
    assert!(
        clients.acknowledged.len() > 20,
        "seed {seed}: {}",
        clients.acknowledged.len()
    );
}

#[test]
fn a_group_loses_nothing_acknowledged_and_its_replicas_stay_equal() {
    for seed in 0..25 {
        run(seed, Planted::Nothing);
    }
}

#[test]
fn each_planted_mistake_is_found() {
    let all = [
        Planted::DurableTooEarly,
        Planted::MarkAhead,
        Planted::CompactsTooFar,
    ];
    for planted in all {
        let is_found = (0..60).any(|seed| {
            let run = std::panic::AssertUnwindSafe(|| run(seed, planted));
            std::panic::catch_unwind(run).is_err()
        });
        assert!(is_found, "{planted:?}");
    }
}

#[test]
#[ignore = "minutes: for make soak"]
fn soak_a_group_through_many_power_cuts() {
    for seed in 1000..4000 {
        run(seed, Planted::Nothing);
    }
}
