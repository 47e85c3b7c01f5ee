//! Reads without asking, and the promises that they rest on, as small stories.

use std::time::Duration;

use bytes::Bytes;
use esker_raft::{Change, ChangeStep, NodeId, Options, Token};

use crate::rig::{GROUP, Rig};

fn promise(ms: u64) -> Options {
    Options {
        read_promise: Duration::from_millis(ms),
        ..Options::default()
    }
}

fn read(rig: &mut Rig, node: u64, token: u64) {
    let asked = rig.at(node).shard.read(GROUP, Token(token));
    asked.expect("it is there");
}

fn is_served(rig: &mut Rig, node: u64, token: u64) -> bool {
    let reads = &rig.at(node).reads;
    reads.iter().any(|read| read.token == Token(token))
}

/// A leader with a lease, whom nobody reaches from now on.
fn cut_off_with_a_lease(rig: &mut Rig) -> u64 {
    let leader = rig.elect();
    read(rig, leader, 1);
    rig.turns(4, false);
    assert!(is_served(rig, leader, 1), "a majority confirms the first");
    rig.isolate(leader);
    leader
}

// Ticks until another than `old` leads, at most 60.
fn ticks_to_another(rig: &mut Rig, old: u64) -> usize {
    for ticks in 0..60 {
        if rig.leader() != Some(old) {
            return ticks;
        }
        rig.turn(true);
        rig.turns(6, false);
    }
    panic!("nobody else leads after 60 ticks");
}

#[test]
fn a_leader_reads_without_asking_for_four_fifths_of_the_promise() {
    let mut rig = Rig::new(3, 0, &promise(1000));
    let leader = cut_off_with_a_lease(&mut rig);
    rig.clock += Duration::from_millis(799);
    read(&mut rig, leader, 2);
    rig.turn(false);
    assert!(is_served(&mut rig, leader, 2), "the lease holds");
    rig.clock += Duration::from_millis(1);
    read(&mut rig, leader, 3);
    rig.turns(6, false);
    assert!(!is_served(&mut rig, leader, 3), "the lease has ended");
}

#[test]
fn without_promises_every_read_asks() {
    let mut rig = Rig::new(3, 0, &promise(0));
    let leader = cut_off_with_a_lease(&mut rig);
    read(&mut rig, leader, 2);
    rig.turns(6, false);
    assert!(!is_served(&mut rig, leader, 2));
}

#[test]
fn a_lease_that_is_used_never_ends() {
    let mut rig = Rig::new(3, 0, &promise(1000));
    let leader = rig.elect();
    read(&mut rig, leader, 1);
    rig.turns(4, false);
    for token in 2..60 {
        rig.turn(true);
        read(&mut rig, leader, token);
        rig.turn(false);
        assert!(is_served(&mut rig, leader, token), "read {token} asks");
        rig.turns(3, false);
    }
}

#[test]
fn one_that_others_use_lasts_if_it_is_renewed() {
    let mut rig = Rig::new(3, 0, &promise(1000));
    let leader = rig.elect();
    for _ in 0..30 {
        rig.at(leader).shard.renew(GROUP);
        rig.turn(true);
        rig.turns(4, false);
    }
    rig.isolate(leader);
    read(&mut rig, leader, 1);
    rig.turn(false);
    assert!(is_served(&mut rig, leader, 1));
}

#[test]
fn whoever_heard_a_leader_waits_with_a_vote_until_its_promise_ends() {
    for (asked_ms, ticks) in [(0, 0..8), (1000, 9..20)] {
        let mut rig = Rig::new(3, 0, &promise(asked_ms));
        let leader = rig.elect();
        // A round of reads, of now.
        read(&mut rig, leader, 1);
        rig.turns(4, false);
        rig.isolate(leader);
        for other in rig.others(leader) {
            rig.at(other).shard.node_gone(NodeId(leader));
        }
        let waited = ticks_to_another(&mut rig, leader);
        assert!(ticks.contains(&waited), "{asked_ms} ms: {waited} ticks");
    }
}

#[test]
fn one_voter_that_has_promised_is_enough() {
    for (asked_ms, ticks) in [(0, 0..8), (1000, 9..30)] {
        let mut rig = Rig::new(3, 0, &promise(asked_ms));
        let leader = rig.elect();
        let others = rig.others(leader);
        // One of them has heard nothing for long, and would vote for anybody.
        rig.silent
            .extend([(leader, others[1]), (others[1], leader)]);
        for _ in 0..30 {
            rig.turn(true);
            rig.turns(4, false);
        }
        assert_eq!(rig.leader(), Some(leader));
        read(&mut rig, leader, 1);
        rig.turns(4, false);
        rig.isolate(leader);
        rig.at(others[0]).shard.node_gone(NodeId(leader));
        let waited = ticks_to_another(&mut rig, leader);
        assert!(ticks.contains(&waited), "{asked_ms} ms: {waited} ticks");
    }
}

#[test]
fn a_voter_that_starts_again_votes_for_nobody_within_the_longest_promise() {
    // Nobody asks for promises any more; it may have given one before it ended.
    for (restarts, ticks) in [(false, 0..8), (true, 9..25)] {
        let mut rig = Rig::new(3, 0, &promise(0));
        let leader = rig.elect();
        let others = rig.others(leader);
        rig.isolate(leader);
        if restarts {
            rig.restart(others[0], usize::MAX);
        } else {
            rig.at(others[0]).shard.node_gone(NodeId(leader));
        }
        rig.at(others[1]).shard.node_gone(NodeId(leader));
        let waited = ticks_to_another(&mut rig, leader);
        assert!(ticks.contains(&waited), "{restarts}: {waited} ticks");
    }
}

#[test]
fn a_sole_voter_that_starts_again_waits_for_nobody() {
    let mut rig = Rig::new(1, 0, &promise(1000));
    rig.elect();
    rig.restart(1, 0);
    rig.turns(2, true);
    assert_eq!(rig.leader(), Some(1));
}

#[test]
fn all_that_start_again_have_a_leader_soon_behind_the_longest_promise() {
    let mut rig = Rig::new(3, 0, &promise(1000));
    rig.elect();
    for node in 1..=3 {
        rig.restart(node, usize::MAX);
    }
    let mut ticks = 0;
    while rig.leader().is_none() {
        ticks += 1;
        rig.turn(true);
        rig.turns(6, false);
    }
    assert!((9..=20).contains(&ticks), "{ticks} ticks");
}

#[test]
fn a_lease_ends_where_other_voters_begin() {
    let mut rig = Rig::new(3, 0, &promise(1000));
    let leader = rig.elect();
    read(&mut rig, leader, 1);
    rig.turns(4, false);
    let other = esker_raft::ReplicaId(rig.others(leader)[0]);
    let change = Change::of(ChangeStep::Demote(other));
    let shard = &mut rig.at(leader).shard;
    shard
        .change(GROUP, Token(2), &change)
        .expect("all are well");
    rig.turns(8, false);
    rig.isolate(leader);
    read(&mut rig, leader, 3);
    rig.turns(6, false);
    assert!(!is_served(&mut rig, leader, 3), "others may elect by now");
}

#[test]
fn who_has_tried_to_hand_the_lead_over_asks_again_for_every_read() {
    let mut rig = Rig::new(3, 0, &promise(1000));
    let leader = rig.elect();
    read(&mut rig, leader, 1);
    rig.turns(4, false);
    let heir = rig.others(leader)[0];
    rig.isolate(heir);
    let replica = esker_raft::ReplicaId(heir);
    rig.at(leader)
        .shard
        .transfer(GROUP, replica)
        .expect("it leads");
    // The heir hears nothing of it, and the transfer is given up.
    rig.turns(25, true);
    assert_eq!(rig.leader(), Some(leader));
    let write = Bytes::from_static(b"one");
    let shard = &mut rig.at(leader).shard;
    shard
        .propose(GROUP, Token(9), write)
        .expect("it leads again");
    read(&mut rig, leader, 2);
    rig.turns(6, false);
    assert!(is_served(&mut rig, leader, 2), "a majority confirms it");
    rig.isolate(leader);
    read(&mut rig, leader, 3);
    rig.turns(6, false);
    assert!(!is_served(&mut rig, leader, 3), "the word may still arrive");
}
