//! One process per directory: a locked file that names its holder.
//!
//! The lock is `flock` on an open file, so it ends with the process, however that ends; what
//! an earlier holder wrote into the file means nothing once nobody holds the lock. A second
//! handle of the same process is kept out too, since it opens the file anew.
#![allow(
    clippy::disallowed_methods,
    reason = "this is the door to the files of the operating system"
)]

use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::sync::{Arc, Weak};

use rustix::fs::{FlockOperation, flock};
use rustix::io::{Errno, retry_on_intr};

use crate::base::types::error::{Error, ErrorKind, Result};
use crate::env::fs::DirLock;
use crate::env::process::Process;
use crate::env::real::held::holder_text;
use crate::env::real::os_file::OsFile;
use crate::env::real::place::Place;
use crate::env::real::system::identity_of;

// Each try loses against somebody who replaced the lock file in between; nobody does that
// again and again.
const TRIES_MAX: usize = 8;

// Room for any process id in decimal, with its end of line.
const HOLDER_BYTES_MAX: usize = 32;

/// The lock of a directory; released when dropped. The file stays.
#[derive(Debug)]
pub struct RealLock {
    file: Arc<OsFile>,
    process: Process,
}

impl DirLock for RealLock {}

impl Drop for RealLock {
    fn drop(&mut self) {
        // Closing the file releases the lock, but not while a forked child has it open as well; and
        // a child must not release what its parent holds.
        if self.process.is_current() {
            // Refused only for a file that is not open.
            let _ = retry_on_intr(|| flock(self.file.file(), FlockOperation::Unlock));
        }
    }
}

impl RealLock {
    /// Takes the lock file at `place`, creating it if it is missing. A symbolic link there is
    /// refused, and a file that has another name elsewhere (a copy made of hard links) is replaced:
    /// what is written into it must not be seen there.
    ///
    /// Errors: `Locked`, with the holder's process id and the remedy, when it is taken.
    pub fn take<'a>(place: impl Into<Place<'a>>) -> Result<RealLock> {
        let place = place.into();
        for _ in 0..TRIES_MAX {
            let file = OsFile::open_or_create(place)?;
            let operation = FlockOperation::NonBlockingLockExclusive;
            match retry_on_intr(|| flock(file.file(), operation)) {
                Ok(()) => {}
                Err(Errno::WOULDBLOCK) => return Err(held_error(&file)),
                Err(errno) => return Err(file.error("lock", errno.into())),
            }
            if !is_still_at(file.file(), place).map_err(|cause| file.error("lock", cause))? {
                continue;
            }
            let facts = file.file().metadata();
            if facts.map_err(|cause| file.error("lock", cause))?.nlink() > 1 {
                place
                    .remove()
                    .map_err(|errno| file.error("replace", errno.into()))?;
                continue;
            }
            write_holder(&file)?;
            let file = Arc::new(file);
            let process = Process::current();
            return Ok(RealLock { file, process });
        }
        Err(replaced_error(place))
    }

    /// Takes the lock file at `place` as it is, beside others who do the same; `None` where there
    /// is no such file. Nothing is written, so that it works where nothing can be.
    ///
    /// Errors: as [`RealLock::take`].
    pub fn take_unwritten<'a>(place: impl Into<Place<'a>>) -> Result<Option<RealLock>> {
        let place = place.into();
        for _ in 0..TRIES_MAX {
            let file = match OsFile::open(place) {
                Err(error) if error.is_missing_file() => return Ok(None),
                file => file?,
            };
            match retry_on_intr(|| flock(file.file(), FlockOperation::NonBlockingLockShared)) {
                Ok(()) => {}
                Err(Errno::WOULDBLOCK) => return Err(held_error(&file)),
                Err(errno) => return Err(file.error("lock", errno.into())),
            }
            if is_still_at(file.file(), place).map_err(|cause| file.error("lock", cause))? {
                let file = Arc::new(file);
                let process = Process::current();
                return Ok(Some(RealLock { file, process }));
            }
        }
        Err(replaced_error(place))
    }

    /// The locked file, for whoever wants to know later whether it is still there.
    pub fn file(&self) -> Weak<OsFile> {
        Arc::downgrade(&self.file)
    }
}

// Whether the locked file is the one that others will find: somebody may have removed or
// replaced it between our opening and our locking.
fn is_still_at(file: &File, place: Place<'_>) -> io::Result<bool> {
    let held = file.metadata()?;
    match place.stat() {
        Ok(found) => Ok(identity_of(&found) == (held.dev(), held.ino())),
        Err(Errno::NOENT) => Ok(false),
        Err(cause) => Err(cause.into()),
    }
}

fn replaced_error(place: Place<'_>) -> Error {
    let cause = io::Error::other("the lock file is replaced again and again");
    place.error("lock", cause)
}

fn write_holder(file: &OsFile) -> Result<()> {
    let holder = holder_text();
    file.file()
        .set_len(0)
        .map_err(|cause| file.error("empty", cause))?;
    file.write_all_at(0, holder.as_bytes())
}

fn held_error(file: &OsFile) -> Error {
    let whom = match read_holder(file) {
        Some(id) if id == std::process::id() => format!("this process ({id}), by another handle"),
        Some(id) => format!("process {id}"),
        None => "another process".to_owned(),
    };
    let message = format!(
        "the database is open in {whom}; close it there, or open it for reading \
         only (open_read_only), which works meanwhile"
    );
    Error::new(ErrorKind::Locked, message).in_file(file.path().display())
}

// The text may be missing or half written when the holder has only just taken the lock.
fn read_holder(file: &OsFile) -> Option<u32> {
    let mut buffer = [0; HOLDER_BYTES_MAX];
    let len = file.file().read_at(&mut buffer, 0).ok()?;
    let text = std::str::from_utf8(buffer.get(..len)?).ok()?;
    text.strip_suffix('\n')?.parse().ok()
}

#[cfg(test)]
mod tests;
