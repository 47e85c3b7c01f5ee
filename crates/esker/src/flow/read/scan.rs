//! Stack the cursors of a view.

use std::sync::Arc;

use crate::base::types::bytes::Bytes;
use crate::base::types::cursor::{Cursor, Encoded, Fill, Way};
use crate::base::types::entry_chunk::EntryChunk;
use crate::base::types::error::Result;
use crate::base::types::range::KeyRange;
use crate::flow::read::folded::FoldedCursor;
use crate::flow::read::get::ReadAt;
use crate::flow::read::merging::MergingCursor;
use crate::flow::read::reader::Reader;
use crate::flow::read::run_cursor::RunCursor;
use crate::flow::read::tombstone_aggregator::{SourceTombstones, TombstoneAggregator};
use crate::flow::read::view::View;
use crate::flow::read::visible::VisibleCursor;
use crate::flow::read::walk::Walk;
use crate::store::mem::memtable::MemCursor;
use crate::store::sst::any_reader::AnyCursor;

/// Movement over the keys and values of a range that one reader sees.
pub type Scan = Walk<SourceCursor>;

/// A cursor over the keys of `range` as a reader `at` sees them; stands nowhere. Only sources
/// that may hold keys of the range take part. Holds on to what it reads, the view included where
/// files are still to be opened.
///
/// # Errors
/// Those of opening files: single files of a run, and files with range deletes.
pub fn scan(view: &Arc<View>, range: KeyRange, at: &ReadAt) -> Result<Scan> {
    let sources = ScanSources::of(view, &range, at)?;
    Ok(sources.into_scan(view, range, at))
}

/// The sources of a scan, newest first. Apart from [`scan`] for who has a place for the scan: all
/// that can fail is done then, and it is made in that place.
#[derive(Default)]
pub struct ScanSources {
    cursors: Vec<SourceCursor>,
    /// Each with its source's place in `cursors`.
    tombstone_lists: Vec<SourceTombstones>,
    /// Whether files of their runs point into the value log.
    has_values: bool,
}

impl ScanSources {
    /// Those that may hold keys of `range` for a reader `at`. Errors as of [`scan`].
    pub fn of(view: &Arc<View>, range: &KeyRange, at: &ReadAt) -> Result<ScanSources> {
        let mut sources = ScanSources {
            // Room for all: growing would copy cursors, which are large.
            cursors: Vec::with_capacity(view.source_count()),
            ..ScanSources::default()
        };
        for index in 0..view.parts().memtables.len() {
            sources.add_memtable(view, index, at);
        }
        for index in 0..view.runs().len() {
            sources.add_run(view, index, range, at)?;
        }
        Ok(sources)
    }

    /// A cursor over them, for the same reader. It stands nowhere.
    // Always: what is made by calls is copied from each to the next, and a scan has 600 bytes.
    #[inline(always)]
    pub fn into_scan(self, view: &View, range: KeyRange, at: &ReadAt) -> Scan {
        let parts = view.parts();
        Walk::new(VisibleCursor::new(
            MergingCursor::new(parts.comparator.clone(), self.cursors),
            Reader {
                tombstones: TombstoneAggregator::new(&parts.comparator, self.tombstone_lists),
                comparator: parts.comparator.clone(),
                range,
                at: at.visibility,
                now_unix_ms: at.now_unix_ms,
                folder: parts.folder.clone(),
                values: Arc::clone(&parts.values),
                kept: self.has_values.then(|| Arc::clone(&parts.levels)),
            },
        ))
    }

    fn add_memtable(&mut self, view: &View, index: usize, at: &ReadAt) {
        let table = &view.parts().memtables[index];
        if table.is_empty() {
            return;
        }
        let source = self.cursors.len();
        let at = view.newest_seen(index, at.visibility);
        for tombstones in view.memtable_tombstones(index, at) {
            self.tombstone_lists.push(SourceTombstones {
                source,
                tombstones,
                at,
            });
        }
        // Merges that are folded from now on are too new for this reader.
        self.cursors.push(match table.fold_count() {
            0 => SourceCursor::Memtable(table.cursor()),
            _ => SourceCursor::Folded(FoldedCursor::new(table, at)),
        });
    }

    fn add_run(
        &mut self,
        view: &Arc<View>,
        index: usize,
        range: &KeyRange,
        at: &ReadAt,
    ) -> Result<()> {
        let run = &view.runs()[index];
        let places = run.overlapping_places(view.comparator(), range);
        let source = self.cursors.len();
        self.has_values |= run.has_values();
        for place in run.deleting(&places) {
            let reader = view.open_at(index, *place)?;
            let tombstones = view.file_tombstones(&run.files()[*place], &reader);
            let at = at.visibility.committed();
            self.tombstone_lists
                .extend(tombstones.map(|tombstones| SourceTombstones {
                    source,
                    tombstones,
                    at,
                }));
        }
        match places.len() {
            0 => {}
            1 => {
                let cursor = view.open_at(index, places.start)?.cursor(at.options);
                self.cursors.push(SourceCursor::File(cursor));
            }
            _ => {
                let cursor = RunCursor::at(view, index, range, at.options);
                self.cursors.push(SourceCursor::Run(cursor));
            }
        }
        Ok(())
    }
}

/// Every kind of source behind one enum: in the inner loop of a scan a jump that the processor
/// predicts is cheaper than a call through a table.
pub enum SourceCursor {
    /// A memtable without folded merges.
    Memtable(MemCursor),
    /// A memtable with folded merges.
    Folded(FoldedCursor),
    /// One file.
    File(AnyCursor),
    /// Several files of a run.
    Run(RunCursor),
}

impl SourceCursor {
    /// Whether it reads ahead when it goes on: files do, memory need not.
    pub fn reads_ahead(&self) -> bool {
        matches!(self, SourceCursor::File(_) | SourceCursor::Run(_))
    }

    /// Has it read at most so much ahead from now on.
    pub fn set_readahead(&mut self, bytes_max: usize) {
        match self {
            SourceCursor::Memtable(_) | SourceCursor::Folded(_) => {}
            SourceCursor::File(cursor) => cursor.set_readahead(bytes_max),
            SourceCursor::Run(cursor) => cursor.set_readahead(bytes_max),
        }
    }
}

macro_rules! each {
    ($self:ident, $cursor:ident => $call:expr) => {
        match $self {
            SourceCursor::Memtable($cursor) => $call,
            SourceCursor::Folded($cursor) => $call,
            SourceCursor::File($cursor) => $call,
            SourceCursor::Run($cursor) => $call,
        }
    };
}

impl Cursor for SourceCursor {
    fn seek_to_first(&mut self) -> Result<bool> {
        each!(self, cursor => cursor.seek_to_first())
    }

    fn seek_to_last(&mut self) -> Result<bool> {
        each!(self, cursor => cursor.seek_to_last())
    }

    fn seek(&mut self, target: &[u8]) -> Result<bool> {
        each!(self, cursor => cursor.seek(target))
    }

    fn seek_for_prev(&mut self, target: &[u8]) -> Result<bool> {
        each!(self, cursor => cursor.seek_for_prev(target))
    }

    #[inline]
    fn next(&mut self) -> Result<bool> {
        each!(self, cursor => cursor.next())
    }

    #[inline]
    fn prev(&mut self) -> Result<bool> {
        each!(self, cursor => cursor.prev())
    }

    #[inline]
    fn is_valid(&self) -> bool {
        each!(self, cursor => cursor.is_valid())
    }

    #[inline]
    fn is_surely_newest(&self) -> bool {
        each!(self, cursor => cursor.is_surely_newest())
    }

    #[inline]
    fn key(&self) -> &[u8] {
        each!(self, cursor => cursor.key())
    }

    #[inline]
    fn value(&self) -> Result<&[u8]> {
        each!(self, cursor => cursor.value())
    }

    fn value_bytes(&self) -> Result<Bytes> {
        each!(self, cursor => cursor.value_bytes())
    }

    fn fill(&mut self, way: Way, fill: Fill<'_>, chunk: &mut EntryChunk) -> bool {
        each!(self, cursor => cursor.fill(way, fill, chunk))
    }

    fn encoded(&self) -> Option<Encoded<'_>> {
        each!(self, cursor => cursor.encoded())
    }
}

#[cfg(test)]
mod tests;
