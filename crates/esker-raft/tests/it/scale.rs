//! What a thousand groups cost while nothing happens.
#![allow(
    clippy::disallowed_methods,
    reason = "it tells how long turns take, and decides by none"
)]

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use std::time::Instant;

use esker_raft::{
    GroupId, NodeId, Options, Output, ReplicaId, Shard, Start, Token, decode_frame, encode_frame,
};

use crate::sim::disk::Disk;
use crate::sim::plan::Planted;

const GROUPS: u64 = 1024;
const NODES: u64 = 3;

struct Three {
    shards: Vec<(Shard, Disk)>,
    frames: u64,
    messages: u64,
    saves: u64,
}

impl Three {
    fn new() -> Three {
        let voters: Vec<_> = (1..=NODES).map(|n| (ReplicaId(n), NodeId(n))).collect();
        let shards = (1..=NODES).map(|n| {
            let disk = Disk::new(Planted::Nothing);
            let log = Arc::new(disk.clone());
            let mut shard = Shard::new(NodeId(n), Options::default(), log, BTreeMap::new());
            for group in 1..=GROUPS {
                let start = Start::First(voters.clone());
                shard
                    .start(GroupId(group), ReplicaId(n), start)
                    .expect("a new group starts");
            }
            (shard, disk)
        });
        Three {
            shards: shards.collect(),
            frames: 0,
            messages: 0,
            saves: 0,
        }
    }

    /// Groups that have leaders, and rest.
    fn led() -> Three {
        let mut three = Three::new();
        for _ in 0..40 {
            three.turn(true);
            for _ in 0..6 {
                three.turn(false);
            }
        }
        three
    }

    /// The index that all three replicas of a group have applied.
    fn applied(&self, group: u64) -> u64 {
        let statuses = self
            .shards
            .iter()
            .filter_map(|row| row.0.status(GroupId(group)));
        statuses
            .map(|it| it.applied)
            .min()
            .expect("it has replicas")
    }

    fn turn(&mut self, is_tick: bool) {
        let outputs: Vec<Output> = self
            .shards
            .iter_mut()
            .map(|(shard, disk)| turn(shard, disk, is_tick))
            .collect();
        for output in outputs {
            self.saves += u64::from(!output.save.records.is_empty());
            for (to, messages) in output.sends {
                self.frames += 1;
                self.messages += messages.len() as u64;
                let (shard, _) = &mut self.shards[usize::try_from(to.0).expect("small") - 1];
                for message in decode_frame(&encode_frame(&messages)).expect("it reads") {
                    shard.offer(message).expect("there is room");
                }
            }
        }
    }
}

fn turn(shard: &mut Shard, disk: &mut Disk, is_tick: bool) -> Output {
    let output = shard.turn(is_tick, Duration::ZERO);
    if !output.save.records.is_empty() {
        disk.save(&output.save);
        disk.sync(output.save.number);
        shard.durable(output.save.number);
    }
    for apply in &output.applies {
        let last = apply.entries.last().expect("an apply has entries");
        shard.applied(apply.member, last.index);
    }
    output
}

#[test]
fn a_thousand_idle_groups_say_their_heartbeats_in_one_frame_and_save_nothing() {
    let mut three = Three::led();
    let led = |shard: &Shard| {
        let leads = |group| {
            shard
                .status(group)
                .is_some_and(|s| s.leader == Some(s.replica))
        };
        shard.groups().filter(|&group| leads(group)).count() as u64
    };
    let leaders: Vec<u64> = three.shards.iter().map(|(shard, _)| led(shard)).collect();
    assert_eq!(leaders.iter().sum::<u64>(), GROUPS);
    assert!(
        leaders.iter().all(|&count| count > GROUPS / 5),
        "leaders spread: {leaders:?}"
    );
    (three.frames, three.messages, three.saves) = (0, 0, 0);
    let begun = Instant::now();
    for _ in 0..30 {
        // A tick, and a turn each for what it brings to others and back.
        three.turn(true);
        three.turn(false);
        three.turn(false);
    }
    let micros = begun.elapsed().as_micros() / 30 / u128::from(NODES);
    println!(
        "{GROUPS} idle groups: {micros} us of a tick and node, leaders {leaders:?}, \
         {} frames, {} messages in 30 ticks",
        three.frames, three.messages
    );
    assert_eq!(three.saves, 0, "nothing is saved while nothing happens");
    // Ten rounds of heartbeats to two followers and back, each in one frame for each pair of nodes
    // and tick.
    let heartbeats = 2 * 2 * GROUPS * 10;
    assert!(
        three.messages <= heartbeats + heartbeats / 5,
        "{}",
        three.messages
    );
    assert!(
        three.frames <= 30 * 2 * NODES * (NODES - 1),
        "{}",
        three.frames
    );
}

#[test]
fn writes_of_many_groups_share_a_save_and_a_frame() {
    let mut three = Three::led();
    (three.frames, three.messages, three.saves) = (0, 0, 0);
    let mut taken = 0;
    for (shard, _) in &mut three.shards {
        for group in 1..=GROUPS {
            for token in 0..3 {
                let write = b"a write".to_vec().into();
                taken += u64::from(shard.propose(GroupId(group), Token(token), write).is_ok());
            }
        }
    }
    assert_eq!(taken, 3 * GROUPS);
    three.turn(false);
    assert_eq!(three.saves, NODES, "one save for each node");
    assert_eq!(
        three.frames,
        NODES * (NODES - 1),
        "one frame for each pair of nodes"
    );
    assert_eq!(
        three.messages,
        2 * GROUPS,
        "three writes of a group are one message"
    );
}

#[test]
fn a_write_is_one_message_to_each_follower_and_one_back() {
    // That it is committed is told with the next entries, or by the next heartbeat: a message for
    // that alone, and its answer, were half of all.
    let mut three = Three::led();
    let before = three.applied(1);
    (three.frames, three.messages, three.saves) = (0, 0, 0);
    let leads = three.shards.iter_mut().filter_map(|(shard, _)| {
        let write = b"a write".to_vec().into();
        shard.propose(GroupId(1), Token(1), write).ok()
    });
    assert_eq!(leads.count(), 1);
    for _ in 0..6 {
        three.turn(false);
    }
    assert_eq!(three.messages, 4);
    assert_eq!(three.applied(1), before, "followers were not told yet");
    for _ in 0..Options::default().heartbeat_ticks {
        three.turn(true);
        three.turn(false);
    }
    assert_eq!(three.applied(1), before + 1);
}
