//! The traps of the consensus core, each as a small story.
//!
//! Traps 7 and 8 are told in `src/store/tests.rs`, 9 in `src/message/tests.rs`: they are about the
//! inside.

use bytes::Bytes;
use esker_raft::{
    Body, Change, ChangeRefusal, ChangeStep, Configuration, Envelope, Event, LogRead, NodeId,
    Options, Outcome, Refusal, ReplicaId, Start, Token,
};

use crate::rig::{GROUP, Rig, member};

fn write(text: &'static str) -> Bytes {
    Bytes::from_static(text.as_bytes())
}

#[test]
fn trap_1_entries_that_no_disk_has_yet_are_sent_and_sent_again() {
    // The leader's disk stands still. Its first message with the entry is lost, so it must find
    // the entry again to repeat it, and only memory has it.
    let mut rig = Rig::new(3, 0, &Options::default());
    let leader = rig.elect();
    rig.at(leader).is_stuck = true;
    rig.isolate(leader);
    rig.at(leader)
        .shard
        .propose(GROUP, Token(1), write("one"))
        .unwrap();
    rig.turn(false);
    rig.silent.clear();
    // One heartbeat to find out, one to say it again, one to tell that it is committed.
    rig.turns(16, true);
    let index = rig.at(leader).shard.status(GROUP).unwrap().last;
    let on_disk = rig.at(leader).disk.term(GROUP, index);
    assert!(on_disk.is_err(), "the leader's disk stood still");
    for other in rig.others(leader) {
        // The two others are a majority, so the write is committed without the leader's disk.
        assert_eq!(rig.at(other).writes(), [b"one"]);
    }
    assert!(
        rig.at(leader).writes().is_empty(),
        "it applies only what its own disk has"
    );
    rig.at(leader).is_stuck = false;
    rig.turns(10, true);
    assert_eq!(rig.at(leader).writes(), [b"one"]);
}

#[test]
fn trap_1_nothing_is_acknowledged_before_it_is_durable() {
    // Both followers' disks stand still: they have the entry, and must not say so.
    let mut rig = Rig::new(3, 0, &Options::default());
    let leader = rig.elect();
    let followers = rig.others(leader);
    for &follower in &followers {
        rig.at(follower).is_stuck = true;
    }
    rig.at(leader)
        .shard
        .propose(GROUP, Token(1), write("one"))
        .unwrap();
    rig.turns(8, true);
    assert!(rig.at(leader).writes().is_empty());
    rig.at(followers[0]).is_stuck = false;
    rig.turns(8, true);
    assert_eq!(rig.at(leader).writes(), [b"one"]);
}

#[test]
fn trap_2_an_image_is_durable_before_anything_else_is_taken() {
    let mut rig = Rig::new(3, 1, &Options::default());
    let leader = rig.elect();
    rig.add_learner(leader);
    let ticket = rig.at(4).events.iter().find_map(|event| match event {
        Event::ImageOffered { ticket, .. } => Some(ticket.clone()),
        _ => None,
    });
    let ticket = ticket.expect("the leader offers an image");
    assert!(
        rig.at(4).installs.is_empty(),
        "nothing is installed before it is fetched"
    );
    rig.at(4).is_stuck = true;
    rig.at(4).shard.image_fetched(member(9), ticket.index, true);
    rig.turn(false);
    assert_eq!(rig.at(4).installs.len(), 1);
    rig.at(4).sent.clear();
    rig.turns(10, true);
    assert!(
        rig.at(4).sent.is_empty(),
        "nothing is said while an image is installed"
    );
    assert_eq!(rig.at(4).shard.status(GROUP).unwrap().applied, 0);
    rig.at(4).is_stuck = false;
    rig.turns(6, true);
    assert!(rig.at(4).shard.status(GROUP).unwrap().applied >= ticket.index);
    // It goes on from there: what is written now comes as an entry.
    rig.at(leader)
        .shard
        .propose(GROUP, Token(3), write("four"))
        .unwrap();
    rig.turns(8, true);
    assert_eq!(rig.at(4).writes(), [b"four"]);
    assert_eq!(rig.at(4).installs.len(), 1, "one image, no loop");
}

#[test]
fn trap_3_a_leader_hands_over_before_it_is_removed() {
    let mut rig = Rig::new(3, 0, &Options::default());
    let leader = rig.elect();
    let remove = |replica| Change::of(ChangeStep::Remove(ReplicaId(replica)));
    let refused = rig
        .at(leader)
        .shard
        .change(GROUP, Token(1), &remove(leader));
    let first = ChangeRefusal::TransferFirst(ReplicaId(leader));
    assert_eq!(refused, Err(Refusal::Change(first)));
    let next = rig.others(leader)[0];
    rig.at(leader)
        .shard
        .transfer(GROUP, ReplicaId(next))
        .unwrap();
    rig.turns(12, true);
    assert_eq!(rig.leader(), Some(next));
    rig.at(next)
        .shard
        .change(GROUP, Token(2), &remove(leader))
        .unwrap();
    rig.turns(20, true);
    let configuration = rig.at(next).shard.status(GROUP).unwrap().configuration;
    assert!(!configuration.is_joint() && !configuration.contains(ReplicaId(leader)));
}

#[test]
fn trap_3_the_lead_is_not_handed_to_one_that_is_gone() {
    let mut rig = Rig::new(3, 0, &Options::default());
    let leader = rig.elect();
    rig.turns(4, true);
    let gone = rig.others(leader)[0];
    rig.isolate(gone);
    rig.at(leader).shard.node_gone(NodeId(gone));
    let shard = &mut rig.at(leader).shard;
    let silent = ChangeRefusal::NotCaughtUp(ReplicaId(gone));
    let refused = shard.transfer(GROUP, ReplicaId(gone));
    assert_eq!(refused, Err(Refusal::Change(silent)));
    shard
        .propose(GROUP, Token(1), write("one"))
        .expect("it leads on");
}

#[test]
fn trap_3_a_transfer_ends_when_the_heir_goes() {
    let mut rig = Rig::new(3, 0, &Options::default());
    let leader = rig.elect();
    rig.turns(4, true);
    let heir = rig.others(leader)[0];
    rig.isolate(heir);
    let shard = &mut rig.at(leader).shard;
    shard
        .transfer(GROUP, ReplicaId(heir))
        .expect("it was heard a moment ago");
    let refused = shard.propose(GROUP, Token(1), write("one"));
    assert_eq!(refused, Err(Refusal::Transferring));
    shard.node_gone(NodeId(heir));
    shard
        .propose(GROUP, Token(2), write("two"))
        .expect("it leads on");
}

#[test]
fn trap_3_one_that_becomes_leader_and_then_applies_its_removal_steps_down_at_once() {
    // Node `next` has its own removal in its log when the lead comes to it.
    let mut rig = Rig::new(3, 0, &Options::default());
    let leader = rig.elect();
    let next = rig.others(leader)[0];
    let third = rig.others(leader)[1];
    let change = Change::of(ChangeStep::Remove(ReplicaId(next)));
    // The third's acknowledgement is needed and stays out, so the change is not committed.
    rig.at(third).is_stuck = true;
    rig.at(next).is_stuck = true;
    rig.at(leader)
        .shard
        .change(GROUP, Token(1), &change)
        .unwrap();
    rig.turns(2, false);
    rig.isolate(leader);
    rig.at(third).is_stuck = false;
    rig.at(next).is_stuck = false;
    rig.at(next).shard.node_gone(NodeId(leader));
    rig.at(third).shard.node_gone(NodeId(leader));
    // Time passes for this one alone, so it wins, commits the change, and is out.
    for _ in 0..30 {
        rig.turn_where(|node| node == next);
    }
    rig.silent.clear();
    rig.turns(60, true);
    let led = rig
        .at(next)
        .events
        .iter()
        .any(|event| matches!(event, Event::Leader { leader: Some(l), .. } if l.0 == next));
    let left = rig
        .at(next)
        .events
        .contains(&Event::Left(GROUP, ReplicaId(next)));
    assert!(led && left, "it led: {led}, it left: {left}");
    assert_ne!(rig.at(next).leader(), Some(ReplicaId(next)));
    let leader = rig.leader().expect("those who stay elect one");
    assert_ne!(leader, next);
    let configuration = rig.at(leader).shard.status(GROUP).unwrap().configuration;
    assert!(!configuration.contains(ReplicaId(next)) && !configuration.is_joint());
}

#[test]
fn trap_4_a_leader_that_is_cut_off_serves_no_reads() {
    let mut rig = Rig::new(3, 0, &Options::default());
    let old = rig.elect();
    rig.isolate(old);
    rig.at(old).shard.read(GROUP, Token(1)).unwrap();
    rig.turns(3, true);
    let others = rig.others(old);
    for &other in &others {
        rig.at(other).shard.node_gone(NodeId(old));
    }
    rig.turns(10, true);
    let new = rig.leader().expect("the others elect one");
    rig.at(new)
        .shard
        .propose(GROUP, Token(2), write("new"))
        .unwrap();
    rig.turns(6, true);
    assert_eq!(rig.at(new).writes(), [b"new"]);
    assert!(rig.at(old).reads.is_empty(), "its own word is not enough");
    rig.turns(60, true);
    assert!(rig.at(old).reads.is_empty());
    assert!(
        rig.at(old)
            .events
            .contains(&Event::ReadFailed(GROUP, Token(1)))
    );
}

#[test]
fn trap_5_a_read_that_a_new_leader_drops_is_asked_again() {
    // A leader that has committed nothing in its term drops reads without a word.
    let mut rig = Rig::new(3, 0, &Options::default());
    let leader = rig.elect();
    let next = rig.others(leader)[0];
    let third = rig.others(leader)[1];
    rig.isolate(leader);
    for node in [next, third] {
        rig.at(node).shard.node_gone(NodeId(leader));
    }
    for _ in 0..30 {
        rig.turn(true);
        if [next, third].contains(&rig.leader().unwrap_or(0)) && rig.leader() != Some(leader) {
            break;
        }
    }
    let new = rig.leader().expect("one of the two leads");
    let other = if new == next { third } else { next };
    // It leads, and its first entry is not acknowledged.
    rig.at(other).is_stuck = true;
    rig.at(new).shard.read(GROUP, Token(1)).unwrap();
    rig.turns(4, true);
    assert!(rig.at(new).reads.is_empty());
    rig.at(other).is_stuck = false;
    rig.turns(12, true);
    assert_eq!(rig.at(new).reads.len(), 1);
}

#[test]
fn trap_6_proposals_beyond_a_count_or_a_size_are_refused() {
    let options = Options {
        proposals_max: 5,
        proposal_bytes_max: 2 << 20,
        ..Options::default()
    };
    let mut rig = Rig::new(3, 0, &options);
    let leader = rig.elect();
    rig.isolate(leader);
    let shard = &mut rig.at(leader).shard;
    for token in 0..5 {
        assert_eq!(shard.propose(GROUP, Token(token), write("one")), Ok(()));
    }
    assert_eq!(
        shard.propose(GROUP, Token(5), write("one")),
        Err(Refusal::Busy)
    );
    assert_eq!(
        shard.propose(GROUP, Token(6), Bytes::new()),
        Err(Refusal::Size)
    );
    rig.silent.clear();
    rig.turns(8, true);
    let shard = &mut rig.at(leader).shard;
    let large = Bytes::from(vec![0; 1 << 20]);
    assert_eq!(shard.propose(GROUP, Token(7), large.clone()), Ok(()));
    assert_eq!(shard.propose(GROUP, Token(8), large.slice(1..)), Ok(()));
    assert_eq!(shard.propose(GROUP, Token(9), large), Err(Refusal::Busy));
    assert_eq!(
        shard.propose(GROUP, Token(9), vec![0; 5 << 20].into()),
        Err(Refusal::Size)
    );
}

#[test]
fn a_follower_refuses_and_names_its_leader() {
    let mut rig = Rig::new(3, 0, &Options::default());
    let leader = rig.elect();
    for other in rig.others(leader) {
        let refused = rig.at(other).shard.propose(GROUP, Token(1), write("one"));
        assert_eq!(refused, Err(Refusal::NotLeader(Some(ReplicaId(leader)))));
        rig.at(other).sent.clear();
    }
    rig.turns(3, false);
    assert!(rig.benches.iter().all(|bench| bench.writes().is_empty()));
}

#[test]
fn a_proposal_that_another_leader_writes_over_is_answered_so() {
    let mut rig = Rig::new(3, 0, &Options::default());
    let old = rig.elect();
    rig.isolate(old);
    rig.at(old)
        .shard
        .propose(GROUP, Token(1), write("lost"))
        .unwrap();
    rig.turns(2, false);
    for other in rig.others(old) {
        rig.at(other).shard.node_gone(NodeId(old));
    }
    rig.turns(10, true);
    let new = rig.leader().unwrap();
    rig.at(new)
        .shard
        .propose(GROUP, Token(2), write("kept"))
        .unwrap();
    rig.turns(4, true);
    rig.silent.clear();
    rig.turns(20, true);
    let told = Event::Proposal(GROUP, Token(1), Outcome::Overwritten);
    assert!(rig.at(old).events.contains(&told));
    for node in 1..=3 {
        assert_eq!(rig.at(node).writes(), [b"kept"]);
    }
}

#[test]
fn a_broken_connection_to_the_leader_starts_the_vote_without_waiting() {
    let mut rig = Rig::new(3, 0, &Options::default());
    let old = rig.elect();
    rig.isolate(old);
    for other in rig.others(old) {
        rig.at(other).shard.node_gone(NodeId(old));
    }
    // Three ticks by rank at most, and a few turns for two rounds of votes; a timeout has 10 ticks.
    rig.turns(3, true);
    rig.turns(8, false);
    assert!(
        rig.leader().is_some_and(|leader| leader != old),
        "{:?}",
        rig.leader()
    );
}

#[test]
fn the_only_voter_leads_with_its_first_tick() {
    let mut rig = Rig::new(1, 0, &Options::default());
    rig.turns(4, false);
    assert_eq!(rig.leader(), None);
    rig.turn(true);
    assert_eq!(rig.leader(), Some(1));
    rig.at(1)
        .shard
        .propose(GROUP, Token(1), write("one"))
        .unwrap();
    rig.turns(4, false);
    assert_eq!(rig.at(1).writes(), [b"one"]);
}

#[test]
fn a_majority_that_stays_must_know_before_a_replica_goes() {
    let mut rig = Rig::new(5, 0, &Options::default());
    let leader = rig.elect();
    let gone = rig.others(leader)[0];
    let left = Event::Left(GROUP, ReplicaId(gone));
    let status = rig.at(leader).shard.status(GROUP).unwrap();
    let mut without = status.configuration.clone();
    without.nodes.remove(&ReplicaId(gone));
    without.voters.remove(&ReplicaId(gone));
    let said = |from: u64, to: u64, configuration: &Configuration| Envelope {
        group: GROUP,
        from: ReplicaId(from),
        from_node: NodeId(from),
        to: ReplicaId(to),
        version: configuration.version,
        body: Body::Removed(Box::new(configuration.clone())),
    };
    // Of four who stay three must say so; once more does not count, nor does one that knows
    // nothing.
    without.version = 9;
    let others = rig.others(gone);
    for (from, configuration, is_enough) in [
        (others[0], &without, false),
        (others[1], &without, false),
        (others[1], &without, false),
        (others[2], &status.configuration, false),
        (others[3], &without, true),
    ] {
        rig.at(gone)
            .shard
            .offer(said(from, gone, configuration))
            .unwrap();
        rig.turn(false);
        assert_eq!(rig.at(gone).events.contains(&left), is_enough);
    }
}

#[test]
fn nobody_is_told_that_it_has_left_by_one_that_may_forget_it() {
    let mut rig = Rig::new(3, 0, &Options::default());
    let leader = rig.elect();
    let gone = rig.others(leader)[0];
    let other = rig.others(leader)[1];
    rig.isolate(gone);
    let change = Change::of(ChangeStep::Remove(ReplicaId(gone)));
    rig.at(leader)
        .shard
        .change(GROUP, Token(1), &change)
        .unwrap();
    let knows = |rig: &mut Rig| {
        let status = rig.at(other).shard.status(GROUP).unwrap();
        !status.configuration.contains(ReplicaId(gone))
    };
    for _ in 0..60 {
        rig.turn(true);
        if knows(&mut rig) {
            break;
        }
    }
    assert!(knows(&mut rig));
    // What it knows is in a save that is not durable.
    rig.at(other).is_stuck = true;
    for is_stuck in [true, false] {
        rig.at(other).is_stuck = is_stuck;
        rig.turns(2, false);
        let asked = Envelope {
            group: GROUP,
            from: ReplicaId(gone),
            from_node: NodeId(gone),
            to: ReplicaId(other),
            version: 0,
            body: Body::Leaving,
        };
        rig.at(other).sent.clear();
        rig.at(other).shard.offer(asked).unwrap();
        rig.turns(2, false);
        let is_answer = |message: &Envelope| matches!(message.body, Body::Removed(_));
        let is_told = rig.at(other).sent.iter().any(|row| is_answer(&row.1));
        assert_eq!(is_told, !is_stuck);
    }
}

#[test]
fn a_destroyed_replica_is_answered_for_and_its_id_never_starts_again() {
    let mut rig = Rig::new(3, 0, &Options::default());
    let leader = rig.elect();
    let gone = rig.others(leader)[0];
    rig.at(gone).shard.destroy(GROUP, ReplicaId(gone));
    rig.turns(6, true);
    let told = Event::PeerDestroyed(GROUP, ReplicaId(gone));
    assert!(rig.at(leader).events.contains(&told));
    let again = rig
        .at(gone)
        .shard
        .start(GROUP, ReplicaId(gone), Start::Empty);
    assert!(again.is_err());
    let on_disk = rig.at(gone).disk.destroyed(GROUP);
    assert_eq!(
        on_disk,
        Some(ReplicaId(gone)),
        "the tombstone is on the disk"
    );
}

#[test]
fn a_replica_that_missed_its_removal_is_told_when_it_asks_for_votes() {
    let mut rig = Rig::new(3, 0, &Options::default());
    let leader = rig.elect();
    let gone = rig.others(leader)[0];
    rig.isolate(gone);
    let change = Change::of(ChangeStep::Remove(ReplicaId(gone)));
    rig.at(leader)
        .shard
        .change(GROUP, Token(1), &change)
        .unwrap();
    rig.turns(20, true);
    rig.silent.clear();
    let term = rig.at(leader).shard.status(GROUP).unwrap().term;
    rig.turns(60, true);
    assert!(
        rig.at(gone)
            .events
            .contains(&Event::Left(GROUP, ReplicaId(gone)))
    );
    let now = rig.at(leader).shard.status(GROUP).unwrap();
    assert_eq!(
        (now.term, now.leader),
        (term, Some(ReplicaId(leader))),
        "it disturbs nobody"
    );
}

#[test]
fn a_replica_that_is_opened_again_behind_its_removal_asks_whether_it_may_go() {
    // Its state machine has the removal, so no entry tells it of that any more; it neither votes
    // nor campaigns.
    let mut rig = Rig::new(4, 0, &Options::default());
    let leader = rig.elect();
    let gone = rig.others(leader)[0];
    let change = Change::of(ChangeStep::Remove(ReplicaId(gone)));
    rig.at(leader)
        .shard
        .change(GROUP, Token(1), &change)
        .unwrap();
    let mut turns = 0;
    while rig
        .at(gone)
        .shard
        .status(GROUP)
        .unwrap()
        .configuration
        .contains(ReplicaId(gone))
    {
        rig.turn(true);
        turns += 1;
        assert!(turns <= 40, "it hears of its removal");
    }
    // Nobody has answered it yet, and what it knows is durable.
    rig.isolate(gone);
    rig.turns(4, false);
    let left = Event::Left(GROUP, ReplicaId(gone));
    assert!(!rig.at(gone).events.contains(&left));
    let kept = rig.at(gone).applied.len();
    rig.restart(gone, kept);
    rig.silent.clear();
    rig.turns(30, true);
    assert!(rig.at(gone).events.contains(&left));
}

#[test]
fn a_change_of_the_members_is_done_without_a_tick() {
    // It takes two entries: one that enters a joint configuration, and one that leaves it.
    let mut rig = Rig::new(4, 0, &Options::default());
    let leader = rig.elect();
    let gone = rig.others(leader)[0];
    let change = Change::of(ChangeStep::Remove(ReplicaId(gone)));
    rig.at(leader)
        .shard
        .change(GROUP, Token(1), &change)
        .unwrap();
    rig.turns(16, false);
    for node in 1..=4 {
        let members = rig.at(node).shard.status(GROUP).unwrap().configuration;
        assert!(!members.is_joint(), "node {node}: {members:?}");
        assert!(
            !members.contains(ReplicaId(gone)),
            "node {node}: {members:?}"
        );
    }
}
