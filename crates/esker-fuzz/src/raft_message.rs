//! Any bytes as what replicas say and keep, and any sound messages to a shard that runs.
//!
//! The first byte chooses: 0 reads the rest as a message, 1 as a frame, 2 as a record, 3 as a
//! configuration, 4 as a ticket. From 5 on a shard hears messages, each behind its length (u16),
//! and a tick for each length of 0: with 5 one of three voters, with 6 the leader of a group, with
//! 7 and 8 the same on a slow disk.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use esker_raft::entry::Entry;
use esker_raft::{
    Change, ChangeStep, Configuration, Envelope, Event, GroupId, LogRead, Member, NodeId, Options,
    Output, ReadError, Record, ReplicaId, Shard, Start, Ticket, Token, decode_frame, encode_frame,
};

const GROUP: GroupId = GroupId(1);

/// The replica of it that is here.
const MEMBER: Member = Member {
    group: GROUP,
    replica: ReplicaId(1),
};

/// Runs the target on one input.
pub fn run(input: &[u8]) {
    let Some((&choice, rest)) = input.split_first() else {
        return;
    };
    match choice {
        0 => {
            if let Ok(message) = Envelope::decode(rest) {
                let mut again = Vec::new();
                message.encode(&mut again);
                assert_eq!(again, rest);
            }
        }
        1 => {
            if let Ok(messages) = decode_frame(rest) {
                assert_eq!(encode_frame(&messages), rest);
            }
        }
        2 => {
            if let Ok(record) = Record::decode(rest) {
                let mut again = Vec::new();
                record.encode(&mut again);
                assert_eq!(again, rest);
            }
        }
        3 => {
            if let Ok(configuration) = Configuration::decode(rest) {
                let mut again = Vec::new();
                configuration.encode(&mut again);
                assert_eq!(again, rest);
            }
        }
        4 => {
            if let Ok(ticket) = Ticket::decode(rest) {
                let mut again = Vec::new();
                ticket.encode(&mut again);
                assert_eq!(again, rest);
            }
        }
        5 => tell(&mut voter(), rest, 1),
        6 => tell(&mut leader(), rest, 1),
        7 => tell(&mut voter(), rest, 4),
        _ => tell(&mut leader(), rest, 4),
    }
}

// A shard goes on whatever it hears from a peer, and every turn ends.
// The disk is done with all that was saved once in `pace` turns.
fn tell(shard: &mut Shard, mut rest: &[u8], pace: u64) {
    let mut turns = 0;
    while let Some((len, behind)) = rest.split_first_chunk() {
        let len = usize::from(u16::from_le_bytes(*len));
        let message = behind.get(..len).unwrap_or(behind);
        rest = &behind[message.len()..];
        if let Ok(message) = Envelope::decode(message) {
            shard.offer(message).expect("the inbox has room for a few");
        }
        turns += 1;
        turn(shard, (len == 0, turns % pace == 0), turns);
    }
    for _ in 0..30 {
        turns += 1;
        turn(shard, (true, turns % pace == 0), turns);
    }
}

/// What the target starts from: all that a small group says and keeps.
pub fn starts() -> Vec<Vec<u8>> {
    let mut voter = voter();
    let mut leader = leader();
    let mut outputs = Vec::new();
    for turns in 0..40 {
        if turns == 10 {
            let write = b"a write".to_vec().into();
            leader.propose(GROUP, Token(2), write).expect("it leads");
        }
        if turns == 20 {
            leader.image_made(MEMBER, Some((2, b"an image".to_vec().into())));
        }
        outputs.push(turn(&mut voter, (true, true), turns));
        outputs.push(turn(&mut leader, (true, true), 25 + turns));
    }
    let (mut starts, mut script) = (Vec::new(), Vec::new());
    for output in outputs {
        for messages in output.sends.values() {
            starts.push([&[1][..], &encode_frame(messages)].concat());
            for message in messages {
                let mut bytes = vec![0];
                message.encode(&mut bytes);
                let len = u16::try_from(bytes.len() - 1).expect("a short message");
                script.extend_from_slice(&len.to_le_bytes());
                script.extend_from_slice(&bytes[1..]);
                starts.push(bytes);
            }
        }
        for record in &output.save.records {
            let mut bytes = vec![2];
            record.encode(&mut bytes);
            starts.push(bytes);
        }
    }
    starts.sort();
    starts.dedup();
    starts.truncate(60);
    let mut configuration = vec![3];
    Configuration::first(1, &[(ReplicaId(1), NodeId(1)), (ReplicaId(2), NodeId(2))])
        .encode(&mut configuration);
    starts.push(configuration);
    starts.extend([5, 6, 7, 8].map(|choice| [&[choice][..], &script].concat()));
    starts
}

// One of three who vote, on node 1; the others are never there.
fn voter() -> Shard {
    let voters = (1..=3).map(|n| (ReplicaId(n), NodeId(n))).collect();
    started(voters)
}

// It leads alone, and has a learner on node 2.
fn leader() -> Shard {
    let mut shard = started(vec![(ReplicaId(1), NodeId(1))]);
    for turns in 0..25 {
        turn(&mut shard, (true, true), turns);
    }
    let change = Change::of(ChangeStep::AddLearner(ReplicaId(2), NodeId(2)));
    let asked = shard.change(GROUP, Token(1), &change);
    asked.expect("the only voter leads");
    for _ in 0..4 {
        turn(&mut shard, (false, true), 25);
    }
    shard
}

fn started(voters: Vec<(ReplicaId, NodeId)>) -> Shard {
    let options = Options {
        cache_bytes_max: usize::MAX,
        read_promise: Duration::from_millis(500),
        ..Options::default()
    };
    let mut shard = Shard::new(NodeId(1), options, Arc::new(Unread), BTreeMap::new());
    let started = shard.start(GROUP, ReplicaId(1), Start::First(voters));
    started.expect("a new group starts");
    shard
}

// One of `turns` so far, 100 ms after the one before.
fn turn(shard: &mut Shard, (is_tick, is_synced): (bool, bool), turns: u64) -> Output {
    let output = shard.turn(is_tick, Duration::from_millis(100 * turns));
    if is_synced {
        shard.durable(output.save.number);
    }
    for apply in &output.applies {
        let last = apply.entries.last().expect("an apply has entries");
        shard.applied(apply.member, last.index);
    }
    for event in &output.events {
        if let Event::ImageOffered { member, ticket, .. } = event {
            shard.image_fetched(*member, ticket.index, true);
        }
    }
    output
}

/// Everything that is not compacted is in memory, so nobody asks.
struct Unread;

impl LogRead for Unread {
    fn entries(&self, _: GroupId, _: u64, _: u64, _: u64) -> Result<Vec<Entry>, ReadError> {
        panic!("the log is read")
    }

    fn term(&self, _: GroupId, _: u64) -> Result<u64, ReadError> {
        panic!("the log is read")
    }
}
