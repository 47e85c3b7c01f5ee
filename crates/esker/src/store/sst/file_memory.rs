//! What open files keep in memory, counted until their last holder lets go.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::base::stats::memory_budget::{MemoryBudget, MemoryOwner};
use esker_phrase::DictionaryId;

/// The account of filters, indexes and the like of the open files of a directory. Any thread may
/// call anything.
#[derive(Debug)]
pub struct FileMemory {
    bytes: AtomicUsize,
    /// Most that there should be; whoever opens a file closes others for it.
    bytes_max: AtomicUsize,
    /// Dictionaries of open files, and how many have each: in memory it is once.
    shared: Mutex<BTreeMap<DictionaryId, usize>>,
    memory_budget: Option<Arc<MemoryBudget>>,
}

/// What one file keeps in memory, until it is dropped with it.
#[derive(Debug)]
pub struct FileReservation {
    memory: Arc<FileMemory>,
    bytes: usize,
    shared: Option<(DictionaryId, usize)>,
}

impl FileMemory {
    /// Of no files yet; charged to `memory_budget` if there is one.
    pub fn new(memory_budget: Option<Arc<MemoryBudget>>) -> FileMemory {
        FileMemory {
            bytes: AtomicUsize::new(0),
            bytes_max: AtomicUsize::new(usize::MAX),
            shared: Mutex::default(),
            memory_budget,
        }
    }

    /// Counts a file that keeps so many bytes, and shares those of a dictionary with others.
    pub fn charge(
        self: &Arc<Self>,
        bytes: usize,
        shared: Option<(DictionaryId, usize)>,
    ) -> FileReservation {
        let mut more = bytes;
        if let Some((id, dictionary_bytes)) = shared {
            let mut dictionaries = self.shared();
            let file_count = dictionaries.entry(id).or_default();
            *file_count += 1;
            more += if *file_count == 1 {
                dictionary_bytes
            } else {
                0
            };
        }
        // Relaxed, here and below: the account guards no memory, it only counts it.
        self.bytes.fetch_add(more, Ordering::Relaxed);
        self.tell();
        FileReservation {
            memory: Arc::clone(self),
            bytes,
            shared,
        }
    }

    /// Bytes that all files keep.
    pub fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Sets how many there should be at most.
    pub fn set_bytes_max(&self, bytes_max: usize) {
        self.bytes_max.store(bytes_max, Ordering::Relaxed);
    }

    /// Bytes that are too many.
    pub fn excess_bytes(&self) -> usize {
        self.bytes()
            .saturating_sub(self.bytes_max.load(Ordering::Relaxed))
    }

    /// Whether no more than half of what there may be is there.
    pub fn has_room(&self) -> bool {
        self.bytes() <= self.bytes_max.load(Ordering::Relaxed) / 2
    }

    /// Who else holds memory.
    pub fn memory_budget(&self) -> Option<&MemoryBudget> {
        self.memory_budget.as_deref()
    }

    fn tell(&self) {
        if let Some(memory_budget) = &self.memory_budget {
            memory_budget.set_held(MemoryOwner::FiltersAndIndexes, self.bytes() as u64);
        }
    }

    // Held for counting only, so it is whole even after a panic.
    fn shared(&self) -> MutexGuard<'_, BTreeMap<DictionaryId, usize>> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for FileReservation {
    fn drop(&mut self) {
        let mut less = self.bytes;
        if let Some((id, dictionary_bytes)) = self.shared {
            let mut dictionaries = self.memory.shared();
            if let Some(file_count) = dictionaries.get_mut(&id) {
                *file_count -= 1;
                if *file_count == 0 {
                    dictionaries.remove(&id);
                    less += dictionary_bytes;
                }
            }
        }
        self.memory.bytes.fetch_sub(less, Ordering::Relaxed);
        self.memory.tell();
    }
}
