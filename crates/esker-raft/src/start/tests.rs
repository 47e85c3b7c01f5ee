//! What a disk has lost has a name, and what only looks lost is made up for.

use super::*;
use crate::ids::GroupId;
use crate::log::ReadError;
use raft::eraftpb::Entry;

const GROUP: GroupId = GroupId(1);
const REPLICA: ReplicaId = ReplicaId(2);

/// Entries of term 3 wherever it is asked.
struct OfTermThree;

impl LogRead for OfTermThree {
    fn entries(&self, _: GroupId, _: u64, _: u64, _: u64) -> Result<Vec<Entry>, ReadError> {
        Err(ReadError::Unavailable)
    }

    fn term(&self, _: GroupId, _: u64) -> Result<u64, ReadError> {
        Ok(3)
    }
}

fn at(index: u64, term: u64) -> Point {
    Point { index, term }
}

fn configuration() -> Configuration {
    Configuration::first(1, &[(REPLICA, NodeId(1))])
}

// Compacted up to 10, applied up to 15, committed up to 18, and 20 is the last.
fn sound() -> (LogState, Mark) {
    let state = LogState {
        replica: REPLICA,
        begin: FIRST,
        configuration: configuration(),
        compacted: at(10, 2),
        last: at(20, 3),
        hard: HardState {
            term: 4,
            vote: 1,
            commit: 18,
        },
    };
    let mark = Mark {
        applied: at(15, 3),
        begun: FIRST,
        configuration: configuration(),
    };
    (state, mark)
}

fn begun(changed: impl FnOnce(&mut LogState, &mut Mark)) -> Result<Beginning, StartError> {
    let (mut state, mut mark) = sound();
    changed(&mut state, &mut mark);
    beginning(
        GROUP,
        REPLICA,
        Start::Again(Box::new(state), mark),
        &OfTermThree,
    )
}

fn refused(changed: impl FnOnce(&mut LogState, &mut Mark)) -> StartError {
    begun(changed).err().expect("it must be refused")
}

#[test]
fn a_sound_replica_goes_on_where_it_was() {
    let begin = begun(|_, _| {}).expect("it is sound");
    assert_eq!((begin.compacted, begin.last), (at(10, 2), at(20, 3)));
    assert_eq!(
        begin.hard,
        HardState {
            term: 4,
            vote: 1,
            commit: 18
        }
    );
    assert!(begin.records.is_empty());
}

#[test]
fn what_a_disk_has_lost_has_a_name() {
    let other = StartError::OtherReplica(ReplicaId(7));
    assert_eq!(refused(|state, _| state.replica = ReplicaId(7)), other);
    assert_eq!(
        refused(|state, _| state.last = at(14, 3)),
        StartError::MarkBeyondLog
    );
    assert_eq!(
        refused(|state, _| state.last = at(17, 3)),
        StartError::CommitBeyondLog
    );
    assert_eq!(
        refused(|_, mark| mark.applied = at(15, 2)),
        StartError::MarkOffLog
    );
    assert_eq!(
        refused(|_, mark| mark.applied = at(10, 3)),
        StartError::MarkOffLog
    );
    assert_eq!(
        refused(|_, mark| mark.applied = at(9, 2)),
        StartError::LogAheadOfMark
    );
    let ahead = |_: &mut LogState, mark: &mut Mark| {
        (mark.begun, mark.applied) = (at(30, 4), at(31, 4));
    };
    assert_eq!(refused(ahead), StartError::MarkBeyondLog);
}

#[test]
fn what_is_applied_is_committed() {
    let begin = begun(|state, _| state.hard.commit = 12).expect("it is sound");
    assert_eq!(begin.hard.commit, 15);
}

#[test]
fn a_term_that_the_log_has_and_the_hard_state_lacks_was_told_nobody() {
    let begin = begun(|state, _| (state.last, state.hard.vote) = (at(20, 5), 1));
    let begin = begin.expect("it is sound");
    assert_eq!(
        begin.hard,
        HardState {
            term: 5,
            vote: 0,
            commit: 18
        }
    );
}

#[test]
fn a_switch_to_an_image_that_the_log_missed_is_made_up_for() {
    for last in [at(20, 3), at(40, 3)] {
        let begin = begun(|state, mark| {
            state.last = last;
            (mark.begun, mark.applied) = (at(30, 4), at(30, 4));
        });
        let begin = begin.expect("it is sound");
        assert_eq!((begin.compacted, begin.last), (at(30, 4), at(30, 4)));
        assert_eq!(
            begin.hard,
            HardState {
                term: 4,
                vote: 1,
                commit: 30
            }
        );
        assert!(matches!(
            begin.records[0],
            Record::Begin {
                index: 30,
                term: 4,
                ..
            }
        ));
    }
}

#[test]
fn errors_say_what_to_do() {
    let text = StartError::MarkBeyondLog.to_string();
    assert!(text.contains("ahead of the log") && text.contains("replace it under a new id"));
}
