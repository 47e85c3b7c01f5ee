//! One flush: the sealed memtables of a keyspace become a run of level 0.

use std::sync::Arc;

use crate::base::stats::memory_budget::MemoryOwner;
use crate::base::stats::statistics::{Ticker, nanoseconds};
use crate::base::types::bytes::Bytes;
use crate::base::types::error::Result;
use crate::base::types::ids::{KeyspaceId, Level};
use crate::db::core::Core;
use crate::db::file_deletion;
use crate::db::install::{FlushedTables, install};
use crate::db::job_events::{JobEvents, note_made};
use crate::db::keyspace::KeyspaceParts;
use crate::db::write_control;
use crate::flow::current::Sealed;
use crate::flow::flush::{Flushed, flush};
use crate::flow::output::{KEY_BUILD_BYTES, OUTPUT_BYTES, OutputSettings};
use crate::flow::read::view::View;
use crate::flow::values::relocation::RelocationSettings;
use crate::store::version::edit::{Change, Edit};
use crate::store::version::file::FileRecord;

/// The sealed memtables of a keyspace that may be flushed now, oldest first.
pub fn due(core: &Core, parts: &KeyspaceParts) -> Vec<Sealed> {
    // Looked at before the barrier: what was sealed behind it is then held back for certain.
    let mut sealed = parts.current.sealed();
    sealed.retain(|sealed| core.work.may_flush(sealed.last_seqno));
    sealed
}

/// Flushes `sealed`, the oldest sealed memtables of a keyspace, and gives their log back.
pub fn flush_keyspace(core: &Core, parts: &KeyspaceParts, sealed: &[Sealed]) -> Result<()> {
    if sealed.is_empty() {
        return Ok(());
    }
    let mut events = JobEvents::flush(core, parts, sealed);
    let flushed = flush_tables(core, parts, sealed, &mut events);
    events.end(&flushed);
    flushed
}

fn flush_tables(
    core: &Core,
    parts: &KeyspaceParts,
    sealed: &[Sealed],
    events: &mut JobEvents,
) -> Result<()> {
    // A panic in the middle of a write fails the gate before anybody can seal what it left: so
    // what was sealed behind it is not made durable.
    core.gate.check_fault()?;
    if core.keyspaces.count() > 1 {
        // What a flush makes durable must not overtake older writes to other keyspaces, which
        // are still in the log alone: after a power cut the writes that survive are a prefix.
        core.committer.sync_log()?;
    }
    let settings = output_settings(core, parts, Level::ZERO);
    let options = parts.options();
    let merge = options.merge.as_ref();
    let entry_count: usize = sealed.iter().map(|sealed| sealed.table.entry_count()).sum();
    let buffer_bytes = OUTPUT_BYTES + entry_count as u64 * KEY_BUILD_BYTES;
    let charge = core
        .memory_budget
        .hold(MemoryOwner::Compaction, buffer_bytes);
    let began = core.env.clock.monotonic();
    let flushed = flush(sealed, merge, core.snapshots.seqnos(), settings)?;
    note_made(core, &flushed.files);
    let bytes: u64 = flushed.files.iter().map(|file| file.size_bytes).sum();
    let numbers: Vec<_> = flushed.files.iter().map(|file| file.number).collect();
    let settled_bytes = flushed.relocated.tally.settled_bytes;
    let folded_count = flushed.tally.folded_count;
    let tables = FlushedTables {
        keyspace: parts.id,
        count: sealed.len(),
    };
    match record(core, flushed, tables) {
        Ok(true) => events.set_made(numbers.len(), bytes),
        Ok(false) => {
            file_deletion::remove_orphans(core, numbers);
            return Ok(());
        }
        Err(error) => {
            // For want of space or files it was not recorded, and each try makes files of its own.
            // After any other error the edit may be on the disk: the next open finds out.
            if error.is_shortage() {
                file_deletion::remove_orphans(core, numbers);
            }
            return Err(error);
        }
    }
    core.statistics.add(Ticker::Flushes, 1);
    core.statistics.add(Ticker::FlushBytes, bytes);
    core.statistics.add(
        Ticker::FlushNanos,
        nanoseconds(core.env.clock.monotonic() - began),
    );
    core.statistics
        .add(Ticker::FilesCreated, numbers.len() as u64);
    core.statistics.add(Ticker::MergeFolds, folded_count);
    settle_values(core, sealed, settled_bytes);
    retire_logs(core)?;
    drop(charge);
    settle_memory(core, sealed);
    write_control::set_rates(core);
    Ok(())
}

// Makes a flush of `tables` durable and current; `false` when their keyspace was dropped meanwhile.
fn record(core: &Core, flushed: Flushed, tables: FlushedTables) -> Result<bool> {
    if flushed.files.iter().any(|file| !file.values.is_empty()) {
        // Durable before the edit is: no log will bring these values back.
        core.committer.sync_values()?;
    }
    let mut edit = run_of(tables.keyspace, flushed.files);
    edit.push(Change::SetFlushed {
        keyspace: tables.keyspace,
        seqno: flushed.last_seqno,
    });
    // Until the edit is installed nobody else keeps segments that the flush made.
    let _relocated = flushed.relocated;
    core.committer.leave_giant_segment()?;
    let first_log = core
        .committer
        .paused(|active| active.oldest_needed_log(Some((tables.keyspace, tables.count))));
    if let Some(number) = first_log {
        edit.push(Change::SetFirstLog { number });
    }
    install(core, edit, Some(tables))
}

// From now on memtables are in files, and who holds them is a reader.
fn settle_memory(core: &Core, sealed: &[Sealed]) {
    write_control::set_memory(core);
    // After that, because the flush holds them itself until it returns.
    let now = core.env.clock.monotonic();
    core.pinned_tables.flushed(sealed, now);
}

// One run of level 0.
fn run_of(keyspace: KeyspaceId, files: Vec<FileRecord>) -> Edit {
    let run = files.first().map_or(0, |file| file.number.0);
    let add = |record| Change::AddFile {
        keyspace,
        level: Level::ZERO,
        run,
        record: Arc::new(record),
    };
    files.into_iter().map(add).collect()
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
    let needed = core
        .committer
        .paused(|active| active.oldest_needed_log(None));
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
