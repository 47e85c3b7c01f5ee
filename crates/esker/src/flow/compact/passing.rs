//! Compactions whose point is what has passed: what only released snapshots saw, or has expired.
//!
//! A merge keeps what a live snapshot sees and what has yet to expire, and each file says how much
//! that was (`store/sst/passing`). So once the snapshot is gone, or the second has come, a file
//! alone at its level has something to lose. A rewrite takes all of that out: what the new file
//! holds is held by snapshots that live, so nothing is rewritten twice for the same reason.

use std::cmp::Reverse;
use std::sync::Arc;

use crate::base::hooks::event_reasons::{CompactionKind, CompactionReason};
use crate::base::types::ids::Level;
use crate::base::types::key::TRAILER_BYTES;
use crate::flow::compact::leveled::CompactionPicker;
use crate::flow::compact::plan::{Input, Plan};
use crate::flow::compact::score::targets;
use crate::flow::compact::values::ValueLimits;
use crate::store::version::file::FileRecord;

/// In a database at rest, files are rewritten of which one byte in so many has passed: then each
/// byte that is given back costs three that are written.
const WORTHWHILE_PART: u64 = 4;

impl CompactionPicker<'_> {
    /// Whether a rewrite takes anything out of a file below which nothing older lies, or may do so.
    pub(in crate::flow::compact) fn may_lose(&self, file: &FileRecord) -> bool {
        let Some(passing) = &file.passing else {
            // Written before files told it.
            return true;
        };
        let delete_count = file.delete_count + file.range_delete_count;
        delete_count > passing.held_delete_count() || self.passed_bytes(file) > 0
    }

    /// A rewrite of the file of which the most has passed: if what has passed in all files with
    /// large values is beyond their limit; and in a database at rest if it is worth that.
    pub fn pick_passed(&self, limits: &ValueLimits, is_settling: bool) -> Option<Plan> {
        let files = self.levels.files();
        let files = files.map(|(level, file)| (self.passed_bytes(file), level, file));
        let mut passed: Vec<_> = files.filter(|(bytes, ..)| *bytes > 0).collect();
        if passed.is_empty() {
            return None;
        }
        passed.sort_by_key(|(bytes, _, file)| (Reverse(*bytes), file.number));
        let is_over = self.is_beyond(limits);
        passed.into_iter().find_map(|(_, level, file)| {
            let is_due = is_over && !file.values.is_empty();
            if !is_due && !is_settling {
                return None;
            }
            let plan = self.rewrite(level, file)?;
            (is_due || self.is_worth(&plan)).then_some(plan)
        })
    }

    // What a rewrite takes out of a file: 0 where nothing is known.
    fn passed_bytes(&self, file: &FileRecord) -> u64 {
        file.passing.as_ref().map_or(0, |passing| {
            passing.released_bytes(&self.snapshots) + passing.expired_bytes(self.now_unix_s)
        })
    }

    // Whether more of the value log may be dead for it than the limit allows.
    fn is_beyond(&self, limits: &ValueLimits) -> bool {
        let files = || {
            let files = self.levels.files().map(|(_, file)| file);
            files.filter(|file| !file.values.is_empty())
        };
        let value_bytes = sum(files().map(|file| file.values.total_bytes()));
        let passed_bytes = sum(files().map(|file| self.passed_bytes(file)));
        let live_bytes = value_bytes.saturating_sub(passed_bytes);
        let allowed = (live_bytes as f64 * (limits.max_space_amp - 1.0)) as u64;
        passed_bytes > allowed.max(limits.spare_bytes)
    }

    // Level 0, whose runs belong together, is merged down instead.
    fn rewrite(&self, level: Level, file: &Arc<FileRecord>) -> Option<Plan> {
        let plan = if level == Level::ZERO {
            self.pick_l0(&targets(self.levels, self.options))?
        } else {
            let input = Input {
                level,
                runs: vec![vec![Arc::clone(file)]],
            };
            self.if_idle(
                vec![input],
                level,
                CompactionKind::Merge,
                CompactionReason::Passed,
            )?
        };
        Some(Plan {
            reason: CompactionReason::Passed,
            ..plan
        })
    }

    fn is_worth(&self, plan: &Plan) -> bool {
        let files = || plan.files().map(|(_, file)| file);
        let passed_bytes = sum(files().map(|file| self.passed_bytes(file)));
        let total_bytes = sum(files().map(|file| total_bytes(file)));
        // How much lies under range deletes nobody counted.
        let is_uncovered = |file: &Arc<FileRecord>| {
            let passing = file
                .passing
                .as_ref()
                .filter(|_| file.range_delete_count > 0);
            passing.is_some_and(|passing| passing.released_bytes(&self.snapshots) > 0)
        };
        passed_bytes.saturating_mul(WORTHWHILE_PART) >= total_bytes || files().any(is_uncovered)
    }
}

// Bytes of its entries and of what they point to, as `store/sst/passing` counts them.
fn total_bytes(file: &FileRecord) -> u64 {
    let trailers = file.entry_count.saturating_mul(TRAILER_BYTES as u64);
    let own = file.raw_bytes.saturating_add(trailers);
    own.saturating_add(file.values.total_bytes())
}

// Files may count wrong: whatever they say, this is a number.
fn sum(all: impl Iterator<Item = u64>) -> u64 {
    all.fold(0, u64::saturating_add)
}

#[cfg(test)]
mod tests;
