//! Logs an edit, then swaps the version and the views; the only place that changes the files.

use std::collections::{BTreeSet, HashSet};
use std::sync::{Arc, MutexGuard, PoisonError};

use crate::base::types::error::{Error, Result};
use crate::base::types::ids::{FileNumber, KeyspaceId};
use crate::db::core::Core;
use crate::db::keyspace::KeyspaceParts;
use crate::flow::current::FlushedTables;
use crate::store::version::edit::{Change, Edit};
use crate::store::version::manifest::Manifest;
use crate::store::version::state::Version;

/// Makes an edit durable, then current.
///
/// `false` when the edit is for a keyspace that was dropped meanwhile: nothing was done, and the
/// files it would have added are the caller's to remove. After an error the manifest is unusable
/// and writes are refused until the database is reopened.
pub fn install(core: &Core, mut edit: Edit, flushed: Option<&FlushedTables>) -> Result<bool> {
    let mut manifest = lock_manifest(core);
    let before = core.history.current();
    // Of several who raise it at once, one may have gone further.
    let is_raise = |version: u32| version > before.format_version;
    edit.retain(|change| !matches!(change, Change::SetFormat { version } if !is_raise(*version)));
    if edit.iter().any(|change| is_for_dropped(change, &before)) {
        return Ok(false);
    }
    edit.push(Change::SetNextFile {
        number: core.numbers.peek(),
    });
    edit.push(Change::SetLastSeqno {
        seqno: core.committer.visible(),
    });
    let log = manifest
        .as_mut()
        .ok_or_else(|| Error::invalid("the database was opened read-only"))?;
    let next = log.append(&edit);
    let next = next.inspect_err(|error| {
        // For want of space or files the old manifest still counts, and the same edit may be logged
        // later.
        if !error.is_shortage() {
            core.gate.fail(error);
        }
    })?;
    // A manifest takes its own number where the version left off.
    core.numbers.skip(next.next_file);
    core.history.install(Arc::clone(&next));
    let concerned = concerned(&edit);
    let mut unlogged = Vec::new();
    for &id in &concerned {
        // One that is being created has no parts yet, and one that is being dropped no state.
        let (Some(parts), Some(state)) = (core.keyspaces.by_id(id), next.keyspace(id)) else {
            continue;
        };
        let count = flushed.and_then(|flushed| flushed.get(&id));
        let count = count.copied().unwrap_or(0);
        let is_same = before
            .keyspace(id)
            .is_some_and(|earlier| Arc::ptr_eq(&earlier.levels, &state.levels));
        if count > 0 || !is_same {
            parts.current.install(Arc::clone(&state.levels), count);
            parts.read_cost.reset();
            if parts.is_unlogged {
                unlogged.push(parts);
            }
        }
    }
    // Behind the swaps: whoever looks because of this sees them.
    let mut state = core.work.state();
    concerned.iter().for_each(|id| state.looks.note(*id));
    drop(state);
    gone(&edit, &before).for_each(|number| core.obsolete_files.add(number));
    // Ends of segments are given back there, for which no other edit should wait.
    drop(manifest);
    unlogged.iter().for_each(|parts| set_held(core, parts));
    Ok(true)
}

// What its files point to has changed, and so how much of its live segment is dead.
fn set_held(core: &Core, parts: &KeyspaceParts) {
    let view = parts.current.load();
    let memtables = view.parts().memtables.iter();
    let named_bytes = memtables.map(|table| table.values().bytes()).sum();
    let live = view.parts().levels.values();
    core.values.set_held(parts.id, live, named_bytes);
}

/// The files of `before` that no version has from `edit` on. What an edit takes out of one level
/// and adds to another, as a drop into an empty level does with thousands at once, stays.
fn gone(edit: &[Change], before: &Version) -> impl Iterator<Item = FileNumber> {
    let added: HashSet<FileNumber> = edit
        .iter()
        .filter_map(|change| match change {
            Change::AddFile { record, .. } => Some(record.number),
            _ => None,
        })
        .collect();
    let removed = edit.iter().flat_map(|change| match change {
        Change::RemoveFile { number, .. } => vec![*number],
        Change::DropKeyspace { id } => {
            let levels = before.keyspace(*id).map(|state| &state.levels);
            let files = levels.into_iter().flat_map(|levels| levels.files());
            files.map(|(_, file)| file.number).collect()
        }
        _ => Vec::new(),
    });
    removed.filter(move |number| !added.contains(number))
}

/// The keyspaces whose files an edit changes, or says how far they are flushed.
fn concerned(edit: &[Change]) -> BTreeSet<KeyspaceId> {
    let keyspaces = edit.iter().filter_map(|change| match change {
        Change::AddFile { keyspace, .. }
        | Change::RemoveFile { keyspace, .. }
        | Change::SetFlushed { keyspace, .. } => Some(*keyspace),
        _ => None,
    });
    keyspaces.collect()
}

fn is_for_dropped(change: &Change, version: &Version) -> bool {
    match change {
        Change::AddFile { keyspace, .. }
        | Change::RemoveFile { keyspace, .. }
        | Change::SetMark { keyspace, .. }
        | Change::SetClock { keyspace, .. }
        | Change::SetFlushed { keyspace, .. } => version.keyspace(*keyspace).is_none(),
        _ => false,
    }
}

// A panic while appending may have left half a record: nothing may be appended after it.
fn lock_manifest(core: &Core) -> MutexGuard<'_, Option<Manifest>> {
    core.manifest
        .lock()
        .unwrap_or_else(|poisoned: PoisonError<_>| {
            core.gate.fail(&Error::corruption(
                "a thread panicked while it logged an edit",
            ));
            poisoned.into_inner()
        })
}

#[cfg(test)]
mod tests;
