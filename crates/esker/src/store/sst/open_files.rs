//! Open files, bounded, least recently used out first.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use esker_phrase::DictionaryId;

use crate::base::stats::ledger::{MemoryLedger, MemoryOwner};
use crate::base::types::error::{Error, ErrorKind, Result};
use crate::base::types::ids::FileNumber;
use crate::base::types::order::KeyOrder;
use crate::env::fs::{FileKeeper, Fs, Unchanging};
use crate::store::names::FileName;
use crate::store::open_table::{OpenTable, REMOVED_BY_WRITER};
use crate::store::sst::any_reader::AnyReader;
use crate::store::sst::block::fetch::BlockCache;

/// The sorted files of a directory that are open for reading. Any thread may call anything.
pub struct OpenFiles {
    fs: Arc<dyn Fs>,
    dir: PathBuf,
    cache: Arc<BlockCache>,
    open: OpenTable<AnyReader>,
    pinned_bytes: AtomicUsize,
    /// Dictionaries of open files, and how many have each: in memory it is once. Below zero for a
    /// moment where one thread closes what another has just opened.
    shared: Mutex<BTreeMap<DictionaryId, isize>>,
    ledger: Option<Arc<MemoryLedger>>,
    is_mapped: bool,
    /// Whether another process may remove files.
    is_beside_writer: AtomicBool,
}

impl OpenFiles {
    /// No open files of `dir` yet, and at most `max_open` (at least 1) later.
    pub fn new(
        fs: Arc<dyn Fs>,
        dir: impl Into<PathBuf>,
        max_open: usize,
        cache: Arc<BlockCache>,
    ) -> OpenFiles {
        OpenFiles {
            fs,
            dir: dir.into(),
            cache,
            open: OpenTable::new(max_open),
            pinned_bytes: AtomicUsize::new(0),
            shared: Mutex::default(),
            ledger: None,
            is_mapped: false,
            is_beside_writer: AtomicBool::new(false),
        }
    }

    /// The same, reading records through maps of the files if `is_mapped`.
    pub fn mapped(self, is_mapped: bool) -> OpenFiles {
        OpenFiles { is_mapped, ..self }
    }

    /// The same, with what open files keep charged to `ledger`, and taken from the cache's share
    /// at once: of a large database the first reads open files whose filters and indexes are a
    /// good part of the limit.
    pub fn charged_to(self, ledger: Arc<MemoryLedger>) -> OpenFiles {
        OpenFiles {
            ledger: Some(ledger),
            ..self
        }
    }

    /// Keeps at most `max_open` files open from now on, and at least one for each shard; what
    /// somebody holds stays open until he lets go of it.
    pub fn set_open_max(&self, max_open: usize) {
        self.open.set_open_max(max_open);
    }

    /// Keeps at most `wanted` files open from now on, fewer where the process may not have so many,
    /// and closes some when it runs out of them.
    pub fn keep_open(self: &Arc<OpenFiles>, wanted: usize) {
        let keeper: Weak<dyn FileKeeper> = Arc::<OpenFiles>::downgrade(self);
        self.set_open_max(self.fs.keep_open(wanted, keeper));
    }

    /// Tells that another process has the database open for writing: a file that is not there any
    /// more was removed by it.
    pub fn set_beside_writer(&self) {
        self.is_beside_writer.store(true, Ordering::Relaxed);
    }

    /// The open file with that number; opens it if it is not open, and asks `check` whether it is
    /// the right one.
    ///
    /// Errors: those of `AnyReader::open` and of `check`; `Corruption` when the file is not there,
    /// because only files that belong to the database are asked for. All name the file.
    pub fn get(
        &self,
        number: FileNumber,
        order: &KeyOrder,
        check: impl FnOnce(&AnyReader) -> Result<()>,
    ) -> Result<Arc<AnyReader>> {
        if let Some(reader) = self.open.find(number) {
            return Ok(reader);
        }
        let opened = self.open.open(number, || {
            let reader = self.open_file(number, order)?;
            let name = FileName::Sst(number);
            check(&reader).map_err(|error| error.in_file(name))?;
            Ok(reader)
        })?;
        if opened.is_new {
            self.count_in(&opened.reader);
            self.count_out(&opened.gone);
            self.share_memory();
        }
        Ok(opened.reader)
    }

    /// Closes the file with that number, and drops its blocks from the cache: it is about to be
    /// removed. Whoever still holds it may go on reading.
    pub fn forget(&self, number: FileNumber) {
        let gone: Vec<_> = self.open.forget(number).into_iter().collect();
        self.count_out(&gone);
        self.cache.remove_file(number);
        self.share_memory();
    }

    /// How many files are open.
    pub fn open_count(&self) -> usize {
        self.open.open_count()
    }

    /// Whether as many are open as may be.
    pub fn is_full(&self) -> bool {
        self.open.is_full()
    }

    /// Whether so few are open that one may be kept for long.
    #[inline]
    pub fn has_room(&self) -> bool {
        self.open.has_room()
    }

    /// Bytes of memory that the open files keep: indexes, filters and the like.
    pub fn pinned_bytes(&self) -> usize {
        self.pinned_bytes.load(Ordering::Relaxed)
    }

    fn open_file(&self, number: FileNumber, order: &KeyOrder) -> Result<AnyReader> {
        let name = FileName::Sst(number);
        let file = self.fs.open_read(&self.dir.join(name.to_string()));
        let file = file.map_err(|error| match error.is_missing_file() {
            true => self.missing().in_file(name).caused_by(error),
            false => error.in_file(name),
        })?;
        let mut reader = AnyReader::open(file, number, order.clone(), Arc::clone(&self.cache))
            .map_err(|error| error.in_file(name))?;
        if self.is_mapped {
            reader.map(Unchanging::word());
        }
        Ok(reader)
    }

    fn missing(&self) -> Error {
        if self.is_beside_writer.load(Ordering::Relaxed) {
            return Error::new(ErrorKind::Busy, REMOVED_BY_WRITER);
        }
        Error::corruption("a sorted file of the database is missing")
    }

    fn share_memory(&self) {
        if let Some(ledger) = &self.ledger {
            ledger.set_held(MemoryOwner::FiltersAndIndexes, self.pinned_bytes() as u64);
            self.cache.set_capacity_bytes(ledger.cache_allowance());
        }
    }

    fn count_in(&self, reader: &AnyReader) {
        let bytes = reader.pinned_bytes() + self.share(reader, 1, 1);
        self.pinned_bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    fn count_out(&self, gone: &[Arc<AnyReader>]) {
        for reader in gone {
            let bytes = reader.pinned_bytes() + self.share(reader, -1, 0);
            self.pinned_bytes.fetch_sub(bytes, Ordering::Relaxed);
        }
    }

    // Counts one file more or less that has the reader's dictionary; the dictionary's bytes if as
    // many have it then as `turn` says.
    fn share(&self, reader: &AnyReader, step: isize, turn: isize) -> usize {
        let Some((id, bytes)) = reader.shared_memory() else {
            return 0;
        };
        let mut shared = self.shared();
        let file_count = shared.entry(id).or_default();
        *file_count += step;
        let file_count = *file_count;
        if file_count == 0 {
            shared.remove(&id);
        }
        if file_count == turn { bytes } else { 0 }
    }

    // Held for counting only, so it is whole even after a panic.
    fn shared(&self) -> MutexGuard<'_, BTreeMap<DictionaryId, isize>> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl FileKeeper for OpenFiles {
    fn close_idle(&self) -> usize {
        let gone = self.open.take_idle();
        self.count_out(&gone);
        self.share_memory();
        gone.len()
    }

    fn open_count(&self) -> usize {
        self.open.open_count()
    }
}

impl fmt::Debug for OpenFiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "OpenFiles({} in {})",
            self.open_count(),
            self.dir.display()
        )
    }
}

#[cfg(test)]
mod tests;
