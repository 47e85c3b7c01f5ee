//! Tells which files of the database come and go.

use std::path::Path;

use crate::base::hooks::event_reasons::FileKind;
use crate::base::hooks::events::{Event, FileCreated, FileDeleted};
use crate::base::types::error::Result;
use crate::base::types::ids::FileNumber;
use crate::env::fs::Fs;
use crate::flow::event_queue::EventQueue;
use crate::store::names::FileName;

/// What listeners hear of: manifests, and what is there for a moment, are nobody's business.
fn told(name: FileName) -> Option<(FileKind, u64)> {
    match name {
        FileName::Sst(number) => Some((FileKind::Sst, number.0)),
        FileName::Vlog(number) => Some((FileKind::Vlog, number.0)),
        FileName::Wal(number) => Some((FileKind::Wal, number.0)),
        _ => None,
    }
}

/// A file that came into being in `dir`, perhaps in the place of a segment of the log.
pub fn note_created(
    events: &EventQueue,
    dir: &Path,
    (name, bytes): (FileName, u64),
    recycled: Option<FileNumber>,
) {
    let Some((kind, number)) = told(name) else {
        return;
    };
    events.note(|| {
        Event::FileCreated(FileCreated {
            kind,
            number,
            path: dir.join(name.to_string()),
            bytes,
            recycled: recycled.map(|old| old.0),
        })
    });
}

/// A file of `dir` that is no more.
pub fn note_deleted(events: &EventQueue, dir: &Path, name: FileName, bytes: Option<u64>) {
    let Some((kind, number)) = told(name) else {
        return;
    };
    events.note(|| {
        Event::FileDeleted(FileDeleted {
            kind,
            number,
            path: dir.join(name.to_string()),
            bytes,
        })
    });
}

/// Removes a file of `dir`, and tells. Errors: those of removing it.
pub fn remove(events: &EventQueue, fs: &dyn Fs, dir: &Path, name: FileName) -> Result<()> {
    let path = dir.join(name.to_string());
    // Asked only for who listens; a file whose size is not to be had is removed all the same.
    let bytes = match events.is_heard() {
        true => fs.file_size(&path).ok(),
        false => None,
    };
    fs.remove_file(&path)?;
    note_deleted(events, dir, name, bytes);
    Ok(())
}
