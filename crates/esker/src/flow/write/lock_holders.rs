//! How many hold locks that writes must heed; one number that every write looks at.
//!
//! The locks themselves lie above (`db/txn/locks`). What the write path needs of them is whether
//! there are any, asked under the lock of all writers.

use crate::env::primitives::atomic::{AtomicUsize, Ordering};

/// How many owners hold a lock for longer than one write takes. Any thread may call anything.
///
/// An owner is counted before it takes its first lock. So a write that asks under the mutex under
/// which it becomes visible, and is told none, is visible to every owner that passes that mutex
/// once between its first lock and its first read. Plain writes that hold locks for a moment are
/// not counted: else they would hold up one another when the last transaction is gone.
#[derive(Debug, Default)]
pub struct LockHolders(AtomicUsize);

impl LockHolders {
    /// Whether there is any.
    #[inline]
    pub fn is_any(&self) -> bool {
        self.count() != 0
    }

    /// How many there are.
    #[inline]
    pub fn count(&self) -> usize {
        // SeqCst: a writer that is told none must be before `begin` in the one order that all agree
        // on.
        self.0.load(Ordering::SeqCst)
    }

    /// An owner is about to take its first lock.
    pub fn begin(&self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }

    /// An owner has given back its last lock.
    pub fn end(&self) {
        let before = self.0.fetch_sub(1, Ordering::SeqCst);
        assert!(before > 0);
    }
}
