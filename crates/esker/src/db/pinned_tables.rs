//! Memtables that lie in sorted files and that a reader still holds.

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use crate::flow::current::Sealed;
use crate::store::mem::memtable::Memtable;

/// Memtables that lie in sorted files and that a reader still holds: a cursor keeps those that
/// were there when it was made. And those of a dropped keyspace that somebody has a handle of. Any
/// thread may call anything.
#[derive(Debug, Default)]
pub struct PinnedTables {
    tables: Mutex<Vec<Table>>,
    /// How many there may be: asked by every cursor that ends, which should touch no lock for it.
    count: AtomicUsize,
}

struct Table {
    table: Weak<Memtable>,
    bytes: usize,
    flushed_at: Duration,
}

/// What is pinned at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PinnedSum {
    /// How many memtables.
    pub count: usize,
    /// Their bytes.
    pub bytes: usize,
    /// When the one that has been pinned longest was flushed.
    pub oldest_at: Option<Duration>,
}

impl PinnedTables {
    /// Notes that these were flushed at that moment.
    pub fn flushed(&self, sealed: &[Sealed], now: Duration) {
        let mut tables = self.tables.lock().unwrap_or_else(PoisonError::into_inner);
        tables.extend(sealed.iter().map(|sealed| Table {
            table: Arc::downgrade(&sealed.table),
            bytes: sealed.table.used_bytes(),
            flushed_at: now,
        }));
        // Relaxed: advice, for who may as well look a little later.
        self.count.store(tables.len(), Ordering::Relaxed);
    }

    /// Whether there may be any.
    #[inline]
    pub fn are_any(&self) -> bool {
        // Relaxed: as above.
        self.count.load(Ordering::Relaxed) > 0
    }

    /// Those that are held now.
    pub fn look(&self) -> PinnedSum {
        let mut tables = self.tables.lock().unwrap_or_else(PoisonError::into_inner);
        tables.retain(|table| table.table.strong_count() > 0);
        // Relaxed: as above.
        self.count.store(tables.len(), Ordering::Relaxed);
        PinnedSum {
            count: tables.len(),
            bytes: tables.iter().map(|table| table.bytes).sum(),
            oldest_at: tables.iter().map(|table| table.flushed_at).min(),
        }
    }
}

impl fmt::Debug for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes since {:?}", self.bytes, self.flushed_at)
    }
}
