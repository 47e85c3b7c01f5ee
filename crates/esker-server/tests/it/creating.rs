//! A replica that was noted and could not be made, as on a full disk, and who comes after it.

use std::collections::BTreeSet;

use esker::internals::env::sim::SimWorld;
use esker_raft::{Member, NodeId, ReplicaId};
use esker_server::node::keyspace_name::group_of;
use esker_server::node::switch::{State, Switch};
use esker_server::node::{Ask, Create, NodeEvent, Stages, Work};

use crate::sole_node::{new_world, now, open_node};

fn member(replica: u64) -> Member {
    Member {
        group: group_of(7, 0),
        replica: ReplicaId(replica),
    }
}

fn create(replica: u64) -> Create {
    Create {
        member: member(replica),
        first: vec![(ReplicaId(replica), NodeId(1))],
    }
}

// A node with the record of a replica of which there is nothing else: consensus never heard of it.
fn node_with_a_note(world: &SimWorld) -> Stages {
    let (stages, _) = open_node(&world.env()).unwrap();
    let Create { member, first } = create(1);
    let state = State::Beginning;
    let noted = Switch {
        member,
        state,
        first,
    };
    stages.applying.own_rows().set(&noted).unwrap();
    stages
}

fn takes_part(stages: &mut Stages, member: Member) -> bool {
    for tick in 10..30 {
        stages.turn(now(tick), true);
        stages.write_log(now(tick)).unwrap();
        stages.apply(now(tick), 100).unwrap();
    }
    let status = stages.consensus.status(member.group);
    status.is_some_and(|status| status.replica == member.replica && status.leader.is_some())
}

#[test]
fn a_replica_that_was_noted_alone_gives_way_to_its_successor() {
    let world = new_world(11);
    let mut stages = node_with_a_note(&world);
    stages.create(create(2), now(2)).unwrap();
    assert!(takes_part(&mut stages, member(2)));
    // Who was passed over is none any more, though it be said late.
    assert!(stages.create(create(1), now(40)).is_err());
    drop(stages);
    let world = world.after_kill();
    let (mut stages, found) = open_node(&world.env()).unwrap();
    assert_eq!(found.running, [member(2)]);
    assert!(found.damaged.is_empty(), "{:?}", found.damaged);
    stages.consensus.ask(Ask::Free(BTreeSet::new()), now(50));
    assert!(takes_part(&mut stages, member(2)));
}

#[test]
fn a_replica_that_was_noted_alone_is_made_when_it_is_asked_for_again() {
    let world = new_world(13);
    let mut stages = node_with_a_note(&world);
    stages.create(create(1), now(2)).unwrap();
    assert!(takes_part(&mut stages, member(1)));
    assert!(stages.create(create(2), now(40)).is_err());
}

#[test]
fn a_replica_that_lost_something_gives_way_to_nobody() {
    // It is retired, or is to be: what is kept of it is somebody's to give up.
    let world = new_world(14);
    let (mut stages, _) = open_node(&world.env()).unwrap();
    stages.create(create(1), now(1)).unwrap();
    assert!(takes_part(&mut stages, member(1)));
    let why = "its rows cannot be read".to_owned();
    stages.applying.take(Work::Retire(member(1), why));
    stages.consensus.ask(Ask::Retired(member(1)), now(40));
    assert!(stages.create(create(2), now(40)).is_err());
}

#[test]
fn a_replica_that_is_being_destroyed_is_not_begun_again() {
    // Meta may wish it still, and sees that it is not there; the raft log has no word of it yet.
    let world = new_world(15);
    let (mut stages, _) = open_node(&world.env()).unwrap();
    stages.create(create(1), now(1)).unwrap();
    assert!(takes_part(&mut stages, member(1)));
    stages.purge(member(1), now(40)).unwrap();
    let refused = stages.create(create(1), now(40)).unwrap_err().to_string();
    assert!(refused.contains("is being destroyed here"), "{refused}");
    for tick in 41..50 {
        let events = stages.turn(now(tick), true).events;
        let damaged = events
            .iter()
            .find(|it| matches!(it, NodeEvent::Damaged(..)));
        assert_eq!(damaged, None);
        stages.write_log(now(tick)).unwrap();
        stages.apply(now(tick), 100).unwrap();
    }
    assert!(stages.create(create(1), now(60)).is_err());
    stages.create(create(2), now(61)).unwrap();
    assert!(takes_part(&mut stages, member(2)));
}

#[test]
fn a_replica_that_is_here_gives_way_to_nobody() {
    let world = new_world(12);
    let (mut stages, _) = open_node(&world.env()).unwrap();
    stages.create(create(1), now(1)).unwrap();
    // Consensus has not heard of it yet, or has.
    assert!(stages.create(create(2), now(2)).is_err());
    assert!(takes_part(&mut stages, member(1)));
    assert!(stages.create(create(2), now(40)).is_err());
    assert!(takes_part(&mut stages, member(1)));
}
