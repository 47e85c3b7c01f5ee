//! Sealed memtables to sorted files; returns the files, installs nothing.

use std::sync::Arc;

use crate::base::hooks::merge::MergeRule;
use crate::base::types::error::Result;
use crate::base::types::seqno::SeqNo;
use crate::flow::compaction_iterator::{
    CompactionIterator, Rules, Tally, Verbatim, surviving_range_deletes,
};
use crate::flow::current::Sealed;
use crate::flow::output::{Output, OutputSettings};
use crate::flow::own_operands::OwnOperands;
use crate::flow::read::merging::MergingCursor;
use crate::flow::read::range_tombstones::RangeTombstones;
use crate::flow::stripes::Stripes;
use crate::flow::values::relocation::Relocated;
use crate::store::version::file::FileRecord;

/// What a flush made.
pub struct Flushed {
    /// The files of one new run of level 0; none when nothing lived on.
    pub files: Vec<FileRecord>,
    /// No entry of the keyspace up to this number is outside sorted files any more.
    pub last_seqno: SeqNo,
    /// What the rules did.
    pub tally: Tally,
    /// What became of values; to be kept until the files are installed.
    pub relocated: Relocated,
}

/// Writes `tables`, the oldest sealed memtables of a keyspace, oldest first, as one run. The files
/// are durable and their names are not: whoever records them syncs the directory before.
pub fn flush(
    tables: &[Sealed],
    merge: Option<&MergeRule>,
    snapshots: Vec<SeqNo>,
    settings: OutputSettings,
) -> Result<Flushed> {
    assert!(!tables.is_empty());
    let stripes = Stripes::new(snapshots);
    let comparator = settings.comparator.clone();
    let deletes = tables
        .iter()
        .flat_map(|sealed| sealed.table.range_deletes().iter());
    let tombstones = RangeTombstones::new(&comparator, deletes);
    // Of a clock of its own the time that the files will have with the mark of the newest: a crash
    // takes the keyspace back to there, and what ends later must be found again.
    let told_ms = tables.last().and_then(|sealed| sealed.clock_ms);
    let now_unix_ms = told_ms.unwrap_or_else(|| settings.env.clock.unix_millis());
    let cursors = tables
        .iter()
        .rev()
        .map(|sealed| OwnOperands::new(sealed.table.cursor()));
    let merged = MergingCursor::new(comparator, cursors.collect());
    let values = Arc::clone(&settings.values);
    // Older data of the same keys may lie in files, so nothing is at the bottom here.
    let mut is_bottom = |_: &[u8]| false;
    let rules = Rules {
        stripes: &stripes,
        tombstones: &tombstones,
        merge,
        values: &values,
        now_unix_ms,
        is_bottom: &mut is_bottom,
        // Repair takes the largest number in files for the place where the log begins to count,
        // and all but the last file of a flush would say too much.
        ceiling: &mut |_: &[u8]| SeqNo::ZERO,
        verbatim: Verbatim::default(),
        // Writers wait for flushes, and what is newest is the least likely to be dropped.
        retaining: None,
    };
    let settings = OutputSettings {
        snapshots: stripes.snapshots().into(),
        ..settings
    };
    let mut output = Output::new(
        settings,
        surviving_range_deletes(&tombstones, &stripes, false),
    );
    let mut kept = CompactionIterator::new(merged, None, rules)?;
    while let Some((internal_key, value)) = kept.advance()? {
        output.carry(internal_key, value)?;
    }
    let tally = kept.tally();
    let last_seqno = tables
        .last()
        .map_or(SeqNo::ZERO, |sealed| sealed.last_seqno);
    let written = output.finish_before_names()?;
    Ok(Flushed {
        files: written.files,
        relocated: written.relocated,
        last_seqno,
        tally,
    })
}
