//! Numbers that must never mix.

use std::fmt;

/// A Raft group: one partition of a table, or the meta service.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GroupId(pub u64);

/// One replica of a group, never 0 and never used again within its group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ReplicaId(pub u64);

/// A machine, or a process that plays one: where a message goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u64);

/// The number of a save; the log says "durable up to this one" for all groups at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SaveNumber(pub u64);

/// What a caller gave along with a proposal or a read, and finds in the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Token(pub u64);

/// A replica with its group: what a report is about, so that a late one never meets a successor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Member {
    /// The group.
    pub group: GroupId,
    /// Its replica.
    pub replica: ReplicaId,
}

impl fmt::Display for Member {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} of {}", self.replica, self.group)
    }
}

impl fmt::Display for GroupId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "group {}", self.0)
    }
}

impl fmt::Display for ReplicaId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "replica {}", self.0)
    }
}

/// A place in a log: an index, and the term of the entry that is there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Point {
    /// Counted from 1; 0 is before every entry.
    pub index: u64,
    /// 0 at index 0.
    pub term: u64,
}
