//! What one read may see of a keyspace: memtables, levels, and what range deletions hide.

use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use crate::base::types::comparator::Comparator;
use crate::base::types::error::Result;
use crate::base::types::id_map::IdMap;
use crate::base::types::ids::{FileNumber, KeyspaceId};
use crate::base::types::seqno::{SeqNo, Visibility};
use crate::flow::read::fold::Folder;
use crate::flow::read::memtable_tombstones::MemtableTombstones;
use crate::flow::read::open_runs::OpenRuns;
use crate::flow::read::range_tombstones::RangeTombstones;
use crate::store::mem::memtable::Memtable;
use crate::store::sst::any_reader::AnyReader;
use crate::store::sst::open_files::OpenFiles;
use crate::store::version::file::FileRecord;
use crate::store::version::identity::Known;
use crate::store::version::levels::Levels;
use crate::store::version::run::Run;
use crate::store::vlog::open_values::OpenValues;

/// Of what a view is made.
#[derive(Clone)]
pub struct ViewParts {
    /// The keyspace.
    pub keyspace: KeyspaceId,
    /// The order of its keys.
    pub comparator: Comparator,
    /// Folds its merge operands.
    pub folder: Folder,
    /// The live memtable, then the sealed ones, newest first.
    pub memtables: Vec<Arc<Memtable>>,
    /// Its files, level by level. Whoever removes files must not touch them while this lives.
    pub levels: Arc<Levels>,
    /// Where files are opened.
    pub open_files: Arc<OpenFiles>,
    /// Where large values are read.
    pub values: Arc<OpenValues>,
}

/// What one read may see of a keyspace.
///
/// Immutable but for the entries that its live memtable still takes, which no reader who began
/// before sees. Shared by all reads between two changes of the set of memtables and files. Any
/// thread may call anything; range tombstones are built by the first read that meets range
/// deletions.
pub struct View {
    parts: ViewParts,
    number: u64,
    /// Whether the first memtable is what a transaction wrote itself.
    has_own: bool,
    memtable_tombstones: Vec<Arc<MemtableTombstones>>,
    file_tombstones: Arc<FileTombstones>,
    /// The runs that have files, newest first: a point read goes through these, not through levels.
    runs: Box<[Run]>,
    open_runs: Arc<OpenRuns>,
}

/// An open file for a read.
#[derive(Debug)]
pub enum AtHand<'v> {
    /// That the view keeps.
    Kept(&'v Arc<AnyReader>),
    /// That the table of open files had.
    Opened(Arc<AnyReader>),
}

/// The range tombstones of the files that have range deletes, each built when first asked for.
type FileTombstones = IdMap<FileNumber, Arc<OnceLock<Arc<RangeTombstones>>>>;

impl View {
    /// The view of those parts. What `previous`, the view before of the same keyspace, has
    /// learned of the memtables and files that both have is taken over.
    pub fn new(parts: ViewParts, previous: Option<&View>) -> View {
        let memtable_tombstones = parts
            .memtables
            .iter()
            .map(|table| {
                let known = previous.and_then(|previous| previous.tombstone_lists_of(table));
                known.unwrap_or_default()
            })
            .collect();
        let (file_tombstones, open_runs) = match previous {
            Some(previous) if Arc::ptr_eq(&previous.parts.levels, &parts.levels) => (
                Arc::clone(&previous.file_tombstones),
                Arc::clone(&previous.open_runs),
            ),
            _ => {
                let known = previous.map(|view| (&*view.parts.levels, &*view.open_runs));
                (
                    Arc::new(file_tombstones(&parts.levels, previous)),
                    Arc::new(OpenRuns::new(&parts.levels, known)),
                )
            }
        };
        View {
            runs: parts
                .levels
                .all_runs()
                .map(|(_, run)| run.clone())
                .collect(),
            parts,
            number: previous.map_or(0, |previous| previous.number + 1),
            has_own: false,
            memtable_tombstones,
            file_tombstones,
            open_runs,
        }
    }

    /// The same files without the memtables: for who reads files for long, and would keep the
    /// memory of memtables that are flushed meanwhile.
    pub fn of_files(&self) -> View {
        let parts = ViewParts {
            memtables: Vec::new(),
            ..self.parts.clone()
        };
        View::new(parts, Some(self))
    }

    /// The same with `own`, what a transaction wrote to the keyspace, in front.
    pub fn with_own(&self, own: Arc<Memtable>) -> View {
        assert!(!self.has_own);
        let mut parts = self.parts.clone();
        parts.memtables.insert(0, own);
        View {
            has_own: true,
            ..View::new(parts, Some(self))
        }
    }

    /// The newest number of the memtable in that place that a reader sees.
    #[inline]
    pub fn newest_seen(&self, index: usize, visibility: Visibility) -> SeqNo {
        match index == 0 && self.has_own {
            true => visibility.newest(),
            false => visibility.committed(),
        }
    }

    /// How many views of the keyspace came before it, each in the place of another. It tells apart
    /// those that were what new reads take: who has read one knows by it, without keeping the view,
    /// whether that is so still.
    #[inline]
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Of what the view is made.
    pub fn parts(&self) -> &ViewParts {
        &self.parts
    }

    /// How many memtables and runs there are.
    pub fn source_count(&self) -> usize {
        self.parts.memtables.len() + self.runs.len()
    }

    /// The runs that have files, newest first.
    #[inline]
    pub fn runs(&self) -> &[Run] {
        &self.runs
    }

    /// Whether the run in that place of [`View::runs`] surely has nothing of the key with that
    /// `hash64`. Only of level 0, of which nearly all runs are passed over, this is ever known.
    #[inline]
    pub fn is_ruled_out(&self, index: usize, hash: u64) -> bool {
        // What is asked here stays open as long as the view.
        let has_room = || self.parts.open_files.has_room();
        let open = |file: &FileRecord| has_room().then(|| self.open(file).ok()).flatten();
        let run = &self.runs[index];
        self.open_runs.is_ruled_out(index, hash, run, open)
    }

    /// The order of the keyspace's keys.
    #[inline]
    pub fn comparator(&self) -> &Comparator {
        &self.parts.comparator
    }

    /// The open file in that place of the run in that place of [`View::runs`]. Kept at hand for
    /// as long as the view, unless many are open.
    ///
    /// # Panics
    /// When there is none in that place.
    #[inline]
    pub fn open_at(&self, index: usize, place: usize) -> Result<AtHand<'_>> {
        match self.open_runs.file(index, place) {
            Some(file) => Ok(AtHand::Kept(file)),
            None => self.open_and_keep(index, place),
        }
    }

    #[cold]
    fn open_and_keep(&self, index: usize, place: usize) -> Result<AtHand<'_>> {
        let file = self.open(&self.runs[index].files()[place])?;
        if self.parts.open_files.has_room() {
            self.open_runs.keep(index, place, &file);
        }
        Ok(AtHand::Opened(file))
    }

    /// The open file of that record.
    pub fn open(&self, file: &FileRecord) -> Result<Arc<AnyReader>> {
        let comparator = &self.parts.comparator;
        let known = Known {
            keyspace: self.parts.keyspace,
            record: file,
        };
        let check = |reader: &AnyReader| known.check(reader, comparator);
        self.parts.open_files.get(file.binding(), comparator, check)
    }

    /// What the range deletes of the memtable in that place hide from a reader at `at`; some few
    /// range tombstones.
    pub fn memtable_tombstones(&self, index: usize, at: SeqNo) -> Vec<Arc<RangeTombstones>> {
        let table = &self.parts.memtables[index];
        if !table.has_range_deletes() {
            return Vec::new();
        }
        self.memtable_tombstones[index].all(self.comparator(), table.range_deletes(), at)
    }

    /// The newest range delete of the memtable in that place that is visible at `at` and covers
    /// `key`.
    #[inline]
    pub fn memtable_cover(&self, index: usize, key: &[u8], at: SeqNo) -> Option<SeqNo> {
        let table = &self.parts.memtables[index];
        if !table.has_range_deletes() {
            return None;
        }
        self.memtable_tombstones[index].newest_cover(
            self.comparator(),
            table.range_deletes(),
            key,
            at,
        )
    }

    /// What the range deletes of a file hide.
    #[inline]
    pub fn file_tombstones(
        &self,
        file: &FileRecord,
        reader: &AnyReader,
    ) -> Option<Arc<RangeTombstones>> {
        (file.range_delete_count > 0).then(|| self.known_tombstones(file, reader))
    }

    #[inline(never)]
    fn known_tombstones(&self, file: &FileRecord, reader: &AnyReader) -> Arc<RangeTombstones> {
        let build = || {
            Arc::new(RangeTombstones::new(
                &self.parts.comparator,
                reader.range_deletes().iter(),
            ))
        };
        let known = self.file_tombstones.get(&file.number);
        known.map_or_else(build, |known| Arc::clone(known.get_or_init(build)))
    }

    fn tombstone_lists_of(&self, table: &Arc<Memtable>) -> Option<Arc<MemtableTombstones>> {
        let mut tables = self.parts.memtables.iter();
        let index = tables.position(|known| Arc::ptr_eq(known, table))?;
        self.memtable_tombstones.get(index).cloned()
    }
}

impl Deref for AtHand<'_> {
    type Target = Arc<AnyReader>;

    #[inline]
    fn deref(&self) -> &Arc<AnyReader> {
        match self {
            AtHand::Kept(file) => file,
            AtHand::Opened(file) => file,
        }
    }
}

impl fmt::Debug for View {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ViewParts {
            keyspace,
            memtables,
            levels,
            ..
        } = &self.parts;
        write!(
            f,
            "View(keyspace {keyspace}, {} memtables, {} files)",
            memtables.len(),
            levels.file_count()
        )
    }
}

fn file_tombstones(levels: &Levels, previous: Option<&View>) -> FileTombstones {
    let files = levels.files().map(|(_, file)| file);
    files
        .filter(|file| file.range_delete_count > 0)
        .map(|file| {
            let known = previous.and_then(|view| view.file_tombstones.get(&file.number));
            (file.number, known.cloned().unwrap_or_default())
        })
        .collect()
}

#[cfg(test)]
mod tests;
