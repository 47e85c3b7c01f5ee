//! One flush: the sealed memtables of some keyspaces become a run of level 0 each.

use std::sync::Arc;

use crate::base::stats::memory_budget::MemoryOwner;
use crate::base::stats::statistics::{Ticker, nanoseconds};
use crate::base::types::bytes::Bytes;
use crate::base::types::error::Result;
use crate::base::types::ids::{FileNumber, KeyspaceId, Level};
use crate::db::core::Core;
use crate::db::due_flush::DueFlush;
use crate::db::file_deletion;
use crate::db::install::install;
use crate::db::job_events::{JobEvents, note_made};
use crate::db::keyspace::KeyspaceParts;
use crate::db::write_control;
use crate::flow::current::{FlushedTables, Sealed};
use crate::flow::flush::{Flushed, flush};
use crate::flow::output::{KEY_BUILD_BYTES, OUTPUT_BYTES, OutputSettings};
use crate::flow::read::view::View;
use crate::flow::values::flush::write_oldest;
use crate::flow::values::relocation::RelocationSettings;
use crate::store::version::edit::{Change, Edit};
use crate::store::version::file::FileRecord;

/// Flushes the oldest sealed memtables of some keyspaces, which one edit records, and gives their
/// log back.
pub fn flush_group(core: &Core, group: &[DueFlush]) -> Result<()> {
    if group.is_empty() {
        return Ok(());
    }
    let mut flushes: Vec<Flush<'_>> = group
        .iter()
        .map(|due| Flush {
            events: JobEvents::flush(core, &due.parts, &due.sealed),
            flushed: None,
            due,
        })
        .collect();
    let ended = flush_all(core, &mut flushes);
    flushes
        .iter_mut()
        .for_each(|flush| flush.events.end(&ended));
    ended
}

/// The flush of one keyspace.
struct Flush<'a> {
    due: &'a DueFlush,
    events: JobEvents,
    /// What it made; `None` before it was done, and where there is no keyspace any more.
    flushed: Option<Flushed>,
}

fn flush_all(core: &Core, flushes: &mut [Flush<'_>]) -> Result<()> {
    // A panic in the middle of a write fails the gate before anybody can seal what it left: so
    // what was sealed behind it is not made durable.
    core.gate.check_fault()?;
    let is_any_logged = flushes.iter().any(|flush| !flush.due.parts.is_unlogged);
    if core.committer.has_two_phases() || (is_any_logged && core.keyspaces.count() > 1) {
        // What a flush makes durable must not overtake older writes to other keyspaces, which
        // are still in the log alone: after a power cut the writes that survive are a prefix. Nor
        // may it overtake the commit of a prepared transaction, which would be prepared again. What
        // is never in the log is behind nothing in it.
        core.committer.sync_log()?;
    }
    let began = core.env.clock.monotonic();
    let run = |flush: &mut Flush<'_>| core.committer.closing_own_segments(|| flush.run(core));
    let made = flushes.iter_mut().try_for_each(run);
    if let Err(error) = made.and_then(|()| record(core, flushes)) {
        // For want of space or files it was not recorded, and each try makes files of its own.
        // After any other error the edit may be on the disk: the next open finds out.
        if error.is_shortage() {
            let made = flushes.iter().flat_map(Flush::numbers);
            file_deletion::remove_orphans(core, made);
        }
        return Err(error);
    }
    let took = nanoseconds(core.env.clock.monotonic() - began);
    core.statistics.add(Ticker::FlushNanos, took);
    for flush in &mut *flushes {
        flush.settle(core);
    }
    retire_logs(core)?;
    write_control::set_memory(core);
    // After that, because the flush holds them itself until it returns.
    let now = core.env.clock.monotonic();
    for flush in &*flushes {
        core.pinned_tables.flushed(&flush.due.sealed, now);
    }
    let changed = flushes.iter().map(|flush| Arc::clone(&flush.due.parts));
    write_control::set_rates_of(core, &changed.collect::<Vec<_>>());
    Ok(())
}

impl Flush<'_> {
    fn run(&mut self, core: &Core) -> Result<()> {
        let (parts, sealed) = (&self.due.parts, &self.due.sealed);
        let settings = output_settings(core, parts, Level::ZERO);
        let options = parts.options();
        let merge = options.merge.as_ref();
        let entry_count: usize = sealed.iter().map(|sealed| sealed.table.entry_count()).sum();
        let buffer_bytes = OUTPUT_BYTES + entry_count as u64 * KEY_BUILD_BYTES;
        let _charge = core
            .memory_budget
            .hold(MemoryOwner::Compaction, buffer_bytes);
        if parts.is_unlogged {
            // What is not the newest of its key goes where the flush puts it.
            write_oldest(&core.values, &parts.current.view(), sealed.len())?;
        }
        let flushed = flush(sealed, merge, core.snapshots.seqnos(), settings)?;
        note_made(core, &flushed.files);
        self.flushed = Some(flushed);
        Ok(())
    }

    fn files(&self) -> &[FileRecord] {
        self.flushed.as_ref().map_or(&[], |flushed| &flushed.files)
    }

    fn numbers(&self) -> impl Iterator<Item = FileNumber> {
        self.files().iter().map(|file| file.number)
    }

    /// What is to be done once it is recorded.
    fn settle(&mut self, core: &Core) {
        let Some(flushed) = &self.flushed else {
            return;
        };
        let bytes: u64 = flushed.files.iter().map(|file| file.size_bytes).sum();
        let file_count = flushed.files.len();
        self.events.set_made(file_count, bytes);
        core.statistics.add(Ticker::Flushes, 1);
        core.statistics.add(Ticker::FlushBytes, bytes);
        core.statistics.add(Ticker::FilesCreated, file_count as u64);
        core.statistics
            .add(Ticker::MergeFolds, flushed.tally.folded_count);
        let settled_bytes = flushed.relocated.tally.settled_bytes;
        settle_values(core, &self.due.sealed, settled_bytes);
        // Until the edit was installed nobody else kept segments that the flush made.
        self.flushed = None;
    }
}

// Makes the flushes durable and current; those of keyspaces that were dropped meanwhile come to
// nothing.
fn record(core: &Core, flushes: &mut [Flush<'_>]) -> Result<()> {
    let mut files = flushes.iter().flat_map(Flush::files).peekable();
    if files.peek().is_some() {
        // The names of all of them at once: what the edit names is there after a crash.
        core.env.fs.sync_dir(&core.dir)?;
    }
    if files.any(|file| !file.values.is_empty()) {
        // Durable before the edit is: no log will bring these values back.
        let has_values = |flush: &&Flush<'_>| {
            let mut files = flush.files().iter();
            files.any(|file| !file.values.is_empty())
        };
        let theirs = flushes.iter().filter(has_values);
        let keyspaces = theirs.map(|flush| flush.due.parts.id);
        core.committer.sync_values_of(&keyspaces.collect())?;
    }
    core.committer.leave_giant_segment()?;
    loop {
        let (mut edit, mut tables) = (Edit::new(), FlushedTables::new());
        for flush in &*flushes {
            let Some(flushed) = &flush.flushed else {
                continue;
            };
            let keyspace = flush.due.parts.id;
            tables.insert(keyspace, flush.due.sealed.len());
            edit.extend(run_of(keyspace, &flushed.files));
            edit.push(Change::SetFlushed {
                keyspace,
                seqno: flushed.last_seqno,
            });
            // That of the newest of them: all that it says is in these files, or in older ones.
            let newest = flush.due.sealed.last();
            if let Some(mark) = newest.and_then(|sealed| sealed.mark.clone()) {
                edit.push(Change::SetMark { keyspace, mark });
            }
            if let Some(unix_ms) = newest.and_then(|sealed| sealed.clock_ms) {
                edit.push(Change::SetClock { keyspace, unix_ms });
            }
        }
        if edit.is_empty() {
            return Ok(());
        }
        match core.committer.carry_prepared(Some(&tables), false) {
            // It stays where it is, and so does the log, until there is space.
            Err(error) if error.is_shortage() => {}
            carried => carried?,
        }
        let first_log = core.committer.oldest_needed_log(Some(&tables));
        if let Some(number) = first_log {
            edit.push(Change::SetFirstLog { number });
        }
        if install(core, edit, Some(&tables))? {
            return Ok(());
        }
        let version = core.history.peek();
        for flush in &mut *flushes {
            if version.keyspace(flush.due.parts.id).is_none() {
                let orphans: Vec<_> = flush.numbers().collect();
                flush.flushed = None;
                file_deletion::remove_orphans(core, orphans);
            }
        }
    }
}

// One run of level 0.
fn run_of(keyspace: KeyspaceId, files: &[FileRecord]) -> impl Iterator<Item = Change> {
    let run = files.first().map_or(0, |file| file.number.0);
    files.iter().map(move |record| Change::AddFile {
        keyspace,
        level: Level::ZERO,
        run,
        record: Arc::new(record.clone()),
    })
}

// Large values that waited in flushed memtables have a file now, or were never written.
fn settle_values(core: &Core, sealed: &[Sealed], settled_bytes: u64) {
    let kept = sealed
        .iter()
        .flat_map(|sealed| sealed.table.values().kept());
    let waited_bytes: u64 = kept.map(|waiting| waiting.settle()).sum();
    let pool = core.values.pool();
    pool.count_unwritten(waited_bytes.saturating_sub(settled_bytes));
}

/// Gives back the segments that no flush has given back, because there was nothing to flush.
pub fn release_log(core: &Core) -> Result<()> {
    let needed = core.committer.oldest_needed_log(None);
    let recorded = core.history.peek().first_log;
    if let Some(number) = needed
        && number > recorded
    {
        install(core, vec![Change::SetFirstLog { number }], None)?;
        retire_logs(core)?;
    }
    Ok(())
}

/// Gives back every segment whose entries are all in sorted files.
pub fn retire_logs(core: &Core) -> Result<()> {
    let first_log = core.history.peek().first_log;
    let obsolete = core
        .committer
        .paused(|active| active.take_segments_before(first_log));
    obsolete
        .into_iter()
        .try_for_each(|(number, bytes)| core.segments.retire(number, bytes))
}

/// How files of `level` are written.
pub fn output_settings(core: &Core, parts: &KeyspaceParts, level: Level) -> OutputSettings {
    let options = parts.options();
    let sst = options.sst.clone();
    let is_upper = level.index() <= 1;
    let compression = if is_upper {
        sst.compression_upper
    } else {
        sst.compression.of_blocks()
    };
    OutputSettings {
        env: core.env.clone(),
        dir: core.dir.clone(),
        numbers: Arc::clone(&core.numbers),
        keyspace: parts.id,
        comparator: options.comparator.clone(),
        sst,
        compression,
        phrasing: None,
        values: Arc::clone(core.values.values()),
        relocator: Some(RelocationSettings {
            log: Arc::clone(&core.values),
            threshold_bytes: options.value_threshold_bytes,
            victims: Arc::default(),
        }),
        background_rate: Arc::clone(&core.background_rate),
        keyspace_name: Bytes::copy_of(parts.name.as_bytes()),
        database_id: Some(core.values.database_id()),
        sources: Arc::default(),
        snapshots: Arc::default(),
    }
}

/// Bytes of the memtables of a view.
pub fn memtable_bytes(view: &View) -> u64 {
    view.parts()
        .memtables
        .iter()
        .map(|table| table.used_bytes() as u64)
        .sum()
}

#[cfg(test)]
mod tests;
