//! Whether what a commit depends on still holds, with no file read under the lock of all writers.
//!
//! Everything is looked at before the lock is taken, and under it only what was written between.
//! Where few keys count, the memtables are asked; where ranges or many keys do, the writes that
//! came meanwhile are (`recent`), which are kept for that from the moment at which the first look
//! begins. When neither can tell, because a memtable was flushed between the two or too much was
//! written, everything is looked at once more.

use std::collections::HashSet;
use std::sync::Arc;

use crate::base::types::error::Result;
use crate::base::types::ids::KeyspaceId;
use crate::base::types::seqno::SeqNo;
use crate::base::types::user_code;
use crate::flow::current::Current;
use crate::flow::read::newest::{Target, is_written_in_memory, is_written_since};
use crate::flow::write::recent::{RecentWrite, RecentWrites};

/// Keys that are looked up in memtables one by one under the lock; more are compared with what was
/// written meanwhile.
const KEYS_LOOKED_UP_MAX: usize = 16;

/// A condition under which a batch may be written: nothing newer than `seen` was written to the
/// target. A snapshot no newer than `seen` is held until the commit has ended.
#[derive(Clone)]
pub struct Unchanged<'a> {
    /// The keyspace of the target.
    pub keyspace: KeyspaceId,
    /// Where its views are.
    pub current: &'a Arc<Current>,
    /// What was read.
    pub target: Target<'a>,
    /// The sequence number at which it was read.
    pub seen: SeqNo,
}

/// What came of a look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    /// All conditions hold.
    Holds,
    /// The condition in that place does not.
    Broken(usize),
    /// It cannot be told from here.
    Unclear,
}

/// The conditions of one commit on its way.
pub struct Validation<'a> {
    conditions: &'a [Unchanged<'a>],
    /// All conditions held when this was the last write.
    held_at: SeqNo,
    /// Where writes that come meanwhile are kept: what each is held against.
    watched: Option<Watched<'a>>,
}

/// The conditions sorted for the look under the lock, where each moment counts.
struct Watched<'a> {
    keys: HashSet<(KeyspaceId, &'a [u8])>,
    /// Places of the ranges among the conditions.
    ranges: Vec<usize>,
}

impl<'a> Validation<'a> {
    /// The conditions, none of which was looked at.
    pub fn new(conditions: &'a [Unchanged<'a>]) -> Validation<'a> {
        Validation {
            conditions,
            held_at: SeqNo::ZERO,
            watched: None,
        }
    }

    /// Whether writes that come while it looks are to be kept for it.
    pub fn wants_recent(&self) -> bool {
        let is_range = |condition: &Unchanged<'_>| matches!(condition.target, Target::Range(_));
        self.conditions.len() > KEYS_LOOKED_UP_MAX || self.conditions.iter().any(is_range)
    }

    /// Looks at everything, without the lock. `last` was the last write before, and if writes are
    /// to be kept, that has begun. Errors: those of the files that had to be read; `Invalid` when a
    /// comparator panics.
    pub fn look(&mut self, last: SeqNo) -> Result<Look> {
        // Where nobody wrote anything since, there is nothing to look for.
        let is_latest = |condition: &Unchanged<'_>| condition.seen >= last;
        if !self.conditions.iter().all(is_latest)
            && let Some(index) = user_code::told(|| self.find_broken())?
        {
            return Ok(Look::Broken(index));
        }
        if self.watched.is_none() && self.wants_recent() {
            self.watched = Some(Watched::new(self.conditions));
        }
        self.held_at = last;
        Ok(Look::Holds)
    }

    /// Looks at what came since, under the lock of all writers, where `last` is the last write.
    /// Errors: `Invalid` when a comparator panics.
    pub fn look_again(&self, last: SeqNo, recent: &RecentWrites) -> Result<Look> {
        if last == self.held_at {
            return Ok(Look::Holds);
        }
        user_code::told(|| {
            let Some(watched) = &self.watched else {
                return Ok(self.look_into_memory());
            };
            let Some(mut writes) = recent.since(self.held_at) else {
                return Ok(Look::Unclear);
            };
            let broken = writes.find_map(|write| self.broken_by(write, watched));
            Ok(broken.map_or(Look::Holds, Look::Broken))
        })
    }

    fn broken_by(&self, write: &RecentWrite, watched: &Watched<'_>) -> Option<usize> {
        let is_key = write.end.is_none();
        if !is_key || watched.keys.contains(&(write.keyspace, &write.key)) {
            return self.place_of(write);
        }
        let mut ranges = watched.ranges.iter().copied();
        ranges.find(|&place| self.conditions[place].is_broken_by(write))
    }

    fn find_broken(&self) -> Result<Option<usize>> {
        for (index, condition) in self.conditions.iter().enumerate() {
            let view = condition.current.load();
            if is_written_since(&view, condition.target, condition.seen)? {
                return Ok(Some(index));
            }
        }
        Ok(None)
    }

    fn place_of(&self, write: &RecentWrite) -> Option<usize> {
        let mut conditions = self.conditions.iter();
        conditions.position(|condition| condition.is_broken_by(write))
    }

    fn look_into_memory(&self) -> Look {
        for (index, condition) in self.conditions.iter().enumerate() {
            let Target::Key(key) = condition.target else {
                return Look::Unclear;
            };
            // Up to `held_at` it was looked at in full.
            match is_written_in_memory(&condition.current.load(), key, self.held_at) {
                Some(true) => return Look::Broken(index),
                Some(false) => {}
                None => return Look::Unclear,
            }
        }
        Look::Holds
    }
}

impl<'a> Watched<'a> {
    fn new(conditions: &[Unchanged<'a>]) -> Watched<'a> {
        let mut watched = Watched {
            keys: HashSet::new(),
            ranges: Vec::new(),
        };
        for (place, condition) in conditions.iter().enumerate() {
            match condition.target {
                Target::Key(key) => drop(watched.keys.insert((condition.keyspace, key))),
                Target::Range(_) => watched.ranges.push(place),
            }
        }
        watched
    }
}

impl Unchanged<'_> {
    fn is_broken_by(&self, write: &RecentWrite) -> bool {
        if self.keyspace != write.keyspace {
            return false;
        }
        let view = self.current.load();
        let comparator = view.comparator();
        match (self.target, &write.end) {
            (Target::Key(key), None) => key == write.key,
            (Target::Key(key), Some(end)) => {
                comparator.compare(&write.key, key).is_le() && comparator.compare(key, end).is_lt()
            }
            (Target::Range(range), None) => range.contains(comparator, &write.key),
            (Target::Range(range), Some(end)) => range.meets(comparator, &write.key, end),
        }
    }
}

#[cfg(test)]
mod tests;
