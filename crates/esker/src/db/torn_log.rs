//! What a recovery cuts off the log is kept aside, where anything of it is intact.
//!
//! A power cut leaves intact records behind a hole, where it let later pages through and earlier
//! ones not, and so does damage to the medium. Nothing tells the two apart, and the log has to end
//! at the hole. So before anything is removed or written over, each segment with such records is
//! copied to the folder `torn` in `lost`, as far as there is anything in it; nothing ever reads it
//! there but who looks for what was lost (`esker inspect`).
//!
//! Under a segment's name there is a whole copy or none. The folder has a bound, since nobody may
//! ever look: what the newest recovery cut off stays, and of older copies the newest that fit. What
//! a repair takes out lies beside the folder, and is never removed.

use std::path::{Path, PathBuf};

use crate::base::types::error::{Error, ErrorKind, Result};
use crate::base::types::ids::FileNumber;
use crate::db::assemble::Parts;
use crate::env::copy::copy_front;
use crate::env::fs::Fs;
use crate::flow::write::replay::ReplayReport;
use crate::store::names::{FileName, LOST_DIR, TORN_DIR};

/// How many copies the folder keeps: some recoveries of a log of some segments.
const COPIES_MAX: usize = 64;

/// Bytes of all copies that it keeps: little beside a disk that holds a database with such a log.
const COPIES_BYTES_MAX: u64 = 1 << 30;

/// Copies the segments with intact records among what was torn off. A copy of the same segment that
/// an earlier recovery made is replaced: until the log has ended behind the cut, it is the same,
/// and one of an earlier life of the database is older.
///
/// Errors: `OutOfSpace` when the copies would fill the disk; nothing is cut off then. What the file
/// system gives, as where `lost` is a symbolic link.
pub fn keep_torn(parts: &Parts, replayed: &ReplayReport) -> Result<()> {
    if replayed.torn_segments.is_empty() {
        return Ok(());
    }
    let fs = &*parts.env.fs;
    let lost = parts.dir.join(LOST_DIR);
    fs.create_folder(&lost)?;
    let folder = TornFolder {
        fs,
        dir: &parts.dir,
        folder: lost.join(TORN_DIR),
    };
    fs.create_folder(&folder.folder)?;
    let mut new = Vec::new();
    for &(number, end) in &replayed.torn_segments {
        let path = parts.dir.join(FileName::Wal(number).to_string());
        let size_bytes = end.min(fs.file_size(&path)?);
        new.push(Copy { number, size_bytes });
    }
    folder.make_room(&new)?;
    for copy in &new {
        folder.add(copy)?;
    }
    fs.sync_dir(&folder.folder)?;
    fs.sync_dir(&lost)?;
    fs.sync_dir(&parts.dir)?;
    folder.trim(&new)
}

/// The copy of one segment.
struct Copy {
    number: FileNumber,
    size_bytes: u64,
}

/// The folder of such copies.
struct TornFolder<'a> {
    fs: &'a dyn Fs,
    dir: &'a Path,
    folder: PathBuf,
}

impl TornFolder<'_> {
    // Twice what the copies take must be free: the log goes on beside them. Older copies give way
    // where that helps.
    fn make_room(&self, new: &[Copy]) -> Result<()> {
        let needed = 2 * bytes_of(new);
        let free = self.fs.free_bytes(self.dir)?;
        if free >= needed {
            return Ok(());
        }
        let mut older = self.older(new)?;
        if free.saturating_add(bytes_of(&older)) < needed {
            let message = format!(
                "the log ends at a hole with intact records behind it, which are to be kept in \
                 `{LOST_DIR}/{TORN_DIR}`: that needs {needed} bytes free, and {free} are; make room"
            );
            let error = Error::new(ErrorKind::OutOfSpace, message);
            return Err(error.in_file(self.folder.display()));
        }
        while self.fs.free_bytes(self.dir)? < needed
            && let Some(oldest) = older.pop()
        {
            self.remove(FileName::Wal(oldest.number))?;
            // Its bytes are free once it cannot come back.
            self.fs.sync_dir(&self.folder)?;
        }
        Ok(())
    }

    // Under a name of its own until it is whole and durable.
    fn add(&self, copy: &Copy) -> Result<()> {
        let name = FileName::Wal(copy.number).to_string();
        let source = self.fs.open_read(&self.dir.join(&name))?;
        let draft = self
            .folder
            .join(FileName::Temporary(copy.number).to_string());
        copy_front(self.fs, &*source, &draft, copy.size_bytes)?.sync()?;
        self.fs.rename(&draft, &self.folder.join(name))
    }

    // Removes the oldest beyond what the folder keeps, and what a crash left unfinished.
    fn trim(&self, new: &[Copy]) -> Result<()> {
        let (mut count, mut bytes) = (new.len(), bytes_of(new));
        for copy in self.older(new)? {
            count += 1;
            bytes = bytes.saturating_add(copy.size_bytes);
            if count > COPIES_MAX || bytes > COPIES_BYTES_MAX {
                self.remove(FileName::Wal(copy.number))?;
            }
        }
        for name in self.fs.list(&self.folder)? {
            if let Some(name @ FileName::Temporary(_)) = FileName::parse(&name) {
                self.remove(name)?;
            }
        }
        self.fs.sync_dir(&self.folder)
    }

    // The copies of earlier recoveries, the newest first: numbers ascend with time.
    fn older(&self, new: &[Copy]) -> Result<Vec<Copy>> {
        let mut older = Vec::new();
        for name in self.fs.list(&self.folder)? {
            if let Some(name @ FileName::Wal(number)) = FileName::parse(&name)
                && new.iter().all(|copy| copy.number != number)
            {
                let size_bytes = self.fs.file_size(&self.folder.join(name.to_string()))?;
                older.push(Copy { number, size_bytes });
            }
        }
        older.sort_by_key(|copy| std::cmp::Reverse(copy.number));
        Ok(older)
    }

    fn remove(&self, name: FileName) -> Result<()> {
        self.fs.remove_file(&self.folder.join(name.to_string()))
    }
}

fn bytes_of(copies: &[Copy]) -> u64 {
    copies.iter().map(|copy| copy.size_bytes).sum()
}
