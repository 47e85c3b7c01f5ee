//! A preallocated log file filled by memory copies into a moving window.
//!
//! # Why a mapping
//! A stored byte of a shared mapping is in the page cache, as after `write`: it survives a
//! killed process, and no system call was made. Measured with records of 128 bytes on a busy
//! virtual machine (2 cores, ext4): 0.6 us each, against 10 us by `pwrite`.
//!
//! `fdatasync` of the file writes such pages too: since "mm: tracking shared dirty pages"
//! (Linux 2.6.19) the first store to a clean page faults and marks it dirty in the page cache,
//! which is the only thing `fdatasync` looks at. (POSIX promises this only for `msync`;
//! elsewhere than on Linux it would have to be that.)
//!
//! # A store that fails
//! A store to a mapped page for which the file system has no room, or no bytes, or which it no
//! longer lets become dirty (after an error of the disk), is a signal and no error. Against that:
//! all blocks are allocated before the first store; only file systems are mapped that write
//! allocated blocks in place (`is_written_in_place`), so that no store needs a new block; and the
//! directory is ours alone (mode 0700, lock), so that nobody shortens the file. What happens all
//! the same is noted by a handler (`env/real/bus_errors.rs`), and what was to be stored is written
//! by `pwrite`, as is all that follows: that tells what is wrong, or is right again.
//!
//! Everywhere else the file is written by `pwrite` from the beginning, which is slower.
//!
//! # A log that is synced at each write
//! Each sync has the kernel write-protect the pages that it writes, in all threads that run: the
//! next store faults, and a processor waits for the others. Then `pwrite` is the cheaper way
//! (docs/experiments/0128-a-log-that-is-always-synced.md), and is taken where that is expected.

use std::sync::{Arc, OnceLock};

use crate::base::types::error::{Error, ErrorKind, Result};
use crate::env::fs::{LogFile, LogSync};
use crate::env::real::map::MappedWindow;
use crate::env::real::os_file::{Allocated, OsFile};
use crate::env::real::place::Place;
use crate::env::real::system::is_written_in_place;

// Resident memory must not grow with the segment, so only this much is mapped. Moving the
// window costs two system calls, some microseconds; the 256 page faults inside it cost about
// a hundred. A larger window would save nothing that can be measured. A multiple of every page
// size in use (4 to 64 KiB), as mappings must be. Faulting pages in ahead of the writer
// (MADV_POPULATE_WRITE, by 16 KiB to 1 MiB) was measured and gains nothing: the cost is the file
// system's own work for each page it lets become dirty.
const WINDOW_BYTES: u64 = 1 << 20;

/// A preallocated file that one owner fills in place.
///
/// Shape: the whole file has blocks; at most one window of 1 MiB is mapped.
/// A write within the window makes no system call.
pub struct RealLogFile {
    file: Arc<OsFile>,
    syncer: Arc<RealLogSync>,
    capacity_bytes: u64,
    window: Option<MappedWindow>,
    is_mappable: bool,
    /// Where the next bytes of a recycled file are that are not read ahead; none of a new one.
    unread_from: Option<u64>,
}

impl RealLogFile {
    /// Opens or creates the file with room for `capacity_bytes`; old bytes stay.
    pub fn open<'a>(place: impl Into<Place<'a>>, capacity_bytes: u64) -> Result<RealLogFile> {
        let place = place.into();
        let file = OsFile::open_or_create(place)?;
        let present_bytes = file.size_bytes()?;
        let allocated = match file.allocate(capacity_bytes) {
            Ok(allocated) => allocated,
            Err(error) => {
                if present_bytes == 0 {
                    // A new file with half of its blocks would only take room from others. The
                    // first error is the one to report, so a second one has no reader.
                    let _ = place.remove();
                }
                return Err(error);
            }
        };
        let is_mappable = allocated == Allocated::Blocks && is_written_in_place(file.file());
        let file = Arc::new(file);
        let syncer = Arc::new(RealLogSync {
            file: Arc::clone(&file),
            first_failure: OnceLock::new(),
        });
        Ok(RealLogFile {
            file,
            syncer,
            capacity_bytes: capacity_bytes.max(present_bytes),
            window: None,
            is_mappable,
            unread_from: (present_bytes > 0).then_some(0),
        })
    }

    // Moves the window over `offset`. Where mapping is refused, the file is written by system
    // calls from then on: slower, never wrong, since both go through the page cache.
    fn move_window(&mut self, offset: u64) {
        let start = offset - offset % WINDOW_BYTES;
        let end = (start + WINDOW_BYTES).min(self.capacity_bytes);
        let len = usize::try_from(end - start).expect("a window is 1 MiB at most");
        self.window = None;
        match MappedWindow::map(self.file.file(), start, len) {
            Ok(window) => self.window = Some(window),
            Err(_) => self.is_mappable = false,
        }
    }

    // What is stored to a part of an old page reads that page from the disk first: the pages behind
    // those of this window are to be there by then.
    fn read_ahead(&mut self, offset: u64) {
        if self.unread_from.is_some_and(|from| offset >= from) {
            let next = offset - offset % WINDOW_BYTES + WINDOW_BYTES;
            self.file.advise_soon(next, WINDOW_BYTES);
            self.unread_from = Some(next);
        }
    }

    // After a store that failed the file is written by system calls, which tell why they fail. What
    // was stored before is in the page cache, unless the file was cut.
    #[cold]
    fn leave_window(&mut self) -> Result<()> {
        self.window = None;
        self.is_mappable = false;
        let now_bytes = self.file.size_bytes()?;
        if now_bytes >= self.capacity_bytes {
            return Ok(());
        }
        let message = format!(
            "the log file has {now_bytes} instead of {} bytes: another program cut it; \
             keep such away from its directory, and reopen the database to see what is left",
            self.capacity_bytes
        );
        let error = Error::new(ErrorKind::Io, message).in_file(self.file.path().display());
        // Nor may a sync say that all is well.
        self.syncer.first_failure.get_or_init(|| error.again());
        Err(error)
    }
}

impl LogFile for RealLogFile {
    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> Result<()> {
        let end = offset.checked_add(bytes.len() as u64);
        assert!(end.is_some_and(|end| end <= self.capacity_bytes));
        let (mut offset, mut rest) = (offset, bytes);
        while !rest.is_empty() {
            self.read_ahead(offset);
            if !self.is_mappable {
                return self.file.write_all_at(offset, rest);
            }
            match &mut self.window {
                Some(window) if window.room_from(offset) > 0 => {
                    let (piece, later) = rest.split_at(window.room_from(offset).min(rest.len()));
                    if window.write(offset, piece).is_err() {
                        self.leave_window()?;
                        continue;
                    }
                    offset += piece.len() as u64;
                    rest = later;
                }
                _ => self.move_window(offset),
            }
        }
        Ok(())
    }

    fn capacity_bytes(&self) -> u64 {
        self.capacity_bytes
    }

    fn syncer(&self) -> Arc<dyn LogSync> {
        Arc::clone(&self.syncer) as Arc<dyn LogSync>
    }

    fn expect_syncs(&mut self) {
        self.window = None;
        self.is_mappable = false;
    }
}

/// Syncs one log file, from any thread.
///
/// Errors: after a failed sync the kernel may have marked the lost pages clean, so that a
/// second sync would report success; here every later sync fails as the first did.
#[derive(Debug)]
struct RealLogSync {
    file: Arc<OsFile>,
    first_failure: OnceLock<Error>,
}

impl LogSync for RealLogSync {
    fn sync(&self) -> Result<()> {
        if let Some(first) = self.first_failure.get() {
            return Err(Error::new(
                ErrorKind::Faulted,
                "an earlier sync of this file failed, so its bytes are not to be trusted",
            )
            .in_file(self.file.path().display())
            .caused_by(first.again()));
        }
        self.file.sync_contents().inspect_err(|error| {
            self.first_failure.get_or_init(|| error.again());
        })
    }
}

#[cfg(test)]
mod tests;
