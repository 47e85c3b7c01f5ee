//! When a leader is established: an entry of its term is committed, and all that was before it.

use esker_raft::{Event, Options};

use crate::rig::{GROUP, Rig, member};

/// In how many terms the node was told to be established.
fn told(rig: &mut Rig, node: u64) -> usize {
    let events = rig.at(node).events.iter();
    events
        .filter(|event| **event == Event::Established(member(node)))
        .count()
}

fn is_established(rig: &mut Rig, node: u64) -> bool {
    let status = rig.at(node).shard.status(GROUP);
    status.expect("it has the group").is_established
}

#[test]
fn whoever_was_elected_by_a_vote_that_is_lost_since_is_not_established() {
    let mut rig = Rig::new(2, 0, &Options::default());
    for _ in 0..100 {
        rig.turn(true);
        if rig.leader().is_some() {
            break;
        }
    }
    let leader = rig.leader().expect("somebody was elected");
    // The other one has voted, and is never heard again.
    rig.isolate(leader);
    rig.turns(4, true);
    assert_eq!(rig.leader(), Some(leader), "a leader has a while");
    assert!(!is_established(&mut rig, leader) && told(&mut rig, leader) == 0);
    rig.turns(60, true);
    assert_eq!(rig.leader(), None);
    // Once it is heard again somebody commits something, and is told so once.
    rig.silent.clear();
    let leader = rig.elect();
    rig.turns(20, true);
    assert!(is_established(&mut rig, leader) && told(&mut rig, leader) == 1);
    let other = rig.others(leader)[0];
    assert!(!is_established(&mut rig, other) && told(&mut rig, other) == 0);
}

#[test]
fn the_only_voter_is_established_once_its_disk_has_its_entry() {
    let mut rig = Rig::new(1, 0, &Options::default());
    rig.at(1).is_stuck = true;
    rig.turns(30, true);
    assert!(!is_established(&mut rig, 1));
    rig.at(1).is_stuck = false;
    rig.turns(30, true);
    assert!(is_established(&mut rig, 1) && told(&mut rig, 1) == 1);
    rig.restart(1, 0);
    assert!(!is_established(&mut rig, 1));
    rig.turns(30, true);
    assert!(is_established(&mut rig, 1) && told(&mut rig, 1) == 2);
}
