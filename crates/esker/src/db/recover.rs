//! Manifest and logs to a running core.

use std::collections::BTreeMap;
use std::io::ErrorKind as Os;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use crate::base::hooks::merge::MergeRule;
use crate::base::options::resolve::Resolved;
use crate::base::stats::board::Board;
use crate::base::stats::ledger::MemoryLedger;
use crate::base::types::error::{Error, ErrorKind, Result};
use crate::base::types::ids::{FileNumber, KeyspaceId};
use crate::base::types::order::KeyOrder;
use crate::base::types::seqno::SeqNo;
use crate::db::core::Core;
use crate::db::doomed::Doomed;
use crate::db::identity;
use crate::db::janitor;
use crate::db::keyspace::Keyspaces;
use crate::db::open_keyspace;
use crate::db::regulate;
use crate::db::snapshots::Snapshots;
use crate::db::work::Work;
use crate::db::worker;
use crate::env::bundle::Env;
use crate::env::fs::DirLock;
use crate::flow::write::active::Active;
use crate::flow::write::commit::Committer;
use crate::flow::write::gate::Gate;
use crate::flow::write::replay::{ReplayReport, ReplayTarget, replay};
use crate::flow::write::room::WriteRoom;
use crate::flow::write::segments::Segments;
use crate::store::cache::sharded::ShardedCache;
use crate::store::mem::memtable::Memtable;
use crate::store::names::FileName;
use crate::store::sst::open_files::OpenFiles;
use crate::store::version::history::History;
use crate::store::version::manifest::Manifest;
use crate::store::version::numbers::FileNumbers;
use crate::store::version::recovery::read_manifest;
use crate::store::version::state::{Orders, Version};
use crate::store::wal::reader::WalReader;

/// How often a database that is read only is begun to be read: a busy writer overtakes a reader
/// now and then, hardly ever twice in a row.
const READ_TRIES: usize = 6;

/// The manifest of every new database: number 0 is never given out.
const FIRST_MANIFEST: FileNumber = FileNumber(1);

/// What a database is opened with.
#[derive(Clone)]
pub struct Parts {
    /// The outside world.
    pub env: Env,
    /// The directory.
    pub dir: PathBuf,
    /// Every setting.
    pub resolved: Resolved,
    /// Whether nothing may be written.
    pub is_read_only: bool,
    /// Merge operators that keyspaces may name.
    pub merge_rules: Vec<MergeRule>,
    /// Orders that keyspaces may name.
    pub orders: Vec<KeyOrder>,
}

/// Opens what is in the directory, or creates it.
pub fn open(parts: Parts) -> Result<Arc<Core>> {
    let lock = prepare_directory(&parts)?;
    if parts.is_read_only {
        return open_read_only(&parts);
    }
    let (manifest, version) = open_manifest(&parts)?;
    let number = manifest.number();
    let (core, segments) = load(&parts, Some(manifest), version, lock)?;
    // Cleaned first: what was dropped behind a lost part must be gone before a new segment takes
    // its place in the chain.
    janitor::clean_directory(&core, &segments, number)?;
    adopt_segments(&core, &segments)?;
    open_keyspace::apply_asked_settings(&core)?;
    worker::wake(&core);
    regulate::set_memory(&core);
    Ok(core)
}

// Another process may write to the database, and remove or overwrite files as we come to them.
// What was read then is not what the manifest said: we begin again with a newer one.
fn open_read_only(parts: &Parts) -> Result<Arc<Core>> {
    let mut tried = 0;
    loop {
        tried += 1;
        match read_as_it_is(parts) {
            // Damage may be a record that was just being written.
            Err(error)
                if tried < READ_TRIES
                    && matches!(error.kind(), ErrorKind::Busy | ErrorKind::Corruption) => {}
            read => return read,
        }
    }
}

fn read_as_it_is(parts: &Parts) -> Result<Arc<Core>> {
    let orders = Orders::new(parts.orders.clone());
    let read_version = || read_manifest(&*parts.env.fs, &parts.dir, &orders);
    let (version, _) = read_version()?;
    let version = Arc::new(version);
    let read = read_files(parts, &version);
    let (now, _) = read_version()?;
    // A segment is given away for another use only after the manifest has said so, and a sorted
    // file is removed only after the manifest has stopped naming it.
    let is_whole = match &read {
        Ok(_) => now.first_log == version.first_log,
        // A segment that never held anything is given away without a word.
        Err(error) => !error.is_missing_file() && now.to_edit() == version.to_edit(),
    };
    if !is_whole {
        let message = "the database was flushed while it was being read; open it again";
        return Err(Error::new(ErrorKind::Busy, message));
    }
    read
}

fn read_files(parts: &Parts, version: &Arc<Version>) -> Result<Arc<Core>> {
    let (core, _) = load(parts, None, Arc::clone(version), None)?;
    // Held open from here on, so that whoever removes them does not take them from us.
    for state in version.keyspaces.values() {
        for (_, file) in state.levels.files() {
            core.files.get(file.number, &state.order)?;
        }
    }
    core.gate.set_read_only();
    regulate::set_memory(&core);
    Ok(core)
}

// Reads the log of a version, and opens its keyspaces. Gives the segments that are in use too.
fn load(
    parts: &Parts,
    manifest: Option<Manifest>,
    version: Arc<Version>,
    lock: Option<Box<dyn DirLock>>,
) -> Result<(Arc<Core>, Vec<FileNumber>)> {
    let mut targets = replay_targets(parts, &version)?;
    let mut found = list_segments(parts, version.first_log)?;
    if parts.is_read_only {
        drop_unbegun(parts, &mut found)?;
    }
    let replayed = replay(
        &*parts.env.fs,
        &parts.dir,
        &found,
        version.first_log,
        &mut targets,
        version.last_seqno,
    )?;
    let mut kept = found;
    kept.retain(|number| !replayed.dropped_segments.contains(number));
    let core = assemble(parts, manifest, version, &replayed, kept.clone(), lock);
    open_keyspace::open_all(&core, targets)?;
    Ok((core, kept))
}

fn prepare_directory(parts: &Parts) -> Result<Option<Box<dyn DirLock>>> {
    let fs = &parts.env.fs;
    let options = &parts.resolved.db;
    let place = parts.dir.display();
    if parts.dir.as_os_str().is_empty() {
        let message = "the path of a database is empty; name a directory";
        return Err(Error::invalid(message));
    }
    let is_there = has_database(parts)?;
    if !is_there && !options.create_if_missing {
        refuse_lost_current(parts)?;
        return Err(Error::invalid(format!(
            "there is no database in {place}; create one by opening it for writing with \
             create_if_missing"
        )));
    }
    if parts.is_read_only {
        return Ok(None);
    }
    fs.create_dir_all(&parts.dir)?;
    let lock = fs.lock(&parts.dir.join(FileName::Lock.to_string()))?;
    if is_there && options.error_if_exists {
        return Err(Error::invalid(format!(
            "there is a database in {place} already, and error_if_exists is set"
        )));
    }
    if !is_there {
        refuse_lost_current(parts)?;
    }
    Ok(Some(lock))
}

fn has_database(parts: &Parts) -> Result<bool> {
    let fs = &parts.env.fs;
    if !fs.exists(&parts.dir)? {
        return Ok(false);
    }
    match fs.list(&parts.dir) {
        Ok(names) => Ok(names.contains(&FileName::Current.to_string())),
        // It is there, so not being found is being something else than a directory.
        Err(error)
            if matches!(error.io_kind(), Some(Os::NotADirectory)) || error.is_missing_file() =>
        {
            let place = parts.dir.display();
            let message = format!("{place} is no directory; a database is one");
            Err(Error::invalid(message))
        }
        Err(error) => Err(error),
    }
}

// A directory with sorted files or logs but no CURRENT is a damaged database, not an empty one:
// creating a new one over it would remove what can still be saved. The first manifest alone is
// neither: a creation that a crash cut short leaves it, before anybody was told of a database.
fn refuse_lost_current(parts: &Parts) -> Result<()> {
    if !parts.env.fs.exists(&parts.dir)? {
        return Ok(());
    }
    for name in parts.env.fs.list(&parts.dir)? {
        let is_proof = match FileName::parse(&name) {
            Some(FileName::Sst(_) | FileName::Wal(_)) => true,
            Some(FileName::Manifest(number)) => number != FIRST_MANIFEST,
            _ => false,
        };
        if is_proof {
            let message = format!(
                "CURRENT is missing but {name} is there; `esker repair --dry-run` tells what can \
                 be saved"
            );
            return Err(Error::corruption(message).in_file(parts.dir.join("CURRENT").display()));
        }
    }
    Ok(())
}

fn open_manifest(parts: &Parts) -> Result<(Manifest, Arc<Version>)> {
    let fs = &parts.env.fs;
    let orders = Orders::new(parts.orders.clone());
    let is_there = fs.exists(&parts.dir.join(FileName::Current.to_string()))?;
    if is_there {
        let (manifest, version, _) = Manifest::recover(Arc::clone(fs), &parts.dir, &orders)?;
        return Ok((manifest, version));
    }
    let identity = identity::fresh(&parts.env);
    let first = open_keyspace::first_version(identity, orders, &parts.resolved)?;
    let manifest = Manifest::create(Arc::clone(fs), &parts.dir, first)?;
    let version = Arc::clone(manifest.version());
    Ok((manifest, version))
}

fn list_segments(parts: &Parts, first_log: FileNumber) -> Result<Vec<FileNumber>> {
    let mut segments = Vec::new();
    for name in parts.env.fs.list(&parts.dir)? {
        if let Some(FileName::Wal(number)) = FileName::parse(&name)
            && number >= first_log
        {
            segments.push(number);
        }
    }
    segments.sort_unstable();
    if first_log.0 > 0 && !segments.contains(&first_log) {
        let message = "a segment of the log is missing; `esker repair --dry-run` tells what \
                       would be lost";
        return Err(Error::corruption(message).in_file(FileName::Wal(first_log)));
    }
    Ok(segments)
}

// Whatever lies before a segment that has begun is complete. So a reader beside a writer reads up
// to the newest one that has begun when it looks: one that begins later would make the end it has
// seen of the one before look like a loss.
fn drop_unbegun(parts: &Parts, segments: &mut Vec<FileNumber>) -> Result<()> {
    while let Some(&number) = segments.last() {
        let path = parts.dir.join(FileName::Wal(number).to_string());
        let mut reader = WalReader::new(parts.env.fs.open_read(&path)?, number);
        if reader.next()?.is_some() {
            break;
        }
        segments.pop();
    }
    Ok(())
}

// A killed process may have left the end of the log in the page cache only.
fn adopt_segments(core: &Core, kept: &[FileNumber]) -> Result<()> {
    for &number in kept {
        let path = core.dir.join(FileName::Wal(number).to_string());
        let size = core.env.fs.file_size(&path)?;
        let syncer = core.env.fs.open_log(&path, size)?.syncer();
        core.committer.adopt_segment(number, syncer);
    }
    Ok(())
}

fn replay_targets(parts: &Parts, version: &Version) -> Result<BTreeMap<KeyspaceId, ReplayTarget>> {
    let mut targets = BTreeMap::new();
    for state in version.keyspaces.values() {
        let options = open_keyspace::options_of(state, &parts.resolved, &parts.merge_rules)?;
        let limit_bytes = options.memtable_bytes;
        let pages = Arc::clone(&parts.env.pages);
        let fresh = move || {
            let (order, merge) = (options.order.clone(), options.merge.clone());
            Memtable::create_in(Arc::clone(&pages), order, merge)
        };
        let target = ReplayTarget {
            flushed: state.flushed,
            limit_bytes,
            fresh: Box::new(fresh),
            filled: Vec::new(),
        };
        targets.insert(state.id, target);
    }
    Ok(targets)
}

fn assemble(
    parts: &Parts,
    manifest: Option<Manifest>,
    version: Arc<Version>,
    replayed: &ReplayReport,
    segments_used: Vec<FileNumber>,
    lock: Option<Box<dyn DirLock>>,
) -> Arc<Core> {
    let Parts {
        env,
        dir,
        resolved,
        merge_rules,
        is_read_only,
        ..
    } = parts.clone();
    let options = resolved.db.clone();
    let numbers = Arc::new(FileNumbers::new(version.next_file));
    // Numbers taken just before a crash may not be in the manifest yet.
    for number in segments_used.iter().chain(&replayed.dropped_segments) {
        numbers.skip(FileNumber(number.0 + 1));
    }
    let segments = Segments::new(
        Arc::clone(&env.fs),
        &dir,
        Arc::clone(&numbers),
        options.wal_segment_bytes,
    );
    let segments = Arc::new(segments);
    let ledger = Arc::new(MemoryLedger::new(options.memory_limit));
    let cache = Arc::new(ShardedCache::new(ledger.cache_allowance()));
    let open_files_max = match is_read_only {
        // Once closed, a file may be gone.
        true => usize::MAX,
        false => options.open_files_max,
    };
    let files = OpenFiles::new(
        Arc::clone(&env.fs),
        &dir,
        open_files_max,
        Arc::clone(&cache),
    )
    .charged_to(Arc::clone(&ledger));
    let gate = Arc::new(Gate::default());
    let (budget, log_max) = (resolved.memtable_budget_bytes(), options.wal_total_bytes);
    let room = Arc::new(WriteRoom::new(budget, log_max, Arc::clone(&gate)));
    let last_seqno: SeqNo = replayed.last_seqno;
    let active = Active::new(
        Arc::clone(&segments),
        last_seqno,
        replayed.end,
        segments_used,
    );
    let committer = Committer::new(active, Arc::clone(&gate), Arc::clone(&room), env.clone());
    Arc::new(Core {
        env,
        dir,
        options,
        resolved,
        merge_rules,
        gate,
        room,
        committer,
        segments,
        numbers,
        history: History::new(version),
        manifest: Mutex::new(manifest),
        files: Arc::new(files),
        cache,
        ledger,
        board: Arc::new(Board::new()),
        snapshots: Snapshots::default(),
        keyspaces: Keyspaces::default(),
        work: Work::default(),
        doomed: Doomed::default(),
        replayed: replayed.clone(),
        lock: Mutex::new(lock),
    })
}
