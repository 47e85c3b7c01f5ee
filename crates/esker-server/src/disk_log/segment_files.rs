//! The segments of the log, open for reading while they are there.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use esker::internals::base::types::error::Result;
use esker::internals::base::types::ids::FileNumber;
use esker::internals::env::fs::{Fs, ReadFile};
use esker::internals::store::names::FileName;
use esker::internals::store::wal::reader::WalReader;

use crate::disk_log::positions::Place;

/// Opens segments once and keeps them open. Any thread may call anything; the lock is held over
/// opening a file, and over no read.
pub struct SegmentFiles {
    fs: Arc<dyn Fs>,
    dir: PathBuf,
    open: Mutex<Open>,
}

struct Open {
    files: BTreeMap<FileNumber, Arc<dyn ReadFile>>,
    /// Segments up to this one are not kept open any more.
    closed: FileNumber,
}

impl SegmentFiles {
    /// Those of that directory.
    pub fn new(fs: Arc<dyn Fs>, dir: &Path) -> SegmentFiles {
        SegmentFiles {
            fs,
            dir: dir.to_path_buf(),
            open: Mutex::new(Open {
                files: BTreeMap::new(),
                closed: FileNumber(0),
            }),
        }
    }

    /// The record that lies there; `None` when what lies there is not one of that segment, or the
    /// segment is not there any more.
    pub fn record(&self, place: Place) -> Result<Option<Vec<u8>>> {
        match self.file(place.segment) {
            Ok(file) => WalReader::record_at(file, FileName::Wal(place.segment), place.offset),
            Err(error) if error.is_missing_file() => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn file(&self, number: FileNumber) -> Result<Arc<dyn ReadFile>> {
        let mut open = self.open();
        if let Some(file) = open.files.get(&number) {
            return Ok(Arc::clone(file));
        }
        let path = self.dir.join(FileName::Wal(number).to_string());
        let file = self.fs.open_read(&path)?;
        // Nothing is to be read ahead into the room that is still to be written.
        file.expect_random();
        // One that was closed meanwhile is nobody's to close again.
        if number > open.closed {
            open.files.insert(number, Arc::clone(&file));
        }
        Ok(file)
    }

    /// Lets go of a segment that is not needed any more, all before it having been let go of. Says
    /// whether nobody reads in it, so that its file may be used for another.
    pub fn close(&self, number: FileNumber) -> bool {
        let mut open = self.open();
        open.closed = open.closed.max(number);
        let closed = open.files.remove(&number);
        closed.is_none_or(|file| Arc::strong_count(&file) == 1)
    }

    // Files that are open are right whatever a thread that panicked was about to open.
    fn open(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
