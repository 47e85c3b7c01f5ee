//! Things that are open by their number: bounded, least recently used out first.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, Weak};

use crate::base::types::error::Result;
use crate::base::types::id_map::IdMap;
use crate::base::types::ids::FileNumber;

/// Shards at most: several times the cores of the machines we know, so that two threads which
/// open files at the same time rarely meet.
const SHARD_COUNT_MAX: usize = 16;

/// Files that a shard may have at least, where few may be open at all: with one file a shard, those
/// that somebody holds for long would leave no room for others of the same shard.
const SHARD_FILES_MIN: usize = 8;

/// What a reader beside a writer is told when a file is gone that was not held open.
pub const REMOVED_BY_WRITER: &str = "a file is gone since the database was opened read-only: the \
    process that writes to it removed it, and no more files could be held open (setting \
    files.open_max, and the limit of the process); open it again, or read a checkpoint of it \
    (`esker checkpoint`, `checkpoint_beside`), which holds every file, however many there are";

/// Open files of one kind.
///
/// Any thread may call anything. A hit takes its shard's lock for reading and writes to nothing
/// but the file's own stamp; files are opened under no lock, so that one slow disk access holds
/// up nobody else. A file that was put out stays usable for whoever holds it.
pub struct OpenTable<R> {
    shards: Vec<Shard<R>>,
    files_per_shard: AtomicUsize,
    open_count: AtomicUsize,
    /// Those that were put out or forgotten while somebody held them: open until he lets go.
    lingering: Mutex<Vec<Weak<R>>>,
    lingering_count: AtomicUsize,
}

struct Shard<R> {
    files: RwLock<IdMap<FileNumber, OpenFile<R>>>,
    /// Counts openings: the time by which use is measured.
    openings: AtomicU64,
}

struct OpenFile<R> {
    reader: Arc<R>,
    /// Twice the count of openings in its shard when it was used last, and one more when that
    /// use was not its own opening: so a file that was found counts as used after one that was
    /// merely opened.
    used_at: AtomicU64,
}

/// What an opening did: the open file, and those that were put out for it.
pub struct Opened<R> {
    /// The open file.
    pub reader: Arc<R>,
    /// Whether this call opened it.
    pub is_new: bool,
    /// Closed when dropped, which may take a system call.
    pub gone: Vec<Arc<R>>,
}

impl<R> OpenTable<R> {
    /// Nothing is open yet, and at most `open_max` (at least 1) later.
    pub fn new(open_max: usize) -> OpenTable<R> {
        let open_max = open_max.max(1);
        let shard_count = (open_max / SHARD_FILES_MIN).clamp(1, SHARD_COUNT_MAX);
        OpenTable {
            shards: (0..shard_count).map(|_| Shard::default()).collect(),
            files_per_shard: AtomicUsize::new(open_max / shard_count),
            open_count: AtomicUsize::new(0),
            lingering: Mutex::default(),
            lingering_count: AtomicUsize::new(0),
        }
    }

    /// Keeps at most `open_max` files open from now on, and at least one for each shard.
    pub fn set_open_max(&self, open_max: usize) {
        let limit = open_max / self.shards.len();
        self.files_per_shard.store(limit, Ordering::Relaxed);
    }

    /// The open file with that number.
    #[inline]
    pub fn find(&self, number: FileNumber) -> Option<Arc<R>> {
        let shard = self.shard(number);
        let files = shard.read();
        let open = files.get(&number)?;
        // Relaxed: stamps order evictions, and are right enough whoever sees them when.
        let now = shard.openings.load(Ordering::Relaxed) * 2 + 1;
        if open.used_at.load(Ordering::Relaxed) != now {
            open.used_at.store(now, Ordering::Relaxed);
        }
        Some(Arc::clone(&open.reader))
    }

    /// Opens a file that was not found.
    pub fn open(&self, number: FileNumber, open: impl FnOnce() -> Result<R>) -> Result<Opened<R>> {
        let reader = Arc::new(open()?);
        Ok(self.keep(number, reader))
    }

    /// Takes out the file with that number. Whoever still holds it may go on reading.
    pub fn forget(&self, number: FileNumber) -> Option<Arc<R>> {
        let gone = self.shard(number).write().remove(&number)?;
        self.open_count.fetch_sub(1, Ordering::Relaxed);
        self.watch(std::slice::from_ref(&gone.reader));
        Some(gone.reader)
    }

    /// Takes out half of the files that nobody holds, those used least recently, and at least one
    /// if there is one. They are closed when dropped.
    pub fn take_idle(&self) -> Vec<Arc<R>> {
        let mut idle = self.idle();
        idle.truncate(idle.len().div_ceil(2));
        self.take(idle)
    }

    /// Takes out files that nobody holds, those used least recently first, until `bytes_of` them
    /// come to `bytes`, or none is left.
    pub fn take_idle_of(&self, bytes: usize, bytes_of: impl Fn(&R) -> usize) -> Vec<Arc<R>> {
        let (mut taken, mut taken_bytes) = (Vec::new(), 0);
        for number in self.idle() {
            if taken_bytes >= bytes {
                break;
            }
            for reader in self.take(vec![number]) {
                taken_bytes += bytes_of(&reader);
                taken.push(reader);
            }
        }
        taken
    }

    // Those that nobody holds, used least recently first.
    fn idle(&self) -> Vec<FileNumber> {
        let mut idle = Vec::new();
        for shard in &self.shards {
            let files = shard.read();
            let unheld = files.iter().filter(|(_, open)| !open.is_held());
            idle.extend(unheld.map(|(number, open)| (open.used_at(), *number)));
        }
        idle.sort_unstable();
        idle.into_iter().map(|(_, number)| number).collect()
    }

    fn take(&self, idle: Vec<FileNumber>) -> Vec<Arc<R>> {
        let mut taken = Vec::new();
        for number in idle {
            let mut files = self.shard(number).write();
            // Somebody may have come for it since.
            if files.get(&number).is_some_and(|open| !open.is_held()) {
                taken.extend(files.remove(&number).map(|open| open.reader));
            }
        }
        self.open_count.fetch_sub(taken.len(), Ordering::Relaxed);
        taken
    }

    /// How many files are open and will be found.
    pub fn open_count(&self) -> usize {
        // Relaxed: a number to be told, and a bound that a file more or less does not hurt.
        self.open_count.load(Ordering::Relaxed)
    }

    /// Whether no more than half of the files are open that may be; those count too that are open
    /// only because somebody holds them.
    #[inline]
    pub fn has_room(&self) -> bool {
        // Relaxed: as above.
        let lingering = self.lingering_count.load(Ordering::Relaxed);
        self.open_count() + lingering <= self.open_max() / 2
    }

    /// Whether as many files are open as may be.
    pub fn is_full(&self) -> bool {
        self.open_count() >= self.open_max()
    }

    fn open_max(&self) -> usize {
        // Relaxed: as above.
        let limit = self.files_per_shard.load(Ordering::Relaxed);
        limit.saturating_mul(self.shards.len())
    }

    // Counts those of `gone` as open that somebody holds, and no longer those that were let go of.
    fn watch(&self, gone: &[Arc<R>]) {
        let mut lingering = self
            .lingering
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        lingering.retain(|file| file.strong_count() > 0);
        let held = gone.iter().filter(|file| Arc::strong_count(file) > 1);
        lingering.extend(held.map(Arc::downgrade));
        // Relaxed: as above.
        self.lingering_count
            .store(lingering.len(), Ordering::Relaxed);
    }

    // When another thread opened the same file meanwhile, that one is taken.
    fn keep(&self, number: FileNumber, reader: Arc<R>) -> Opened<R> {
        let shard = self.shard(number);
        let mut files = shard.write();
        let mut gone = Vec::new();
        if let Some(open) = files.get(&number) {
            let reader = Arc::clone(&open.reader);
            return Opened {
                reader,
                is_new: false,
                gone,
            };
        }
        // Relaxed: a limit that a shard keeps to with its next opening.
        let limit = self.files_per_shard.load(Ordering::Relaxed).max(1);
        while files.len() >= limit {
            // Who puts out what somebody holds gains nothing by it.
            let oldest = files
                .iter()
                .min_by_key(|(number, open)| (open.is_held(), open.used_at(), **number));
            let oldest = *oldest.expect("at least one file is open").0;
            gone.extend(files.remove(&oldest).map(|open| open.reader));
        }
        let now = shard.openings.fetch_add(1, Ordering::Relaxed) + 1;
        let open = OpenFile {
            reader: Arc::clone(&reader),
            used_at: AtomicU64::new(now * 2),
        };
        files.insert(number, open);
        self.open_count.fetch_add(1, Ordering::Relaxed);
        self.open_count.fetch_sub(gone.len(), Ordering::Relaxed);
        drop(files);
        if !gone.is_empty() {
            self.watch(&gone);
        }
        Opened {
            reader,
            is_new: true,
            gone,
        }
    }

    // Numbers are given out in order, so they spread evenly by themselves.
    fn shard(&self, number: FileNumber) -> &Shard<R> {
        let count = self.shards.len() as u64;
        let index = usize::try_from(number.0 % count).expect("below the number of shards");
        &self.shards[index]
    }
}

impl<R> OpenFile<R> {
    fn is_held(&self) -> bool {
        Arc::strong_count(&self.reader) > 1
    }

    fn used_at(&self) -> u64 {
        // Relaxed: stamps order evictions, and are right enough whoever sees them when.
        self.used_at.load(Ordering::Relaxed)
    }
}

impl<R> Default for Shard<R> {
    fn default() -> Shard<R> {
        Shard {
            files: RwLock::default(),
            openings: AtomicU64::new(0),
        }
    }
}

impl<R> Shard<R> {
    // A map of whole entries cannot be left half changed, so a poisoned lock is as good as any.
    fn read(&self) -> RwLockReadGuard<'_, IdMap<FileNumber, OpenFile<R>>> {
        self.files.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, IdMap<FileNumber, OpenFile<R>>> {
        self.files.write().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;
