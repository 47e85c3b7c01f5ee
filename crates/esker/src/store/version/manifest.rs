//! The log of edits: appends them, and begins a new manifest when the file is full.
//!
//! A new manifest is written whole and made durable before CURRENT names it:
//!
//! 1. the file with its snapshot is written and synced,
//! 2. the directory is synced, so that the file has its name for good,
//! 3. the next CURRENT is written and synced under another name,
//! 4. it is renamed, and the directory synced again: from here on the new manifest counts.
//!
//! A crash before the rename leaves the old manifest in force, one behind it the new; both are
//! whole, and hold every edit that was acknowledged. The old one is removed at the end; after a
//! crash the loser of the two is removed at the next open.
//!
//! After opening, no edit goes behind those of an earlier life, where a torn one may lie: the
//! first edit begins a new manifest. So opening a database and closing it again writes nothing.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::base::types::error::{Error, ErrorKind, Result};
use crate::base::types::ids::FileNumber;
use crate::env::fs::Fs;
use crate::store::names::FileName;
use crate::store::version::apply::apply;
use crate::store::version::current::{draft_current, mark_current, swap_current};
use crate::store::version::edit::Change;
use crate::store::version::encode::{encode_edit, encode_snapshot};
use crate::store::version::format::SnapshotHead;
use crate::store::version::recovery::{ManifestReport, read_manifest};
use crate::store::version::state::{Orders, Version};
use crate::store::wal::writer::WalWriter;

/// Room that a new manifest has for edits, in bytes, beside that for a second snapshot: at 100
/// bytes a file, about 10 000 flushes between one snapshot and the next.
const EDIT_ROOM_BYTES: u64 = 1 << 20;

/// The log of edits. One owner appends; what it holds is the version that its file describes.
pub struct Manifest {
    fs: Arc<dyn Fs>,
    dir: PathBuf,
    number: FileNumber,
    version: Arc<Version>,
    log: Log,
}

enum Log {
    /// The file is of an earlier life: the next edit begins a new one.
    Earlier,
    /// The file was begun by us.
    Ours(WalWriter),
    /// A write failed, and what is on disk is not known.
    Failed(Error),
}

impl Manifest {
    /// Begins the manifest of a new database that starts as `first`.
    ///
    /// Errors: `Invalid` when the directory has a database already; `Io` or `OutOfSpace`, which
    /// leave no database behind unless the last sync of the directory was what failed.
    pub fn create(fs: Arc<dyn Fs>, dir: &Path, first: Version) -> Result<Manifest> {
        if fs.exists(&dir.join(FileName::Current.to_string()))? {
            let place = dir.display();
            return Err(Error::invalid(format!(
                "there is a database in {place} already; open it, or choose another directory"
            )));
        }
        let (number, first) = numbered(first)?;
        let log = prepare(&*fs, dir, number, &first)?;
        swap_current(&*fs, dir)?;
        Ok(Manifest {
            fs,
            dir: dir.to_path_buf(),
            number,
            version: Arc::new(first),
            log: Log::Ours(log),
        })
    }

    /// Reads the manifest that counts in `dir`, and makes sure that what was read is durable.
    ///
    /// A killed process may leave an edit in the page cache only; files that it made obsolete
    /// must not be removed before it is on the medium. So file and directory are synced.
    ///
    /// Errors: as [`read_manifest`], and what syncing gives.
    pub fn recover(
        fs: Arc<dyn Fs>,
        dir: &Path,
        comparators: &Orders,
    ) -> Result<(Manifest, Arc<Version>, ManifestReport)> {
        let (version, report) = read_manifest(&*fs, dir, comparators)?;
        let path = dir.join(FileName::Manifest(report.manifest).to_string());
        fs.open_log(&path, report.size_bytes)?.syncer().sync()?;
        fs.sync_dir(dir)?;
        let version = Arc::new(version);
        let manifest = Manifest {
            fs,
            dir: dir.to_path_buf(),
            number: report.manifest,
            version: Arc::clone(&version),
            log: Log::Earlier,
        };
        Ok((manifest, version, report))
    }

    /// Logs an edit, durably, and gives the version that it leads to.
    ///
    /// Errors: as [`apply`], when the edit contradicts the version: it is not logged. `Faulted`
    /// when writing failed, and from then on until the database is reopened, because it is not
    /// known whether the edit is on the disk. A shortage (`OutOfSpace`, `OutOfFiles`) while a new
    /// manifest is written is the exception: the old one is untouched and still counts, and the
    /// same append may succeed later.
    pub fn append(&mut self, edit: &[Change]) -> Result<Arc<Version>> {
        if let Log::Failed(first) = &self.log {
            return Err(Error::new(
                ErrorKind::Faulted,
                "an earlier write to the manifest failed; reopen the database",
            )
            .caused_by(first.again()));
        }
        let next = apply(&self.version, edit)?;
        let record = encode_edit(edit);
        self.version = match &mut self.log {
            Log::Ours(log) if log.fits(record.len()) => {
                let written = write_synced(log, &record);
                let number = self.number;
                let marked = written.and_then(|end| mark(&*self.fs, &self.dir, number, end));
                if let Err(error) = marked {
                    return Err(self.fail(error));
                }
                Arc::new(next)
            }
            _ => self.begin_next(next)?,
        };
        Ok(Arc::clone(&self.version))
    }

    /// The version that the file describes.
    pub fn version(&self) -> &Arc<Version> {
        &self.version
    }

    /// Number of the manifest that counts: smaller ones are obsolete.
    pub fn number(&self) -> FileNumber {
        self.number
    }

    // The snapshot holds the edit that found no room, so that one file and one rename do it.
    fn begin_next(&mut self, next: Version) -> Result<Arc<Version>> {
        let (number, next) = numbered(next)?;
        let log = match prepare(&*self.fs, &self.dir, number, &next) {
            Ok(log) => log,
            Err(error) if error.is_shortage() => {
                self.discard(number);
                return Err(error);
            }
            Err(error) => return Err(self.fail(error)),
        };
        if let Err(error) = swap_current(&*self.fs, &self.dir) {
            return Err(self.fail(error));
        }
        let before = std::mem::replace(&mut self.number, number);
        self.log = Log::Ours(log);
        self.remove(FileName::Manifest(before));
        Ok(Arc::new(next))
    }

    // The edit may be in the manifest or not. Not a shortage, even if that was the cause: who
    // hears of it takes the edit's files away and tries again later.
    fn fail(&mut self, error: Error) -> Error {
        self.log = Log::Failed(error.again());
        let message = "writing to the manifest failed; reopen the database";
        Error::new(ErrorKind::Faulted, message).caused_by(error)
    }

    // Gives back the space of a manifest that could not be finished.
    fn discard(&self, number: FileNumber) {
        self.remove(FileName::Manifest(number));
        self.remove(FileName::CurrentTemporary);
    }

    fn remove(&self, name: FileName) {
        // Where even that fails the file is only a nuisance: nothing names it, and the next
        // attempt, or the next opening, removes it.
        let _ = self.fs.remove_file(&self.dir.join(name.to_string()));
    }
}

impl fmt::Debug for Manifest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Manifest({}, {:?})", self.number, self.version)
    }
}

// Takes the next file number for a manifest that describes the version.
fn numbered(version: Version) -> Result<(FileNumber, Version)> {
    let number = version.next_file;
    let following = number.0.checked_add(1);
    let following = following.ok_or_else(|| Error::corruption("file numbers have run out"))?;
    let next_file = FileNumber(following);
    let version = Version {
        next_file,
        ..version
    };
    Ok((number, version))
}

// Steps 1 to 3 of the folder's beginning: everything up to the rename.
fn prepare(fs: &dyn Fs, dir: &Path, number: FileNumber, version: &Version) -> Result<WalWriter> {
    let head = SnapshotHead {
        format_version: version.format_version,
        manifest: number,
        database_id: version.identity.database_id,
        created_unix_s: version.identity.created_unix_s,
    };
    let record = encode_snapshot(&head, &version.to_edit());
    let path = dir.join(FileName::Manifest(number).to_string());
    // Left by a crash before it counted. Its records have our number: they must not be found
    // behind ours.
    if fs.exists(&path)? {
        fs.remove_file(&path)?;
    }
    let capacity = WalWriter::framed_len(record.len()) * 2 + EDIT_ROOM_BYTES;
    let mut log = WalWriter::new(fs.open_log(&path, capacity)?, number);
    if !log.fits(record.len()) {
        return Err(Error::new(
            ErrorKind::TooLarge,
            "the database has more files than one manifest can name; compact it",
        ));
    }
    let durable_end = write_synced(&mut log, &record)?;
    fs.sync_dir(dir)?;
    draft_current(fs, dir, number, durable_end)?;
    Ok(log)
}

// Behind the synced record goes a mark that says so: without it, damage to the last edit would
// pass for a torn tail, and an acknowledged edit be dropped. The mark itself needs no sync. Gives
// how far the manifest is durable.
fn write_synced(log: &mut WalWriter, record: &[u8]) -> Result<u64> {
    let end = log.append(record)?;
    log.syncer().sync()?;
    log.set_synced(end);
    log.append_mark()?;
    Ok(end)
}

// The same where damage to the manifest's end does not reach it.
fn mark(fs: &dyn Fs, dir: &Path, number: FileNumber, durable_end: u64) -> Result<()> {
    match mark_current(fs, dir, number, durable_end) {
        // The edit is durable all the same: the mark of an earlier one stands, and proves less.
        Err(error) if error.is_shortage() => Ok(()),
        marked => marked,
    }
}

#[cfg(test)]
mod tests;
