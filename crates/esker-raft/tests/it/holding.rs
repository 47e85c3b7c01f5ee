//! Who is held after an opening, what is neither heard nor said, and the time after it.

use std::collections::BTreeSet;

use esker_raft::{Body, Change, ChangeStep, Event, Options, ReplicaId, Token};

use crate::alone::{LAST, acknowledged, comes_back, go_on, is_last, members, write};
use crate::rig::{GROUP, Rig, member};
use crate::sim::rng::Rng;

/// A group of one that has a learner, replica 9 on node 4, with all entries.
fn with_learner() -> Rig {
    let mut rig = Rig::new(1, 3, &Options::default());
    assert_eq!(rig.elect(), 1);
    add_learner(&mut rig);
    rig
}

fn add_learner(rig: &mut Rig) {
    let index = rig.add_learner(1);
    rig.at(4).shard.image_fetched(member(9), index, true);
    rig.turns(20, true);
}

fn promote(rig: &mut Rig) {
    let change = Change::of(ChangeStep::Promote(ReplicaId(9)));
    let shard = &mut rig.at(1).shard;
    shard
        .change(GROUP, Token(3), &change)
        .expect("it has caught up");
}

fn voters(rig: &mut Rig, node: u64) -> usize {
    let status = rig.at(node).shard.status(GROUP).expect("it has the group");
    status.configuration.voters.len()
}

#[test]
fn who_was_the_only_member_once_is_held_by_what_its_log_knows() {
    // Its state is as old as the group, its log knows of the other voter.
    let mut rig = with_learner();
    promote(&mut rig);
    rig.turns(20, true);
    assert!(write(&mut rig, 1, 50));
    rig.turns(10, true);
    // What it had not synced is lost, or is not: nobody asks which.
    let _ = rig.at(1).disk.crash(&mut Rng::new(1));
    rig.restart(1, 0);
    rig.at(1).shard.hold(GROUP);
    rig.turns(80, true);
    assert_eq!(voters(&mut rig, 1), 2, "it has found that out");
    assert_eq!(rig.at(1).leader(), None);
    assert_eq!(rig.at(4).leader(), None, "its vote is not there");
    rig.at(1).shard.free(&BTreeSet::new());
    rig.turns(30, true);
    let leader = rig.leader().expect("both are there");
    assert_eq!(rig.at(1).leader(), Some(ReplicaId(leader)));
}

#[test]
fn a_voter_with_a_learner_may_have_made_it_vote_and_is_held() {
    // The promotion is in its log, and that it is committed is on no medium of its own. The other
    // one knew, and has gone on alone.
    let mut rig = with_learner();
    let kept = rig.at(1).applied.len();
    promote(&mut rig);
    rig.turns(2, false);
    rig.at(1).is_stuck = true;
    rig.turns(6, true);
    assert_eq!(voters(&mut rig, 4), 2, "it votes");
    rig.isolate(1);
    rig.turns(60, true);
    assert!(rig.at(4).shard.go_on_alone(member(9), ReplicaId(9)));
    rig.turns(40, true);
    assert_eq!(rig.at(4).leader(), Some(ReplicaId(9)));
    // A few records wait to be synced, and these dice lose them all.
    let loses_all = |dice: &Rng| (2..=6).all(|end| dice.clone().below(end) == 0);
    let mut dice = (0..).map(Rng::new).find(loses_all);
    let survived = rig.at(1).disk.crash(dice.as_mut().expect("there are some"));
    assert_eq!(survived, []);
    rig.restart(1, kept);
    rig.at(1).shard.hold(GROUP);
    rig.at(1).is_stuck = false;
    rig.turns(80, true);
    assert_eq!(voters(&mut rig, 1), 1, "it has not found that out");
    assert!(!write(&mut rig, 1, 60), "it does not lead");
    let shard = &mut rig.at(4).shard;
    let text = bytes::Bytes::from_static(b"goes on");
    shard.propose(GROUP, Token(61), text).expect("it leads");
    rig.turns(10, true);
    assert!(acknowledged(&mut rig, 4).contains(&61));
}

#[test]
fn who_was_the_only_member_ever_is_not_held_nor_when_others_come_to_vote() {
    let mut rig = Rig::new(1, 3, &Options::default());
    assert_eq!(rig.elect(), 1);
    assert!(write(&mut rig, 1, 1));
    rig.turns(4, true);
    comes_back(&mut rig, 1, true);
    assert_eq!(rig.elect(), 1);
    add_learner(&mut rig);
    promote(&mut rig);
    rig.turns(20, true);
    assert!(write(&mut rig, 1, 50));
    rig.turns(10, true);
    assert!(
        acknowledged(&mut rig, 1).contains(&50),
        "it hears the other"
    );
}

#[test]
fn who_became_the_only_member_is_held() {
    // The one that was removed had a part in that, and may be the one that its group goes on with.
    let mut rig = with_learner();
    let change = Change::of(ChangeStep::Remove(ReplicaId(9)));
    let shard = &mut rig.at(1).shard;
    shard.change(GROUP, Token(4), &change).expect("it leads");
    rig.turns(20, true);
    assert_eq!(members(&mut rig, 1), [1].into());
    comes_back(&mut rig, 1, true);
    rig.turns(60, true);
    assert_eq!(rig.at(1).leader(), None);
    rig.at(1).shard.free(&BTreeSet::new());
    rig.turns(10, true);
    assert_eq!(rig.at(1).leader(), Some(ReplicaId(1)));
}

/// What a node has said of who was removed.
fn has_told(rig: &mut Rig, node: u64) -> bool {
    let sent = &rig.at(node).sent;
    sent.iter()
        .any(|(_, message)| matches!(message.body, Body::Removed(_) | Body::Leaving))
}

#[test]
fn who_is_held_neither_leaves_nor_sends_away() {
    let mut rig = Rig::new(4, 0, &Options::default());
    let leader = rig.elect();
    let (gone, stays) = (rig.others(leader)[0], rig.others(leader)[1]);
    let change = Change::of(ChangeStep::Remove(ReplicaId(gone)));
    let shard = &mut rig.at(leader).shard;
    shard
        .change(GROUP, Token(2), &change)
        .expect("all are well");
    // It hears of its removal, and then of nobody for a while. Its state is from before that.
    let kept = rig.at(gone).applied.len();
    let mut turns = 0;
    while members(&mut rig, gone).contains(&gone) {
        rig.turn(true);
        turns += 1;
        assert!(turns <= 40, "it hears of its removal");
    }
    rig.isolate(gone);
    rig.turns(20, true);
    let left = Event::Left(GROUP, ReplicaId(gone));
    assert!(!rig.at(gone).events.contains(&left));
    // What it had not synced is lost, or is not: nobody asks which.
    let _ = rig.at(gone).disk.crash(&mut Rng::new(gone));
    rig.restart(gone, kept);
    rig.at(gone).shard.hold(GROUP);
    rig.at(gone).sent.clear();
    rig.silent.clear();
    rig.turns(60, true);
    assert!(!has_told(&mut rig, gone), "it does not ask");
    assert!(!rig.at(gone).events.contains(&left));
    // It asks, and who is held does not answer.
    comes_back(&mut rig, stays, true);
    rig.at(stays).sent.clear();
    rig.at(gone).shard.free(&BTreeSet::new());
    rig.turns(60, true);
    assert!(has_told(&mut rig, gone) && !has_told(&mut rig, stays));
    assert!(
        rig.at(gone).events.contains(&left),
        "two others of three know"
    );
}

#[test]
fn a_group_is_led_soon_after_its_replicas_are_freed() {
    // Of three one is dead, and one lacks an entry, so that the other one must ask; it is freed
    // first, while nobody hears it.
    for seed in 0..24 {
        let options = Options {
            seed,
            ..Options::default()
        };
        let mut rig = Rig::new(3, 0, &options);
        let leader = rig.elect();
        let (behind, dead) = (rig.others(leader)[0], rig.others(leader)[1]);
        rig.isolate(behind);
        assert!(write(&mut rig, leader, 1));
        rig.turns(6, false);
        rig.silent.clear();
        rig.isolate(dead);
        for node in [leader, behind] {
            comes_back(&mut rig, node, true);
        }
        // As long as promises of before may hold, or longer.
        rig.turns([11, 30][usize::from(seed % 2 == 1)], true);
        assert_eq!(rig.leader(), None, "seed {seed}");
        rig.at(leader).shard.free(&BTreeSet::new());
        rig.turns(
            [0, 2, 4, 7][usize::try_from(seed / 2 % 4).expect("small")],
            true,
        );
        rig.at(behind).shard.free(&BTreeSet::new());
        let mut ticks = 0;
        while rig.leader().is_none() {
            rig.turn(true);
            rig.turns(4, false);
            ticks += 1;
            assert!(ticks <= 8, "seed {seed}: nobody leads");
        }
    }
}

#[test]
fn who_is_alone_already_is_not_told_to_go_on_alone() {
    let mut rig = Rig::new(3, 0, &Options::default());
    let base = rig.elect();
    is_last(&mut rig, base);
    go_on(&mut rig, base);
    let term = |rig: &mut Rig| rig.at(base).shard.status(GROUP).expect("it is there").term;
    let before = term(&mut rig);
    comes_back(&mut rig, base, true);
    rig.turn(false);
    assert!(!rig.at(base).shard.go_on_alone(member(base), LAST));
    // It is the one, and held no more than its promises ask.
    rig.turns(20, true);
    assert_eq!(rig.at(base).leader(), Some(ReplicaId(base)));
    assert!(term(&mut rig) < before + 100, "it has leapt once");
}

#[test]
fn a_word_of_before_the_group_grew_again_is_refused() {
    let mut rig = with_learner();
    promote(&mut rig);
    rig.turns(20, true);
    is_last(&mut rig, 1);
    assert_eq!(rig.at(1).leader(), None);
    assert!(!rig.at(1).shard.go_on_alone(member(1), LAST));
    rig.turns(60, true);
    assert_eq!(voters(&mut rig, 1), 2);
    assert!(rig.at(1).shard.go_on_alone(member(1), ReplicaId(9)));
}
