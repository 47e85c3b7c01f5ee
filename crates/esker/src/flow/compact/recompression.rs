//! Which compactions make searchable files, and those that are made for that alone.

use std::sync::Arc;

use esker_phrase::Effort;

use crate::base::hooks::event_reasons::{CompactionKind, CompactionReason};
use crate::base::options::keyspace::CompactionOptions;
use crate::base::types::ids::Level;
use crate::flow::compact::leveled::CompactionPicker;
use crate::flow::compact::plan::{Input, Plan};
use crate::flow::compact::score::targets;
use crate::store::version::file::FileRecord;
use crate::store::version::levels::Levels;

/// How many times the runs that call for a compaction may lie in level 0 until files are made of
/// blocks, which takes a tenth of the time: they are compressed again when there is time.
const HURRY_FACTOR: usize = 2;

/// Files whose blocks are compressed anew together: their values fill one searchable file.
const REPACKED_FILES_MAX: usize = 4;

/// How many bytes below level 0 may be rewritten for each of its bytes, so that it is compressed
/// too: half of what a compaction costs that is due.
const SETTLED_FACTOR: u64 = 4;

/// How hard phrases are looked for in what `plan` writes, where there is a dictionary; `None` if
/// its files are to be made of blocks.
///
/// Only files with nothing below them are searchable: others are rewritten too soon for it to
/// pay, and are asked for keys that they do not have.
pub fn effort(plan: &Plan, levels: &Levels, options: &CompactionOptions) -> Option<Effort> {
    let is_bottom = plan.output != Level::ZERO && levels.is_bottom(plan.output);
    if plan.kind != CompactionKind::Merge || !is_bottom {
        return None;
    }
    match plan.reason {
        CompactionReason::Recompression | CompactionReason::Manual => return Some(Effort::Best),
        CompactionReason::Runs
        | CompactionReason::IntraL0
        | CompactionReason::Size
        | CompactionReason::Readers => {}
        CompactionReason::Deletes
        | CompactionReason::Expiry
        | CompactionReason::Passed
        | CompactionReason::Values => {
            return Some(Effort::Fast);
        }
    }
    // What is compressed already is copied, which costs nothing; it would be a pity to uncompress
    // it.
    let has_compressed = plan.files().any(|(_, file)| file.is_searchable);
    let is_hurry = levels.l0().len() >= options.l0_trigger * HURRY_FACTOR;
    (has_compressed || !is_hurry).then_some(Effort::Fast)
}

impl CompactionPicker<'_> {
    /// The next files that are made of blocks, to be written again as searchable ones: those at
    /// the bottom, and then those of level 0, where it lies right above. For when there is
    /// nothing else to do.
    pub fn pick_recompression(&self) -> Option<Plan> {
        self.pick_bottom_recompression()
            .or_else(|| self.pick_settling())
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
        let input = Input {
            level,
            runs: vec![due.take(REPACKED_FILES_MAX).cloned().collect()],
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
        let plan = self.pick_l0(&targets)?;
        let (upper, lower) = plan.inputs.split_first()?;
        let bytes = |input: &Input| -> u64 {
            let files = input.runs.iter().flatten();
            files.map(|file| file.size_bytes).sum()
        };
        let rewritten: u64 = lower.iter().map(bytes).sum();
        (rewritten <= bytes(upper) * SETTLED_FACTOR).then_some(Plan {
            reason: CompactionReason::Recompression,
            ..plan
        })
    }
}

#[cfg(test)]
mod tests;
