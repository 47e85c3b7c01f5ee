//! Open files, bounded, least recently used out first.

use std::fmt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};

use crate::base::stats::memory_budget::MemoryBudget;
use crate::base::types::comparator::Comparator;
use crate::base::types::error::{Error, ErrorKind, Result};
use crate::base::types::ids::FileNumber;
use crate::env::fs::{FileKeeper, Fs, Unchanging};
use crate::store::names::FileName;
use crate::store::open_table::{OpenTable, REMOVED_BY_WRITER};
use crate::store::sst::adoption::FileBinding;
use crate::store::sst::any_reader::AnyReader;
use crate::store::sst::block::fetch::BlockCache;
use crate::store::sst::file_memory::FileMemory;

/// The sorted files of a directory that are open for reading. Any thread may call anything.
pub struct OpenFiles {
    fs: Arc<dyn Fs>,
    dir: PathBuf,
    cache: Arc<BlockCache>,
    open: OpenTable<AnyReader>,
    memory: Arc<FileMemory>,
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
            memory: Arc::new(FileMemory::new(None)),
            is_mapped: false,
            is_beside_writer: AtomicBool::new(false),
        }
    }

    /// The same, reading records through maps of the files if `is_mapped`.
    pub fn mapped(self, is_mapped: bool) -> OpenFiles {
        OpenFiles { is_mapped, ..self }
    }

    /// The same, with what open files keep charged to `memory_budget`, and taken from the cache's
    /// share at once: of a large database the first reads open files whose filters and indexes are
    /// a good part of the limit.
    pub fn charged_to(self, memory_budget: Arc<MemoryBudget>) -> OpenFiles {
        OpenFiles {
            memory: Arc::new(FileMemory::new(Some(memory_budget))),
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

    /// The open file that is known so; opens it if it is not open, and asks `check` whether it is
    /// the right one.
    ///
    /// Errors: those of `AnyReader::open` and of `check`; `Corruption` when the file is not there,
    /// because only files that belong to the database are asked for. All name the file.
    pub fn get(
        &self,
        binding: impl Into<FileBinding>,
        comparator: &Comparator,
        check: impl FnOnce(&AnyReader) -> Result<()>,
    ) -> Result<Arc<AnyReader>> {
        let binding = binding.into();
        let number = binding.number;
        if let Some(reader) = self.open.find(number) {
            return Ok(reader);
        }
        let opened = self.open.open(number, || {
            let reader = self.open_file(binding, comparator)?;
            let name = FileName::Sst(number);
            check(&reader).map_err(|error| error.in_file(name))?;
            Ok(reader)
        })?;
        if opened.is_new {
            drop(opened.gone);
            self.share_memory();
        }
        Ok(opened.reader)
    }

    /// Closes the file with that number, and drops its blocks from the cache: it is about to be
    /// removed. Whoever still holds it may go on reading.
    pub fn forget(&self, number: FileNumber) {
        drop(self.open.forget(number));
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

    /// Whether so few are open, and keep so little memory, that one may be kept for long.
    #[inline]
    pub fn has_room(&self) -> bool {
        self.open.has_room() && self.memory.has_room()
    }

    /// Bytes of memory that the open files keep: indexes, filters and the like; until the last
    /// holder of a file lets go of it.
    pub fn pinned_bytes(&self) -> usize {
        self.memory.bytes()
    }

    /// Has files that nobody holds closed while all that are open keep more than so many bytes of
    /// memory, now and whenever one is opened.
    pub fn keep_within(&self, bytes_max: usize) {
        self.memory.set_bytes_max(bytes_max);
        if self.memory.excess_bytes() > 0 {
            self.share_memory();
        }
    }

    fn open_file(&self, binding: FileBinding, comparator: &Comparator) -> Result<AnyReader> {
        let name = FileName::Sst(binding.number);
        let file = self.fs.open_read(&self.dir.join(name.to_string()));
        let file = file.map_err(|error| match error.is_missing_file() {
            true => self.missing().in_file(name).caused_by(error),
            false => error.in_file(name),
        })?;
        let mut reader =
            AnyReader::open(file, binding, comparator.clone(), Arc::clone(&self.cache))
                .map_err(|error| error.in_file(name))?;
        reader.charge_to(&self.memory);
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

    // Closes files that nobody holds while all together keep too much, and gives the cache what
    // they leave.
    fn share_memory(&self) {
        let excess = self.memory.excess_bytes();
        if excess > 0 {
            drop(self.open.take_idle_of(excess, AnyReader::pinned_bytes));
        }
        if let Some(memory_budget) = self.memory.memory_budget() {
            self.cache
                .set_capacity_bytes(memory_budget.cache_allowance());
        }
    }
}

impl FileKeeper for OpenFiles {
    fn close_idle(&self) -> usize {
        let gone_count = self.open.take_idle().len();
        self.share_memory();
        gone_count
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
