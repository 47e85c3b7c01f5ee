//! The settings in effect, which change while the database is open.

use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use arc_swap::ArcSwap;

use crate::base::options::call::Durability;
use crate::base::options::resolve::Resolved;

const MEMORY: u8 = Durability::Memory as u8;
const BUFFERED: u8 = Durability::Buffered as u8;

/// Every setting in effect with its origin. Any thread may read them and waits for nobody; they
/// are changed while changes of keyspaces are kept away.
pub struct SettingsInEffect {
    all: ArcSwap<Resolved>,
    /// One of them again: every write asks for it, and a load of all costs a put 2 percent.
    durability: AtomicU8,
}

impl SettingsInEffect {
    /// Those.
    pub fn new(settings: Resolved) -> SettingsInEffect {
        SettingsInEffect {
            durability: AtomicU8::new(settings.db.durability as u8),
            all: ArcSwap::from_pointee(settings),
        }
    }

    /// All of them now.
    pub fn load(&self) -> impl Deref<Target = Arc<Resolved>> + use<> {
        self.all.load()
    }

    /// All of them now, for who keeps them.
    pub fn load_full(&self) -> Arc<Resolved> {
        self.all.load_full()
    }

    /// What a write is to survive that does not say it.
    #[inline]
    pub fn durability(&self) -> Durability {
        // Relaxed, here and below: a number that orders nothing else.
        match self.durability.load(Ordering::Relaxed) {
            MEMORY => Durability::Memory,
            BUFFERED => Durability::Buffered,
            _ => Durability::Sync,
        }
    }

    /// Puts others in their place.
    pub fn store(&self, settings: Resolved) {
        let durability = settings.db.durability as u8;
        self.durability.store(durability, Ordering::Relaxed);
        self.all.store(Arc::new(settings));
    }
}

#[cfg(test)]
mod tests;
