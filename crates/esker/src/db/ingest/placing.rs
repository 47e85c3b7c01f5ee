//! Whether files of a set may become files of a keyspace, and what is written if not.

use crate::base::options::call::ReadOptions;
use crate::base::types::error::Result;
use crate::base::types::seqno::{SeqNo, Visibility};
use crate::db::core::Core;
use crate::db::ingest::bringing::Transfer;
use crate::db::ingest::rewriting::rewrite;
use crate::db::ingest::source::{SetFiles, Source};
use crate::db::ingest::staging::{Staged, StagedRun};
use crate::db::keyspace_time::files_unix_ms;
use crate::db::snapshots::{Pin, SnapshotOwner};
use crate::flow::read::get::{ReadAt, contains};
use crate::flow::read::newest::{Target, is_written_since};
use crate::flow::values::relocation::Relocated;
use crate::store::version::file::FileRecord;

/// How far apart the sequence numbers of files may lie that are taken in as they are: each ingest
/// uses up as many, of 2^55. Those of an export reach from its oldest entry to its newest, so where
/// two databases go on exchanging exports they double each time; from here on such files are
/// written anew, with one number.
const SEQNO_SPAN_MAX: u64 = 1 << 40;

/// Where what comes stands to what is there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Place {
    /// Above it, as if it were written now.
    #[default]
    Above,
    /// Below it: only keys come that have no value at the moment. Deletes and range deletes of the
    /// files hide nothing but what lies in the files.
    Below,
}

/// What is ready to be taken in of one set.
pub struct Prepared<'a> {
    /// Its runs, newest first.
    pub runs: Vec<StagedRun>,
    /// Under which condition.
    condition: Condition<'a>,
    /// Keeps the segments that the files point into.
    _relocated: Option<Relocated>,
}

enum Condition<'a> {
    /// None.
    Always,
    /// The keyspace holds no file.
    WhileEmpty,
    /// No file of the keyspace has a key between the first and the last of the set.
    WhileApart,
    /// Nothing was written there since.
    WhileAsAt {
        /// What was looked at.
        seqno: SeqNo,
        /// Keeps compactions from forgetting what was written since.
        _pin: Pin<'a>,
    },
}

/// Prepares a set as the keyspace is now.
///
/// Errors: those of reading the set and of making files.
pub fn prepare<'a>(
    core: &'a Core,
    source: &Source,
    (place, transfer): (Place, Transfer),
    staged: &mut Staged<'_>,
) -> Result<Prepared<'a>> {
    if may_stay(source, place)? {
        return Ok(Prepared {
            runs: staged.take(&source.files, transfer)?,
            condition: condition_to_stay(source, place),
            _relocated: None,
        });
    }
    let (written, condition) = match place {
        Place::Above => (rewrite(core, source, |_| Ok(true))?, Condition::Always),
        Place::Below => {
            let now = core.env.clock.monotonic();
            // The pin before the number, so that no compaction forgets what is written behind it;
            // and both before the view, which so has all that it sees.
            let pin = (core.snapshots).pin(core.committer.visible(), now, SnapshotOwner::Ingest);
            let seqno = core.committer.visible();
            let view = source.target.current.view();
            let at = ReadAt {
                visibility: Visibility::at(seqno),
                now_unix_ms: files_unix_ms(core, &source.target),
                options: ReadOptions {
                    fill_cache: false,
                    ..ReadOptions::default()
                },
            };
            let written = rewrite(core, source, |key| Ok(!contains(&view, key, &at)?))?;
            (written, Condition::WhileAsAt { seqno, _pin: pin })
        }
    };
    let run = staged.rename(written.files)?;
    Ok(Prepared {
        runs: Some(run)
            .filter(|run| !run.files.is_empty())
            .into_iter()
            .collect(),
        condition,
        _relocated: Some(written.relocated),
    })
}

/// Whether the files of a set may become files of the keyspace as they are, by what that holds now.
///
/// Errors: those of reading what it holds.
pub fn may_stay(source: &Source, place: Place) -> Result<bool> {
    let condition = condition_to_stay(source, place);
    Ok(may_stay_in_new(&source.files) && condition.holds(source)? && has_no_memtables(source))
}

/// Whether they may in a keyspace that is not there yet.
pub fn may_stay_in_new(files: &SetFiles) -> bool {
    // Segments of another database's value log cannot be named here.
    !files.has_values() && files.seqno_span() <= SEQNO_SPAN_MAX
}

fn condition_to_stay(source: &Source, place: Place) -> Condition<'static> {
    match place {
        Place::Above if source.files.is_stackable() => Condition::Always,
        Place::Above => Condition::WhileEmpty,
        Place::Below if source.files.has_levels() => Condition::WhileEmpty,
        Place::Below => Condition::WhileApart,
    }
}

impl Condition<'_> {
    fn holds(&self, source: &Source) -> Result<bool> {
        let view = source.target.current.view();
        let levels = &view.parts().levels;
        let Some(hull) = source.files.hull() else {
            return Ok(true);
        };
        Ok(match self {
            Condition::Always => true,
            Condition::WhileEmpty => levels.file_count() == 0,
            Condition::WhileApart => levels
                .all_runs()
                .all(|(_, run)| run.overlapping_places(view.comparator(), &hull).is_empty()),
            Condition::WhileAsAt { seqno, .. } => {
                !is_written_since(&view, Target::Range(&hull), *seqno)?
            }
        })
    }
}

impl Prepared<'_> {
    /// Whether it may still be taken in as it was prepared, when all that was written is in files.
    pub fn still_fits(&self, source: &Source) -> Result<bool> {
        self.condition.holds(source)
    }

    /// All its files.
    pub fn files(&self) -> impl Iterator<Item = &FileRecord> {
        self.runs.iter().flat_map(|run| &run.files)
    }

    /// The smallest and the largest sequence number that its files have; `None` without files.
    pub fn seqnos(&self) -> Option<(SeqNo, SeqNo)> {
        let smallest = self.files().map(|file| file.smallest_seqno).min()?;
        let largest = self.files().map(|file| file.largest_seqno).max()?;
        Some((smallest, largest))
    }
}

fn has_no_memtables(source: &Source) -> bool {
    let view = source.target.current.view();
    let mut tables = view.parts().memtables.iter();
    source.files.is_stackable() || tables.all(|table| table.is_empty())
}
