//! Compactions whose point is that deletes, and what they hide, no longer lie in the way of scans.
//!
//! A scan steps over every delete and over every entry that one hides, so what was deleted costs
//! as much as what is left until a compaction brings both together.

use std::sync::Arc;

use crate::base::hooks::event_reasons::{CompactionKind, CompactionReason};
use crate::base::types::ids::Level;
use crate::flow::compact::leveled::CompactionPicker;
use crate::flow::compact::plan::{Input, Plan};
use crate::flow::compact::score::{Targets, targets};
use crate::store::version::file::FileRecord;

/// Share of deletes from which a file is compacted although its level is not too large: below
/// it a scan still meets more entries than tombstones.
const DELETE_SHARE: f64 = 0.5;

/// Fewest deletes for which that is worth a rewrite.
const DELETE_COUNT_MIN: u64 = 128;

/// Entries below level 0 that may be rewritten for each delete in it: then half of what the merge
/// reads may go. At four, random deletes of all keys
/// rewrite the tree with every flush.
const REWRITTEN_PER_DELETE: u64 = 2;

impl CompactionPicker<'_> {
    /// The next files with mostly deletes, sent down or rewritten: those of level 0 first, which
    /// lie in the way of every scan.
    pub(in crate::flow::compact) fn pick_deletes(&self) -> Option<Plan> {
        let targets = targets(self.levels, self.options);
        self.pick_l0_deletes(&targets)
            .or_else(|| self.pick_heavy_file(&targets))
    }

    // All of level 0, where its newest run is mostly deletes and enough of what is below goes.
    fn pick_l0_deletes(&self, targets: &Targets) -> Option<Plan> {
        let newest = self.levels.l0().first()?;
        if !newest.files().iter().any(|file| self.is_heavy(file)) {
            return None;
        }
        let plan = self.pick_l0(targets)?;
        let (mut deletes, mut rewritten) = (0, 0);
        for (level, file) in plan.files() {
            match level {
                Level::ZERO => deletes += file.delete_count + file.range_delete_count,
                _ => rewritten += file.entry_count,
            }
        }
        (rewritten <= deletes * REWRITTEN_PER_DELETE).then_some(Plan {
            reason: CompactionReason::Deletes,
            ..plan
        })
    }

    fn pick_heavy_file(&self, targets: &Targets) -> Option<Plan> {
        for level in Level::all().skip(1) {
            let is_deepest = targets.bytes[level.index() + 1..]
                .iter()
                .all(|bytes| *bytes == 0);
            let files = self.levels.run(level).files();
            for file in files.iter().filter(|file| self.is_heavy(file)) {
                let plan = if is_deepest {
                    let input = Input {
                        level,
                        runs: vec![vec![Arc::clone(file)]],
                    };
                    self.if_idle(
                        vec![input],
                        level,
                        CompactionKind::Merge,
                        CompactionReason::Deletes,
                    )
                } else {
                    self.push_down(level, file, CompactionReason::Deletes)
                };
                if plan.is_some() {
                    return plan;
                }
            }
        }
        None
    }

    // Whether a file holds mostly deletes, which nobody reads around any more.
    fn is_heavy(&self, file: &FileRecord) -> bool {
        file.delete_count + file.range_delete_count >= DELETE_COUNT_MIN
            && file.delete_share() >= DELETE_SHARE
            && file.largest_seqno <= self.oldest_snapshot
    }
}

#[cfg(test)]
mod tests;
