//! Open files, bounded, least recently used out first.

use std::fmt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use crate::base::stats::ledger::{MemoryLedger, MemoryOwner};
use crate::base::types::error::{Error, Result};
use crate::base::types::id_map::IdMap;
use crate::base::types::ids::FileNumber;
use crate::base::types::order::KeyOrder;
use crate::env::fs::Fs;
use crate::store::names::FileName;
use crate::store::sst::any_reader::AnyReader;
use crate::store::sst::block::fetch::BlockCache;

/// Shards at most: several times the cores of the machines we know, so that two threads which
/// open files at the same time rarely meet.
const SHARD_COUNT_MAX: usize = 16;

/// The sorted files of a directory that are open for reading.
///
/// Any thread may call anything. A hit takes its shard's lock for reading and writes to nothing
/// but the file's own stamp; files are opened under no lock, so that one slow disk access holds
/// up nobody else. A file that was put out stays usable for whoever holds it.
pub struct OpenFiles {
    fs: Arc<dyn Fs>,
    dir: PathBuf,
    cache: Arc<BlockCache>,
    shards: Vec<Shard>,
    files_per_shard: AtomicUsize,
    pinned_bytes: AtomicUsize,
    ledger: Option<Arc<MemoryLedger>>,
}

#[derive(Default)]
struct Shard {
    files: RwLock<IdMap<FileNumber, OpenFile>>,
    /// Counts openings: the time by which use is measured.
    openings: AtomicU64,
}

struct OpenFile {
    reader: Arc<AnyReader>,
    /// Twice the count of openings in its shard when it was used last, and one more when that
    /// use was not its own opening: so a file that was found counts as used after one that was
    /// merely opened.
    used_at: AtomicU64,
}

impl OpenFiles {
    /// No open files of `dir` yet, and at most `max_open` (at least 1) later.
    pub fn new(
        fs: Arc<dyn Fs>,
        dir: impl Into<PathBuf>,
        max_open: usize,
        cache: Arc<BlockCache>,
    ) -> OpenFiles {
        let max_open = max_open.max(1);
        let shard_count = max_open.min(SHARD_COUNT_MAX);
        OpenFiles {
            fs,
            dir: dir.into(),
            cache,
            shards: (0..shard_count).map(|_| Shard::default()).collect(),
            files_per_shard: AtomicUsize::new(max_open / shard_count),
            pinned_bytes: AtomicUsize::new(0),
            ledger: None,
        }
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

    /// Keeps at most `max_open` files open from now on, and at least one for each shard.
    pub fn set_open_max(&self, max_open: usize) {
        let limit = max_open / self.shards.len();
        self.files_per_shard.store(limit, Ordering::Relaxed);
    }

    /// The open file with that number; opens it if it is not open.
    ///
    /// Errors: those of `AnyReader::open`; `Corruption` when the file is not there, because only
    /// files that belong to the database are asked for. All name the file.
    pub fn get(&self, number: FileNumber, order: &KeyOrder) -> Result<Arc<AnyReader>> {
        let shard = self.shard(number);
        if let Some(open) = shard.read().get(&number) {
            // Relaxed: stamps order evictions, and are right enough whoever sees them when.
            let now = shard.openings.load(Ordering::Relaxed) * 2 + 1;
            if open.used_at.load(Ordering::Relaxed) != now {
                open.used_at.store(now, Ordering::Relaxed);
            }
            return Ok(Arc::clone(&open.reader));
        }
        let reader = Arc::new(self.open(number, order)?);
        Ok(self.keep(number, reader))
    }

    /// Closes the file with that number, and drops its blocks from the cache: it is about to be
    /// removed. Whoever still holds it may go on reading.
    pub fn forget(&self, number: FileNumber) {
        let gone = self.shard(number).write().remove(&number);
        self.count_out(gone);
        self.cache.remove_file(number);
        self.share_memory();
    }

    /// How many files are open.
    pub fn open_count(&self) -> usize {
        self.shards.iter().map(|shard| shard.read().len()).sum()
    }

    /// Bytes of memory that the open files keep: indexes, filters and the like.
    pub fn pinned_bytes(&self) -> usize {
        self.pinned_bytes.load(Ordering::Relaxed)
    }

    fn open(&self, number: FileNumber, order: &KeyOrder) -> Result<AnyReader> {
        let name = FileName::Sst(number);
        let file = self.fs.open_read(&self.dir.join(name.to_string()));
        let file = file.map_err(|error| match error.is_missing_file() {
            true => Error::corruption("a sorted file of the database is missing")
                .in_file(name)
                .caused_by(error),
            false => error.in_file(name),
        })?;
        AnyReader::open(file, number, order.clone(), Arc::clone(&self.cache))
            .map_err(|error| error.in_file(name))
    }

    // When another thread opened the same file meanwhile, that one is taken.
    fn keep(&self, number: FileNumber, reader: Arc<AnyReader>) -> Arc<AnyReader> {
        let shard = self.shard(number);
        let mut files = shard.write();
        if let Some(open) = files.get(&number) {
            return Arc::clone(&open.reader);
        }
        let mut gone = Vec::new();
        // Relaxed: a limit that a shard keeps to with its next opening.
        let limit = self.files_per_shard.load(Ordering::Relaxed).max(1);
        while files.len() >= limit {
            let used_at = |open: &OpenFile| open.used_at.load(Ordering::Relaxed);
            let oldest = files
                .iter()
                .min_by_key(|(number, open)| (used_at(open), **number));
            let oldest = *oldest.expect("at least one file is open").0;
            gone.extend(files.remove(&oldest));
        }
        let now = shard.openings.fetch_add(1, Ordering::Relaxed) + 1;
        self.pinned_bytes
            .fetch_add(reader.pinned_bytes(), Ordering::Relaxed);
        let open = OpenFile {
            reader: Arc::clone(&reader),
            used_at: AtomicU64::new(now * 2),
        };
        files.insert(number, open);
        // Closing a file may take a system call, which is not made under the lock.
        drop(files);
        self.count_out(gone);
        self.share_memory();
        reader
    }

    fn share_memory(&self) {
        if let Some(ledger) = &self.ledger {
            ledger.set_held(MemoryOwner::FiltersAndIndexes, self.pinned_bytes() as u64);
            self.cache.set_capacity_bytes(ledger.cache_allowance());
        }
    }

    fn count_out(&self, gone: impl IntoIterator<Item = OpenFile>) {
        for open in gone {
            self.pinned_bytes
                .fetch_sub(open.reader.pinned_bytes(), Ordering::Relaxed);
        }
    }

    // Numbers are given out in order, so they spread evenly by themselves.
    fn shard(&self, number: FileNumber) -> &Shard {
        let count = self.shards.len() as u64;
        let index = usize::try_from(number.0 % count).expect("below the number of shards");
        &self.shards[index]
    }
}

impl Shard {
    // A map of whole entries cannot be left half changed, so a poisoned lock is as good as any.
    fn read(&self) -> RwLockReadGuard<'_, IdMap<FileNumber, OpenFile>> {
        self.files.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, IdMap<FileNumber, OpenFile>> {
        self.files.write().unwrap_or_else(PoisonError::into_inner)
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
