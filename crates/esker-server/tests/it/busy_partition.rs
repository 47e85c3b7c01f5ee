//! A partition whose compactions are behind waits by itself: the others of its node go on.

use esker::internals::env::random::Random;
use esker::internals::env::sim::SimWorld;
use esker_raft::{GroupId, Member, NodeId, ReplicaId};
use esker_rpc::codec::scalars::Blob;
use esker_rpc::message::data::{KeyCall, UpdateRequest};
use esker_server::node::keyspace_name::group_of;
use esker_server::node::{Create, NodeOptions, Reply, RequestId, Stages, open};

use crate::partition_model::raw;
use crate::requests::write;
use crate::sole_node::{DIR, new_world, now};

/// Rows of the busy one before anything waits.
const PILE: u64 = 320;

/// Seconds after which everything has been answered.
const SOON_S: u64 = 400;

/// Writes that wait, after which the others are looked at.
const WAITING: usize = 40;

struct Busy {
    world: SimWorld,
    stages: Stages,
    number: u64,
}

impl Busy {
    fn new() -> Busy {
        let world = new_world(21);
        let options = NodeOptions::default();
        let (mut stages, _) = open(&world.env(), std::path::Path::new(DIR), options).unwrap();
        for table in [1, 2] {
            let member = Member {
                group: group_of(table, 0),
                replica: ReplicaId(u64::from(table)),
            };
            let first = vec![(member.replica, NodeId(1))];
            stages.create(Create { member, first }, now(1)).unwrap();
        }
        let mut busy = Busy {
            world,
            stages,
            number: 0,
        };
        (0..40).for_each(|_| drop(busy.turn(true)));
        busy
    }

    fn turn(&mut self, is_tick: bool) -> Vec<(RequestId, Reply)> {
        let time = now(10 + self.number);
        let mut replies = self.stages.turn(time, is_tick).replies;
        self.stages.write_log(time).unwrap();
        replies.extend(self.stages.apply(time, 100).unwrap());
        replies
    }

    // A row of two KiB, and what is answered meanwhile.
    fn put(&mut self, group: GroupId) -> (RequestId, Vec<(RequestId, Reply)>) {
        self.number += 1;
        let request = RequestId(self.number);
        let key = raw(b"harbour", format!("{:06}", self.number % 50).as_bytes());
        let mut dice = Random::new(self.number);
        let noise = (0..256).flat_map(|_| dice.next_u64().to_le_bytes());
        let call = KeyCall::Put(UpdateRequest {
            key: Blob::from(key),
            value: Blob::from(noise.collect::<Vec<u8>>()),
            ..UpdateRequest::default()
        });
        let time = now(10 + self.number);
        self.stages
            .consensus
            .ask(write(request, group, &call), time);
        let replies = [false, false, true].map(|is_tick| self.turn(is_tick));
        (request, replies.concat())
    }
}

fn is_done(replies: &[(RequestId, Reply)], request: RequestId) -> bool {
    let mut replies = replies.iter();
    replies.any(|row| row.0 == request && matches!(row.1, Reply::Done(_)))
}

#[test]
fn a_partition_in_debt_holds_up_no_other() {
    let mut it = Busy::new();
    let (busy, calm) = (group_of(1, 0), group_of(2, 0));
    let view = it.stages.replicas.view(busy).unwrap();
    let set = |name: &str, text: &str| view.keyspace.set(name, text).unwrap();
    set("sst.file_size", "64KiB");
    set("compaction.base_level", "64KiB");
    // Files pile up, as where the threads cannot keep up, and nothing is merged.
    set("compaction.automatic", "false");
    for round in 0..PILE {
        let (request, replies) = it.put(busy);
        assert!(is_done(&replies, request), "{replies:?}");
        if round % 8 == 0 {
            view.keyspace.flush_soon().unwrap();
            it.world.pool.run_all();
        }
    }
    set("compaction.automatic", "true");
    it.stages.db.set("compaction.rate_limit", "1GiB").unwrap();
    let mut waiting = Vec::new();
    for _ in 0..2 * WAITING {
        let (request, replies) = it.put(busy);
        if !is_done(&replies, request) {
            waiting.push(request);
        }
    }
    assert!(waiting.len() >= WAITING, "{waiting:?}");
    assert_eq!(it.stages.applying.parked_count(), 1);
    // Each write of the other one is answered at once, though many of the busy one wait.
    for _ in 0..30 {
        let (request, replies) = it.put(calm);
        assert!(is_done(&replies, request), "{replies:?}");
        let late = replies.iter().filter(|row| waiting.contains(&row.0));
        assert_eq!(late.count(), 0, "it is in debt still");
    }
    // Nobody is told that a disk is full: it is slow, and goes on.
    let view = it.stages.replicas.view(busy).unwrap();
    assert_eq!(view.stall(), None);
    let mut answered = 0;
    for _ in 0..SOON_S {
        it.world.pool.run_all();
        it.world.clock.advance(std::time::Duration::from_secs(1));
        let replies = it.turn(true);
        answered += waiting
            .iter()
            .filter(|one| is_done(&replies, **one))
            .count();
    }
    assert_eq!(answered, waiting.len());
}
