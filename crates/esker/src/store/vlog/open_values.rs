//! Open segments of the value log, and the values that need no file.

use std::collections::BTreeSet;
use std::fmt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock, Weak};

use crate::base::types::bytes::Bytes;
use crate::base::types::error::{Error, ErrorKind, Result};
use crate::base::types::ids::FileNumber;
use crate::env::fs::{FileKeeper, Fs};
use crate::store::names::FileName;
use crate::store::open_table::{OpenTable, REMOVED_BY_WRITER};
use crate::store::vlog::pointer::ValuePointer;
use crate::store::vlog::reader::VlogReader;
use crate::store::vlog::value_pool::{Found, ValuePool};

/// Where values are read: from the pool, or from the segments of a directory. Any thread may call
/// anything.
pub struct OpenValues {
    fs: Arc<dyn Fs>,
    dir: PathBuf,
    open: OpenTable<VlogReader>,
    written_max: AtomicUsize,
    pool: Arc<ValuePool>,
    /// Where another process may remove segments: those that were missing before it could.
    lost_beside_writer: OnceLock<BTreeSet<FileNumber>>,
}

impl OpenValues {
    /// No open segments of `dir` yet, and at most `open_max` (at least 1) later; nothing is kept
    /// in memory.
    pub fn new(fs: Arc<dyn Fs>, dir: impl Into<PathBuf>, open_max: usize) -> OpenValues {
        OpenValues {
            fs,
            dir: dir.into(),
            open: OpenTable::new(open_max),
            written_max: AtomicUsize::new(open_max / 2),
            pool: ValuePool::new(0, 0),
            lost_beside_writer: OnceLock::new(),
        }
    }

    /// The same, with values that `pool` knows from there.
    pub fn before(self, pool: Arc<ValuePool>) -> OpenValues {
        OpenValues { pool, ..self }
    }

    /// The values in memory.
    pub fn pool(&self) -> &Arc<ValuePool> {
        &self.pool
    }

    /// Keeps at most `open_max` segments open from now on, and at least one for each shard.
    pub fn set_open_max(&self, open_max: usize) {
        self.open.set_open_max(open_max);
        // Relaxed: a limit that is kept to when the next one is begun.
        self.written_max.store(open_max / 2, Ordering::Relaxed);
    }

    /// How many segments may be open to be written to, beside those that are read: half as many.
    pub fn written_max(&self) -> usize {
        // Relaxed: as above.
        self.written_max.load(Ordering::Relaxed)
    }

    /// Keeps at most `wanted` segments open from now on, fewer where the process may not have so
    /// many files open, and closes some when it runs out of them. Half as many may be open to be
    /// written to, which cannot be closed like that: the process has room for both.
    pub fn keep_open(self: &Arc<OpenValues>, wanted: usize) {
        let keeper: Weak<dyn FileKeeper> = Arc::<OpenValues>::downgrade(self);
        let granted = self.fs.keep_open(wanted + wanted / 2, keeper);
        self.set_open_max(granted - granted / 3);
    }

    /// The value at `pointer`: out of memory, or by one read of the file.
    ///
    /// Errors: `Corruption` with file and offset; other values stay readable.
    pub fn value(&self, pointer: &ValuePointer) -> Result<Bytes> {
        match self.pool.find(pointer) {
            Some(Found::Here(value)) => Ok(value),
            Some(Found::There(place)) => match self.pool.find(&place) {
                Some(Found::Here(value)) => Ok(value),
                _ => self.stored_value(&place),
            },
            None => self.stored_value(pointer),
        }
    }

    /// The value at `pointer` as it stands in its segment.
    ///
    /// Errors: as [`OpenValues::value`].
    pub fn stored_value(&self, pointer: &ValuePointer) -> Result<Bytes> {
        if pointer.is_to_no_place() {
            let message = "an entry points to a value that was never written";
            return Err(Error::corruption(message));
        }
        self.segment(pointer.segment)?.value(pointer)
    }

    /// The value at `pointer` if it is in memory; otherwise says that it will be read soon.
    pub fn value_or_announce(&self, pointer: &ValuePointer) -> Option<Bytes> {
        let place = match self.pool.find(pointer) {
            Some(Found::Here(value)) => return Some(value),
            Some(Found::There(place)) => place,
            None => *pointer,
        };
        // What is wrong with a pointer or a segment is told to who reads the value.
        if !place.is_to_no_place()
            && let Ok(segment) = self.segment(place.segment)
        {
            segment.announce(&place);
        }
        None
    }

    /// The open segment with that number; opens it if it is not open.
    pub fn segment(&self, number: FileNumber) -> Result<Arc<VlogReader>> {
        if let Some(reader) = self.open.find(number) {
            return Ok(reader);
        }
        let open = || {
            let opened = VlogReader::open(&*self.fs, &self.dir, number);
            opened.map_err(|error| self.explain(error, number))
        };
        Ok(self.open.open(number, open)?.reader)
    }

    /// Tells that another process has the database open for writing: a segment that is not there
    /// any more was removed by it, unless it is one of `lost`, which were missing from the first.
    pub fn set_beside_writer(&self, lost: BTreeSet<FileNumber>) {
        self.lost_beside_writer.get_or_init(|| lost);
    }

    fn explain(&self, error: Error, number: FileNumber) -> Error {
        let path = self.dir.join(FileName::Vlog(number).to_string());
        let is_gone = || self.fs.exists(&path).is_ok_and(|is_there| !is_there);
        let lost = self.lost_beside_writer.get();
        if lost.is_some_and(|lost| !lost.contains(&number)) && is_gone() {
            return Error::new(ErrorKind::Busy, REMOVED_BY_WRITER).caused_by(error);
        }
        error
    }

    /// Closes a segment that is about to be removed.
    pub fn forget(&self, number: FileNumber) {
        self.open.forget(number);
    }

    /// Whether as many segments are open as may be.
    pub fn is_full(&self) -> bool {
        self.open.is_full()
    }

    /// How many segments are open.
    pub fn open_count(&self) -> usize {
        self.open.open_count()
    }
}

impl FileKeeper for OpenValues {
    fn close_idle(&self) -> usize {
        self.open.take_idle().len()
    }

    fn open_count(&self) -> usize {
        self.open.open_count()
    }
}

impl fmt::Debug for OpenValues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "OpenValues({} open)", self.open_count())
    }
}

#[cfg(test)]
mod tests;
