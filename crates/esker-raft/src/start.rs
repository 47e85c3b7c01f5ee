//! How a replica begins: the first of a group, one that is to be given an image, or one of before.

use std::fmt;

use raft::eraftpb::HardState as RaftHardState;

use crate::configuration::Configuration;
use crate::ids::GroupId;
use crate::ids::{NodeId, Point, ReplicaId};
use crate::log::{LogRead, LogState};
use crate::record::{HardState, Record};

/// Where the first entry of every group would be; its replicas agree on it before there is a
/// leader.
///
/// It is compacted from the beginning, so that a replica which is added later always gets an image:
/// the first configuration is in no entry.
pub const FIRST: Point = Point { index: 1, term: 1 };

/// What a state machine says of itself: up to where it has applied, and who the members are there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mark {
    /// The last entry applied; 0 of a replica that never had an image.
    pub applied: Point,
    /// Where its state began: the first configuration, or an image.
    pub begun: Point,
    /// The members as of `applied`.
    pub configuration: Configuration,
}

impl Mark {
    /// The mark of a state machine at the beginning of a group.
    pub fn first(voters: &[(ReplicaId, NodeId)]) -> Mark {
        Mark {
            applied: FIRST,
            begun: FIRST,
            configuration: Configuration::first(FIRST.index, voters),
        }
    }
}

/// How a replica begins.
#[derive(Clone, Debug)]
pub enum Start {
    /// As one of the voters that the group begins with, who all are told the same.
    First(Vec<(ReplicaId, NodeId)>),
    /// With nothing: the leader will offer an image.
    Empty,
    /// Again, with what is on its disk.
    Again(Box<LogState>, Mark),
}

/// Why a replica does not start: its disk has lost what it once promised to keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StartError {
    /// The log is of another replica.
    OtherReplica(ReplicaId),
    /// The replica was destroyed here, or a newer one of its group was.
    Destroyed(ReplicaId),
    /// The group has a replica here.
    Running(ReplicaId),
    /// The state machine is ahead of the log, and no image explains it.
    MarkBeyondLog,
    /// The log has another entry where the state machine stands.
    MarkOffLog,
    /// Entries that the state machine has not applied are compacted.
    LogAheadOfMark,
    /// More is known to be committed than the log has.
    CommitBeyondLog,
}

impl fmt::Display for StartError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self {
            StartError::OtherReplica(id) => return write!(out, "the log is of {id}"),
            StartError::Destroyed(id) => return write!(out, "{id} was destroyed here"),
            StartError::Running(id) => return write!(out, "{id} of the group runs here"),
            StartError::MarkBeyondLog => "the state is ahead of the log",
            StartError::MarkOffLog => "the log has another entry where the state stands",
            StartError::LogAheadOfMark => "the log lacks entries that the state has not applied",
            StartError::CommitBeyondLog => "the log lacks entries that are known to be committed",
        };
        write!(
            out,
            "{what}: the replica is damaged, replace it under a new id"
        )
    }
}

impl std::error::Error for StartError {}

/// What a group begins with.
pub(crate) struct Beginning {
    pub(crate) compacted: Point,
    pub(crate) last: Point,
    pub(crate) hard: HardState,
    pub(crate) mark: Mark,
    /// What the log does not have yet.
    pub(crate) records: Vec<Record>,
}

impl HardState {
    pub(crate) fn to_raft(self) -> RaftHardState {
        RaftHardState {
            term: self.term,
            vote: self.vote,
            commit: self.commit,
            ..RaftHardState::default()
        }
    }
}

/// Finds where `replica` of `group` begins.
pub(crate) fn beginning(
    group: GroupId,
    replica: ReplicaId,
    start: Start,
    log: &dyn LogRead,
) -> Result<Beginning, StartError> {
    match start {
        Start::First(voters) => {
            let hard = HardState {
                term: FIRST.term,
                vote: 0,
                commit: FIRST.index,
            };
            Ok(anew(group, replica, hard, Mark::first(&voters)))
        }
        Start::Empty => Ok(anew(group, replica, HardState::default(), Mark::default())),
        Start::Again(state, mark) => again(group, replica, *state, mark, log),
    }
}

fn anew(group: GroupId, replica: ReplicaId, hard: HardState, mark: Mark) -> Beginning {
    let begin = Record::Begin {
        group,
        replica,
        index: mark.applied.index,
        term: mark.applied.term,
        configuration: mark.configuration.clone(),
    };
    Beginning {
        compacted: mark.applied,
        last: mark.applied,
        hard,
        mark,
        records: vec![begin, Record::Hard { group, state: hard }],
    }
}

fn again(
    group: GroupId,
    replica: ReplicaId,
    state: LogState,
    mark: Mark,
    log: &dyn LogRead,
) -> Result<Beginning, StartError> {
    if state.replica != replica {
        return Err(StartError::OtherReplica(state.replica));
    }
    let mut hard = state.hard;
    if mark.begun.index > state.begin.index {
        // The crash came between the switch to an image and the log's new beginning, which is now
        // made up for. Nothing was applied behind the image: that waits for the log.
        if mark.applied != mark.begun {
            return Err(StartError::MarkBeyondLog);
        }
        hard.commit = mark.applied.index;
        return Ok(anew(group, replica, hard, mark));
    }
    if mark.applied.index > state.last.index {
        return Err(StartError::MarkBeyondLog);
    }
    if mark.applied.index < state.compacted.index {
        return Err(StartError::LogAheadOfMark);
    }
    if hard.commit > state.last.index {
        return Err(StartError::CommitBeyondLog);
    }
    let term = match mark.applied.index {
        index if index == state.compacted.index => Ok(state.compacted.term),
        index => log.term(group, index),
    };
    if term != Ok(mark.applied.term) {
        return Err(StartError::MarkOffLog);
    }
    // What is applied was committed, whatever the last hard state says.
    hard.commit = hard.commit.max(mark.applied.index);
    // A crash may have torn the save between entries of a new term and the term. Nobody was told of
    // either, and the replica has voted for nobody in that term.
    if hard.term < state.last.term {
        (hard.term, hard.vote) = (state.last.term, 0);
    }
    Ok(Beginning {
        compacted: state.compacted,
        last: state.last,
        hard,
        mark,
        records: Vec::new(),
    })
}

#[cfg(test)]
mod tests;
