//! Compactions for the sake of the value log: to find what is overwritten, and to empty segments.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::base::hooks::event_reasons::{CompactionKind, CompactionReason};
use crate::base::types::ids::{FileNumber, Level};
use crate::flow::compact::leveled::CompactionPicker;
use crate::flow::compact::plan::{Input, Plan};
use crate::flow::compact::score::targets;
use crate::store::version::file::FileRecord;

/// How much of the value log may be dead.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ValueLimits {
    /// How many times the live bytes all segments may have.
    pub max_space_amp: f64,
    /// So many bytes may always be dead.
    pub spare_bytes: u64,
}

impl CompactionPicker<'_> {
    /// A merge that finds out which large values are overwritten, if those in the upper levels may
    /// hide more of the deepest one than the limit allows.
    ///
    /// Each pointer above the deepest level hides one below at the worst. The tree of a keyspace
    /// with large values is small, so merging it costs little beside them.
    pub fn pick_hidden(&self, limits: &ValueLimits) -> Option<Plan> {
        let is_filled = |level: &Level| self.levels.size_bytes(*level) > 0;
        let deepest = Level::all().rev().find(is_filled)?;
        let mut upper_bytes = 0;
        let mut deepest_bytes = 0;
        for (level, run) in self.levels.all_runs() {
            let files = run.files().iter();
            let bytes: u64 = files.map(|file| file.values.total_bytes()).sum();
            if level == deepest && level != Level::ZERO {
                deepest_bytes += bytes;
            } else {
                upper_bytes += bytes;
            }
        }
        let allowed = (deepest_bytes as f64 * (limits.max_space_amp - 1.0)) as u64;
        if upper_bytes <= allowed.max(limits.spare_bytes) {
            return None;
        }
        let has_values = |file: &Arc<FileRecord>| !file.values.is_empty();
        let mut l0 = self.levels.l0().iter().flat_map(|run| run.files());
        if l0.any(has_values) {
            let mut plan = self.pick_l0(&targets(self.levels, self.options))?;
            plan.reason = CompactionReason::Values;
            return Some(plan);
        }
        let upper = Level::all().skip(1).take_while(|level| *level < deepest);
        for level in upper {
            let files = self.levels.run(level).files().iter();
            let mut files: Vec<_> = files.filter(|file| has_values(file)).collect();
            files.sort_by_key(|file| std::cmp::Reverse(file.values.total_bytes()));
            let mut files = files.into_iter();
            let plan = files.find_map(|file| self.push_down(level, file, CompactionReason::Values));
            if plan.is_some() {
                return plan;
            }
        }
        None
    }

    /// A rewrite that moves values out of `victims`: of the file that has most of them there.
    /// Level 0, whose runs belong together, is merged down instead.
    pub fn pick_collection(&self, victims: &Arc<BTreeSet<FileNumber>>) -> Option<Plan> {
        let moved = |file: &FileRecord| -> u64 {
            let live = file.values.iter();
            let moved = live.filter(|(segment, _)| victims.contains(segment));
            moved.map(|(_, bytes)| bytes).sum()
        };
        let is_idle = |file: &FileRecord| !self.busy.contains(&file.number);
        let files = self.levels.files();
        let files = files.filter(|(_, file)| moved(file) > 0 && is_idle(file));
        let (level, file) = files.max_by_key(|(_, file)| (moved(file), file.number))?;
        let plan = if level == Level::ZERO {
            self.pick_l0(&targets(self.levels, self.options))
        } else {
            let input = Input {
                level,
                runs: vec![vec![Arc::clone(file)]],
            };
            self.if_idle(
                vec![input],
                level,
                CompactionKind::Merge,
                CompactionReason::Values,
            )
        };
        plan.map(|plan| Plan {
            reason: CompactionReason::Values,
            victims: Arc::clone(victims),
            ..plan
        })
    }
}

#[cfg(test)]
mod tests;
