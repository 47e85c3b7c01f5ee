//! The meta group on the stages of one node: what it knows is there again after a restart.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use esker::internals::env::sim::SimWorld;
use esker_raft::{Member, NodeId, ReplicaId};
use esker_server::meta::command::{Command, Deed, NewNode};
use esker_server::meta::ids::{ClusterId, META};
use esker_server::meta::outcome::Outcome;
use esker_server::meta::rows::{Addresses, Level};
use esker_server::meta::state::State;
use esker_server::node::{
    Answer, Ask, Create, NodeOptions, Now, Reply, RequestId, Stages, identity, open,
};

const DIR: &str = "/node";

fn now(step: u64) -> Now {
    Now {
        monotonic: Duration::from_millis(step * 100),
        unix_us: 1_700_000_000_000_000 + step * 100_000,
    }
}

fn begin() -> Deed {
    let address = "127.0.0.1:1".parse().unwrap();
    Deed::Begin {
        cluster: ClusterId(7),
        name: "harbour".to_owned(),
        node: NewNode {
            nonce: 9,
            addresses: Addresses {
                client: address,
                meta: Some(address),
                peer: "127.0.0.1:2".parse().unwrap(),
            },
            label: String::new(),
        },
    }
}

// Turns with a tick in each, everything done at once; the replies.
fn live(stages: &mut Stages, world: &SimWorld, steps: std::ops::Range<u64>) -> Vec<Reply> {
    let mut replies = Vec::new();
    for step in steps {
        for is_tick in [true, false, false] {
            replies.extend(stages.turn(now(step), is_tick).replies);
            stages.write_log(now(step)).unwrap();
            replies.extend(stages.apply(now(step), 100).unwrap());
        }
        world.pool.run_all();
    }
    replies.into_iter().map(|row| row.1).collect()
}

fn propose(stages: &mut Stages, request: u64, deed: Deed) {
    let unix_ms = 1_700_000_000_000;
    let ask = Ask::Command {
        request: RequestId(request),
        group: META,
        bytes: Command { unix_ms, deed }.encode(),
    };
    stages.consensus.ask(ask, now(40));
}

fn known(stages: &Stages) -> Arc<State> {
    stages.replicas.view(META).unwrap().meta().unwrap()
}

#[test]
fn what_the_meta_group_knows_is_there_again() {
    let world = SimWorld::new(5);
    let env = world.env();
    identity::create(&env, Path::new(DIR), 7, NodeId(1)).unwrap();
    let (mut stages, _) = open(&env, Path::new(DIR), NodeOptions::default()).unwrap();
    let replica = ReplicaId(1);
    let member = Member {
        group: META,
        replica,
    };
    let first = vec![(replica, NodeId(1))];
    stages.create(Create { member, first }, now(0)).unwrap();
    assert_eq!(*known(&stages), State::default());
    live(&mut stages, &world, 0..40);
    propose(&mut stages, 1, begin());
    propose(&mut stages, 2, begin());
    propose(
        &mut stages,
        3,
        Deed::SetLevel {
            level: Level::Lively,
        },
    );
    let replies = live(&mut stages, &world, 40..45);
    let outcomes: Vec<Outcome> = replies
        .into_iter()
        .map(|reply| match reply {
            Reply::Done(Answer::Meta(bytes)) => Outcome::decode(&bytes).unwrap(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(outcomes[0], Outcome::Node { node: NodeId(1) });
    assert!(
        matches!(outcomes[1], Outcome::Refused { .. }),
        "it has begun already"
    );
    assert_eq!(
        outcomes[2],
        Outcome::Level {
            before: Level::Lively
        }
    );
    let before = known(&stages);
    assert_eq!(before.cluster.as_ref().unwrap().level, Level::Lively);
    // Of what is flushed, and of what only the raft log has.
    for is_flushed in [false, true] {
        if is_flushed {
            let view = stages.replicas.view(META).unwrap();
            view.keyspace.flush_soon().unwrap();
            world.pool.run_all();
        }
        stages.db.close().unwrap();
        drop(stages);
        stages = open(&env, Path::new(DIR), NodeOptions::default())
            .unwrap()
            .0;
        live(&mut stages, &world, 50..90);
        assert_eq!(known(&stages), before);
    }
}
