//! The directory of a database: whether there is one in it, and whose it is.

use std::io::ErrorKind as Os;
use std::path::Path;

use crate::base::types::error::{Error, ErrorKind, Result};
use crate::base::types::ids::FileNumber;
use crate::db::assemble::Parts;
use crate::env::fs::{DirLock, Fs};
use crate::store::names::FileName;

/// The manifest of every new database: number 0 is never given out.
const FIRST_MANIFEST: FileNumber = FileNumber(1);

/// Makes the directory where it may be made, holds it, and takes its lock; none for reading only.
/// From here on `parts` come to the directory that was there, whatever becomes of its path.
///
/// Errors: `Invalid` when there is a database and must not be, or the other way round; `Locked`;
/// `Corruption` when there are files of a database but no CURRENT.
pub fn prepare_directory(parts: &mut Parts) -> Result<Option<Box<dyn DirLock>>> {
    let place = parts.dir.display().to_string();
    if parts.dir.as_os_str().is_empty() {
        let message = "the path of a database is empty; name a directory";
        return Err(Error::invalid(message));
    }
    let is_there = has_database(parts)?;
    if !is_there && !parts.resolved.db.create_if_missing {
        refuse_lost_current(parts)?;
        return Err(Error::invalid(format!(
            "there is no database in {place}; create one by opening it for writing with \
             create_if_missing"
        )));
    }
    if parts.is_read_only {
        hold(parts)?;
        return Ok(None);
    }
    if !is_there {
        refuse_lost_current(parts)?;
    }
    parts.env.fs.create_dir_all(&parts.dir)?;
    hold(parts)?;
    let lock = parts
        .env
        .fs
        .lock(&parts.dir.join(FileName::Lock.to_string()))?;
    if is_there && parts.resolved.db.error_if_exists {
        return Err(Error::invalid(format!(
            "there is a database in {place} already, and error_if_exists is set"
        )));
    }
    if !is_there {
        refuse_lost_current(parts)?;
    }
    Ok(Some(lock))
}

/// Keeps writers away from a database that is only read, and leaves its directory as it is. `None`
/// where nobody ever opened it for writing, and on a medium without locks, where nobody writes.
///
/// Errors: `Locked` while somebody has it open for writing.
pub fn lock_for_reading(fs: &dyn Fs, dir: &Path) -> Result<Option<Box<dyn DirLock>>> {
    match fs.lock_unwritten(&dir.join(FileName::Lock.to_string())) {
        Err(error) if error.kind() == ErrorKind::Io => Ok(None),
        lock => lock,
    }
}

fn hold(parts: &mut Parts) -> Result<()> {
    if let Some(held) = parts.env.fs.hold_dir(&parts.dir)? {
        parts.env.fs = held;
    }
    Ok(())
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

/// The error for a directory in which a checkpoint was begun and never finished.
pub fn unfinished_checkpoint(dir: &Path) -> Error {
    let place = dir.display();
    Error::invalid(format!(
        "{place} is a checkpoint that was not finished; make it again in the same place, or remove \
         the directory"
    ))
}

// A directory with sorted files or logs but no CURRENT is a damaged database, not an empty one:
// creating a new one over it would remove what can still be saved. The first manifest alone is
// neither: a creation that a crash cut short leaves it, before anybody was told of a database.
fn refuse_lost_current(parts: &Parts) -> Result<()> {
    if !parts.env.fs.exists(&parts.dir)? {
        return Ok(());
    }
    let names = parts.env.fs.list(&parts.dir)?;
    if names.contains(&FileName::CheckpointTemporary.to_string()) {
        return Err(unfinished_checkpoint(&parts.dir));
    }
    for name in names {
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
