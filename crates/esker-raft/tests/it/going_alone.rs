//! The time between forgetting lost members and the entry that says so, and what may come then.

use std::time::Duration;

use bytes::Bytes;
use esker_raft::{
    Body, Change, ChangeStep, Effect, Event, Keep, NodeId, Options, ReplicaId, Token,
};

use crate::alone::{LAST, acknowledged, comes_back, go_on, has, is_last, members, write};
use crate::rig::{GROUP, Rig, member};
use crate::sim::rng::Rng;

/// Whether `node` has told anybody that he was removed.
fn has_told(rig: &mut Rig, node: u64) -> bool {
    let sent = &rig.at(node).sent;
    sent.iter()
        .any(|(_, message)| matches!(message.body, Body::Removed(_)))
}

fn is_going(rig: &mut Rig, node: u64) -> bool {
    let status = rig.at(node).shard.status(GROUP).expect("it has the group");
    status.is_going_alone
}

/// Five, of whom the last three are gone; nobody leads.
fn two_of_five() -> Rig {
    let mut rig = Rig::new(5, 0, &Options::default());
    let leader = rig.elect();
    assert!(write(&mut rig, leader, 1));
    rig.turns(6, false);
    for node in 3..=5 {
        rig.isolate(node);
    }
    rig.turns(80, true);
    assert_eq!(rig.at(1).leader(), None);
    rig
}

#[test]
fn a_second_survivor_goes_only_once_the_loss_is_durable() {
    let mut rig = two_of_five();
    rig.at(1).is_stuck = true;
    assert!(rig.at(1).shard.go_on_alone(member(1), LAST));
    // The other one asks for votes all the while, and the entry is on no medium.
    rig.turns(80, true);
    assert!(is_going(&mut rig, 1));
    assert!(!has_told(&mut rig, 1), "it may still be lost in a crash");
    rig.at(1).is_stuck = false;
    rig.turns(80, true);
    assert!(!is_going(&mut rig, 1));
    assert!(has_told(&mut rig, 1), "this test would see it");
    assert!(rig.at(2).events.contains(&Event::Left(GROUP, ReplicaId(2))));
}

#[test]
fn who_goes_on_alone_keeps_its_promise() {
    // The leader has a lease, which the base has promised to respect, and is only slow to be heard.
    let options = Options {
        read_promise: Duration::from_millis(1000),
        ..Options::default()
    };
    let mut rig = Rig::new(3, 0, &options);
    let leader = rig.elect();
    let asked = rig.at(leader).shard.read(GROUP, Token(1));
    asked.expect("it leads");
    rig.turns(4, false);
    let base = rig.others(leader)[0];
    rig.isolate(base);
    rig.at(base).shard.node_gone(NodeId(leader));
    assert_eq!(rig.at(base).leader(), None);
    assert!(rig.at(base).shard.go_on_alone(member(base), LAST));
    let before = rig.clock;
    while rig.at(base).leader().is_none() {
        rig.turn(true);
        assert!(
            rig.clock < before + Duration::from_secs(20),
            "it leads in the end"
        );
    }
    let waited = rig.clock - before;
    assert!(
        waited >= Duration::from_millis(900),
        "after {waited:?} the lease was still good"
    );
}

/// A group with an image on its way to the one who was cut off for long. Gives it and the index.
fn offered(is_slow: bool) -> (Rig, u64, u64) {
    let mut rig = Rig::new(3, 0, &Options::default());
    let leader = rig.elect();
    let base = rig.others(leader)[0];
    rig.at(base).is_slow = is_slow;
    assert!(write(&mut rig, leader, 9));
    rig.turns(8, true);
    rig.isolate(base);
    for token in 1..=5 {
        assert!(write(&mut rig, leader, token));
        rig.turns(4, false);
    }
    let applied = rig
        .at(leader)
        .shard
        .status(GROUP)
        .expect("it leads")
        .applied;
    rig.at(leader)
        .shard
        .compact(member(leader), applied, Keep::Nothing);
    rig.silent.clear();
    let mut index = None;
    for _ in 0..60 {
        rig.turn(true);
        let wanted = |event: &Event| matches!(event, Event::ImageWanted(..));
        if rig.at(leader).events.iter().any(wanted) {
            let image = Some((applied, Bytes::from_static(b"the state")));
            rig.at(leader).events.retain(|event| !wanted(event));
            rig.at(leader).shard.image_made(member(leader), image);
        }
        let offer = rig.at(base).events.iter().find_map(|event| match event {
            Event::ImageOffered { ticket, .. } => Some(ticket.index),
            _ => None,
        });
        if offer.is_some() {
            index = offer;
            break;
        }
    }
    rig.isolate(base);
    (rig, base, index.expect("it lacks what is compacted"))
}

#[test]
fn an_image_of_a_lost_member_brings_nobody_back() {
    let (mut rig, base, index) = offered(false);
    let leader = rig.at(base).leader().expect("it was offered an image");
    rig.at(base).shard.node_gone(NodeId(leader.0));
    assert!(rig.at(base).shard.go_on_alone(member(base), LAST));
    rig.at(base).shard.image_fetched(member(base), index, true);
    rig.turns(60, true);
    assert!(
        rig.at(base)
            .events
            .contains(&Event::ImageUnused(member(base), index))
    );
    assert!(rig.at(base).installs.is_empty());
    assert_eq!(members(&mut rig, base), [base].into());
    assert_eq!(rig.at(base).leader(), Some(ReplicaId(base)));
}

#[test]
fn an_image_that_is_here_already_comes_first() {
    // What the base has applied lags behind, so the image waits; it has more than the log.
    let (mut rig, base, index) = offered(true);
    let leader = rig.at(base).leader().expect("it was offered an image");
    rig.at(base).shard.node_gone(NodeId(leader.0));
    rig.at(base).shard.image_fetched(member(base), index, true);
    rig.turns(4, false);
    assert!(rig.at(base).installs.is_empty());
    assert!(!rig.at(base).shard.go_on_alone(member(base), LAST));
    let bench = rig.at(base);
    let waiting = bench.waiting.expect("an entry was handed out");
    bench.shard.applied(member(base), waiting);
    rig.turns(4, false);
    assert_eq!(rig.at(base).installs.len(), 1);
    rig.at(base).is_slow = false;
    rig.at(base).shard.node_gone(NodeId(leader.0));
    go_on(&mut rig, base);
    assert_eq!(members(&mut rig, base), [base].into());
}

#[test]
fn another_leader_that_commits_the_entry_stands_down() {
    // The base writes the entry, and crashes before it knows that it is durable; then the members
    // of before come back, and it is another one who has the entry and leads.
    let mut rig = Rig::new(3, 0, &Options::default());
    let base = rig.elect();
    rig.others(base).iter().for_each(|node| rig.isolate(*node));
    is_last(&mut rig, base);
    assert!(rig.at(base).shard.go_on_alone(member(base), LAST));
    // Up to the save that has the entry, and not to the turn that hears that it is durable.
    let kept = rig.at(base).applied.len();
    let last = |rig: &mut Rig| rig.at(base).shard.status(GROUP).expect("it is there").last;
    let before = last(&mut rig);
    while last(&mut rig) < before + 2 {
        rig.turn(true);
    }
    let number = rig.at(base).saved.expect("it was just saved");
    rig.at(base).disk.sync(number);
    rig.restart(base, kept);
    let others = rig.others(base);
    let (next, third) = (others[0], others[1]);
    rig.silent.clear();
    // The next one gets the entry, and nobody hears that it has; then the base is away.
    rig.isolate(third);
    let last = |rig: &mut Rig, node: u64| {
        let status = rig.at(node).shard.status(GROUP).expect("it is there");
        (status.last_term, status.last)
    };
    let mut turns = 0;
    while last(&mut rig, next) < last(&mut rig, base) || rig.at(base).leader().is_none() {
        rig.turn(true);
        turns += 1;
        assert!(turns < 100, "the base leads again, and has it replicated");
    }
    rig.silent.insert((next, base));
    rig.turns(3, false);
    assert_eq!(
        members(&mut rig, next).len(),
        3,
        "nothing is committed there yet"
    );
    rig.isolate(base);
    rig.silent.remove(&(next, third));
    rig.silent.remove(&(third, next));
    let mut turns = 0;
    while members(&mut rig, next) != [base].into() {
        rig.turn(true);
        turns += 1;
        assert!(turns < 200, "it leads, and commits the entry");
    }
    assert_ne!(rig.at(next).leader(), Some(ReplicaId(next)), "at once");
    rig.turns(80, true);
    for node in [next, third] {
        let status = rig.at(node).shard.status(GROUP).expect("it has the group");
        assert_eq!(status.damage, None);
        assert_ne!(status.leader, Some(ReplicaId(node)), "it has no vote");
    }
    assert_eq!(members(&mut rig, next), [base].into(), "it has the entry");
    // The base is told again, since it does not know that its entry is committed.
    go_on(&mut rig, base);
    assert_eq!(rig.at(base).leader(), Some(ReplicaId(base)));
    assert_eq!(members(&mut rig, base), [base].into());
}

#[test]
fn who_leads_the_members_of_before_gets_no_acknowledgement_of_one_that_is_held() {
    for is_held in [true, false] {
        let mut rig = Rig::new(3, 0, &Options::default());
        let old = rig.elect();
        let (base, third) = (rig.others(old)[0], rig.others(old)[1]);
        rig.isolate(base);
        rig.isolate(third);
        rig.turns(80, true);
        go_on(&mut rig, base);
        comes_back(&mut rig, third, is_held);
        rig.silent.remove(&(old, third));
        rig.silent.remove(&(third, old));
        for token in 100..120 {
            write(&mut rig, old, token);
            rig.turns(6, true);
        }
        let both = acknowledged(&mut rig, old).len() + acknowledged(&mut rig, third).len();
        assert_eq!(both == 0, is_held, "this test would see it");
        assert!(write(&mut rig, base, 1));
        rig.turns(4, true);
        assert!(acknowledged(&mut rig, base).contains(&1));
    }
}

#[test]
fn nobody_else_ever_led_in_the_term_of_who_goes_on_alone() {
    // The others elect one of them meanwhile: with the same term, an entry of the one log would
    // pass for an entry of the other where the base is a follower again after a crash.
    let mut rig = Rig::new(3, 0, &Options::default());
    let base = rig.elect();
    is_last(&mut rig, base);
    go_on(&mut rig, base);
    rig.turns(60, true);
    let term = |rig: &mut Rig, node: u64| {
        let status = rig.at(node).shard.status(GROUP).expect("it has the group");
        status.term
    };
    let alone = term(&mut rig, base);
    for node in rig.others(base) {
        assert!(term(&mut rig, node) + 1000 < alone);
    }
}

#[test]
fn changes_in_its_log_come_to_nothing_before_the_entry() {
    let mut rig = Rig::new(3, 1, &Options::default());
    let base = rig.elect();
    rig.isolate(base);
    let change = Change::of(ChangeStep::AddLearner(ReplicaId(7), NodeId(4)));
    let shard = &mut rig.at(base).shard;
    shard
        .change(GROUP, Token(5), &change)
        .expect("all are well");
    is_last(&mut rig, base);
    go_on(&mut rig, base);
    let applied = rig.at(base).applied.iter();
    let changes: Vec<_> = applied
        .filter_map(|entry| match &entry.effect {
            Effect::Configuration(members) => Some(members.nodes.len()),
            _ => None,
        })
        .collect();
    assert_eq!(
        changes,
        [1],
        "one change, and nobody waits for a member of another"
    );
}

#[test]
fn no_id_that_was_ever_given_is_given_again() {
    let mut rig = Rig::new(3, 1, &Options::default());
    let base = rig.elect();
    is_last(&mut rig, base);
    go_on(&mut rig, base);
    let status = rig.at(base).shard.status(GROUP).expect("it leads");
    assert_eq!(status.configuration.replica_max, LAST.0);
    // And so after a crash, from its log alone.
    comes_back(&mut rig, base, true);
    rig.turns(60, true);
    let status = rig.at(base).shard.status(GROUP).expect("it leads");
    assert_eq!(status.configuration.replica_max, LAST.0);
    let change = Change::of(ChangeStep::AddLearner(LAST, NodeId(4)));
    assert!(rig.at(base).shard.change(GROUP, Token(1), &change).is_err());
}

#[test]
fn who_is_told_again_is_held_no_more_when_others_come_to_vote() {
    let mut rig = Rig::new(3, 1, &Options::default());
    let base = rig.elect();
    is_last(&mut rig, base);
    go_on(&mut rig, base);
    comes_back(&mut rig, base, true);
    rig.turns(40, true);
    assert_eq!(rig.at(base).leader(), None);
    assert!(!rig.at(base).shard.go_on_alone(member(base), LAST), "it is");
    rig.turns(10, true);
    assert_eq!(rig.at(base).leader(), Some(ReplicaId(base)));
    rig.silent.clear();
    for node in 1..=3 {
        if node != base {
            rig.isolate(node);
        }
    }
    let index = rig.add_learner(base);
    rig.at(4).shard.image_fetched(member(9), index, true);
    rig.turns(20, true);
    let change = Change::of(ChangeStep::Promote(ReplicaId(9)));
    let shard = &mut rig.at(base).shard;
    shard
        .change(GROUP, Token(3), &change)
        .expect("it has caught up");
    rig.turns(20, true);
    assert!(write(&mut rig, base, 50));
    rig.turns(10, true);
    assert!(
        acknowledged(&mut rig, base).contains(&50),
        "it hears the other's acknowledgement"
    );
}

/// Five by dice, of which two are left; the second one runs on and asks all the while; whoever goes
/// on crashes as often as the dice say, and is told again each time.
fn crashes_by_dice(seed: u64) {
    let mut rng = Rng::new(seed);
    let mut rig = two_of_five();
    let (base, other) = (1, 2);
    let mut crashes = 0;
    loop {
        rig.turns(60, true);
        let kept = rig.at(base).applied.len();
        if rig
            .at(base)
            .shard
            .status(GROUP)
            .is_some_and(|status| status.leader.is_none())
        {
            let is_done = members(&mut rig, base) == [base].into();
            let is_begun = rig.at(base).shard.go_on_alone(member(base), LAST);
            assert!(is_begun != is_done, "seed {seed}");
        }
        rig.turns(usize::try_from(rng.below(6)).expect("small"), true);
        let has_left = rig
            .at(other)
            .events
            .contains(&Event::Left(GROUP, ReplicaId(other)));
        if crashes == 6 || rng.below(4) == 0 {
            break;
        }
        crashes += 1;
        // What it had not synced is lost, or is not: nobody asks which.
        let _ = rig.at(base).disk.crash(&mut rng);
        rig.restart(base, kept);
        rig.at(base).shard.hold(GROUP);
        if has_left {
            // Then it is durable, whatever the crash has taken.
            rig.turns(80, true);
            assert_eq!(members(&mut rig, base), [base].into(), "seed {seed}");
        }
    }
    rig.turns(100, true);
    assert_eq!(members(&mut rig, base), [base].into(), "seed {seed}");
    assert!(has(&mut rig, base, 1), "seed {seed}");
    assert!(
        rig.at(other)
            .events
            .contains(&Event::Left(GROUP, ReplicaId(other))),
        "seed {seed}"
    );
}

#[test]
fn nobody_is_sent_away_before_a_crash_would_leave_it_so() {
    for seed in 0..60 {
        crashes_by_dice(seed);
    }
}
