//! Open segments of the value log, bounded, least recently used out first.

use std::fmt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use crate::base::types::bytes::Bytes;
use crate::base::types::error::Result;
use crate::base::types::id_map::IdMap;
use crate::base::types::ids::FileNumber;
use crate::env::fs::Fs;
use crate::store::vlog::pointer::ValuePointer;
use crate::store::vlog::reader::VlogReader;

/// The segments of a directory that are open for reading. Any thread may call anything.
///
/// A hit takes the lock for reading; files are opened under no lock. A segment that was put out
/// stays usable for whoever reads from it.
pub struct OpenValues {
    fs: Arc<dyn Fs>,
    dir: PathBuf,
    open_max: usize,
    segments: RwLock<IdMap<FileNumber, OpenSegment>>,
    /// Counts uses: the time by which they are measured.
    uses: AtomicU64,
}

struct OpenSegment {
    reader: Arc<VlogReader>,
    used_at: AtomicU64,
}

impl OpenValues {
    /// No open segments of `dir` yet, and at most `open_max` (at least 1) later.
    pub fn new(fs: Arc<dyn Fs>, dir: impl Into<PathBuf>, open_max: usize) -> OpenValues {
        OpenValues {
            fs,
            dir: dir.into(),
            open_max: open_max.max(1),
            segments: RwLock::default(),
            uses: AtomicU64::new(0),
        }
    }

    /// The value at `pointer`, by one read of the file; it goes through no cache of ours.
    ///
    /// Errors: `Corruption` with file and offset; other values stay readable.
    pub fn value(&self, pointer: &ValuePointer) -> Result<Bytes> {
        self.segment(pointer.segment)?.value(pointer)
    }

    /// The open segment with that number; opens it if it is not open.
    pub fn segment(&self, number: FileNumber) -> Result<Arc<VlogReader>> {
        // Relaxed: stamps order evictions, and are right enough whoever sees them when.
        let now = self.uses.fetch_add(1, Ordering::Relaxed);
        if let Some(open) = self.read().get(&number) {
            open.used_at.store(now, Ordering::Relaxed);
            return Ok(Arc::clone(&open.reader));
        }
        let reader = Arc::new(VlogReader::open(&*self.fs, &self.dir, number)?);
        let mut segments = self.write();
        if segments.len() >= self.open_max {
            let oldest = segments
                .iter()
                .min_by_key(|(number, open)| (open.used_at.load(Ordering::Relaxed), **number))
                .map(|(number, _)| *number);
            oldest.and_then(|oldest| segments.remove(&oldest));
        }
        let open = segments.entry(number).or_insert_with(|| OpenSegment {
            reader,
            used_at: AtomicU64::new(now),
        });
        Ok(Arc::clone(&open.reader))
    }

    /// Closes a segment that is about to be removed.
    pub fn forget(&self, number: FileNumber) {
        self.write().remove(&number);
    }

    /// How many segments are open.
    pub fn open_count(&self) -> usize {
        self.read().len()
    }

    // Each change is one insertion or removal.
    fn read(&self) -> RwLockReadGuard<'_, IdMap<FileNumber, OpenSegment>> {
        self.segments.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, IdMap<FileNumber, OpenSegment>> {
        self.segments
            .write()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for OpenValues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "OpenValues({} open)", self.open_count())
    }
}

#[cfg(test)]
mod tests;
