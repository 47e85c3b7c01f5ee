//! Which keyspaces have sealed memtables that wait to be flushed.

use std::collections::BTreeSet;
use std::sync::PoisonError;

use crate::base::types::ids::KeyspaceId;
use crate::env::primitives::{Mutex, MutexGuard};

/// The keyspaces that have sealed memtables: mostly none or a few, of which all who look for
/// flushes are told, so that nobody need go over thousands to find them. Any thread may call
/// anything.
#[derive(Debug)]
pub struct SealedKeyspaces {
    ids: Mutex<BTreeSet<KeyspaceId>>,
}

impl Default for SealedKeyspaces {
    fn default() -> SealedKeyspaces {
        SealedKeyspaces {
            ids: Mutex::new(BTreeSet::new()),
        }
    }
}

impl SealedKeyspaces {
    /// Notes whether that keyspace has any, while nobody else can change that.
    pub fn note(&self, id: KeyspaceId, has_any: bool) {
        match has_any {
            true => self.ids().insert(id),
            false => self.ids().remove(&id),
        };
    }

    /// Those that have some now, by number; perhaps one that was dropped a moment ago.
    pub fn list(&self) -> Vec<KeyspaceId> {
        self.ids().iter().copied().collect()
    }

    // Each change is one insertion or removal.
    fn ids(&self) -> MutexGuard<'_, BTreeSet<KeyspaceId>> {
        self.ids.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
