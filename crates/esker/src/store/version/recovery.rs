//! Reads a manifest back to the version that it describes. Changes nothing on disk.

use std::path::Path;

use crate::base::types::error::{Error, ErrorKind, Result};
use crate::base::types::ids::FileNumber;
use crate::env::fs::Fs;
use crate::store::names::FileName;
use crate::store::version::apply::Replay;
use crate::store::version::current::{REMEDY, read_current};
use crate::store::version::decode::{decode_edit, decode_snapshot};
use crate::store::version::format::Current;
use crate::store::version::state::{Identity, Orders, Version};
use crate::store::wal::{Tail, WalReader};

/// How often CURRENT is read again because the manifest it named is gone: only another process
/// that begins manifests all the time needs more than two.
const CURRENT_TRIES: usize = 8;

/// What reading a manifest met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ManifestReport {
    /// The manifest that was read.
    pub manifest: FileNumber,
    /// Its size in bytes, room for later edits included.
    pub size_bytes: u64,
    /// The offset behind the last edit.
    pub end: u64,
    /// Edits behind the snapshot.
    pub edit_count: u64,
    /// Changes that a newer Esker wrote and marked as optional; they were skipped.
    pub skipped_count: usize,
    /// Whether an edit at the end was dropped because it is not whole: the last write of a
    /// crash, which nobody was told about.
    pub tail: Tail,
}

/// Reads the manifest that counts in `dir`. The version may name only orders that `comparators`
/// has.
///
/// Errors, all with file and where possible offset: `Invalid` when there is no database;
/// `Corruption` when CURRENT or the manifest is missing, damaged, cut off or foreign, or
/// contradicts itself; `Unsupported` when a newer Esker wrote it, or an order is missing.
pub fn read_manifest(
    fs: &dyn Fs,
    dir: &Path,
    comparators: &Orders,
) -> Result<(Version, ManifestReport)> {
    let mut current = read_current(fs, dir)?;
    for _ in 1..CURRENT_TRIES {
        match read_numbered(fs, dir, current, comparators) {
            Err(error) if error.is_missing_file() => {}
            read => return read,
        }
        // Another process may have begun the next manifest, and removed this one, in between.
        let again = read_current(fs, dir)?;
        if again.manifest == current.manifest {
            return Err(missing_manifest(current.manifest));
        }
        current = again;
    }
    read_numbered(fs, dir, current, comparators)
}

/// Reads the manifest that `wanted` names, whether it counts or not. Errors as [`read_manifest`].
pub fn read_numbered(
    fs: &dyn Fs,
    dir: &Path,
    wanted: Current,
    comparators: &Orders,
) -> Result<(Version, ManifestReport)> {
    let number = wanted.manifest;
    let name = FileName::Manifest(number);
    let file = fs.open_read(&dir.join(name.to_string()))?;
    let size_bytes = file.size_bytes();
    let mut reader = WalReader::named(file, name);
    let mut skipped_count = 0;
    let mut edit_count = 0;
    let mut replay: Option<Replay> = None;
    while let Some(record) = reader.next()? {
        if record.is_empty() {
            // A mark of the log: it says how far the log is durable, and nothing else.
            continue;
        }
        let taken = match &mut replay {
            Some(replay) => take_edit(replay, record),
            None => take_snapshot(number, record, comparators).map(|(begun, skipped)| {
                replay = Some(begun);
                skipped
            }),
        };
        skipped_count += taken.map_err(|error| place(error, name, Some(reader.record_offset())))?;
        edit_count += 1;
    }
    let Some(replay) = replay else {
        let error = Error::corruption(format!(
            "the manifest does not begin with a snapshot; {REMEDY}"
        ));
        return Err(error.in_file(name).at_offset(0));
    };
    let end = reader.record_end();
    if end < wanted.durable_end {
        return Err(lost_end(name, end, wanted.durable_end));
    }
    let version = replay
        .finish()
        .and_then(|version| version.check().map(|()| version));
    let report = ManifestReport {
        manifest: number,
        size_bytes,
        end,
        edit_count: edit_count - 1,
        skipped_count,
        tail: reader.tail(),
    };
    Ok((version.map_err(|error| place(error, name, None))?, report))
}

fn take_snapshot(
    number: FileNumber,
    record: &[u8],
    comparators: &Orders,
) -> Result<(Replay, usize)> {
    let (head, edit) = decode_snapshot(record)?;
    if head.manifest != number {
        let manifest = FileName::Manifest(head.manifest);
        return Err(Error::corruption(format!(
            "this is {manifest} under another name"
        )));
    }
    let identity = Identity {
        database_id: head.database_id,
        created_unix_s: head.created_unix_s,
    };
    let mut replay = Replay::new(Version {
        format_version: head.format_version,
        ..Version::empty(identity, comparators.clone())
    });
    replay.apply(&edit.changes)?;
    Ok((replay, edit.skipped_count))
}

fn take_edit(replay: &mut Replay, record: &[u8]) -> Result<usize> {
    let edit = decode_edit(record)?;
    replay.apply(&edit.changes)?;
    Ok(edit.skipped_count)
}

// Says where an error was met, and for damage what to do.
fn place(error: Error, name: FileName, offset: Option<u64>) -> Error {
    let error = match error.kind() {
        ErrorKind::Corruption => {
            Error::corruption(format!("the manifest holds what cannot be; {REMEDY}"))
                .caused_by(error)
        }
        _ => error,
    };
    let error = error.in_file(name);
    match offset {
        Some(offset) => error.at_offset(offset),
        None => error,
    }
}

// A crash takes no edit that was synced, and the mark is written behind the sync.
fn lost_end(name: FileName, end: u64, durable_end: u64) -> Error {
    let message = format!(
        "the manifest has lost its end: it goes on to offset {end}, and was durable up to \
         {durable_end}; {REMEDY}"
    );
    Error::corruption(message).in_file(name).at_offset(end)
}

fn missing_manifest(number: FileNumber) -> Error {
    let name = FileName::Manifest(number);
    Error::corruption(format!(
        "CURRENT names {name}, which is not there; {REMEDY}"
    ))
    .in_file(name)
}
