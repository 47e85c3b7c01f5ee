//! Runs a plan: reads its inputs, writes its outputs, returns an edit; installs nothing.

use std::collections::BTreeSet;
use std::ops::Bound;
use std::sync::Arc;

use crate::base::hooks::event_reasons::CompactionKind;
use crate::base::hooks::merge::MergeRule;
use crate::base::options::call::ReadOptions;
use crate::base::types::bytes::Bytes;
use crate::base::types::comparator::Comparator;
use crate::base::types::error::Result;
use crate::base::types::ids::{FileNumber, Level};
use crate::base::types::key;
use crate::base::types::range::KeyRange;
use crate::base::types::range_delete::RangeDelete;
use crate::base::types::seqno::SeqNo;
use crate::flow::compact::plan::Plan;
use crate::flow::compact::row::Row;
use crate::flow::compact::seqno_rewriting::SeqNoCeiling;
use crate::flow::compaction_iterator::{CompactionIterator, Rules, Tally, surviving_range_deletes};
use crate::flow::grandparent_boundaries::GrandparentBoundaries;
use crate::flow::output::{Output, OutputSettings};
use crate::flow::read::merging::MergingCursor;
use crate::flow::read::range_tombstones::RangeTombstones;
use crate::flow::read::run_cursor::RunCursor;
use crate::flow::read::view::View;
use crate::flow::retaining::Retaining;
use crate::flow::stripes::Stripes;
use crate::flow::values::relocation::Relocated;
use crate::store::sst::contract::CompressionTally;
use crate::store::version::edit::{Change, Edit};
use crate::store::version::file::FileRecord;
use crate::store::version::levels::Levels;
use crate::store::version::run::Run;

/// Entries, and bytes of them, between two looks at whether the job should stop: a tenth of a
/// second where values are compressed with the better effort.
const STOP_LOOK_ENTRIES: u64 = 4096;
const STOP_LOOK_BYTES: usize = 1 << 20;

/// Everything a compaction needs besides its plan.
#[derive(Clone)]
pub struct JobContext {
    /// Where outputs go.
    pub settings: OutputSettings,
    /// How operands fold.
    pub merge: Option<MergeRule>,
    /// The user's say in what lives on.
    pub retaining: Option<Retaining>,
    /// What time it is for the keyspace: what has ended by then is dropped.
    pub now_unix_ms: u64,
    /// The snapshots that were live when the job began, ascending.
    pub snapshots: Vec<SeqNo>,
    /// The view that the plan was made from; keeps the inputs on the disk.
    pub view: Arc<View>,
    /// Sorted files that counted no more when the job began, and may lie about still.
    pub obsolete: Vec<FileNumber>,
    /// Whether the work is to go on.
    pub may_go_on: MayGoOn,
    /// Largest piece that is read of an input at once.
    pub window_bytes: usize,
}

/// Whether work is to go on, asked now and then. Errors, with which it is given up half done:
/// `Closed` when the database is closing, `Busy` when what cannot wait needs the files.
pub type MayGoOn = Arc<dyn Fn() -> Result<()> + Send + Sync>;

/// One key range of a plan; `None` at an end is unbounded. Lower inclusive, upper exclusive.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Part {
    /// Where the part begins.
    pub lower: Option<Bytes>,
    /// Where it ends.
    pub upper: Option<Bytes>,
}

/// What one part made.
#[derive(Clone, Debug, Default)]
pub struct PartResult {
    /// Files for the output level.
    pub files: Vec<Arc<FileRecord>>,
    /// What the rules did.
    pub tally: Tally,
    /// What became of values; to be kept until the files are installed.
    pub relocated: Arc<Relocated>,
    /// What became of values that phrases were looked for in; `None` without a dictionary.
    pub compressed: Option<CompressionTally>,
}

/// Splits a merge into at most `count_max` parts of about equal size, at the boundaries of its
/// input files.
pub fn split(plan: &Plan, comparator: &Comparator, count_max: usize) -> Vec<Part> {
    if plan.kind != CompactionKind::Merge || count_max < 2 {
        return vec![Part::default()];
    }
    let mut files: Vec<_> = plan.files().map(|(_, file)| file).collect();
    files.sort_by(|left, right| comparator.compare(&left.smallest, &right.smallest));
    let total = plan.size_bytes();
    let share = total / count_max as u64 + 1;
    let mut cuts: Vec<Bytes> = Vec::new();
    let mut passed = 0;
    for file in files {
        let is_due = passed >= share * (cuts.len() as u64 + 1);
        let is_new = cuts.last().is_none_or(|last| *last != file.smallest);
        if is_due && is_new && passed > 0 && cuts.len() + 1 < count_max {
            cuts.push(file.smallest.clone());
        }
        passed += file.size_bytes;
    }
    let lowers = std::iter::once(None).chain(cuts.iter().cloned().map(Some));
    let uppers = cuts.iter().cloned().map(Some).chain(std::iter::once(None));
    lowers
        .zip(uppers)
        .map(|(lower, upper)| Part { lower, upper })
        .collect()
}

/// Merges one part of a plan.
pub fn run_part(plan: &Plan, part: &Part, context: &JobContext) -> Result<PartResult> {
    let comparator = &context.settings.comparator;
    let range_deletes = range_deletes_of(plan, part, context)?;
    let tombstones = RangeTombstones::new(comparator, range_deletes.iter());
    let stripes = Stripes::new(context.snapshots.clone());
    let mut below = Below::new(plan, &context.view.parts().levels);
    let is_all_bottom = below.is_empty();
    let mut ceiling = SeqNoCeiling::new(
        plan,
        &context.view.parts().levels,
        context.snapshots.first().copied(),
    );
    let mut is_bottom = |user_key: &[u8]| below.has_nothing(comparator, user_key);
    let rules = Rules {
        stripes: &stripes,
        tombstones: &tombstones,
        merge: context.merge.as_ref(),
        values: &context.settings.values,
        now_unix_ms: context.now_unix_ms,
        is_bottom: &mut is_bottom,
        ceiling: &mut |user_key: &[u8]| ceiling.of(comparator, user_key),
        verbatim: context.settings.verbatim(),
        retaining: context.retaining.as_ref(),
    };
    let kept = surviving_range_deletes(&tombstones, &stripes, is_all_bottom);
    let mut output = Output::new(settings_of(plan, context), kept);
    output.within(part.lower.clone(), part.upper.clone());
    output.end_at(boundaries_of(plan, part, context));
    let input = MergingCursor::new(comparator.clone(), cursors_of(plan, part, context)?);
    let mut kept = CompactionIterator::new(input, part.lower.as_deref(), rules)?;
    let (mut count, mut bytes) = (0, 0);
    while let Some((internal_key, value)) = kept.advance()? {
        if is_beyond(comparator, part, key::user_key(internal_key)) {
            break;
        }
        count += 1;
        bytes += internal_key.len() + value.stored_len();
        output.carry(internal_key, value)?;
        if count >= STOP_LOOK_ENTRIES || bytes >= STOP_LOOK_BYTES {
            (context.may_go_on)()?;
            (count, bytes) = (0, 0);
        }
    }
    let tally = kept.tally();
    let written = output.finish_with_values()?;
    Ok(PartResult {
        files: written.files.into_iter().map(Arc::new).collect(),
        tally,
        relocated: Arc::new(written.relocated),
        compressed: written.compressed,
    })
}

// What the files take the place of: the inputs, and what counts no more already.
fn settings_of(plan: &Plan, context: &JobContext) -> OutputSettings {
    let inputs = plan.files().map(|(_, file)| file.number);
    let sources: BTreeSet<_> = inputs.chain(context.obsolete.iter().copied()).collect();
    OutputSettings {
        sources: sources.into_iter().collect(),
        snapshots: context.snapshots.as_slice().into(),
        ..context.settings.clone()
    }
}

// Where the files begin that an output of this part will be merged with next.
fn boundaries_of(plan: &Plan, part: &Part, context: &JobContext) -> GrandparentBoundaries {
    let Some(below) = plan.output.below() else {
        return GrandparentBoundaries::default();
    };
    let run = context.view.parts().levels.run(below);
    let files = run.overlapping(&context.settings.comparator, &range_of(part));
    GrandparentBoundaries::at(files.iter().map(|file| file.smallest.clone()).collect())
}

/// The edit that puts the results of all parts, in key order, in the place of the inputs.
pub fn edit_of(plan: &Plan, parts: Vec<PartResult>) -> Edit {
    let keyspace = plan.keyspace;
    let mut edit: Edit = plan
        .files()
        .map(|(level, file)| Change::RemoveFile {
            keyspace,
            level,
            number: file.number,
        })
        .collect();
    let made = parts.into_iter().flat_map(|part| part.files);
    let moved = plan.files().map(|(_, file)| Arc::clone(file));
    let added: Vec<Arc<FileRecord>> = match plan.kind {
        CompactionKind::Merge => made.collect(),
        CompactionKind::Move => moved.collect(),
        CompactionKind::Drop => Vec::new(),
    };
    let run = match plan.output {
        Level::ZERO => added.first().map_or(0, |file| file.number.0),
        _ => 0,
    };
    edit.extend(added.into_iter().map(|record| Change::AddFile {
        keyspace,
        level: plan.output,
        run,
        record,
    }));
    edit
}

fn is_beyond(comparator: &Comparator, part: &Part, user_key: &[u8]) -> bool {
    part.upper
        .as_ref()
        .is_some_and(|upper| comparator.compare(user_key, upper).is_ge())
}

fn range_of(part: &Part) -> KeyRange {
    let lower = part
        .lower
        .as_ref()
        .map_or(Bound::Unbounded, |key| Bound::Included(key.to_vec()));
    let upper = part
        .upper
        .as_ref()
        .map_or(Bound::Unbounded, |key| Bound::Excluded(key.to_vec()));
    KeyRange { lower, upper }
}

fn cursors_of(plan: &Plan, part: &Part, context: &JobContext) -> Result<Vec<RunCursor>> {
    let range = range_of(part);
    // One pass over cold data must not push hot blocks out of the cache.
    let read = ReadOptions {
        fill_cache: false,
        readahead_bytes_max: context.window_bytes,
    };
    let runs = plan.inputs.iter().flat_map(|input| &input.runs);
    runs.map(|files| {
        let run = Run::new(0, &context.settings.comparator, files.clone())?;
        Ok(RunCursor::new(&context.view, &run, &range, read))
    })
    .collect()
}

/// The range deletes of all inputs, clipped to the part.
fn range_deletes_of(plan: &Plan, part: &Part, context: &JobContext) -> Result<Vec<RangeDelete>> {
    let comparator = &context.settings.comparator;
    let mut clipped = Vec::new();
    for (_, file) in plan.files().filter(|(_, file)| file.range_delete_count > 0) {
        let reader = context.view.open(file)?;
        for whole in reader.range_deletes().iter() {
            let mut piece = whole.clone();
            if let Some(lower) = &part.lower
                && comparator.compare(&piece.start, lower).is_lt()
            {
                piece.start = lower.clone();
            }
            if let Some(upper) = &part.upper
                && comparator.compare(&piece.end, upper).is_gt()
            {
                piece.end = upper.clone();
            }
            if comparator.compare(&piece.start, &piece.end).is_lt() {
                clipped.push(piece);
            }
        }
    }
    Ok(clipped)
}

/// The files below the output: where none can hold a key, nothing older of it exists.
struct Below<'a> {
    rows: Vec<Row<'a>>,
}

impl<'a> Below<'a> {
    fn new(plan: &Plan, levels: &'a Levels) -> Below<'a> {
        // What stays in level 0 may have older runs beside it.
        let is_below = |level: Level| level > plan.output || plan.output == Level::ZERO;
        Below {
            rows: Row::beside(plan, levels, |level, _| is_below(level)),
        }
    }

    fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    // Keys are asked in order.
    fn has_nothing(&mut self, comparator: &Comparator, user_key: &[u8]) -> bool {
        self.rows
            .iter_mut()
            .all(|row| row.at(comparator, user_key).is_none())
    }
}

#[cfg(test)]
mod tests;
