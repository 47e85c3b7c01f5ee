//! Small runs of level 0 become one, while they cannot be merged down.
//!
//! Where memtables are small beside the base level, a merge into that takes as long as a hundred of
//! them take to fill, and every read looks into each of the runs that came meanwhile. So the
//! newest of them are merged with one another and stay in level 0 (intra-L0 compaction
//! compaction). That writes them once more, and is done only where they are many.

use crate::base::hooks::event_reasons::{CompactionKind, CompactionReason};
use crate::base::options::keyspace::CompactionOptions;
use crate::base::types::ids::Level;
use crate::base::types::seqno::SeqNo;
use crate::flow::compact::leveled::CompactionPicker;
use crate::flow::compact::plan::{Input, Plan};
use crate::flow::compact::score::{Targets, l0_score};
use crate::store::version::run::Run;

/// How many times the runs that call for a merge down call for one within level 0.
const INTRA_L0_FACTOR: usize = 4;

/// Runs are small up to this share of the base level. With memtables larger than that the debt
/// that slows writers bounds their number.
const SMALL_SHARE: u64 = 32;

/// How much is merged within level 0 at once, as a share of the base level: what a merge down reads
/// in a moment, and keeps waiting no longer than that.
const INTRA_L0_SHARE: u64 = 4;

/// Whether so many runs of level 0 call for a merge with one another, if all of them are small.
pub fn is_intra_l0_due(runs: &[Run], options: &CompactionOptions) -> bool {
    runs.len() >= options.l0_trigger * INTRA_L0_FACTOR
}

impl CompactionPicker<'_> {
    /// Many small runs, to be made one; `flushed` is the keyspace's: no entry up to that lies
    /// outside its files.
    pub fn pick_intra_l0(&self, flushed: SeqNo) -> Option<Plan> {
        let base_bytes = self.options.base_level_bytes;
        let is_small =
            |run: &Run| run.size_bytes() <= base_bytes / SMALL_SHARE && self.is_idle(run);
        let stretches = self.levels.l0().split(|run| !is_small(run));
        let mut small_runs = stretches.max_by_key(|stretch| stretch.len())?;
        // What was merged so before is not written again for a few that came behind it.
        while let Some((oldest, newer)) = small_runs.split_last()
            && oldest.size_bytes() > Run::total_bytes(newer)
        {
            small_runs = newer;
        }
        while Run::total_bytes(small_runs) > base_bytes / INTRA_L0_SHARE {
            small_runs = small_runs.get(1..)?;
        }
        if !is_intra_l0_due(small_runs, self.options) || !self.is_unmixed(small_runs, flushed) {
            return None;
        }
        let inputs = vec![Input::of_l0(small_runs)];
        self.if_idle(
            inputs,
            Level::ZERO,
            CompactionKind::Merge,
            CompactionReason::IntraL0,
        )
    }

    /// The runs of level 0 that are older than what such a merge takes, merged down, where they are
    /// worth it by themselves.
    pub(in crate::flow::compact) fn pick_older_l0(&self, targets: &Targets) -> Option<Plan> {
        let l0 = self.levels.l0();
        let newest = l0.iter().rposition(|run| !self.is_idle(run))? + 1;
        let older = l0.get(newest..)?;
        let is_worth = l0_score(older, self.options) >= 1.0;
        let upper = Input::of_l0(older);
        is_worth.then(|| self.merge_down(upper, targets, CompactionReason::Runs))?
    }

    fn is_idle(&self, run: &Run) -> bool {
        let mut files = run.files().iter();
        files.all(|file| !self.busy.contains(&file.number))
    }

    // Whether every other run of level 0, and every one that is flushed meanwhile, is older or
    // newer than all of these: runs that do not overlap may mix their numbers, and what is made
    // of several may overlap what none of them does.
    fn is_unmixed(&self, small_runs: &[Run], flushed: SeqNo) -> bool {
        let oldest = small_runs.iter().filter_map(Run::smallest_seqno).min();
        let newest = small_runs.iter().filter_map(Run::largest_seqno).max();
        let mut others = self.levels.l0().iter();
        let is_apart = others.all(|run| {
            let is_among = small_runs.iter().any(|one| one.id() == run.id());
            is_among || run.smallest_seqno() > newest || run.largest_seqno() < oldest
        });
        is_apart && newest <= Some(flushed)
    }
}

#[cfg(test)]
mod tests;
