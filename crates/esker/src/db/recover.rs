//! Manifest and logs to a running core.

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use crate::base::hooks::events::{DatabaseOpened, Event};
use crate::base::types::error::{Error, ErrorKind, Result};
use crate::base::types::ids::{FileNumber, KeyspaceId};
use crate::base::types::user_code;
use crate::db::assemble::{Opened, Parts, assemble};
use crate::db::beside_writer::Tries;
use crate::db::core::Core;
use crate::db::directory::prepare_directory;
use crate::db::file_deletion;
use crate::db::identity;
use crate::db::job_events::note_closed;
use crate::db::log_survey::segments_of;
use crate::db::needed_compressions;
use crate::db::older_values::is_in_files;
use crate::db::open_keyspace;
use crate::db::settling;
use crate::db::torn_log::keep_torn;
use crate::db::training;
use crate::db::worker;
use crate::db::write_control;
use crate::env::fs::DirLock;
use crate::flow::values::segments::table_bytes_max;
use crate::flow::write::replay::{ReplaySource, ReplayTarget, replay};
use crate::store::mem::memtable::Memtable;
use crate::store::names::FileName;
use crate::store::sst::any_reader::AnyReader;
use crate::store::version::identity::Known;
use crate::store::version::manifest::Manifest;
use crate::store::version::numbers::is_given_out;
use crate::store::version::recovery::read_manifest;
use crate::store::version::state::{Orders, Version};
use crate::store::vlog::open_values::OpenValues;
use crate::store::vlog::value_pool::ValuePool;

/// Opens what is in the directory, or creates it.
///
/// Errors: `Invalid` for an order that panics, among others; nothing is changed then that another
/// opening would not have changed, and the directory is free.
pub fn open(parts: Parts) -> Result<Arc<Core>> {
    let events = parts.events.clone();
    let opened = user_code::told(|| open_directory(parts));
    if opened.is_err() {
        events.finish();
        events.end();
    }
    opened
}

fn open_directory(mut parts: Parts) -> Result<Arc<Core>> {
    let began = parts.env.clock.monotonic();
    open_keyspace::refuse_unlogged_default(&parts.resolved)?;
    let lock = prepare_directory(&mut parts)?;
    if parts.is_read_only {
        return open_read_only(&parts).inspect(|core| note_opened(&parts, core, began));
    }
    let (manifest, version) = open_manifest(&parts)?;
    let number = manifest.number();
    let (core, segments) = load(&parts, Some(manifest), version, lock)?;
    let prepared = user_code::told(|| prepare(&parts, &core, &segments, number));
    prepared.inspect_err(|_| give_up(&core))?;
    // Before there are jobs.
    note_opened(&parts, &core, began);
    let begun = user_code::told(|| {
        begin(&core);
        Ok(())
    });
    if begun.is_err() {
        give_up(&core);
        note_closed(&core, &begun);
    }
    begun.map(|()| core)
}

fn note_opened(parts: &Parts, core: &Core, began: Duration) {
    let elapsed = core.env.clock.monotonic().saturating_sub(began);
    core.events.note(|| {
        Event::DatabaseOpened(DatabaseOpened {
            path: core.dir.clone(),
            is_read_only: parts.is_read_only,
            replayed_batches: core.replayed.batch_count,
            elapsed,
        })
    });
}

fn prepare(
    parts: &Parts,
    core: &Arc<Core>,
    segments: &[FileNumber],
    manifest: FileNumber,
) -> Result<()> {
    keep_torn(parts, &core.replayed)?;
    // Cleaned first: what was dropped behind a lost part must be gone before a new segment takes
    // its place in the chain.
    file_deletion::clean_directory(core, segments, manifest)?;
    adopt_segments(core, segments)?;
    end_recovered_log(core)?;
    open_keyspace::apply_asked_settings(core)?;
    for parts in core.keyspaces.all() {
        if parts.wants_searchable() {
            // Before the first compaction, which would uncompress what it can copy.
            training::resume(&parts);
        }
    }
    Ok(())
}

// From here on there may be jobs.
fn begin(core: &Arc<Core>) {
    worker::wake(core);
    settling::opened(core);
    write_control::set_memory(core);
}

// The directory is free when this returns: no job is left that holds it.
fn give_up(core: &Arc<Core>) {
    core.gate.close();
    let Ok(()) = core.work.wait_for(&*core.env.pool, || {
        Ok::<_, Infallible>((core.work.state().job_count == 0).then_some(()))
    });
}

// Another process may write to the database, and remove or overwrite files as we come to them.
// What was read then is not what the manifest said: we begin again with a newer one.
fn open_read_only(parts: &Parts) -> Result<Arc<Core>> {
    let mut tries = Tries::default();
    let mut torn_at = None;
    loop {
        let read = read_as_it_is(parts);
        let again = match &read {
            // Whole records behind one that was just being written look like damage too. Read again
            // they are whole, or the log is torn at the same place.
            Ok(core) if core.replayed.torn_records > 0 && core.replayed.torn_at != torn_at => {
                torn_at = core.replayed.torn_at;
                tries.again()
            }
            Ok(_) => return read,
            Err(error) => tries.again_after(error),
        };
        if !again {
            return read;
        }
    }
}

fn read_as_it_is(parts: &Parts) -> Result<Arc<Core>> {
    let comparators = Orders::new(parts.comparators.clone());
    let read_version = || read_manifest(&*parts.env.fs, &parts.dir, &comparators);
    let (version, _) = read_version()?;
    let version = Arc::new(version);
    let read = read_files(parts, &version);
    let (now, _) = read_version()?;
    // A segment is given away for another use only after the manifest has said so, and a sorted
    // file is removed only after the manifest has stopped naming it.
    let is_unchanged = || now.to_edit() == version.to_edit();
    let is_whole = match &read {
        // Of an unchanged database nobody has removed a segment of the value log: it is lost. The
        // log may seem torn where a record names one, too.
        Ok((core, is_missing)) => {
            let is_torn = core.replayed.torn_records > 0;
            now.first_log == version.first_log && (!(*is_missing || is_torn) || is_unchanged())
        }
        Err(_) => is_unchanged(),
    };
    if !is_whole {
        let message = "the database was flushed while it was being read; open it again";
        return Err(Error::new(ErrorKind::Busy, message));
    }
    read.map(|(core, _)| core)
}

// With the database, whether a segment of the value log was missing.
fn read_files(parts: &Parts, version: &Arc<Version>) -> Result<(Arc<Core>, bool)> {
    let (core, _) = load(parts, None, Arc::clone(version), None)?;
    // Held open from here on, as many as may be open, so that whoever removes them does not take
    // them from us.
    let values = core.values.values();
    let mut lost = BTreeSet::new();
    let mut hold = |segment| {
        if values.is_full() {
            return Ok(());
        }
        let name = FileName::Vlog(segment).to_string();
        let is_there = parts.env.fs.exists(&parts.dir.join(name))?;
        if !is_there {
            lost.insert(segment);
            return Ok(());
        }
        values.segment(segment).map(drop)
    };
    for segment in core.values.named() {
        hold(segment)?;
    }
    for state in version.keyspaces.values() {
        for (_, file) in state.levels.files() {
            if !core.files.is_full() {
                let known = Known {
                    keyspace: state.id,
                    record: file,
                };
                let check = |reader: &AnyReader| known.check(reader, &state.comparator);
                core.files.get(file.binding(), &state.comparator, check)?;
            }
            for (segment, _) in file.values.iter() {
                hold(segment)?;
            }
        }
    }
    core.files.set_beside_writer();
    let is_missing = !lost.is_empty();
    values.set_beside_writer(lost);
    core.gate.set_read_only();
    write_control::set_memory(&core);
    Ok((core, is_missing))
}

// Reads the log of a version, and opens its keyspaces. Gives the segments that are in use too.
fn load(
    parts: &Parts,
    manifest: Option<Manifest>,
    version: Arc<Version>,
    lock: Option<Box<dyn DirLock>>,
) -> Result<(Arc<Core>, Vec<FileNumber>)> {
    needed_compressions::check(&*parts.env.fs, &parts.dir, &version)?;
    let mut targets = replay_targets(parts, &version)?;
    let found = segments_of(&*parts.env.fs, &parts.dir, &version)?;
    let value_segments = list_values(parts, &version)?;
    let db = &parts.resolved.db;
    let pool = ValuePool::new(db.value_buffer_bytes, db.value_flush_bytes);
    let open_max = db.value_segments_open_max();
    let values = OpenValues::new(Arc::clone(&parts.env.fs), &parts.dir, open_max).before(pool);
    let values = Arc::new(values);
    values.keep_open(open_max);
    let source = ReplaySource {
        fs: &*parts.env.fs,
        dir: &parts.dir,
        segments: &found,
        first_log: version.first_log,
        next_keyspace: version.next_keyspace,
        values: &values,
        is_in_files: &|keyspace, key, pointer| {
            let (fs, dir) = (&parts.env.fs, &parts.dir);
            is_in_files(fs, dir, &version, (keyspace, key), pointer)
        },
    };
    let mut replayed = replay(&source, &mut targets, version.last_seqno)?;
    let mut kept = found;
    kept.retain(|number| !replayed.dropped_segments.contains(number));
    let prepared = std::mem::take(&mut replayed.prepared);
    let opened = Opened {
        replayed,
        segments_used: sizes_of(parts, &kept)?,
        values,
        value_segments,
    };
    let core = assemble(parts, manifest, version, opened, lock);
    open_keyspace::open_all(&core, targets)?;
    core.committer.adopt_prepared(prepared)?;
    Ok((core, kept))
}

fn open_manifest(parts: &Parts) -> Result<(Manifest, Arc<Version>)> {
    let fs = &parts.env.fs;
    let comparators = Orders::new(parts.comparators.clone());
    let is_there = fs.exists(&parts.dir.join(FileName::Current.to_string()))?;
    if is_there {
        let (manifest, version, _) = Manifest::recover(Arc::clone(fs), &parts.dir, &comparators)?;
        return Ok((manifest, version));
    }
    let identity = identity::fresh(&parts.env);
    let first = open_keyspace::first_version(identity, comparators, &parts.resolved)?;
    let manifest = Manifest::create(Arc::clone(fs), &parts.dir, first)?;
    let version = Arc::clone(manifest.version());
    Ok((manifest, version))
}

// Segments of the value log, by number, with the bytes that they take.
fn list_values(parts: &Parts, version: &Version) -> Result<Vec<(FileNumber, u64)>> {
    let mut segments = Vec::new();
    for name in parts.env.fs.list(&parts.dir)? {
        if let Some(name @ FileName::Vlog(number)) = FileName::parse(&name)
            && is_given_out(number, version.next_file)
            && let Some(size_bytes) = size_of(parts, name)?
        {
            segments.push((number, size_bytes));
        }
    }
    segments.sort_unstable();
    Ok(segments)
}

// The bytes that segments of the log take.
fn sizes_of(parts: &Parts, segments: &[FileNumber]) -> Result<Vec<(FileNumber, u64)>> {
    let mut sizes = Vec::new();
    for &number in segments {
        if let Some(size_bytes) = size_of(parts, FileName::Wal(number))? {
            sizes.push((number, size_bytes));
        }
    }
    Ok(sizes)
}

// `None` where whoever writes to the database has removed the file since: nobody needs it.
fn size_of(parts: &Parts, name: FileName) -> Result<Option<u64>> {
    match parts.env.fs.file_size(&parts.dir.join(name.to_string())) {
        Ok(size_bytes) => Ok(Some(size_bytes)),
        Err(error) if parts.is_read_only && error.is_missing_file() => Ok(None),
        Err(error) => Err(error),
    }
}

// A killed process may have left the end of the log, and the values it points to, in the page
// cache only.
fn adopt_segments(core: &Core, kept: &[FileNumber]) -> Result<()> {
    for number in core.values.named() {
        let path = core.dir.join(FileName::Vlog(number).to_string());
        let size = match core.env.fs.file_size(&path) {
            // It was durable once, and is gone. Its values are lost, and whoever reads one of them
            // is told; everything else in the database stays readable.
            Err(error) if error.is_missing_file() => continue,
            size => size?,
        };
        let syncer = core.env.fs.open_log(&path, size)?.syncer();
        core.values.adopt(number, syncer);
    }
    for &number in kept {
        let path = core.dir.join(FileName::Wal(number).to_string());
        let size = core.env.fs.file_size(&path)?;
        let syncer = core.env.fs.open_log(&path, size)?.syncer();
        core.committer.adopt_segment(number, syncer);
    }
    Ok(())
}

// Before anything is written: what was found is durable then, and what was cut off stays off. A log
// that was closed needs none of it.
fn end_recovered_log(core: &Core) -> Result<()> {
    let replayed = &core.replayed;
    let is_empty = replayed.batch_count == 0 && replayed.two_phase_count == 0;
    let was_closed = is_empty && replayed.segment_count <= 1;
    if was_closed && replayed.torn_at.is_none() {
        return Ok(());
    }
    match core.committer.end_recovered() {
        // Nothing was cut off, so nothing can come back: on a full disk the log goes on as it is.
        Err(error) if error.kind() == ErrorKind::OutOfSpace && replayed.torn_at.is_none() => {
            core.committer.sync_log()
        }
        ended => ended,
    }
}

fn replay_targets(parts: &Parts, version: &Version) -> Result<BTreeMap<KeyspaceId, ReplayTarget>> {
    let mut targets = BTreeMap::new();
    for state in version.keyspaces.values() {
        let options = open_keyspace::options_of(state, &parts.resolved, &parts.merge_rules)?;
        let limit_bytes = options.memtable_bytes;
        let values_limit_bytes = table_bytes_max(parts.resolved.db.value_segment_fitting());
        let pages = Arc::clone(&parts.env.pages);
        let fresh = move || {
            let (comparator, merge) = (options.comparator.clone(), options.merge.clone());
            Memtable::create_in(Arc::clone(&pages), comparator, merge)
        };
        let target = ReplayTarget {
            flushed: state.flushed,
            is_unlogged: state.is_unlogged(),
            limit_bytes,
            values_limit_bytes,
            fresh: Some(Box::new(fresh)),
            filled: Vec::new(),
        };
        targets.insert(state.id, target);
    }
    Ok(targets)
}
