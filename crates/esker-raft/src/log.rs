//! The shared log of all groups on one disk, as this crate needs it.
//!
//! A shard hands out a [`Save`] per turn: records of many groups under one number. The owner of the
//! disk writes it and later says, by one number for all groups, how far everything is durable.
//! Saves become durable in their order. An entry that cannot be read back retires its replica
//! ([`ReadError::Damaged`]). A write or a sync that fails is the end of the process, or of the
//! disk: no call here reports one, since a failed sync is never retried.

use raft::eraftpb::Entry;

use crate::configuration::Configuration;
use crate::ids::{GroupId, Point, ReplicaId, SaveNumber};
use crate::record::{HardState, Record};

/// Records of one turn of a shard, of all its groups.
#[derive(Clone, Debug, PartialEq)]
pub struct Save {
    /// One above that of the turn before, whether or not that one had records.
    pub number: SaveNumber,
    /// In the order in which they hold.
    pub records: Vec<Record>,
    /// Whether anything waits until it is durable; otherwise it may become so with the next one.
    pub must_sync: bool,
}

/// Why entries cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadError {
    /// They were compacted, or lie before the image that the log begins with.
    Compacted,
    /// They lie behind the end.
    Unavailable,
    /// They should be there, and cannot be read: the replica is damaged.
    Damaged,
}

/// Reading entries back, without waiting for what was saved last: the shard has that in memory.
pub trait LogRead: Send + Sync {
    /// The entries of `[low, high)`, or as many of the first as `bytes_max` allows, one at least.
    fn entries(
        &self,
        group: GroupId,
        low: u64,
        high: u64,
        bytes_max: u64,
    ) -> Result<Vec<Entry>, ReadError>;

    /// The term of the entry at `index`, which may be the last one that was compacted.
    fn term(&self, group: GroupId, index: u64) -> Result<u64, ReadError>;
}

/// What the log holds of one group.
#[derive(Clone, Debug, PartialEq)]
pub struct LogState {
    /// The replica here.
    pub replica: ReplicaId,
    /// Where the log began, or began anew from an image.
    pub begin: Point,
    /// The members as of there.
    pub configuration: Configuration,
    /// The last entry that was compacted; not before the beginning.
    pub compacted: Point,
    /// The last entry.
    pub last: Point,
    /// Term, vote and commit.
    pub hard: HardState,
}
