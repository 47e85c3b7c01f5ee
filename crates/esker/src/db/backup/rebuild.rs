//! A version made from sorted files alone, when no manifest says which of them count.
//!
//! Without a manifest nobody knows which of two files is newer. Sequence numbers say it of every
//! entry, though: so all files of a keyspace are merged by their internal keys into one run at the
//! bottom, where every entry finds its place. Files that do not overlap are such a run already.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use crate::base::options::call::ReadOptions;
use crate::base::types::error::{Error, ErrorKind, Result};
use crate::base::types::ids::{FileNumber, KeyspaceId, Level};
use crate::base::types::limits::LEVEL_COUNT;
use crate::base::types::order::KeyOrder;
use crate::base::types::range::KeyRange;
use crate::base::types::range_delete::RangeDelete;
use crate::base::types::seqno::SeqNo;
use crate::db::backup::report::LostFile;
use crate::db::backup::runs::{output_settings, write_run};
use crate::db::backup::survey::Listing;
use crate::db::identity;
use crate::db::open_keyspace::DEFAULT_KEYSPACE;
use crate::env::bundle::Env;
use crate::flow::output::record_of;
use crate::flow::read::fold::Folder;
use crate::flow::read::merging::MergingCursor;
use crate::flow::read::run_cursor::RunCursor;
use crate::flow::read::view::{View, ViewParts};
use crate::store::cache::sharded::ShardedCache;
use crate::store::names::FileName;
use crate::store::sst::any_reader::AnyReader;
use crate::store::sst::block::fetch::BlockCache;
use crate::store::sst::open_files::OpenFiles;
use crate::store::version::apply::apply;
use crate::store::version::edit::{Change, Edit, SettingsText};
use crate::store::version::file::FileRecord;
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
    keyspace: KeyspaceId,
    order: KeyOrder,
    record: Arc<FileRecord>,
    range_deletes: Vec<RangeDelete>,
}

/// What the sorted files of a directory come to.
#[derive(Default)]
pub struct Sorted {
    /// Files that are whole and count, by keyspace.
    pub sound: BTreeMap<KeyspaceId, Vec<SoundFile>>,
    /// Files that are damaged or missing.
    pub lost: Vec<LostFile>,
    /// Files that counted no more when the manifest was damaged.
    pub obsolete: Vec<FileNumber>,
}

/// Reads every sorted file in `dir`. Errors: `Unsupported` for an order that is not known.
pub fn sort_files(
    env: &Env,
    dir: &Path,
    listing: &Listing,
    orders: &[KeyOrder],
    remains: Option<&Remains>,
) -> Result<Sorted> {
    let cache = Arc::new(ShardedCache::new(CACHE_BYTES));
    let mut sorted = Sorted::default();
    for &number in &listing.ssts {
        if remains.is_some_and(|remains| remains.obsolete.contains(&number)) {
            sorted.obsolete.push(number);
            continue;
        }
        match read_file(env, dir, number, orders, &cache) {
            Ok(file) if is_dropped(file.keyspace, remains) => sorted.obsolete.push(number),
            Ok(file) => sorted.sound.entry(file.keyspace).or_default().push(file),
            Err(error) if error.kind() == ErrorKind::Unsupported => return Err(error),
            Err(error) => sorted.lost.push(lost_file(number, remains, &error)),
        }
    }
    let known = remains.iter().flat_map(|remains| remains.files.keys());
    for number in known {
        if listing.ssts.binary_search(number).is_err() {
            let error = Error::corruption("the file is missing");
            sorted.lost.push(lost_file(*number, remains, &error));
        }
    }
    Ok(sorted)
}

// Numbers of keyspaces are given out in order, and never again.
fn is_dropped(id: KeyspaceId, remains: Option<&Remains>) -> bool {
    remains.is_some_and(|remains| {
        id < remains.version.next_keyspace && remains.version.keyspace(id).is_none()
    })
}

fn read_file(
    env: &Env,
    dir: &Path,
    number: FileNumber,
    orders: &[KeyOrder],
    cache: &Arc<BlockCache>,
) -> Result<SoundFile> {
    let name = FileName::Sst(number);
    let path = dir.join(name.to_string());
    let mut refused = Error::invalid("no order is known");
    for order in std::iter::once(&KeyOrder::Bytewise).chain(orders) {
        let file = env.fs.open_read(&path)?;
        match AnyReader::open(file, number, order.clone(), Arc::clone(cache)) {
            Ok(reader) => {
                reader.verify()?;
                let range_deletes = reader.range_deletes().to_vec();
                let record = record_of(number, reader.finished(), &range_deletes, order);
                return Ok(SoundFile {
                    keyspace: reader.props().keyspace,
                    order: order.clone(),
                    record: Arc::new(record),
                    range_deletes,
                });
            }
            // Another order than the file was written with.
            Err(error) if error.kind() == ErrorKind::Invalid => refused = error,
            Err(error) => return Err(error),
        }
    }
    let message = "the order of its keys is not known here; repair with the program that has it";
    Err(Error::new(ErrorKind::Unsupported, message)
        .in_file(name)
        .caused_by(refused))
}

fn lost_file(number: FileNumber, remains: Option<&Remains>, error: &Error) -> LostFile {
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
        cause: error.to_string(),
    }
}

/// A version with every keyspace that is known, has a sound file or is named in the log, and
/// without any files; each keyspace is flushed as far as its files go.
pub fn version_of(
    env: &Env,
    orders: &Orders,
    remains: Option<&Remains>,
    sorted: &Sorted,
    in_log: &BTreeSet<KeyspaceId>,
) -> Result<Version> {
    let mut version = match remains {
        Some(remains) => remains.version.clone(),
        None => Version::empty(identity::fresh(env), orders.clone()),
    };
    let ids = sorted.sound.keys().chain(in_log);
    let ids: BTreeSet<KeyspaceId> = ids.copied().chain([KeyspaceId::DEFAULT]).collect();
    let mut edit = Edit::new();
    for id in ids {
        if version.keyspace(id).is_none() && !is_dropped(id, remains) {
            let files = sorted.sound.get(&id).and_then(|files| files.first());
            let order = files.map_or(&KeyOrder::Bytewise, |file| &file.order);
            edit.push(Change::CreateKeyspace {
                id,
                name: match id {
                    KeyspaceId::DEFAULT => DEFAULT_KEYSPACE.into(),
                    _ => format!("recovered-{id}"),
                },
                order_name: order.name().into(),
                merge_name: None,
                settings: SettingsText::new(),
            });
        }
    }
    for (id, files) in &sorted.sound {
        let last = files.iter().map(|file| file.record.largest_seqno).max();
        edit.push(Change::SetFlushed {
            keyspace: *id,
            seqno: last.unwrap_or(SeqNo::ZERO),
        });
    }
    version = apply(&version, &edit)?;
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
    for (id, files) in &sorted.sound {
        let Some(state) = version.keyspace(*id) else {
            continue;
        };
        let runs = disjoint_runs(&state.order, files)?;
        let records = match &runs[..] {
            [whole] => whole.files().to_vec(),
            _ => {
                merged.extend(files.iter().map(|file| file.record.number));
                merge_runs(env, dir, state, &runs, files, numbers)?
            }
        };
        edit.extend(records.into_iter().map(|record| Change::AddFile {
            keyspace: *id,
            level,
            run: 0,
            record,
        }));
    }
    Ok((edit, merged))
}

// As few runs as possible: each file joins the first run that ends before it begins.
fn disjoint_runs(order: &KeyOrder, files: &[SoundFile]) -> Result<Vec<Run>> {
    let mut records: Vec<_> = files.iter().map(|file| Arc::clone(&file.record)).collect();
    records.sort_by(|left, right| order.compare(&left.smallest, &right.smallest));
    let mut runs: Vec<Vec<Arc<FileRecord>>> = Vec::new();
    for record in records {
        let fits = |run: &&mut Vec<Arc<FileRecord>>| {
            let last = run.last();
            last.is_none_or(|last| last.ends_before(order, &record.smallest))
        };
        match runs.iter_mut().find(fits) {
            Some(run) => run.push(record),
            None => runs.push(vec![record]),
        }
    }
    let runs = runs.into_iter();
    runs.map(|files| Run::new(0, order, files)).collect()
}

fn merge_runs(
    env: &Env,
    dir: &Path,
    state: &KeyspaceState,
    runs: &[Run],
    files: &[SoundFile],
    numbers: &Arc<FileNumbers>,
) -> Result<Vec<Arc<FileRecord>>> {
    let settings = output_settings(env, dir, numbers, state)?;
    let cache = Arc::new(ShardedCache::new(CACHE_BYTES));
    let open_files = OpenFiles::new(Arc::clone(&env.fs), dir, OPEN_FILES_MAX, cache);
    let view = Arc::new(View::new(
        ViewParts {
            keyspace: state.id,
            order: state.order.clone(),
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
    let mut cursor = MergingCursor::new(state.order.clone(), cursors.collect());
    let range_deletes = files.iter().flat_map(|file| file.range_deletes.clone());
    let written = write_run(&mut cursor, range_deletes.collect(), settings)?;
    Ok(written.into_iter().map(Arc::new).collect())
}

impl Sorted {
    /// Bytes of all sound files: the most that merging them writes.
    pub fn sound_bytes(&self) -> u64 {
        let files = self.sound.values().flatten();
        files.map(|file| file.record.size_bytes).sum()
    }
}

impl SoundFile {
    /// The file.
    pub fn record(&self) -> &Arc<FileRecord> {
        &self.record
    }
}
