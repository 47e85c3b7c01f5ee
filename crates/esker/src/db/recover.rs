//! Manifest and logs to a running core.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use crate::base::hooks::merge::MergeRule;
use crate::base::options::resolve::Resolved;
use crate::base::stats::board::Board;
use crate::base::stats::ledger::MemoryLedger;
use crate::base::types::error::{Error, Result};
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

/// The manifest of every new database: number 0 is never given out.
const FIRST_MANIFEST: FileNumber = FileNumber(1);

/// What a database is opened with.
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
    let (manifest, version) = open_manifest(&parts)?;
    let mut targets = replay_targets(&parts, &version)?;
    let segments_found = list_segments(&parts, version.first_log)?;
    let replayed = replay(
        &*parts.env.fs,
        &parts.dir,
        &segments_found,
        version.first_log,
        &mut targets,
        version.last_seqno,
    )?;
    let manifest_number = manifest.as_ref().map(Manifest::number);
    let mut kept = segments_found.clone();
    kept.retain(|number| !replayed.dropped_segments.contains(number));
    let core = assemble(parts, manifest, version, &replayed, kept.clone(), lock);
    open_keyspace::open_all(&core, targets)?;
    match manifest_number {
        None => core.gate.set_read_only(),
        Some(number) => {
            // Cleaned first: what was dropped behind a lost part must be gone before a new
            // segment takes its place in the chain.
            janitor::clean_directory(&core, &kept, number)?;
            adopt_segments(&core, &kept)?;
            open_keyspace::apply_asked_settings(&core)?;
            worker::wake(&core);
        }
    }
    regulate::set_memory(&core);
    Ok(core)
}

fn prepare_directory(parts: &Parts) -> Result<Option<Box<dyn DirLock>>> {
    let fs = &parts.env.fs;
    let options = &parts.resolved.db;
    let current = parts.dir.join(FileName::Current.to_string());
    let is_there = fs.exists(&parts.dir)? && fs.exists(&current)?;
    let place = parts.dir.display();
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

fn open_manifest(parts: &Parts) -> Result<(Option<Manifest>, Arc<Version>)> {
    let fs = &parts.env.fs;
    let orders = Orders::new(parts.orders.clone());
    let is_there = fs.exists(&parts.dir.join(FileName::Current.to_string()))?;
    if parts.is_read_only {
        let (version, _) = read_manifest(&**fs, &parts.dir, &orders)?;
        return Ok((None, Arc::new(version)));
    }
    if is_there {
        let (manifest, version, _) = Manifest::recover(Arc::clone(fs), &parts.dir, &orders)?;
        return Ok((Some(manifest), version));
    }
    let identity = identity::fresh(&parts.env);
    let first = open_keyspace::first_version(identity, orders, &parts.resolved)?;
    let manifest = Manifest::create(Arc::clone(fs), &parts.dir, first)?;
    let version = Arc::clone(manifest.version());
    Ok((Some(manifest), version))
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
        let fresh = move || Memtable::create(options.order.clone(), options.merge.clone());
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
    parts: Parts,
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
        ..
    } = parts;
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
    let cache_bytes = usize::try_from(ledger.cache_allowance()).unwrap_or(usize::MAX);
    let cache = Arc::new(ShardedCache::new(cache_bytes));
    let files = OpenFiles::new(
        Arc::clone(&env.fs),
        &dir,
        options.open_files_max,
        Arc::clone(&cache),
    );
    let gate = Arc::new(Gate::default());
    let budget = resolved.memtable_budget_bytes();
    let room = Arc::new(WriteRoom::new(budget, options.wal_total_bytes));
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
