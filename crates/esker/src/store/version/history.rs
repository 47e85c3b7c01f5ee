//! The current version, and older ones still in use.

use std::collections::{BTreeSet, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use arc_swap::{ArcSwap, Guard};

use crate::base::types::error::Result;
use crate::base::types::ids::FileNumber;
use crate::store::version::apply::apply;
use crate::store::version::edit::Change;
use crate::store::version::state::Version;

/// The current version, and older ones still in use. Any thread may call anything.
///
/// Reading takes no lock. Installing takes the lock of the older versions, and holds it while
/// the current one is replaced: whoever asks for the files in use sees each version either as
/// current or among the older ones.
#[derive(Debug)]
pub struct History {
    current: ArcSwap<Version>,
    older: Mutex<Vec<Weak<Version>>>,
}

impl History {
    /// A history that begins with that version.
    pub fn new(first: Arc<Version>) -> History {
        History {
            current: ArcSwap::new(first),
            older: Mutex::new(Vec::new()),
        }
    }

    /// The current version, to keep.
    pub fn current(&self) -> Arc<Version> {
        self.current.load_full()
    }

    /// The current version, for a moment: touches no counter that other threads touch.
    pub fn peek(&self) -> Guard<Arc<Version>> {
        self.current.load()
    }

    /// Makes `next` the current version. It must have been made of the current one.
    pub fn install(&self, next: Arc<Version>) {
        self.replace(&mut self.older(), next);
    }

    /// Applies an edit to the current version and installs what comes out. For callers without
    /// a manifest: with one, its `append` gives the version to install.
    ///
    /// Errors: as [`apply`]; the current version is then as it was.
    pub fn apply(&self, edit: &[Change]) -> Result<Arc<Version>> {
        let mut older = self.older();
        let next = Arc::new(apply(&self.peek(), edit)?);
        self.replace(&mut older, Arc::clone(&next));
        Ok(next)
    }

    /// The files of the current version and of all older ones that somebody still holds.
    pub fn files_in_use(&self) -> BTreeSet<FileNumber> {
        let versions = self.versions_in_use();
        let mut seen_levels = HashSet::new();
        let mut files = BTreeSet::new();
        for state in versions
            .iter()
            .flat_map(|version| version.keyspaces.values())
        {
            // Versions share the levels they do not differ in: most are looked at once.
            if seen_levels.insert(Arc::as_ptr(&state.levels)) {
                files.extend(state.levels.files().map(|(_, file)| file.number));
            }
        }
        files
    }

    /// The current version and all older ones that somebody still holds, oldest first.
    pub fn versions_in_use(&self) -> Vec<Arc<Version>> {
        let mut older = self.older();
        older.retain(|version| version.strong_count() > 0);
        let mut versions: Vec<_> = older.iter().filter_map(Weak::upgrade).collect();
        versions.push(self.current());
        versions
    }

    fn replace(&self, older: &mut Vec<Weak<Version>>, next: Arc<Version>) {
        let last = self.current.swap(next);
        older.retain(|version| version.strong_count() > 0);
        older.push(Arc::downgrade(&last));
    }

    // The list is a cache of pointers: a panic elsewhere cannot have left it half changed.
    fn older(&self) -> MutexGuard<'_, Vec<Weak<Version>>> {
        self.older.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;
