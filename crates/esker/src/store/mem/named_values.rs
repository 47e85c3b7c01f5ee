//! What a memtable's entries point to in the value log.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::base::types::ids::FileNumber;

/// The segments that entries of a memtable name, and the bytes that lie there. One writer adds,
/// any thread reads.
#[derive(Debug, Default)]
pub struct NamedValues {
    bytes: AtomicU64,
    segments: Mutex<BTreeSet<FileNumber>>,
}

impl NamedValues {
    /// Counts a record of `bytes` in `segment`.
    pub fn add(&self, segment: FileNumber, bytes: u64) {
        self.segments().insert(segment);
        // Relaxed: a number for accounting, nothing is reached through it.
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Bytes of all records that were named, those of older versions of a key included.
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// The segments named so far.
    pub fn named(&self) -> BTreeSet<FileNumber> {
        self.segments().clone()
    }

    // Every change is one insertion.
    fn segments(&self) -> MutexGuard<'_, BTreeSet<FileNumber>> {
        self.segments.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
