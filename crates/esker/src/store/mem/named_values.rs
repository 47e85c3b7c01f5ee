//! What a memtable's entries point to in the value log.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::base::types::ids::FileNumber;
use crate::store::vlog::pointer::ValuePointer;
use crate::store::vlog::value_pool::WaitingValue;

/// The segments that entries of a memtable name, the bytes that lie there, and the values that are
/// in no segment yet. Any thread may call anything.
#[derive(Default)]
pub struct NamedValues {
    bytes: AtomicU64,
    named: Mutex<Named>,
}

#[derive(Default)]
struct Named {
    segments: BTreeSet<FileNumber>,
    /// Every value that was not written when its entry was.
    waiting: Vec<Arc<WaitingValue>>,
}

impl NamedValues {
    /// Counts a record of `bytes` where that pointer leads.
    pub fn add(&self, pointer: &ValuePointer, bytes: u64) {
        if !pointer.is_to_no_place() {
            self.named().segments.insert(pointer.segment);
        }
        // Relaxed: a number for accounting, nothing is reached through it.
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Keeps values that entries point to and that are in no segment yet.
    pub fn keep(&self, values: impl IntoIterator<Item = Arc<WaitingValue>>) {
        self.named().waiting.extend(values);
    }

    /// Says that a value which was kept lies in `segment` from now on.
    pub fn moved_to(&self, segment: FileNumber) {
        self.named().segments.insert(segment);
    }

    /// Bytes of all records that were named, those of older versions of a key included.
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// The segments named so far.
    pub fn named_segments(&self) -> BTreeSet<FileNumber> {
        self.named().segments.clone()
    }

    /// The values that were not written when their entries were, oldest first.
    pub fn kept(&self) -> Vec<Arc<WaitingValue>> {
        self.named().waiting.clone()
    }

    // Every change is one insertion.
    fn named(&self) -> MutexGuard<'_, Named> {
        self.named.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
