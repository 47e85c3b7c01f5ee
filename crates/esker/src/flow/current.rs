//! The view that new reads of a keyspace take, and its changes: seal, install, renew, fold by.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, PoisonError};

use crate::base::hooks::event_reasons::FlushReason;
use crate::base::types::bytes::Bytes;
use crate::base::types::ids::{FileNumber, KeyspaceId};
use crate::base::types::seqno::SeqNo;
use crate::env::primitives::{ArcSwap, Guard, Mutex, MutexGuard};
use crate::flow::read::fold::Folder;
use crate::flow::read::view::{View, ViewParts};
use crate::flow::sealed_keyspaces::SealedKeyspaces;
use crate::store::mem::memtable::Memtable;
use crate::store::version::levels::Levels;

/// A memtable that takes no more writes and waits to be flushed.
#[derive(Clone)]
pub struct Sealed {
    /// Its entries.
    pub table: Arc<Memtable>,
    /// Oldest log segment that may hold any of them; `None` of an unlogged keyspace.
    pub first_log: Option<FileNumber>,
    /// No entry of the keyspace up to this number lies in a newer memtable.
    pub last_seqno: SeqNo,
    /// Up to which mark everything is in it or in older ones; of an unlogged keyspace only.
    pub mark: Option<Bytes>,
    /// What time it was then, in unix milliseconds; of a keyspace with a clock of its own only.
    pub clock_ms: Option<u64>,
    /// Why it was sealed; for people.
    pub reason: FlushReason,
}

/// How many memtables of which keyspaces, the oldest sealed ones, an edit puts into files.
pub type FlushedTables = BTreeMap<KeyspaceId, usize>;

/// The current view of one keyspace.
///
/// Readers load it without waiting for anybody. The write path seals and the install path
/// installs; each change is one swap of the whole view, so a reader sees every entry in exactly
/// one place.
pub struct Current {
    view: ArcSwap<View>,
    // Guards the swap as well: all changes read the view they replace.
    sealed: Mutex<VecDeque<Sealed>>,
    /// Who is told whether there are any.
    told: Option<Arc<SealedKeyspaces>>,
}

impl Current {
    /// A keyspace that starts with a view of these parts, and with `sealed` tables, oldest
    /// first, which are among the view's memtables already.
    pub fn new(parts: ViewParts, sealed: Vec<Sealed>) -> Current {
        assert!(parts.memtables.len() == sealed.len() + 1);
        let view = ArcSwap::from_pointee(View::new(parts, None));
        Current {
            view,
            sealed: Mutex::new(sealed.into()),
            told: None,
        }
    }

    /// The same, which tells whether it has sealed memtables.
    pub fn telling(self, told: Arc<SealedKeyspaces>) -> Current {
        let told = Some(told);
        let current = Current { told, ..self };
        current.tell(&current.waiting());
        current
    }

    /// The view for a new read.
    #[inline]
    pub fn load(&self) -> Guard<Arc<View>> {
        self.view.load()
    }

    /// The view for a read that keeps it.
    pub fn view(&self) -> Arc<View> {
        self.view.load_full()
    }

    /// Puts `live` in the place of the live memtable, which is sealed.
    pub fn seal(&self, live: Arc<Memtable>, sealed: Sealed) {
        let mut waiting = self.waiting();
        let before = self.view.load();
        let mut parts = before.parts().clone();
        assert!(Arc::ptr_eq(&parts.memtables[0], &sealed.table));
        parts.memtables.insert(0, live);
        waiting.push_back(sealed);
        self.view.store(Arc::new(View::new(parts, Some(&before))));
        self.tell(&waiting);
    }

    /// Swaps in the levels of a new version. The `flushed_count` oldest sealed memtables lie in
    /// its files now.
    pub fn install(&self, levels: Arc<Levels>, flushed_count: usize) {
        let mut waiting = self.waiting();
        let before = self.view.load();
        let mut parts = before.parts().clone();
        waiting.drain(..flushed_count);
        parts.memtables.truncate(1 + waiting.len());
        parts.levels = levels;
        self.view.store(Arc::new(View::new(parts, Some(&before))));
        self.tell(&waiting);
    }

    /// Puts `live` in the place of the live memtable, which is empty and stays so: what is written
    /// from now on only views from now on have.
    pub fn renew(&self, live: Arc<Memtable>) {
        let _waiting = self.waiting();
        let before = self.view.load();
        let mut parts = before.parts().clone();
        assert!(parts.memtables[0].is_empty());
        parts.memtables[0] = live;
        self.view.store(Arc::new(View::new(parts, Some(&before))));
    }

    /// New reads fold merge operands with `folder`.
    pub fn fold_by(&self, folder: Folder) {
        let _waiting = self.waiting();
        let before = self.view.load();
        let mut parts = before.parts().clone();
        parts.folder = folder;
        self.view.store(Arc::new(View::new(parts, Some(&before))));
    }

    /// The sealed memtables that wait to be flushed, oldest first.
    pub fn sealed(&self) -> Vec<Sealed> {
        self.waiting().iter().cloned().collect()
    }

    /// The sealed memtable that came last and waits to be flushed.
    pub fn newest_sealed(&self) -> Option<Sealed> {
        self.waiting().back().cloned()
    }

    /// How many sealed memtables wait to be flushed.
    pub fn sealed_count(&self) -> usize {
        self.waiting().len()
    }

    fn tell(&self, waiting: &VecDeque<Sealed>) {
        if let Some(told) = &self.told {
            let id = self.view.load().parts().keyspace;
            told.note(id, !waiting.is_empty());
        }
    }

    // Its changes assign whole values, so a poisoned lock guards a whole list.
    fn waiting(&self) -> MutexGuard<'_, VecDeque<Sealed>> {
        self.sealed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(all(test, loom))]
mod loom_models;
#[cfg(all(test, not(loom)))]
mod tests;
