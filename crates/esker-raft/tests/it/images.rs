//! Images: asked for, offered to those they are of use to, and no more than one each.

use bytes::Bytes;
use esker_raft::{Change, ChangeStep, Event, Keep, NodeId, Options, ReplicaId, Start, Token};

use crate::rig::{GROUP, Rig, member};

fn write(rig: &mut Rig, leader: u64, text: &'static str) {
    let payload = Bytes::from_static(text.as_bytes());
    let taken = rig.at(leader).shard.propose(GROUP, Token(1), payload);
    taken.expect("it leads");
    rig.turns(4, false);
}

// Lets `node` compact all that it may. Returns up to where it did.
fn compacted(rig: &mut Rig, node: u64, keep: Keep) -> u64 {
    let status = rig.at(node).shard.status(GROUP).expect("it is here");
    rig.at(node)
        .shard
        .compact(member(node), status.applied, keep);
    rig.turn(false);
    let status = rig.at(node).shard.status(GROUP).expect("it is here");
    status.compacted
}

#[test]
fn a_leader_keeps_its_log_from_the_image_on_and_within_a_bound() {
    let options = Options {
        log_lag_max: 20,
        ..Options::default()
    };
    let mut rig = Rig::new(3, 1, &options);
    let leader = rig.elect();
    let index = rig.add_learner(leader);
    // The image is under way. What is written meanwhile must stay, or the learner needs another.
    for _ in 0..5 {
        write(&mut rig, leader, "more");
    }
    assert_eq!(compacted(&mut rig, leader, Keep::ForFollowers), index);
    // A disk without room waits for nobody.
    let mut full = Rig::new(3, 1, &options);
    let other = full.elect();
    let image = full.add_learner(other);
    write(&mut full, other, "more");
    assert!(compacted(&mut full, other, Keep::Nothing) > image);
    // So slow a learner is not waited for.
    for _ in 0..30 {
        write(&mut rig, leader, "far more");
    }
    assert!(compacted(&mut rig, leader, Keep::ForFollowers) > index);
}

#[test]
fn a_follower_that_is_behind_is_waited_for_while_it_is_heard() {
    let mut rig = Rig::new(3, 0, &Options::default());
    let leader = rig.elect();
    let slow = rig.others(leader)[0];
    let before = rig.at(slow).shard.status(GROUP).unwrap().last;
    rig.at(slow).is_stuck = true;
    for _ in 0..5 {
        write(&mut rig, leader, "more");
    }
    rig.turns(4, true);
    assert_eq!(compacted(&mut rig, leader, Keep::ForFollowers), before);
    // Cut off for longer than an election takes, it is not.
    rig.isolate(slow);
    rig.turns(15, true);
    assert!(compacted(&mut rig, leader, Keep::ForFollowers) > before);
}

#[test]
fn an_image_without_its_receiver_is_not_offered() {
    // It was made for another, before this one was added.
    let mut rig = Rig::new(3, 2, &Options::default());
    let leader = rig.elect();
    let index = rig.add_learner(leader);
    let change = Change::of(ChangeStep::AddLearner(ReplicaId(10), NodeId(5)));
    rig.at(leader)
        .shard
        .change(GROUP, Token(3), &change)
        .unwrap();
    rig.turns(8, true);
    rig.at(5)
        .shard
        .start(GROUP, ReplicaId(10), Start::Empty)
        .unwrap();
    rig.at(leader).events.clear();
    rig.turns(12, true);
    let is_offered = |event: &Event| matches!(event, Event::ImageOffered { .. });
    assert!(!rig.at(5).events.iter().any(is_offered));
    let wanted = rig.at(leader).events.iter().find_map(|event| match event {
        Event::ImageWanted(_, index) => Some(*index),
        _ => None,
    });
    assert!(wanted.is_some_and(|wanted| wanted > index), "{wanted:?}");
}

#[test]
fn an_image_that_is_lost_is_offered_again() {
    let options = Options {
        image_ticks_max: 20,
        ..Options::default()
    };
    let mut rig = Rig::new(3, 1, &options);
    let leader = rig.elect();
    let index = rig.add_learner(leader);
    rig.at(4).shard.image_fetched(member(9), index, false);
    rig.at(4).events.clear();
    rig.turns(40, true);
    let offered = rig.at(4).events.iter().filter_map(|event| match event {
        Event::ImageOffered { ticket, .. } => Some(ticket.index),
        _ => None,
    });
    assert_eq!(offered.collect::<Vec<_>>(), [index]);
}

#[test]
fn an_image_is_offered_again_once_the_connection_to_its_receiver_broke() {
    // What it was offered it has forgotten, and its leader does not know: its process has ended, or
    // the word of a fetch that failed was lost.
    let mut rig = Rig::new(3, 1, &Options::default());
    let leader = rig.elect();
    let index = rig.add_learner(leader);
    rig.at(4).shard.image_fetched(member(9), index, false);
    rig.at(4).events.clear();
    let offered = |rig: &mut Rig| {
        let events = rig.at(4).events.iter();
        let offers = events.filter(|event| matches!(event, Event::ImageOffered { .. }));
        offers.count()
    };
    rig.turns(60, true);
    assert_eq!(offered(&mut rig), 0);
    rig.at(leader).shard.node_gone(NodeId(4));
    // The log behind it is kept, also before it is asked for again.
    write(&mut rig, leader, "more");
    assert_eq!(compacted(&mut rig, leader, Keep::ForFollowers), index);
    rig.turns(10, true);
    assert_eq!(offered(&mut rig), 1);
    // Who is fetching it goes on, and is not told again.
    rig.at(leader).shard.node_gone(NodeId(4));
    rig.turns(10, true);
    assert_eq!(offered(&mut rig), 1);
    rig.at(4).shard.image_fetched(member(9), index, true);
    rig.turns(10, true);
    assert_eq!(rig.at(4).installs.len(), 1);
    let status = rig.at(4).shard.status(GROUP).expect("it is here");
    assert!(status.applied > index, "what came behind it as well");
}

#[test]
fn an_image_that_was_replaced_while_it_was_fetched_is_not_used() {
    let mut rig = Rig::new(3, 1, &Options::default());
    let leader = rig.elect();
    let index = rig.add_learner(leader);
    rig.at(4).shard.image_fetched(member(9), index - 1, true);
    rig.turns(3, false);
    assert!(
        rig.at(4)
            .events
            .contains(&Event::ImageUnused(member(9), index - 1))
    );
    assert!(rig.at(4).installs.is_empty());
}

#[test]
fn once_the_image_has_arrived_its_index_holds_nothing_back() {
    let mut rig = Rig::new(3, 1, &Options::default());
    let leader = rig.elect();
    let index = rig.add_learner(leader);
    rig.at(4).shard.image_fetched(member(9), index, true);
    rig.turns(8, true);
    write(&mut rig, leader, "more");
    rig.turns(4, true);
    assert!(compacted(&mut rig, leader, Keep::ForFollowers) > index);
}

#[test]
fn an_image_that_is_gone_is_offered_to_nobody_and_another_one_is_wanted() {
    let mut rig = Rig::new(3, 1, &Options::default());
    let leader = rig.elect();
    let index = rig.add_learner(leader);
    rig.at(leader).events.clear();
    rig.at(leader).shard.image_gone(member(leader), index);
    rig.at(4).shard.image_fetched(member(9), index, false);
    rig.at(4).events.clear();
    rig.turns(8, true);
    let is_wanted = |event: &Event| matches!(event, Event::ImageWanted(..));
    assert!(rig.at(leader).events.iter().any(is_wanted));
    let is_offered = |event: &Event| matches!(event, Event::ImageOffered { .. });
    assert!(!rig.at(4).events.iter().any(is_offered));
}
