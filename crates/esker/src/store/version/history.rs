//! The current version, and the files that readers of older ones still hold.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use arc_swap::{ArcSwap, Guard};

use crate::base::types::error::Result;
use crate::base::types::ids::FileNumber;
use crate::store::version::apply::apply;
use crate::store::version::edit::Change;
use crate::store::version::levels::Levels;
use crate::store::version::state::Version;

/// The current version, and the files that readers of older ones still hold. Any thread may
/// call anything.
///
/// A reader holds the levels of one keyspace, not a whole version: so it keeps alive the files of
/// that keyspace only. Whoever holds a version holds the levels of all its keyspaces.
///
/// Reading takes no lock. Installing takes the lock of the older levels, and holds it while the
/// current version is replaced: whoever asks for the files in use sees each `Levels` either in
/// the current version or among the older ones.
///
/// Cost of installing: one comparison of pointers for each part of the keyspaces, and for each
/// keyspace of a part that an edit changed; only levels that it changed or dropped join the older
/// ones.
#[derive(Debug)]
pub struct History {
    current: ArcSwap<Version>,
    /// Levels that were in the current version once and are no more.
    older: Mutex<Vec<Weak<Levels>>>,
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

    /// The files of the current version, and of all older levels that somebody still holds.
    pub fn files_in_use(&self) -> BTreeSet<FileNumber> {
        let (current, older) = self.in_use();
        let states = current.keyspaces.values();
        let levels = states.map(|state| &state.levels).chain(&older);
        levels
            .flat_map(|levels| levels.files().map(|(_, file)| file.number))
            .collect()
    }

    /// The segments of the value log that those files point into.
    pub fn value_segments_in_use(&self) -> BTreeSet<FileNumber> {
        let (current, older) = self.in_use();
        let states = current.keyspaces.values();
        let levels = states.map(|state| &state.levels).chain(&older);
        levels
            .flat_map(|levels| levels.values().iter().map(|(segment, _)| segment))
            .collect()
    }

    // Both as of one moment; the lock is free again when their files are looked at.
    fn in_use(&self) -> (Arc<Version>, Vec<Arc<Levels>>) {
        let older = self.older();
        let held = older.iter().filter_map(Weak::upgrade).collect();
        (self.current(), held)
    }

    fn replace(&self, older: &mut Vec<Weak<Levels>>, next: Arc<Version>) {
        let last = self.current.swap(Arc::clone(&next));
        older.retain(|levels| levels.strong_count() > 0);
        // There may be thousands, and every edit leads here.
        let changed = last.keyspaces.not_shared_with(&next.keyspaces);
        let left = changed.filter(|state| {
            let now = next.keyspaces.get(&state.id);
            !now.is_some_and(|now| Arc::ptr_eq(&now.levels, &state.levels))
        });
        older.extend(left.map(|state| Arc::downgrade(&state.levels)));
    }

    // The list is a cache of pointers: a panic elsewhere cannot have left it half changed.
    fn older(&self) -> MutexGuard<'_, Vec<Weak<Levels>>> {
        self.older.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;
