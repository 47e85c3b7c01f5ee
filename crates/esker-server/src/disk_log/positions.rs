//! Where the entries of one group lie in the segments, and their terms.
//!
//! Entries that came together lie in one record, and terms change seldom: so both are kept as runs,
//! some 30 bytes for each append and each change of leader, however many entries there are.

use std::collections::VecDeque;

use esker::internals::base::types::ids::FileNumber;
use esker_raft::Point;

/// A record of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The segment.
    pub segment: FileNumber,
    /// Where the record begins.
    pub offset: u64,
}

/// Entries that one record has, without those that later records took away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Run {
    first: u64,
    last: u64,
    place: Place,
}

/// The entries of a group behind the last one that was compacted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Positions {
    /// In the order of their indexes, one on the other.
    runs: VecDeque<Run>,
    /// The first index of each term, rising.
    terms: VecDeque<Point>,
}

impl Positions {
    /// Adds entries that lie there, in place of all from the first one's index on.
    pub fn append(&mut self, points: &[Point], place: Place) {
        let (Some(first), Some(last)) = (points.first(), points.last()) else {
            return;
        };
        self.cut(first.index);
        self.runs.push_back(Run {
            first: first.index,
            last: last.index,
            place,
        });
        for point in points {
            if self
                .terms
                .back()
                .is_none_or(|known| known.term != point.term)
            {
                self.terms.push_back(*point);
            }
        }
    }

    /// Forgets the entries from that index on.
    pub fn cut(&mut self, from: u64) {
        while let Some(run) = self.runs.back_mut().filter(|run| run.last >= from) {
            if run.first < from {
                run.last = from - 1;
                break;
            }
            self.runs.pop_back();
        }
        while self.terms.back().is_some_and(|point| point.index >= from) {
            self.terms.pop_back();
        }
    }

    /// Forgets the entries up to that index.
    pub fn compact(&mut self, up_to: u64) {
        while let Some(run) = self.runs.front_mut().filter(|run| run.first <= up_to) {
            if run.last > up_to {
                run.first = up_to + 1;
                break;
            }
            self.runs.pop_front();
        }
        // The term of the first entry that is left may have begun before.
        while self
            .terms
            .get(1)
            .is_some_and(|next| next.index <= up_to + 1)
        {
            self.terms.pop_front();
        }
        if self.runs.is_empty() {
            self.terms.clear();
        }
    }

    /// The first entry that is here.
    pub fn first(&self) -> Option<u64> {
        self.runs.front().map(|run| run.first)
    }

    /// The record that has the entry, and the last entry of this group that it has.
    pub fn find(&self, index: u64) -> Option<(Place, u64)> {
        let at = self.runs.partition_point(|run| run.last < index);
        let run = self.runs.get(at).filter(|run| run.first <= index)?;
        Some((run.place, run.last))
    }

    /// The term of an entry that is here.
    pub fn term(&self, index: u64) -> Option<u64> {
        self.find(index)?;
        let behind = self.terms.partition_point(|point| point.index <= index);
        Some(self.terms.get(behind.checked_sub(1)?)?.term)
    }

    /// The oldest segment that has one of them. Not always that of the first: what was written anew
    /// lies further on.
    pub fn oldest_segment(&self) -> Option<FileNumber> {
        self.runs.iter().map(|run| run.place.segment).min()
    }

    /// The last entry that lies in that segment or before.
    pub fn last_in(&self, segment: FileNumber) -> Option<u64> {
        let mut runs = self.runs.iter().rev();
        let found = runs.find(|run| run.place.segment <= segment)?;
        Some(found.last)
    }
}

#[cfg(test)]
mod tests;
