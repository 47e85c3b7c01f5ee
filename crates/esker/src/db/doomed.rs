//! Sorted files that left the current version and wait until nobody reads them.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::base::types::ids::FileNumber;

/// Sorted files that left the current version and wait until nobody reads them.
#[derive(Debug, Default)]
pub struct Doomed {
    files: Mutex<BTreeSet<FileNumber>>,
}

impl Doomed {
    /// Dooms a file.
    pub fn add(&self, number: FileNumber) {
        self.files().insert(number);
    }

    /// How many files wait.
    pub fn count(&self) -> usize {
        self.files().len()
    }

    /// Takes out every doomed file that is not among `in_use`. The lock is held while that is
    /// gathered, so that a file doomed meanwhile is judged by what is in use after it was.
    pub fn take_free(&self, in_use: impl FnOnce() -> BTreeSet<FileNumber>) -> Vec<FileNumber> {
        let mut files = self.files();
        if files.is_empty() {
            return Vec::new();
        }
        let in_use = in_use();
        let free: Vec<FileNumber> = files.difference(&in_use).copied().collect();
        files.retain(|number| in_use.contains(number));
        free
    }

    // Every change is one insertion or removal.
    fn files(&self) -> MutexGuard<'_, BTreeSet<FileNumber>> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
