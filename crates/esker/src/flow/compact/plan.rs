//! Which files to merge, and into what: a decision as data.

use std::collections::BTreeSet;
use std::ops::Bound;
use std::sync::Arc;

use crate::base::hooks::event_reasons::{CompactionKind, CompactionReason};
use crate::base::types::comparator::Comparator;
use crate::base::types::ids::{FileNumber, KeyspaceId, Level};
use crate::base::types::range::KeyRange;
use crate::store::version::file::FileRecord;
use crate::store::version::run::Run;

/// Files of one level that take part.
#[derive(Clone, Debug)]
pub struct Input {
    /// The level they lie in.
    pub level: Level,
    /// Files that do not overlap, in order; for level 0 one such list per run, newest first.
    pub runs: Vec<Vec<Arc<FileRecord>>>,
}

impl Input {
    /// Whole runs of level 0, newest first.
    pub fn of_l0(runs: &[Run]) -> Input {
        Input {
            level: Level::ZERO,
            runs: runs.iter().map(|run| run.files().to_vec()).collect(),
        }
    }

    /// All files of it.
    pub fn files(&self) -> impl Iterator<Item = &Arc<FileRecord>> {
        self.runs.iter().flatten()
    }
}

/// One step of compaction.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The keyspace.
    pub keyspace: KeyspaceId,
    /// What takes part, upper levels first.
    pub inputs: Vec<Input>,
    /// Where the result goes.
    pub output: Level,
    /// What is done.
    pub kind: CompactionKind,
    /// Why.
    pub reason: CompactionReason,
    /// Segments of the value log that are being emptied.
    pub victims: Arc<BTreeSet<FileNumber>>,
}

/// Where a running compaction may write files: at its output level, anywhere between its inputs'
/// outermost keys, also where none of its inputs lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// The keyspace.
    pub keyspace: KeyspaceId,
    /// The output level.
    pub level: Level,
    /// From the first key to the last.
    pub reach: KeyRange,
}

impl Claim {
    /// Whether files of both may come to lie in one another's way.
    pub fn meets(&self, comparator: &Comparator, other: &Claim) -> bool {
        self.keyspace == other.keyspace
            && self.level == other.level
            && !ends_before(comparator, &self.reach, &other.reach)
            && !ends_before(comparator, &other.reach, &self.reach)
    }
}

/// The range from the smallest to the largest key of all inputs; `None` without any.
pub fn hull(comparator: &Comparator, inputs: &[Input]) -> Option<KeyRange> {
    let files = || inputs.iter().flat_map(|input| input.runs.iter().flatten());
    let first =
        files().min_by(|left, right| comparator.compare(&left.smallest, &right.smallest))?;
    let last = files().max_by(|left, right| {
        // Of two equal ends the inclusive one reaches further.
        let ends = comparator.compare(&left.largest, &right.largest);
        ends.then_with(|| right.is_largest_exclusive.cmp(&left.is_largest_exclusive))
    })?;
    let upper = last.key_range().upper;
    Some(KeyRange {
        lower: Bound::Included(first.smallest.to_vec()),
        upper,
    })
}

/// Whether all of `left` lies before `right`; both are hulls.
pub fn ends_before(comparator: &Comparator, left: &KeyRange, right: &KeyRange) -> bool {
    match (&left.upper, &right.lower) {
        (Bound::Included(end), Bound::Included(start)) => comparator.compare(end, start).is_lt(),
        (Bound::Excluded(end), Bound::Included(start)) => comparator.compare(end, start).is_le(),
        _ => false,
    }
}

impl Plan {
    /// Where its files may come to lie. `None` of a plan without inputs, and in level 0, where they
    /// are a run of their own.
    pub fn claim(&self, comparator: &Comparator) -> Option<Claim> {
        let reach = hull(comparator, &self.inputs)?;
        (self.output != Level::ZERO).then_some(Claim {
            keyspace: self.keyspace,
            level: self.output,
            reach,
        })
    }

    /// Every file that takes part, with its level.
    pub fn files(&self) -> impl Iterator<Item = (Level, &Arc<FileRecord>)> {
        self.inputs
            .iter()
            .flat_map(|input| input.runs.iter().flatten().map(|file| (input.level, file)))
    }

    /// Whether all of them belong to one run already.
    pub fn is_of_one_run(&self) -> bool {
        let counts = self.inputs.iter().map(|input| input.runs.len());
        counts.sum::<usize>() == 1
    }

    /// Whether it is done so that files which are compressed already become fewer.
    pub fn is_joining(&self) -> bool {
        let is_searchable = self.files().all(|(_, file)| file.is_searchable);
        is_searchable && self.is_of_one_run() && self.reason == CompactionReason::Recompression
    }

    /// Numbers of the files that take part.
    pub fn numbers(&self) -> impl Iterator<Item = FileNumber> {
        self.files().map(|(_, file)| file.number)
    }

    /// Bytes of the files that take part.
    pub fn size_bytes(&self) -> u64 {
        self.files().map(|(_, file)| file.size_bytes).sum()
    }

    /// Bytes of values that it moves out of victims.
    pub fn moved_bytes(&self) -> u64 {
        let live = self.files().flat_map(|(_, file)| file.values.iter());
        let moved = live.filter(|(segment, _)| self.victims.contains(segment));
        moved.map(|(_, bytes)| bytes).sum()
    }

    /// Bytes of files that it reads: none where they stay as they are, or go unread.
    pub fn read_bytes(&self) -> u64 {
        match self.kind {
            CompactionKind::Merge => self.size_bytes(),
            CompactionKind::Move | CompactionKind::Drop => 0,
        }
    }

    /// Bytes of disk that it may need until its inputs are given back: about as many as they
    /// have where they are rewritten, and none else.
    pub fn space_needed_bytes(&self) -> u64 {
        match self.kind {
            CompactionKind::Merge => self.size_bytes() + self.moved_bytes(),
            CompactionKind::Move | CompactionKind::Drop => 0,
        }
    }
}
