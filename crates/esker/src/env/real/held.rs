//! The directory of an open database, held open: its files are found whatever becomes of its path.
//!
//! A directory may be moved away while its database is open, and another made in its place; or
//! emptied, and filled from a backup of another database. The first cannot harm: every file is
//! opened, made and removed relative to the directory that was opened at first. Against the second
//! stands the lock: before anything in the directory is made, renamed or removed, its LOCK must be
//! the very file that we locked, with what we wrote into it. Otherwise what lies there is not ours
//! to touch, and the error says so.
#![allow(
    clippy::disallowed_methods,
    reason = "this is the door to the files of the operating system"
)]

use std::fmt;
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;
use std::sync::{OnceLock, Weak};

use crate::base::types::error::{Error, Result};
use crate::env::real::os_file::OsFile;
use crate::env::real::place::{Place, SELF};
use crate::env::real::system::identity_of;

/// How a file system comes to its files.
pub trait Places: Send + Sync + fmt::Debug {
    /// Where the file is that the engine knows by `path`.
    fn place<'a>(&'a self, path: &'a Path) -> Place<'a>;

    /// The same for a file that is about to be made, renamed, removed or opened for writing.
    ///
    /// Errors: when the directory is no longer that of the database that is open.
    fn place_to_change<'a>(&'a self, path: &'a Path) -> Result<Place<'a>> {
        Ok(self.place(path))
    }

    /// Tells that the directory's lock was taken, by that file.
    fn locked_by(&self, lock: Weak<OsFile>) {
        let _unheard = lock;
    }
}

/// The files of one directory that is held open, and all others by their paths. Any thread may
/// call anything.
#[derive(Debug)]
pub struct HeldFs {
    dir: OsFile,
    /// As long as it is locked.
    lock: OnceLock<Weak<OsFile>>,
}

impl HeldFs {
    /// Holds the directory at `dir`.
    pub fn of(dir: &Path) -> Result<HeldFs> {
        Ok(HeldFs {
            dir: OsFile::open_dir(dir)?,
            lock: OnceLock::new(),
        })
    }

    fn check_ours(&self, lock: &OsFile) -> Result<()> {
        let is_ours = || -> io::Result<bool> {
            let found = self.place(lock.path()).stat()?;
            let held = lock.file().metadata()?;
            if identity_of(&found) != (held.dev(), held.ino()) {
                return Ok(false);
            }
            let text = holder_text();
            let mut found = vec![0; text.len()];
            lock.file().read_exact_at(&mut found, 0)?;
            Ok(found == text.as_bytes())
        };
        match is_ours() {
            Ok(true) => Ok(()),
            Err(cause) if !is_lost(&cause) => Err(lock.error("look after the lock", cause)),
            _ => Err(taken_over(lock)),
        }
    }
}

/// What the holder of a lock writes into its file.
pub fn holder_text() -> String {
    format!("{}\n", std::process::id())
}

fn is_lost(cause: &io::Error) -> bool {
    use io::ErrorKind as Os;
    matches!(cause.kind(), Os::NotFound | Os::UnexpectedEof)
}

fn taken_over(lock: &OsFile) -> Error {
    let message = "the directory was taken over while the database was open: its LOCK is not the \
                   one that was locked; nothing more is written there; close the database and see \
                   what lies there now";
    Error::invalid(message).in_file(lock.path().display())
}

impl Places for HeldFs {
    fn place<'a>(&'a self, path: &'a Path) -> Place<'a> {
        match path.strip_prefix(self.dir.path()) {
            Ok(name) if name.as_os_str().is_empty() => {
                Place::within(self.dir.file(), Path::new(SELF), path)
            }
            Ok(name) => Place::within(self.dir.file(), name, path),
            Err(_) => Place::from(path),
        }
    }

    fn place_to_change<'a>(&'a self, path: &'a Path) -> Result<Place<'a>> {
        if path.starts_with(self.dir.path())
            && let Some(lock) = self.lock.get().and_then(Weak::upgrade)
        {
            self.check_ours(&lock)?;
        }
        Ok(self.place(path))
    }

    fn locked_by(&self, lock: Weak<OsFile>) {
        // Locked once: whoever opens the database anew holds its directory anew.
        let _ = self.lock.set(lock);
    }
}
