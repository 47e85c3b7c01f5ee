//! What only the inside shows: promises that wait for the disk, numbers, a log that cannot be read.

use super::*;
use crate::change::ChangeStep;
use crate::configuration::Configuration;
use crate::entry::Entry;
use crate::ids::Point;
use crate::log::{LogState, ReadError};
use crate::record::HardState;
use crate::start::{FIRST, Mark};

const GROUP: GroupId = GroupId(1);

/// A log from which nothing can be read.
struct Broken;

impl LogRead for Broken {
    fn entries(&self, _: GroupId, _: u64, _: u64, _: u64) -> Result<Vec<Entry>, ReadError> {
        Err(ReadError::Damaged)
    }

    fn term(&self, _: GroupId, _: u64) -> Result<u64, ReadError> {
        Err(ReadError::Damaged)
    }
}

fn sole_voter() -> Shard {
    let options = Options {
        cache_bytes_max: usize::MAX,
        ..Options::default()
    };
    let mut shard = Shard::new(NodeId(1), options, Arc::new(Broken), BTreeMap::new());
    let voters = vec![(ReplicaId(1), NodeId(1))];
    let started = shard.start(GROUP, ReplicaId(1), Start::First(voters));
    started.expect("a new group starts");
    shard
}

// A turn, with everything durable and applied.
fn turn(shard: &mut Shard, is_tick: bool) -> Output {
    let output = shard.turn(is_tick, Duration::ZERO);
    shard.durable(output.save.number);
    for apply in &output.applies {
        let last = apply.entries.last().expect("an apply has entries");
        shard.applied(apply.member, last.index);
    }
    output
}

// It leads, and says heartbeats to a learner that is never there.
fn with_learner() -> Shard {
    let mut shard = sole_voter();
    turn(&mut shard, true);
    turn(&mut shard, false);
    let change = Change::of(ChangeStep::AddLearner(ReplicaId(2), NodeId(2)));
    shard.change(GROUP, Token(1), &change).expect("it leads");
    for _ in 0..6 {
        turn(&mut shard, false);
    }
    shard
}

#[test]
fn an_idle_group_takes_no_more_memory_with_time() {
    // `raft` notes every ready until it is told that it is durable: 56 bytes for each heartbeat.
    let mut shard = with_learner();
    let taken = allocation_counter::measure(|| {
        for _ in 0..20_000 {
            turn(&mut shard, true);
        }
    });
    assert!(taken.bytes_current < 50_000, "{taken:?}");
}

#[test]
fn nobody_hears_of_a_term_that_the_disk_does_not_have() {
    // The only voter leads at once. If its learner heard of the new term, and a crash took it from
    // the disk, it would lead in that term again, with other entries at the same places.
    let mut shard = with_learner();
    let says = |output: &Output| !output.sends.is_empty();
    assert!(
        (0..4).any(|_| says(&turn(&mut shard, true))),
        "a leader says heartbeats"
    );
    let group = shard.groups.get_mut(&GROUP).expect("it is here");
    let term = group.raw.raft.term;
    group.raw.raft.become_follower(term + 1, raft::INVALID_ID);
    group.raw.campaign().expect("it may");
    shard.dirty.insert(GROUP);
    let mut last = SaveNumber(0);
    for _ in 0..12 {
        let output = shard.turn(true, Duration::ZERO);
        assert!(!says(&output), "it speaks of a term that is not durable");
        last = output.save.number;
    }
    let status = shard.status(GROUP).expect("it is here");
    assert!(status.term > term && status.leader == Some(ReplicaId(1)));
    shard.durable(last);
    assert!((0..6).any(|_| says(&turn(&mut shard, true))));
}

#[test]
fn numbers_of_saves_rise_whether_or_not_there_are_records() {
    let mut shard = sole_voter();
    let numbers: Vec<u64> = (0..5)
        .map(|_| shard.turn(false, Duration::ZERO).save.number.0)
        .collect();
    assert_eq!(numbers, [1, 2, 3, 4, 5]);
}

#[test]
#[should_panic = "number < self.out.save.number"]
fn a_number_that_no_output_had_is_refused() {
    let mut shard = sole_voter();
    let number = shard.turn(false, Duration::ZERO).save.number;
    shard.durable(SaveNumber(number.0 + 1));
}

#[test]
fn a_log_that_cannot_be_read_retires_its_group_and_nothing_else() {
    let mut shard = sole_voter();
    let configuration = crate::configuration::Configuration::first(1, &[(ReplicaId(1), NodeId(1))]);
    let state = LogState {
        replica: ReplicaId(1),
        begin: FIRST,
        configuration: configuration.clone(),
        compacted: FIRST,
        last: Point { index: 9, term: 3 },
        hard: HardState {
            term: 3,
            vote: 1,
            commit: 8,
        },
    };
    let mark = Mark {
        applied: FIRST,
        begun: FIRST,
        configuration,
    };
    let other = GroupId(2);
    let start = Start::Again(Box::new(state), mark);
    shard
        .start(other, ReplicaId(1), start)
        .expect("what was asked of the log is in memory");
    let mut events = Vec::new();
    for _ in 0..30 {
        let output = turn(&mut shard, true);
        assert!(
            output
                .applies
                .iter()
                .all(|apply| apply.member.group != other)
        );
        events.extend(output.events);
    }
    let is_told =
        |event: &&Event| matches!(event, Event::Damaged(member, _) if member.group == other);
    assert_eq!(events.iter().filter(is_told).count(), 1);
    let status = shard.status(GROUP).expect("it is here");
    assert_eq!(status.leader, Some(ReplicaId(1)));
    shard
        .propose(GROUP, Token(1), "a write".into())
        .expect("it goes on");
}

#[test]
fn a_replica_that_retires_answers_all_who_wait() {
    let mut shard = with_learner();
    shard
        .propose(GROUP, Token(5), "a write".into())
        .expect("it leads");
    shard.turn(false, Duration::ZERO);
    let group = shard.groups.get_mut(&GROUP).expect("it is here");
    group.raw.store().is_damaged.set(true);
    shard.dirty.insert(GROUP);
    let events = shard.turn(false, Duration::ZERO).events;
    let unknown = Event::Proposal(GROUP, Token(5), crate::proposals::Outcome::Unknown);
    assert!(events.contains(&unknown), "{events:?}");
    let refused = shard.propose(GROUP, Token(7), "more".into());
    assert!(matches!(refused, Err(Refusal::NotLeader(_))));
}

#[test]
fn an_image_of_another_entry_than_the_committed_one_is_no_image() {
    let mut shard = with_learner();
    let group = shard.groups.get_mut(&GROUP).expect("it is here");
    let index = group.raw.raft.raft_log.committed;
    let configuration = group.configuration.clone();
    let term = group.raw.raft.term + 1;
    group.raw.raft.become_follower(term, raft::INVALID_ID);
    shard
        .offer(image_of(index, term, configuration))
        .expect("there is room");
    let output = shard.turn(false, Duration::ZERO);
    assert!(output.installs.is_empty());
    let is_told = |event: &Event| matches!(event, Event::PeerDamaged(..));
    assert!(output.events.iter().any(is_told), "{:?}", output.events);
}

#[test]
fn an_image_rules_out_who_waits_behind_it() {
    // A leader was cut off with two writes. Its successor is ahead of them by one entry, of which
    // it has an image only; and nobody writes any more.
    let mut shard = with_learner();
    for token in [Token(5), Token(6)] {
        shard
            .propose(GROUP, token, "a write".into())
            .expect("it leads");
    }
    shard.turn(false, Duration::ZERO);
    let group = shard.groups.get_mut(&GROUP).expect("it is here");
    let index = group.raw.raft.raft_log.committed + 1;
    let term = group.raw.raft.term + 1;
    let configuration = group.configuration.clone();
    group.raw.raft.become_follower(term, raft::INVALID_ID);
    shard
        .offer(image_of(index, term, configuration))
        .expect("there is room");
    let mut events = turn(&mut shard, false).events;
    let member = Member {
        group: GROUP,
        replica: ReplicaId(1),
    };
    shard.image_fetched(member, index, true);
    for _ in 0..6 {
        events.extend(turn(&mut shard, false).events);
    }
    use crate::proposals::Outcome;
    let unknown = Event::Proposal(GROUP, Token(5), Outcome::Unknown);
    let overwritten = Event::Proposal(GROUP, Token(6), Outcome::Overwritten);
    assert!(events.contains(&unknown), "{events:?}");
    assert!(events.contains(&overwritten), "{events:?}");
}

/// From the second replica.
fn image_of(index: u64, term: u64, configuration: Configuration) -> Envelope {
    let contents = Bytes::new();
    let ticket = crate::ticket::Ticket {
        index,
        term,
        configuration,
        contents,
    };
    let mut message = raft::eraftpb::Message::default();
    message.set_msg_type(raft::eraftpb::MessageType::MsgSnapshot);
    (message.from, message.to, message.term) = (2, 1, term);
    message.set_snapshot(ticket.to_raft());
    Envelope {
        group: GROUP,
        from: ReplicaId(2),
        from_node: NodeId(2),
        to: ReplicaId(1),
        version: 1,
        body: Body::Step(Box::new(crate::message::Step(message))),
    }
}

#[test]
fn a_late_report_about_a_destroyed_replica_does_not_meet_its_successor() {
    // Applies are done elsewhere: what was applied of the old replica is told when the new one
    // runs.
    let mut shard = sole_voter();
    turn(&mut shard, true);
    turn(&mut shard, false);
    let old = Member {
        group: GROUP,
        replica: ReplicaId(1),
    };
    shard.destroy(GROUP, ReplicaId(1));
    turn(&mut shard, false);
    shard
        .start(GROUP, ReplicaId(9), Start::Empty)
        .expect("it is new");
    shard.applied(old, 5000);
    shard.compact(old, 5000, Keep::Nothing);
    shard.image_made(old, Some((5000, Bytes::from_static(b"of before"))));
    shard.image_fetched(old, 5000, true);
    shard.image_sent(old, ReplicaId(2), true);
    shard.retire(old, "of before");
    let output = turn(&mut shard, true);
    assert!(output.installs.is_empty());
    let is_of_it = |event: &Event| matches!(event, Event::ImageUnused(..) | Event::Damaged(..));
    assert!(!output.events.iter().any(is_of_it), "{:?}", output.events);
    let status = shard.status(GROUP).expect("it runs");
    assert_eq!((status.applied, status.damage), (0, None));
}

#[test]
fn a_retired_replica_answers_who_waits_and_takes_no_more() {
    let mut shard = sole_voter();
    turn(&mut shard, true);
    turn(&mut shard, false);
    let payload = Bytes::from_static(b"a write");
    shard
        .propose(GROUP, Token(7), payload.clone())
        .expect("it leads");
    let member = Member {
        group: GROUP,
        replica: ReplicaId(1),
    };
    shard.retire(member, "a block is corrupt");
    let output = shard.turn(false, Duration::ZERO);
    let is_answered = |event: &Event| matches!(event, Event::Proposal(_, Token(7), _));
    assert!(output.events.iter().any(is_answered));
    assert!(
        output
            .events
            .contains(&Event::Damaged(member, "a block is corrupt"))
    );
    assert!(output.applies.is_empty());
    let refused = shard.propose(GROUP, Token(8), payload);
    assert!(refused.is_err());
}

#[test]
fn only_who_waits_for_what_is_applied_is_worth_a_turn() {
    let mut shard = sole_voter();
    turn(&mut shard, true);
    turn(&mut shard, false);
    turn(&mut shard, false);
    let commit = |shard: &mut Shard, token| {
        let payload = Bytes::from_static(b"a write");
        shard.propose(GROUP, token, payload).expect("it leads");
        let output = shard.turn(false, Duration::ZERO);
        shard.durable(output.save.number);
        let output = shard.turn(false, Duration::ZERO);
        let apply = output.applies.first().expect("it is committed");
        let last = apply.entries.last().expect("an apply has entries").index;
        (apply.member, last)
    };
    let (member, index) = commit(&mut shard, Token(1));
    assert!(!shard.awaits_applied() && !shard.is_busy());
    shard.applied(member, index);
    assert!(!shard.is_busy(), "nothing follows");

    let (_, index) = commit(&mut shard, Token(2));
    shard.read(GROUP, Token(3)).expect("it leads");
    let output = shard.turn(false, Duration::ZERO);
    assert!(output.reads.is_empty() && shard.awaits_applied());
    shard.applied(member, index);
    assert!(shard.is_busy(), "a read follows");
    let output = shard.turn(false, Duration::ZERO);
    let read = output.reads.first().expect("it may be served");
    assert_eq!((read.token, read.index), (Token(3), index));
    assert!(!shard.awaits_applied() && !shard.is_busy());
    shard.read(GROUP, Token(4)).expect("it leads");
    let output = shard.turn(false, Duration::ZERO);
    assert_eq!(
        output.reads.len(),
        1,
        "all is applied: it waits for nothing"
    );

    // A change of the members is complete once it is applied.
    let change = Change::of(ChangeStep::AddLearner(ReplicaId(2), NodeId(2)));
    shard.change(GROUP, Token(5), &change).expect("it leads");
    let output = shard.turn(false, Duration::ZERO);
    assert!(shard.awaits_applied());
    shard.durable(output.save.number);
    for _ in 0..6 {
        turn(&mut shard, false);
    }
    assert!(!shard.awaits_applied());

    // Who is gone waits for nothing.
    let (_, index) = commit(&mut shard, Token(6));
    shard.read(GROUP, Token(7)).expect("it leads");
    shard.turn(false, Duration::ZERO);
    assert!(shard.awaits_applied());
    shard.destroy(GROUP, member.replica);
    shard.applied(member, index);
    assert!(!shard.awaits_applied());
}
