//! Groups that lose most of their voters for ever, and old members that come back all the same.

use std::collections::BTreeSet;

use bytes::Bytes;
use esker_raft::{Change, ChangeStep, Effect, NodeId, Options, ReplicaId, Token};

use crate::rig::{GROUP, Rig, member};
use crate::sim::rng::Rng;

/// The largest id that a replica of these groups was ever given.
pub const LAST: ReplicaId = ReplicaId(8);

pub fn write(rig: &mut Rig, node: u64, token: u64) -> bool {
    let text = Bytes::from(format!("write {token}"));
    let shard = &mut rig.at(node).shard;
    shard.propose(GROUP, Token(token), text).is_ok()
}

/// What a node has acknowledged: entries that it proposed and has applied.
pub fn acknowledged(rig: &mut Rig, node: u64) -> BTreeSet<u64> {
    let applied = rig.at(node).applied.iter();
    applied
        .filter_map(|entry| entry.token.map(|token| token.0))
        .collect()
}

pub fn has(rig: &mut Rig, node: u64, token: u64) -> bool {
    let text = format!("write {token}").into_bytes();
    rig.at(node).writes().contains(&text)
}

pub fn members(rig: &mut Rig, node: u64) -> BTreeSet<u64> {
    let status = rig.at(node).shard.status(GROUP).expect("it has the group");
    let nodes = status.configuration.nodes;
    nodes.keys().map(|replica| replica.0).collect()
}

/// Everybody else is dead, as far as `node` can know.
pub fn is_last(rig: &mut Rig, node: u64) {
    rig.isolate(node);
    rig.turns(60, true);
}

pub fn go_on(rig: &mut Rig, node: u64) {
    assert!(rig.at(node).shard.go_on_alone(member(node), LAST));
    rig.turns(40, true);
    assert_eq!(rig.at(node).leader(), Some(ReplicaId(node)));
}

/// A process of before that comes back with what it had.
pub fn comes_back(rig: &mut Rig, node: u64, is_held: bool) {
    let kept = rig.at(node).applied.len();
    // What it had not synced is lost, or is not: nobody asks which.
    let _ = rig.at(node).disk.crash(&mut Rng::new(node));
    rig.restart(node, kept);
    if is_held {
        rig.at(node).shard.hold(GROUP);
    }
}

#[test]
fn who_goes_on_alone_has_all_that_was_in_its_log() {
    // A leader is cut off with entries that nobody else has: they are kept, and committed.
    let mut rig = Rig::new(3, 0, &Options::default());
    let leader = rig.elect();
    assert!(write(&mut rig, leader, 1));
    rig.turns(6, false);
    rig.isolate(leader);
    assert!(write(&mut rig, leader, 2));
    is_last(&mut rig, leader);
    assert!(has(&mut rig, leader, 1) && !has(&mut rig, leader, 2));
    go_on(&mut rig, leader);
    assert!(has(&mut rig, leader, 2));
    assert_eq!(members(&mut rig, leader), BTreeSet::from([leader]));
    assert!(write(&mut rig, leader, 3));
    rig.turns(4, true);
    assert!(acknowledged(&mut rig, leader).contains(&3));
    // And it is so for ever; but who was not alone always waits for a word after an opening.
    comes_back(&mut rig, leader, true);
    rig.turns(40, true);
    assert_eq!(rig.at(leader).leader(), None);
    rig.at(leader).shard.free(&BTreeSet::new());
    rig.turns(10, true);
    assert_eq!(rig.at(leader).leader(), Some(ReplicaId(leader)));
    assert_eq!(members(&mut rig, leader), BTreeSet::from([leader]));
}

#[test]
fn a_leader_is_not_told_to_go_on_alone() {
    let mut rig = Rig::new(3, 0, &Options::default());
    let leader = rig.elect();
    assert!(!rig.at(leader).shard.go_on_alone(member(leader), LAST));
    assert!(!rig.at(leader).shard.go_on_alone(member(9), LAST));
    rig.turns(10, true);
    assert_eq!(members(&mut rig, leader).len(), 3);
}

#[test]
fn a_crash_before_the_entry_leaves_it_to_be_told_again() {
    let mut rig = Rig::new(3, 0, &Options::default());
    let leader = rig.elect();
    assert!(write(&mut rig, leader, 1));
    rig.turns(6, false);
    is_last(&mut rig, leader);
    assert!(rig.at(leader).shard.go_on_alone(member(leader), LAST));
    comes_back(&mut rig, leader, true);
    rig.turns(60, true);
    assert_eq!(
        rig.at(leader).leader(),
        None,
        "the others are members again"
    );
    assert_eq!(members(&mut rig, leader).len(), 3);
    go_on(&mut rig, leader);
    assert!(has(&mut rig, leader, 1));
}

#[test]
fn changes_that_were_under_way_do_not_bring_others_back() {
    // The leader has the beginning of a change in its log that nobody else has.
    let mut rig = Rig::new(3, 1, &Options::default());
    let leader = rig.elect();
    rig.isolate(leader);
    let steps = vec![ChangeStep::AddLearner(ReplicaId(7), NodeId(4))];
    let change = Change { steps };
    let shard = &mut rig.at(leader).shard;
    shard
        .change(GROUP, Token(5), &change)
        .expect("all are well");
    is_last(&mut rig, leader);
    go_on(&mut rig, leader);
    assert_eq!(members(&mut rig, leader), BTreeSet::from([leader]));
    // Another one joins as in any group, and votes.
    rig.silent.clear();
    let other = rig.others(leader)[0];
    for node in rig.others(leader) {
        if node < 4 {
            rig.at(node).shard.destroy(GROUP, ReplicaId(node));
        }
    }
    let change = Change::of(ChangeStep::AddLearner(ReplicaId(9), NodeId(other)));
    let shard = &mut rig.at(leader).shard;
    shard.change(GROUP, Token(6), &change).expect("it leads");
    rig.turns(10, true);
    assert_eq!(members(&mut rig, leader), BTreeSet::from([leader, 9]));
}

/// Two old members come back, and one that went on without them. Whether both sides acknowledge.
fn both_acknowledge(is_held: bool) -> bool {
    let mut rig = Rig::new(3, 0, &Options::default());
    let base = rig.elect();
    is_last(&mut rig, base);
    go_on(&mut rig, base);
    let others = rig.others(base);
    for node in &others {
        comes_back(&mut rig, *node, is_held);
    }
    let mut is_acknowledged = false;
    for round in 0..60 {
        rig.turns(2, true);
        for node in &others {
            let token = 100 + 10 * round + node;
            write(&mut rig, *node, token);
            rig.turns(4, false);
            is_acknowledged |= acknowledged(&mut rig, *node).contains(&token);
        }
    }
    assert!(write(&mut rig, base, 1));
    rig.turns(4, true);
    assert!(acknowledged(&mut rig, base).contains(&1));
    is_acknowledged
}

#[test]
fn old_members_that_are_held_never_lead_and_others_do() {
    assert!(both_acknowledge(false), "this test would see it");
    assert!(!both_acknowledge(true));
}

#[test]
fn a_held_replica_takes_no_part_until_it_is_freed() {
    // Its group needs its vote, and does not get it.
    let mut rig = Rig::new(3, 0, &Options::default());
    let leader = rig.elect();
    let (held, dead) = (rig.others(leader)[0], rig.others(leader)[1]);
    comes_back(&mut rig, held, true);
    assert!(write(&mut rig, leader, 1));
    rig.turns(10, true);
    assert!(
        acknowledged(&mut rig, leader).contains(&1) && !has(&mut rig, held, 1),
        "the others go on, and it does not follow"
    );
    rig.isolate(dead);
    comes_back(&mut rig, leader, false);
    rig.turns(80, true);
    assert_eq!(rig.leader(), None);
    rig.at(held).shard.free(&BTreeSet::new());
    rig.turns(80, true);
    let leads = rig.leader().expect("two of three are there");
    assert_eq!(rig.at(leads).leader(), Some(ReplicaId(leads)));
    assert!(write(&mut rig, leads, 2));
    rig.turns(10, true);
    assert!(
        has(&mut rig, held, 1) && has(&mut rig, held, 2),
        "it follows"
    );
}

/// One group of five by dice: writes, crashes, cuts; then three are lost, and whoever of the other
/// two has the longer log goes on; the lost ones come back when they like. Of what was
/// acknowledged and lay in the survivors' logs, what is missing afterwards.
fn lost_by_dice(seed: u64, takes_longest: bool, is_held: bool) -> usize {
    let mut rng = Rng::new(seed);
    let mut rig = Rig::new(5, 0, &Options::default());
    rig.elect();
    let mut all = BTreeSet::new();
    for token in 1..=30 {
        if let Some(leader) = rig.leader() {
            write(&mut rig, leader, token);
        }
        let steps = rng.below(4);
        for _ in 0..steps {
            let is_tick = rng.below(4) == 0;
            rig.turn(is_tick);
        }
        if rng.below(6) == 0 {
            rig.silent.clear();
            let one = 1 + rng.below(5);
            rig.isolate(one);
        }
        for node in 1..=5 {
            all.extend(acknowledged(&mut rig, node));
        }
    }
    let first = 1 + rng.below(5);
    let second = 1 + (first + rng.below(4)) % 5;
    let survivors = [first, second];
    for node in survivors {
        rig.isolate(node);
    }
    rig.turns(60, true);
    let length = |rig: &mut Rig, node: u64| {
        let status = rig.at(node).shard.status(GROUP).expect("it has the group");
        (status.last_term, status.last)
    };
    let lengths = survivors.map(|node| length(&mut rig, node));
    let longer = usize::from(lengths[1] > lengths[0]);
    let at = if takes_longest { longer } else { 1 - longer };
    let base = survivors[at];
    let held: BTreeSet<u64> = survivors
        .into_iter()
        .flat_map(|node| {
            let entries = rig.at(node).disk.payloads(GROUP);
            let tokens = entries.into_iter().filter_map(|payload| {
                let text = String::from_utf8(payload).ok()?;
                text.strip_prefix("write ")?.parse().ok()
            });
            tokens.collect::<Vec<u64>>()
        })
        .collect();
    rig.at(survivors[1 - at])
        .shard
        .destroy(GROUP, ReplicaId(survivors[1 - at]));
    go_on(&mut rig, base);
    rig.silent.clear();
    let lost: Vec<u64> = (1..=5).filter(|node| !survivors.contains(node)).collect();
    for node in &lost {
        let turns = rng.below(20);
        rig.turns(usize::try_from(turns).expect("small"), true);
        comes_back(&mut rig, *node, is_held);
    }
    rig.turns(60, true);
    for node in lost {
        let token = 1000 + node;
        write(&mut rig, node, token);
        rig.turns(4, true);
        assert!(
            !acknowledged(&mut rig, node).contains(&token),
            "seed {seed}: node {node} leads by the old configuration"
        );
    }
    assert!(write(&mut rig, base, 2000), "seed {seed}");
    rig.turns(4, true);
    assert!(acknowledged(&mut rig, base).contains(&2000), "seed {seed}");
    let missing = all.intersection(&held);
    missing
        .filter(|token| !has(&mut rig, base, **token))
        .count()
}

#[test]
fn nothing_acknowledged_is_lost_that_the_survivors_had() {
    for seed in 0..60 {
        assert_eq!(lost_by_dice(seed, true, true), 0, "seed {seed}");
    }
}

#[test]
fn a_base_with_the_shorter_log_is_found_out() {
    assert!((0..60).any(|seed| lost_by_dice(seed, false, true) > 0));
}

#[test]
fn going_on_alone_is_an_entry_like_any_other() {
    let mut rig = Rig::new(3, 0, &Options::default());
    let base = rig.elect();
    is_last(&mut rig, base);
    go_on(&mut rig, base);
    let changes = rig.at(base).applied.iter().filter(|entry| {
        matches!(&entry.effect, Effect::Configuration(members)
            if members.voters.len() == 1 && members.version == entry.index)
    });
    assert_eq!(changes.count(), 1);
}
