//! What the log knows of one group, without its entries.

use esker::internals::base::types::error::{Error, Result};
use esker_raft::{Configuration, HardState, LogState, Point, ReplicaId};

use crate::disk_log::positions::{Place, Positions};

/// One group's part of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupIndex {
    /// The replica here.
    pub replica: ReplicaId,
    /// Where its log began, or began anew.
    pub begin: Point,
    /// The members as of there.
    pub configuration: Configuration,
    /// The last entry that was compacted.
    pub compacted: Point,
    /// The last entry.
    pub last: Point,
    /// Term, vote and commit.
    pub hard: HardState,
    /// Where its entries lie.
    pub positions: Positions,
    /// Up to this index entries are not in the segments that are left. None of them is needed once
    /// all of the log was read, or something was lost.
    pub missing_up_to: u64,
}

impl GroupIndex {
    /// A log that begins there; its hard state comes with the next record.
    pub fn begun(replica: ReplicaId, begin: Point, configuration: Configuration) -> GroupIndex {
        GroupIndex {
            replica,
            begin,
            configuration,
            compacted: begin,
            last: begin,
            hard: HardState::default(),
            positions: Positions::default(),
            missing_up_to: 0,
        }
    }

    /// The log begins anew from an image, and the replica stays what it is.
    pub fn begin_anew(&mut self, begin: Point, configuration: Configuration) {
        *self = GroupIndex {
            hard: self.hard,
            ..GroupIndex::begun(self.replica, begin, configuration)
        };
    }

    /// Takes entries that lie in a record, in place of all from the first one's index on.
    ///
    /// Errors: `Corruption` when they do not follow on what is there.
    pub fn append(&mut self, points: &[Point], place: Place) -> Result<()> {
        let (Some(first), Some(last)) = (points.first(), points.last()) else {
            return Ok(());
        };
        check_append(self.compacted, self.last, first.index)?;
        self.positions.append(points, place);
        self.missing_up_to = self.missing_up_to.min(first.index - 1);
        self.last = *last;
        Ok(())
    }

    /// Forgets the entries up to there. Errors: `Corruption` behind the last one.
    pub fn compact(&mut self, point: Point) -> Result<()> {
        check_compact(self.last, point.index)?;
        if point.index > self.compacted.index {
            self.compacted = point;
            self.positions.compact(point.index);
        }
        Ok(())
    }

    /// Whether entries are needed that are nowhere.
    pub fn has_lost(&self) -> bool {
        self.missing_up_to > self.compacted.index
    }

    /// The same for the one who starts the replica again.
    pub fn state(&self) -> LogState {
        LogState {
            replica: self.replica,
            begin: self.begin,
            configuration: self.configuration.clone(),
            compacted: self.compacted,
            last: self.last,
            hard: self.hard,
        }
    }
}

/// Whether entries from `first` on may follow where the last compacted entry and the last one are
/// those. Errors: `Corruption`.
pub fn check_append(compacted: Point, last: Point, first: u64) -> Result<()> {
    if first > compacted.index && first <= last.index + 1 {
        return Ok(());
    }
    Err(Error::corruption(format!(
        "the raft log has entry {first} behind entry {}, the last compacted one being {}",
        last.index, compacted.index
    )))
}

/// Whether a group whose last entry is that may be compacted up to `index`. Errors: `Corruption`.
pub fn check_compact(last: Point, index: u64) -> Result<()> {
    if index <= last.index {
        return Ok(());
    }
    Err(Error::corruption(format!(
        "the raft log compacts up to entry {index} and ends with {}",
        last.index
    )))
}
