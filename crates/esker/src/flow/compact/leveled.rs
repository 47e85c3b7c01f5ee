//! The leveled strategy: one sorted run per level, each level a fixed factor below the next.

use std::collections::HashSet;
use std::sync::Arc;

use crate::base::hooks::event_reasons::{CompactionKind, CompactionReason};
use crate::base::options::keyspace::CompactionOptions;
use crate::base::types::comparator::Comparator;
use crate::base::types::ids::{FileNumber, KeyspaceId, Level};
use crate::base::types::range::KeyRange;
use crate::base::types::seqno::SeqNo;
use crate::flow::compact::plan::{Claim, Input, Plan, ends_before, hull};
use crate::flow::compact::score::{Targets, scores, targets};
use crate::store::version::file::FileRecord;
use crate::store::version::levels::Levels;

/// What the strategy looks at.
pub struct CompactionPicker<'a> {
    /// The keyspace.
    pub keyspace: KeyspaceId,
    /// Its files.
    pub levels: &'a Levels,
    /// How its keys compare.
    pub comparator: &'a Comparator,
    /// When and how to compact.
    pub options: &'a CompactionOptions,
    /// Files that a running compaction reads, or that are left out since one failed over them.
    pub busy: &'a HashSet<FileNumber>,
    /// Where running compactions may write.
    pub claims: &'a [Claim],
    /// The live snapshots, ascending.
    pub snapshots: Vec<SeqNo>,
    /// The oldest number at which anybody may read: deletes below it hide nothing from anybody.
    pub oldest_snapshot: SeqNo,
    /// Now, in unix seconds.
    pub now_unix_s: u64,
    /// Whether files at the bottom are to be searchable; else they are to be made of blocks.
    pub is_searchable_wanted: bool,
    /// Bytes after which files that are made of blocks are cut.
    pub file_size_bytes: u64,
    /// Whether small searchable files become fewer when they are written as one.
    pub is_joining_useful: bool,
    /// Whether a retain rule has a say in what lives on, of which no file tells anything.
    pub is_retaining: bool,
}

impl CompactionPicker<'_> {
    /// Everything that overlaps `range`, merged into the deepest level that holds any of it.
    ///
    /// Of what is one run there already, from the first to the last file that has anything to lose
    /// or is not compressed as is wished; all of it where a retain rule is to be asked. Where that
    /// makes searchable files, the first piece of it, and [`CompactionPicker::pick_rest`] has the
    /// next ones; what has to be merged and is large is made of blocks then (`effort`). `None` when
    /// nothing overlaps, when no file is such a one, or when a running compaction is in the way
    /// ([`CompactionPicker::busy_files`], [`CompactionPicker::is_claimed_within`]).
    pub fn pick_range(&self, range: &KeyRange) -> Option<Plan> {
        let (mut inputs, reach) = self.grown(range)?;
        if self.is_in_the_way(&reach) {
            return None;
        }
        let base = targets(self.levels, self.options).base;
        let deepest = inputs.last()?.level;
        let output = deepest.max(base);
        let is_one_run = inputs.iter().map(|input| input.runs.len()).sum::<usize>() == 1;
        let is_bottom = self.levels.is_bottom(output);
        let has_work = |file: &Arc<FileRecord>| {
            let is_compressed = !is_bottom || file.is_searchable == self.is_searchable_wanted;
            !is_compressed || self.is_retaining || self.may_lose(file)
        };
        if !is_one_run {
            return self.if_idle(
                inputs,
                output,
                CompactionKind::Merge,
                CompactionReason::Manual,
            );
        }
        let run = &mut inputs.first_mut()?.runs.first_mut()?;
        let first = run.iter().position(has_work);
        let last = run.iter().rposition(has_work);
        let is_by_piece = self.is_searchable_wanted && is_bottom;
        let kind = match first.zip(last) {
            None if deepest == output => return None,
            None => CompactionKind::Move,
            Some((first, _)) if deepest == output && is_by_piece => {
                **run = self.first_piece(run[first..].iter().take_while(|file| has_work(file)));
                CompactionKind::Merge
            }
            Some((first, last)) if deepest == output => {
                // Those between belong to it: what is written may be one file over all of them.
                **run = run[first..=last].to_vec();
                CompactionKind::Merge
            }
            // It goes by the piece where it comes to lie.
            Some(_) if is_by_piece && self.first_piece(run.iter()).len() < run.len() => {
                CompactionKind::Move
            }
            Some(_) => CompactionKind::Merge,
        };
        self.if_idle(inputs, output, kind, CompactionReason::Manual)
    }

    /// The busy files that are in the way of [`CompactionPicker::pick_range`], those that overlap
    /// the range first. Empty if nothing is.
    pub fn busy_files(&self, range: &KeyRange) -> Vec<FileNumber> {
        let Some((inputs, reach)) = self.grown(range) else {
            return Vec::new();
        };
        if !self.is_in_the_way(&reach) {
            return Vec::new();
        }
        let within = inputs.iter().flat_map(|input| input.runs.iter().flatten());
        let all = self.levels.files().map(|(_, file)| file);
        let mut numbers = Vec::new();
        for file in within.chain(all) {
            if self.busy.contains(&file.number) && !numbers.contains(&file.number) {
                numbers.push(file.number);
            }
        }
        numbers
    }

    /// Whether a compaction that is on the books holds [`CompactionPicker::pick_range`] up by where
    /// it may write, though no busy file is in the way any more: its inputs leave the tree a moment
    /// before its claim goes.
    pub fn is_claimed_within(&self, range: &KeyRange) -> bool {
        let Some((_, reach)) = self.grown(range) else {
            return false;
        };
        let mut claims = self.claims.iter();
        claims.any(|claim| {
            claim.keyspace == self.keyspace
                && !ends_before(self.comparator, &claim.reach, &reach)
                && !ends_before(self.comparator, &reach, &claim.reach)
        })
    }

    /// The files that overlap `range` and those that must come with them, and how far they reach.
    fn grown(&self, range: &KeyRange) -> Option<(Vec<Input>, KeyRange)> {
        let mut inputs = self.overlapping(range);
        // Keys just outside the range move down with their files, so whatever lies between must
        // come too: the range grows until no file reaches over its border.
        loop {
            let reach = hull(self.comparator, &inputs)?;
            let grown = self.overlapping(&reach);
            if count(&grown) == count(&inputs) {
                return Some((inputs, reach));
            }
            inputs = grown;
        }
    }

    /// Whether a running compaction may write a file into `reach`. Its outputs lie between its
    /// inputs' outermost keys, also where none of the inputs does: so files that came meanwhile
    /// may lie amid what it is about to write.
    fn is_in_the_way(&self, reach: &KeyRange) -> bool {
        let files = self.levels.files();
        let busy = files.filter(|(_, file)| self.busy.contains(&file.number));
        let busy = Input {
            level: Level::ZERO,
            runs: vec![busy.map(|(_, file)| Arc::clone(file)).collect()],
        };
        hull(self.comparator, &[busy]).is_some_and(|busy| {
            !ends_before(self.comparator, &busy, reach)
                && !ends_before(self.comparator, reach, &busy)
        })
    }

    /// How much the tree calls for a compaction: the highest of its scores; beyond 1.0 one is due.
    pub fn need(&self) -> f64 {
        let targets = targets(self.levels, self.options);
        let scores = scores(self.levels, &targets, self.options);
        scores.into_iter().fold(0.0, f64::max)
    }

    pub(in crate::flow::compact) fn pick_by_size(&self) -> Option<Plan> {
        let targets = targets(self.levels, self.options);
        let scores = scores(self.levels, &targets, self.options);
        let mut ranked: Vec<(f64, Level)> = Level::all()
            .map(|level| (scores[level.index()], level))
            .collect();
        ranked.sort_by(|left, right| right.0.total_cmp(&left.0));
        ranked.into_iter().find_map(|(score, level)| {
            if level == Level::ZERO {
                let pick = || {
                    self.pick_l0(&targets)
                        .or_else(|| self.pick_older_l0(&targets))
                };
                (score >= 1.0).then(pick)?
            } else if score > 1.0 {
                self.pick_level(level)
            } else {
                None
            }
        })
    }

    pub(in crate::flow::compact) fn pick_l0(&self, targets: &Targets) -> Option<Plan> {
        let (oldest, newer) = self.levels.l0().split_last()?;
        let alone = vec![Input {
            level: Level::ZERO,
            runs: vec![oldest.files().to_vec()],
        }];
        let reach = hull(self.comparator, &alone)?;
        let is_apart = newer
            .iter()
            .all(|run| run.overlapping(self.comparator, &reach).is_empty())
            && self
                .levels
                .run(targets.base)
                .overlapping(self.comparator, &reach)
                .is_empty();
        if is_apart {
            return self.if_idle(
                alone,
                targets.base,
                CompactionKind::Move,
                CompactionReason::Runs,
            );
        }
        let all = Input::of_l0(self.levels.l0());
        self.merge_down(all, targets, CompactionReason::Runs)
    }

    /// Files of level 0, older ones of whose keys lie below already, merged into the base level.
    pub(in crate::flow::compact) fn merge_down(
        &self,
        upper: Input,
        targets: &Targets,
        reason: CompactionReason,
    ) -> Option<Plan> {
        let mut inputs = vec![upper];
        let below = self.in_run(targets.base, &hull(self.comparator, &inputs)?);
        inputs.extend(below);
        self.if_idle(inputs, targets.base, CompactionKind::Merge, reason)
    }

    /// What puts level 0 out of the readers' way.
    pub fn pick_for_readers(&self) -> Option<Plan> {
        let plan = self.pick_l0(&targets(self.levels, self.options))?;
        Some(Plan {
            reason: CompactionReason::Readers,
            ..plan
        })
    }

    /// The file of `level` whose move down rewrites the fewest bytes below per byte moved.
    fn pick_level(&self, level: Level) -> Option<Plan> {
        let mut best: Option<(f64, Plan)> = None;
        for file in self.levels.run(level).files() {
            let Some(plan) = self.push_down(level, file, CompactionReason::Size) else {
                continue;
            };
            let below_bytes = plan.size_bytes() - file.size_bytes;
            // Deletes that move down free what they hide, so they go first among equals.
            let cost = below_bytes as f64 / file.size_bytes.max(1) as f64 - file.delete_share();
            if best.as_ref().is_none_or(|(least, _)| cost < *least) {
                best = Some((cost, plan));
            }
        }
        best.map(|(_, plan)| plan)
    }

    pub(in crate::flow::compact) fn pick_expired(&self) -> Option<Plan> {
        for level in Level::all() {
            let runs: Vec<_> = match level {
                Level::ZERO => self.levels.l0().iter().collect(),
                _ => vec![self.levels.run(level)],
            };
            for (index, run) in runs.iter().enumerate() {
                let expired = run
                    .files()
                    .iter()
                    .filter(|file| file.is_expired(self.now_unix_s))
                    // A transaction must find what was written since it began.
                    .filter(|file| self.snapshots.iter().all(|it| *it >= file.largest_seqno));
                for file in expired {
                    let reach = file.key_range();
                    let older = runs[index + 1..].iter().copied();
                    let below = Level::all()
                        .skip(level.index() + 1)
                        .map(|l| self.levels.run(l));
                    // An expired entry still hides older entries of its key.
                    let hides_nothing = older
                        .chain(below)
                        .all(|run| run.overlapping(self.comparator, &reach).is_empty());
                    if !hides_nothing {
                        continue;
                    }
                    let input = Input {
                        level,
                        runs: vec![vec![Arc::clone(file)]],
                    };
                    let plan = self.if_idle(
                        vec![input],
                        level,
                        CompactionKind::Drop,
                        CompactionReason::Expiry,
                    );
                    if plan.is_some() {
                        return plan;
                    }
                }
            }
        }
        None
    }

    pub(in crate::flow::compact) fn push_down(
        &self,
        level: Level,
        file: &Arc<FileRecord>,
        reason: CompactionReason,
    ) -> Option<Plan> {
        let below = level.below()?;
        let mut inputs = vec![Input {
            level,
            runs: vec![vec![Arc::clone(file)]],
        }];
        let under = self.in_run(below, &file.key_range());
        let kind = if under.is_some() {
            CompactionKind::Merge
        } else {
            CompactionKind::Move
        };
        inputs.extend(under);
        self.if_idle(inputs, below, kind, reason)
    }

    pub(in crate::flow::compact) fn in_run(&self, level: Level, range: &KeyRange) -> Option<Input> {
        let files = self
            .levels
            .run(level)
            .overlapping(self.comparator, range)
            .to_vec();
        (!files.is_empty()).then(|| Input {
            level,
            runs: vec![files],
        })
    }

    fn overlapping(&self, range: &KeyRange) -> Vec<Input> {
        let runs: Vec<_> = self
            .levels
            .l0()
            .iter()
            .map(|run| run.overlapping(self.comparator, range).to_vec())
            .filter(|files| !files.is_empty())
            .collect();
        let l0 = (!runs.is_empty()).then_some(Input {
            level: Level::ZERO,
            runs,
        });
        let deeper = Level::all()
            .skip(1)
            .filter_map(|level| self.in_run(level, range));
        l0.into_iter().chain(deeper).collect()
    }

    pub(in crate::flow::compact) fn if_idle(
        &self,
        inputs: Vec<Input>,
        output: Level,
        kind: CompactionKind,
        reason: CompactionReason,
    ) -> Option<Plan> {
        let plan = Plan {
            keyspace: self.keyspace,
            inputs,
            output,
            kind,
            reason,
            victims: Arc::default(),
        };
        let is_idle = plan.numbers().all(|number| !self.busy.contains(&number));
        (is_idle && !self.is_claimed(&plan)).then_some(plan)
    }

    // Whether a running compaction may write amid what this one would: between two of its inputs
    // there may be room, and what comes there meanwhile would lie in the way of its files.
    fn is_claimed(&self, plan: &Plan) -> bool {
        if self.claims.is_empty() {
            return false;
        }
        let own = plan.claim(self.comparator);
        let meets = |own: Claim| {
            self.claims
                .iter()
                .any(|claim| claim.meets(self.comparator, &own))
        };
        own.is_some_and(meets)
    }
}

fn count(inputs: &[Input]) -> usize {
    inputs
        .iter()
        .flat_map(|input| &input.runs)
        .map(Vec::len)
        .sum()
}

#[cfg(test)]
mod tests;
