//! Sorted files that left the current version and wait until nobody reads them.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering, fence};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::base::types::ids::FileNumber;

/// Sorted files that left the current version and wait until nobody reads them.
#[derive(Debug, Default)]
pub struct ObsoleteFiles {
    files: Mutex<BTreeSet<FileNumber>>,
    /// How many of them: asked by every cursor that ends, which should touch no lock for it.
    count: AtomicUsize,
}

impl ObsoleteFiles {
    /// Adds a file.
    pub fn add(&self, number: FileNumber) {
        let mut files = self.files();
        files.insert(number);
        self.set_count(&files);
    }

    /// How many files wait.
    pub fn count(&self) -> usize {
        // A reader lets go of its files and then looks here; whoever adds a file counts it and
        // then looks for readers. With a fence on either side one of the two sees the other.
        fence(Ordering::SeqCst);
        self.count.load(Ordering::Relaxed)
    }

    /// Their numbers, ascending.
    pub fn numbers(&self) -> Vec<FileNumber> {
        self.files().iter().copied().collect()
    }

    /// Takes out every obsolete file that is not among `in_use`. The lock is held while that is
    /// gathered, so that a file added meanwhile is judged by what is in use after it was.
    pub fn take_free(&self, in_use: impl FnOnce() -> BTreeSet<FileNumber>) -> Vec<FileNumber> {
        let mut files = self.files();
        if files.is_empty() {
            return Vec::new();
        }
        let in_use = in_use();
        let free: Vec<FileNumber> = files.difference(&in_use).copied().collect();
        files.retain(|number| in_use.contains(number));
        self.set_count(&files);
        free
    }

    fn set_count(&self, files: &BTreeSet<FileNumber>) {
        self.count.store(files.len(), Ordering::Relaxed);
        // See `count`.
        fence(Ordering::SeqCst);
    }

    // Every change is one insertion or removal.
    fn files(&self) -> MutexGuard<'_, BTreeSet<FileNumber>> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
