//! A version made from sorted files alone, when no manifest says which of them count.
//!
//! Without a manifest nobody knows which of two files is newer. Sequence numbers say it of every
//! entry, though: so all files of a keyspace are merged by their internal keys into one run at the
//! bottom, where every entry finds its place. Files that do not overlap are such a run already.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use crate::base::options::call::ReadOptions;
use crate::base::types::comparator::Comparator;
use crate::base::types::error::{Error, ErrorKind, Result};
use crate::base::types::ids::{FileNumber, KeyspaceId, Level};
use crate::base::types::limits::LEVEL_COUNT;
use crate::base::types::range::KeyRange;
use crate::base::types::range_delete::RangeDelete;
use crate::base::types::seqno::SeqNo;
use crate::db::backup::claims::Claims;
use crate::db::backup::descent::replaced;
use crate::db::backup::job::Job;
use crate::db::backup::report::LostFile;
use crate::db::backup::runs::{output_settings, plain_settings, write_run};
use crate::db::backup::salvage_file::{Examined, FileExaminer, FileState, Saved};
use crate::db::identity;
use crate::env::bundle::Env;
use crate::flow::output::OutputSettings;
use crate::flow::read::fold::Folder;
use crate::flow::read::merging::MergingCursor;
use crate::flow::read::run_cursor::RunCursor;
use crate::flow::read::view::{View, ViewParts};
use crate::store::cache::sharded::ShardedCache;
use crate::store::names::FileName;
use crate::store::sst::open_files::OpenFiles;
use crate::store::sst::origin::Lineage;
use crate::store::version::apply::apply;
use crate::store::version::edit::{Change, Edit, SettingsText};
use crate::store::version::file::FileRecord;
use crate::store::version::format::{CLOCK_FORMAT, FORMAT_VERSION, UNLOGGED_FORMAT};
use crate::store::version::identity::Known;
use crate::store::version::levels::Levels;
use crate::store::version::numbers::FileNumbers;
use crate::store::version::remains::Remains;
use crate::store::version::run::Run;
use crate::store::version::state::{KeyspaceState, Orders, Version};

/// Bytes of blocks kept in memory: reading goes through each file once, from front to back.
const CACHE_BYTES: usize = 8 << 20;

/// Files open at the same time, far below what systems allow a process.
const OPEN_FILES_MAX: usize = 256;

/// A sorted file that is whole.
pub struct SoundFile {
    comparator: Comparator,
    record: Arc<FileRecord>,
    range_deletes: Vec<RangeDelete>,
    lineage: Option<Lineage>,
}

/// What the sorted files of a directory come to.
#[derive(Default)]
pub struct Sorted {
    /// Files that are whole and count, by keyspace.
    pub sound: BTreeMap<KeyspaceId, Vec<SoundFile>>,
    /// What was saved of files that are not, by keyspace.
    pub saved: BTreeMap<KeyspaceId, SavedFiles>,
    /// Files that counted no more when the manifest was damaged.
    pub obsolete: Vec<FileNumber>,
}

/// What was saved of the damaged files of a keyspace.
pub struct SavedFiles {
    /// Entries.
    pub entry_count: u64,
    comparator: Comparator,
    last_seqno: SeqNo,
    /// The files in which they lie now; none in a dry run.
    files: Vec<SoundFile>,
}

/// Reads every sorted file of the directory. Errors: `Unsupported` for an order that is not known;
/// those of writing what is whole of damaged ones, and those of reading that are no damage.
pub fn sort_files(
    job: &mut Job<'_>,
    examiner: &mut FileExaminer<'_>,
    (claims, remains): (&Claims, Option<&Remains>),
    comparators: &[Comparator],
) -> Result<Sorted> {
    let mut sorted = Sorted::default();
    for number in job.listing.ssts.clone() {
        if claims.is_strangers(number) {
            let lost = lost_file(number, None, "it is a file of another database".into());
            job.report.lost_files.push(lost);
            continue;
        }
        if remains.is_some_and(|remains| remains.obsolete.contains(&number)) {
            sorted.obsolete.push(number);
            continue;
        }
        let (comparator, examined) =
            examine(job, examiner, number, (claims, remains), comparators)?;
        let id = examined.keyspace.unwrap_or(KeyspaceId::DEFAULT);
        match examined.state {
            FileState::Lost(error) => {
                let lost = lost_file(number, remains, error.to_string());
                job.report.lost_files.push(lost);
            }
            _ if is_dropped(id, remains) => sorted.obsolete.push(number),
            FileState::Whole(sound) => {
                sorted.sound.entry(id).or_default().push(SoundFile {
                    comparator,
                    record: Arc::new(sound.record),
                    range_deletes: sound.range_deletes,
                    lineage: sound.origin.lineage,
                });
            }
            FileState::Saved(mut saved) => {
                let lost = lost_file(number, remains, String::new());
                let name = claims.name_of(id, remains);
                job.note_saved(lost, &name, &mut saved);
                sorted.take_saved(id, comparator, saved);
            }
        }
    }
    sorted.drop_replaced();
    let known = remains.iter().flat_map(|remains| remains.files.keys());
    for number in known {
        if job.listing.ssts.binary_search(number).is_err() {
            let lost = lost_file(*number, remains, "the file is missing".into());
            job.report.lost_files.push(lost);
        }
    }
    Ok(sorted)
}

// By the order that it was written with, which must be one of those that are known.
fn examine(
    job: &Job<'_>,
    examiner: &mut FileExaminer<'_>,
    number: FileNumber,
    (claims, remains): (&Claims, Option<&Remains>),
    comparators: &[Comparator],
) -> Result<(Comparator, Examined)> {
    let known = remains.and_then(|remains| remains.files.get(&number));
    let known = known.map(|(keyspace, record)| Known {
        keyspace: *keyspace,
        record,
    });
    // First that of its keyspace: where the file has lost what it says of itself, it fits any.
    let own = known.and_then(|known| claims.comparator_of(known.keyspace, remains));
    let own = own.into_iter();
    let mut refused = Error::invalid("no comparator is known");
    for comparator in own.chain([&Comparator::Bytewise]).chain(comparators) {
        let settings = |keyspace| {
            let plain = |numbers| OutputSettings {
                database_id: claims.database_id,
                ..plain_settings(job.env, job.dir, numbers, keyspace, comparator)
            };
            Ok(job.numbers().map(plain))
        };
        match examiner.examine(number, comparator, known, settings) {
            Ok(examined) => return Ok((comparator.clone(), examined)),
            // Another order than the file was written with.
            Err(error) if error.kind() == ErrorKind::Invalid => refused = error,
            Err(error) => return Err(error),
        }
    }
    let message =
        "the comparator of its keys is not known here; repair with the program that has it";
    Err(Error::new(ErrorKind::Unsupported, message)
        .in_file(FileName::Sst(number))
        .caused_by(refused))
}

fn is_dropped(id: KeyspaceId, remains: Option<&Remains>) -> bool {
    remains.is_some_and(|remains| remains.is_dropped(id))
}

fn lost_file(number: FileNumber, remains: Option<&Remains>, cause: String) -> LostFile {
    let known = remains.and_then(|remains| {
        let (id, record) = remains.files.get(&number)?;
        Some((remains.version.keyspace(*id)?.name.to_string(), record))
    });
    LostFile {
        name: FileName::Sst(number).to_string(),
        keyspace: known.as_ref().map(|(name, _)| name.clone()),
        keys: known
            .as_ref()
            .map(|(_, record)| (record.smallest.clone(), record.largest.clone())),
        entry_count: known.as_ref().map(|(_, record)| record.entry_count),
        saved_entry_count: 0,
        gaps: Vec::new(),
        cause,
    }
}

/// A version with every keyspace that is known, has a sound file or is named in the log, and
/// without any files; each keyspace is flushed as far as its files go. Where the log begins is not
/// said.
pub fn version_of(
    env: &Env,
    comparators: &Orders,
    (claims, remains): (&Claims, Option<&Remains>),
    sorted: &Sorted,
    in_log: &BTreeSet<KeyspaceId>,
) -> Result<Version> {
    let mut version = match remains {
        Some(remains) => remains.version.clone(),
        None => {
            let mut identity = identity::fresh(env);
            identity.database_id = claims.database_id.unwrap_or(identity.database_id);
            Version::empty(identity, comparators.clone())
        }
    };
    let ids = sorted.sound.keys().chain(sorted.saved.keys()).chain(in_log);
    let ids = ids.copied().chain([KeyspaceId::DEFAULT]);
    let is_lost = |id: &KeyspaceId| version.keyspace(*id).is_none() && !is_dropped(*id, remains);
    let lost: BTreeSet<KeyspaceId> = ids.filter(is_lost).collect();
    let mut edit = Edit::new();
    for &id in &lost {
        let comparator = claims.comparator_of(id, remains).cloned();
        edit.push(Change::CreateKeyspace {
            id,
            name: claims.name_of(id, remains),
            comparator_name: comparator.unwrap_or(sorted.comparator_of(id)).name().into(),
            merge_name: None,
            settings: SettingsText::new(),
        });
    }
    for id in sorted.ids() {
        edit.push(Change::SetFlushed {
            keyspace: id,
            seqno: sorted.last_seqno(id),
        });
    }
    let needed = version
        .keyspaces
        .values()
        .map(|state| match state.clock_ms {
            Some(_) => CLOCK_FORMAT,
            None if state.is_unlogged() => UNLOGGED_FORMAT,
            None => FORMAT_VERSION,
        });
    let needed = needed.max().unwrap_or(FORMAT_VERSION);
    if version.format_version < needed {
        edit.push(Change::SetFormat { version: needed });
    }
    // Those whose creation is lost get the numbers that they had.
    let next_keyspace = version.next_keyspace;
    let first = lost.first().copied().unwrap_or(next_keyspace);
    version.next_keyspace = next_keyspace.min(first);
    version = apply(&version, &edit)?;
    version.next_keyspace = version.next_keyspace.max(next_keyspace);
    version.first_log = FileNumber(0);
    Ok(version)
}

/// The changes that give each keyspace one run at the bottom with all of its sound files, and the
/// files that lie in new ones now.
pub fn merge_files(
    env: &Env,
    dir: &Path,
    version: &Version,
    sorted: &Sorted,
    numbers: &Arc<FileNumbers>,
) -> Result<(Edit, Vec<FileNumber>)> {
    let level = Level::new(LEVEL_COUNT - 1).expect("the last of the levels");
    let mut edit = Edit::new();
    let mut merged = Vec::new();
    let database_id = version.identity.database_id;
    for id in sorted.ids() {
        let Some(state) = version.keyspace(id) else {
            continue;
        };
        let files: Vec<&SoundFile> = sorted.files_of(id).collect();
        let runs = disjoint_runs(&state.comparator, &files)?;
        let records = match &runs[..] {
            [whole] => whole.files().to_vec(),
            _ => {
                merged.extend(files.iter().map(|file| file.record.number));
                let settings = output_settings(env, dir, numbers, (database_id, state))?;
                merge_runs(env, dir, (state, settings), &runs, &files)?
            }
        };
        edit.extend(records.into_iter().map(|record| Change::AddFile {
            keyspace: id,
            level,
            run: 0,
            record,
        }));
    }
    Ok((edit, merged))
}

// As few runs as possible: each file joins the first run that ends before it begins.
fn disjoint_runs(comparator: &Comparator, files: &[&SoundFile]) -> Result<Vec<Run>> {
    let mut records: Vec<_> = files.iter().map(|file| Arc::clone(&file.record)).collect();
    records.sort_by(|left, right| comparator.compare(&left.smallest, &right.smallest));
    let mut runs: Vec<Vec<Arc<FileRecord>>> = Vec::new();
    for record in records {
        let fits = |run: &&mut Vec<Arc<FileRecord>>| {
            let last = run.last();
            last.is_none_or(|last| last.ends_before(comparator, &record.smallest))
        };
        match runs.iter_mut().find(fits) {
            Some(run) => run.push(record),
            None => runs.push(vec![record]),
        }
    }
    let runs = runs.into_iter();
    runs.map(|files| Run::new(0, comparator, files)).collect()
}

fn merge_runs(
    env: &Env,
    dir: &Path,
    (state, settings): (&KeyspaceState, OutputSettings),
    runs: &[Run],
    files: &[&SoundFile],
) -> Result<Vec<Arc<FileRecord>>> {
    let cache = Arc::new(ShardedCache::new(CACHE_BYTES));
    let open_files = OpenFiles::new(Arc::clone(&env.fs), dir, OPEN_FILES_MAX, cache);
    let view = Arc::new(View::new(
        ViewParts {
            keyspace: state.id,
            comparator: state.comparator.clone(),
            folder: Folder::new(&state.name, None),
            memtables: Vec::new(),
            levels: Arc::new(Levels::default()),
            open_files: Arc::new(open_files),
            values: Arc::clone(&settings.values),
        },
        None,
    ));
    let options = ReadOptions::default();
    let cursors = runs
        .iter()
        .map(|run| RunCursor::new(&view, run, &KeyRange::ALL, options));
    let mut cursor = MergingCursor::new(state.comparator.clone(), cursors.collect());
    let range_deletes = files.iter().flat_map(|file| file.range_deletes.clone());
    let written = write_run(&mut cursor, range_deletes.collect(), settings)?;
    Ok(written.into_iter().map(Arc::new).collect())
}

impl Sorted {
    /// Bytes of all files: the most that merging them writes.
    pub fn sound_bytes(&self) -> u64 {
        let files = self.ids().into_iter().flat_map(|id| self.files_of(id));
        files.map(|file| file.record.size_bytes).sum()
    }

    // Beside what a manifest says, of which the last edits may be lost.
    fn drop_replaced(&mut self) {
        for files in self.sound.values_mut() {
            let Some(comparator) = files.first().map(|file| file.comparator.clone()) else {
                continue;
            };
            let told = files
                .iter()
                .map(|file| (file.record.number, file.lineage.clone()));
            let gone = replaced(&comparator, &told.collect::<Vec<_>>());
            let is_gone = |file: &mut SoundFile| gone.contains(&file.record.number);
            let dropped = files.extract_if(.., is_gone);
            self.obsolete.extend(dropped.map(|file| file.record.number));
        }
    }

    fn ids(&self) -> BTreeSet<KeyspaceId> {
        self.sound
            .keys()
            .chain(self.saved.keys())
            .copied()
            .collect()
    }

    // Files that are whole, and those with what was saved of others.
    fn files_of(&self, id: KeyspaceId) -> impl Iterator<Item = &SoundFile> {
        let sound = self.sound.get(&id).into_iter().flatten();
        let saved = self.saved.get(&id).into_iter();
        sound.chain(saved.flat_map(|saved| &saved.files))
    }

    fn comparator_of(&self, id: KeyspaceId) -> Comparator {
        let sound = self.sound.get(&id).and_then(|files| files.first());
        let sound = sound.map(|file| &file.comparator);
        let saved = self.saved.get(&id).map(|saved| &saved.comparator);
        sound.or(saved).unwrap_or(&Comparator::Bytewise).clone()
    }

    fn last_seqno(&self, id: KeyspaceId) -> SeqNo {
        let sound = self.sound.get(&id).into_iter().flatten();
        let sound = sound.map(|file| file.record.largest_seqno);
        let saved = self.saved.get(&id).map(|saved| saved.last_seqno);
        sound.chain(saved).max().unwrap_or(SeqNo::ZERO)
    }

    fn take_saved(&mut self, id: KeyspaceId, comparator: Comparator, saved: Saved) {
        let all = self.saved.entry(id).or_insert_with(|| SavedFiles {
            entry_count: 0,
            comparator: comparator.clone(),
            last_seqno: SeqNo::ZERO,
            files: Vec::new(),
        });
        all.entry_count += saved.entry_count;
        all.last_seqno = all.last_seqno.max(saved.last_seqno);
        // All of them with the first: nobody asks which of the files they are in.
        let mut range_deletes = saved.range_deletes;
        all.files
            .extend(saved.records.into_iter().map(|record| SoundFile {
                comparator: comparator.clone(),
                record: Arc::new(record),
                range_deletes: std::mem::take(&mut range_deletes),
                lineage: None,
            }));
    }
}

impl SoundFile {
    /// The file.
    pub fn record(&self) -> &Arc<FileRecord> {
        &self.record
    }
}
