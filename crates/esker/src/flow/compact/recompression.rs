//! Which compactions make searchable files, and those that are made for that alone.

use std::ops::Bound;
use std::sync::Arc;

use esker_phrase::Effort;

use crate::base::hooks::event_reasons::{CompactionKind, CompactionReason};
use crate::base::options::keyspace::KeyspaceOptions;
use crate::base::types::ids::Level;
use crate::base::types::range::KeyRange;
use crate::flow::compact::leveled::CompactionPicker;
use crate::flow::compact::plan::{Input, Plan};
use crate::flow::compact::score::{Targets, targets};
use crate::flow::output::SEARCHABLE_FILE_FACTOR;
use crate::store::version::file::FileRecord;
use crate::store::version::levels::Levels;

/// How many times the runs that call for a compaction may lie in level 0 until files are made of
/// blocks, which takes a tenth of the time: they are compressed again when there is time.
const HURRY_FACTOR: usize = 2;

/// How many files' worth of keys and values, uncompressed, are looked through for phrases in one
/// compression anew: 64 MiB with files of 32, seven seconds of one thread. What is under way when
/// a process ends is lost, so one that lives for a minute must get some of it done.
const PIECE_FILES: u64 = 2;

/// How many bytes below level 0 may be rewritten for each of its bytes, so that it is compressed
/// too: half of what a compaction costs that is due.
const SETTLED_FACTOR: u64 = 4;

/// Bytes of keys and values that are compressed anew at once, where files have so many bytes.
fn piece_bytes(file_size_bytes: u64) -> u64 {
    file_size_bytes.saturating_mul(PIECE_FILES)
}

/// How hard phrases are looked for in what `plan` writes, where there is a dictionary; `None` if
/// its files are to be made of blocks.
///
/// Only files with nothing below them are searchable: others are rewritten too soon for it to
/// pay, and are asked for keys that they do not have.
pub fn effort(plan: &Plan, levels: &Levels, options: &KeyspaceOptions) -> Option<Effort> {
    let is_bottom = plan.output != Level::ZERO && levels.is_bottom(plan.output);
    if plan.kind != CompactionKind::Merge || !is_bottom {
        return None;
    }
    // What is compressed already is copied, which costs nothing; it would be a pity to uncompress
    // it.
    let has_compressed = has_searchable(plan);
    match plan.reason {
        CompactionReason::Recompression | CompactionReason::Manual => {
            // What must be merged is merged first, in a tenth of the time, and then compressed by
            // the piece.
            let bytes = sum(plan.files().map(|(_, file)| file), raw_bytes);
            let is_large = bytes > piece_bytes(options.sst.file_size_bytes);
            let is_blocks = is_large && !has_compressed && !plan.is_of_one_run();
            (!is_blocks).then_some(Effort::Best)
        }
        CompactionReason::Deletes
        | CompactionReason::Expiry
        | CompactionReason::Passed
        | CompactionReason::Values => Some(Effort::Fast),
        CompactionReason::Runs
        | CompactionReason::IntraL0
        | CompactionReason::Size
        | CompactionReason::Readers => {
            let runs_max = options.compaction.l0_trigger * HURRY_FACTOR;
            let is_hurry = levels.l0().len() >= runs_max;
            (has_compressed || !is_hurry).then_some(Effort::Fast)
        }
    }
}

/// The files that come first, whose keys and values take no more than so many bytes together: at
/// least one.
fn first_within<'a>(
    files: impl Iterator<Item = &'a Arc<FileRecord>>,
    bytes_max: u64,
) -> Vec<Arc<FileRecord>> {
    let mut taken = Vec::new();
    let mut bytes = 0_u64;
    for file in files {
        bytes = bytes.saturating_add(raw_bytes(file));
        if bytes > bytes_max && !taken.is_empty() {
            break;
        }
        taken.push(Arc::clone(file));
    }
    taken
}

// Bytes of keys and values. What an older Esker wrote does not say how many they are.
fn raw_bytes(file: &FileRecord) -> u64 {
    file.raw_bytes.max(file.size_bytes)
}

fn sum<'a>(files: impl Iterator<Item = &'a Arc<FileRecord>>, bytes: fn(&FileRecord) -> u64) -> u64 {
    files.fold(0, |sum, file| sum.saturating_add(bytes(file)))
}

fn has_searchable(plan: &Plan) -> bool {
    plan.files().any(|(_, file)| file.is_searchable)
}

/// What is left of a compaction that somebody asked for, where it goes by the piece.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remainder {
    /// The range of keys that has not had its turn.
    pub range: KeyRange,
    /// Whether everything in it was merged already, and only is to be compressed.
    pub is_merged: bool,
    /// Whether it is what a step by the piece left: then all of it comes, even if there is no
    /// dictionary any more.
    pub is_begun: bool,
}

impl Remainder {
    /// What there is to do of a range at first.
    pub fn of(range: KeyRange) -> Remainder {
        Remainder {
            range,
            is_merged: false,
            is_begun: false,
        }
    }

    /// What is left once `plan`, of such a remainder, is done, with or without phrases; `claimed`
    /// is what it claims. Calls no order: the plan is on the books, and would stay there if that
    /// panicked.
    pub fn behind(self, plan: &Plan, claimed: Option<&KeyRange>, is_phrased: bool) -> Option<Self> {
        let begun = Remainder {
            is_begun: true,
            ..self
        };
        let is_in_place = plan.inputs.iter().all(|input| input.level == plan.output);
        match plan.kind {
            CompactionKind::Drop => None,
            CompactionKind::Move => Some(begun),
            CompactionKind::Merge if is_in_place => {
                let lower = match claimed?.upper.clone() {
                    Bound::Included(key) => Bound::Excluded(key),
                    Bound::Excluded(key) => Bound::Included(key),
                    Bound::Unbounded => return None,
                };
                let upper = begun.range.upper;
                Some(Remainder {
                    range: KeyRange { lower, upper },
                    ..begun
                })
            }
            CompactionKind::Merge if is_phrased => None,
            CompactionKind::Merge => Some(Remainder {
                is_merged: true,
                ..begun
            }),
        }
    }
}

impl CompactionPicker<'_> {
    /// Of these files as many as are compressed anew at once.
    pub(in crate::flow::compact) fn first_piece<'a>(
        &self,
        files: impl Iterator<Item = &'a Arc<FileRecord>>,
    ) -> Vec<Arc<FileRecord>> {
        first_within(files, piece_bytes(self.file_size_bytes))
    }

    /// The next piece of what lies at the bottom, for who asked for a compaction. Written since
    /// then or not, what lies above is not merged with it. `None` when there is nothing left, or
    /// when a running compaction is in the way.
    pub fn pick_rest(&self, remainder: &Remainder) -> Option<Plan> {
        let level = self
            .levels
            .deepest()
            .filter(|level| *level != Level::ZERO)?;
        let run = self.levels.run(level);
        let files = run.overlapping(self.comparator, &remainder.range);
        let has_work = |file: &Arc<FileRecord>| {
            let is_compressed = file.is_searchable == self.is_searchable_wanted;
            let may_lose = || self.is_retaining || self.may_lose(file);
            !is_compressed || (!remainder.is_merged && may_lose())
        };
        let start = files.iter().position(has_work)?;
        let due = files[start..].iter().take_while(|file| has_work(file));
        let input = Input {
            level,
            runs: vec![self.first_piece(due)],
        };
        self.if_idle(
            vec![input],
            level,
            CompactionKind::Merge,
            CompactionReason::Manual,
        )
    }

    /// The next files that are made of blocks, to be written again as searchable ones: those at
    /// the bottom, and then those of level 0, where it lies right above. For when there is
    /// nothing else to do.
    ///
    /// A piece at a time: each is adopted when it is done, and its files are given back. While much
    /// is written (`is_loaded`), what lies in level 0 waits for the merge that is soon due, of
    /// several runs at once, and so do small files.
    pub fn pick_recompression(&self, is_loaded: bool) -> Option<Plan> {
        let at_rest = || self.pick_settling().or_else(|| self.pick_joining());
        self.pick_bottom_recompression()
            .or_else(|| (!is_loaded).then(at_rest)?)
    }

    fn pick_bottom_recompression(&self) -> Option<Plan> {
        let level = self
            .levels
            .deepest()
            .filter(|level| *level != Level::ZERO)?;
        let files = self.levels.run(level).files();
        let is_due =
            |file: &Arc<FileRecord>| !file.is_searchable && !self.busy.contains(&file.number);
        let start = files.iter().position(is_due)?;
        let due = files.iter().skip(start).take_while(|file| is_due(file));
        // The first one is a file alone: soon there, it keeps the dictionary, which took as long as
        // many a piece.
        let has_dictionary = files.iter().any(|file| file.is_searchable);
        let count_max = if has_dictionary { usize::MAX } else { 1 };
        let input = Input {
            level,
            runs: vec![self.first_piece(due.take(count_max))],
        };
        self.if_idle(
            vec![input],
            level,
            CompactionKind::Merge,
            CompactionReason::Recompression,
        )
    }

    // Fewer runs than call for a compaction may be all there is, or most of it.
    fn pick_settling(&self) -> Option<Plan> {
        let targets = targets(self.levels, self.options);
        if !self.levels.is_bottom(targets.base) {
            return None;
        }
        let whole = self.pick_l0(&targets)?;
        let (upper, lower) = whole.inputs.split_first()?;
        let size = |file: &FileRecord| file.size_bytes;
        let rewritten = sum(lower.iter().flat_map(Input::files), size);
        if rewritten > sum(upper.files(), size).saturating_mul(SETTLED_FACTOR) {
            return None;
        }
        // Without anything compressed it is merged in blocks, however much it is.
        let is_piece = sum(upper.files(), raw_bytes) <= piece_bytes(self.file_size_bytes);
        if !is_piece && has_searchable(&whole) {
            return self.pick_oldest_piece(&targets);
        }
        Some(Plan {
            reason: CompactionReason::Recompression,
            ..whole
        })
    }

    // The oldest runs of level 0, or files of the oldest: everything of their keys that is older
    // lies below already.
    fn pick_oldest_piece(&self, targets: &Targets) -> Option<Plan> {
        let bytes_max = piece_bytes(self.file_size_bytes);
        let l0 = self.levels.l0();
        let mut bytes = 0_u64;
        let fitting = l0.iter().rev().take_while(|run| {
            bytes = bytes.saturating_add(sum(run.files().iter(), raw_bytes));
            bytes <= bytes_max
        });
        let (newer, oldest) = l0.split_at(l0.len() - fitting.count());
        let upper = match oldest.is_empty() {
            false => Input::of_l0(oldest),
            true => Input {
                level: Level::ZERO,
                runs: vec![self.first_piece(newer.last()?.files().iter())],
            },
        };
        self.merge_down(upper, targets, CompactionReason::Recompression)
    }

    // Neighbours that are compressed and small, to be one file: each has a copy of the dictionary.
    // What is compressed is copied.
    fn pick_joining(&self) -> Option<Plan> {
        if !self.is_joining_useful {
            return None;
        }
        let level = self
            .levels
            .deepest()
            .filter(|level| *level != Level::ZERO)?;
        let files = self.levels.run(level).files();
        let is_small = |file: &Arc<FileRecord>| {
            let is_idle = !self.busy.contains(&file.number);
            file.is_searchable && is_idle && file.size_bytes < self.file_size_bytes
        };
        (0..files.len()).find_map(|start| {
            let small = files[start..].iter().take_while(|file| is_small(file));
            let bytes_max = self.file_size_bytes.saturating_mul(SEARCHABLE_FILE_FACTOR);
            let count = joined_count(small.map(|file| file.size_bytes), bytes_max);
            let input = Input {
                level,
                runs: vec![files[start..start + count].to_vec()],
            };
            let pick = || {
                self.if_idle(
                    vec![input],
                    level,
                    CompactionKind::Merge,
                    CompactionReason::Recompression,
                )
            };
            (count > 0).then(pick)?
        })
    }
}

// How many of the first files, of these sizes, had better be one; 0 is none. It becomes at least
// twice as large as each of them: so a byte is copied for this a few times in its life, however
// many small files come one after the other.
fn joined_count(sizes: impl Iterator<Item = u64>, bytes_max: u64) -> usize {
    let (mut total, mut largest, mut count) = (0_u64, 0, 0);
    for (index, size) in sizes.enumerate() {
        total = total.saturating_add(size);
        largest = size.max(largest);
        if total > bytes_max {
            break;
        }
        if total - largest >= largest {
            count = index + 1;
        }
    }
    count
}

#[cfg(test)]
mod tests;
