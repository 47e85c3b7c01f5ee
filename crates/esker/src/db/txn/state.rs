//! One transaction under way: where it stands among others' writes, what it wrote, what it read.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::base::options::call::Isolation;
use crate::base::types::error::Result;
use crate::base::types::range::KeyRange;
use crate::base::types::seqno::{SeqNo, Visibility};
use crate::db::keyspace::KeyspaceParts;
use crate::db::txn::own_writes::OwnWrites;
use crate::db::txn::read_set::{ReadSet, ScanRecorder};
use crate::flow::read::view::View;

/// What a transaction knows of itself. Any thread may read in it; its owner writes.
pub struct TransactionState {
    isolation: Isolation,
    /// The number at which it reads, and since which what it depends on may not have changed.
    seen: SeqNo,
    own: Mutex<OwnWrites>,
    reads: ReadSet,
    for_update: Mutex<Vec<ForUpdate>>,
}

/// A key that was read to be written.
pub struct ForUpdate {
    /// Its keyspace.
    pub parts: Arc<KeyspaceParts>,
    /// The key.
    pub key: Vec<u8>,
    /// The number at which it was read.
    pub seen: SeqNo,
}

impl TransactionState {
    /// One that wrote nothing yet, with a snapshot at `seen` held until it has ended.
    pub fn new(isolation: Isolation, seen: SeqNo) -> TransactionState {
        TransactionState {
            isolation,
            seen,
            own: Mutex::default(),
            reads: ReadSet::default(),
            for_update: Mutex::default(),
        }
    }

    /// What the commit depends on besides what was written.
    pub fn reads(&self) -> &ReadSet {
        &self.reads
    }

    /// Since when what the commit depends on may not have changed.
    pub fn seen(&self) -> SeqNo {
        self.seen
    }

    /// How far it is kept apart from others.
    pub fn isolation(&self) -> Isolation {
        self.isolation
    }

    /// Its own writes.
    pub fn own(&self) -> MutexGuard<'_, OwnWrites> {
        // A panic of a comparator leaves tables that are made again.
        self.own.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What a read of that keyspace sees: `view`, and in front of it the transaction's own writes.
    /// `now` is the last write that everybody sees, asked for after the view. Errors: `Invalid`
    /// when the keyspace's comparator panics.
    pub fn view(
        &self,
        parts: &KeyspaceParts,
        view: Arc<View>,
        now: SeqNo,
    ) -> Result<(Arc<View>, Visibility)> {
        let committed = match self.isolation {
            Isolation::ReadCommitted => now,
            Isolation::Snapshot | Isolation::Serializable => self.seen,
        };
        self.own().in_front_of(parts, view, committed)
    }

    /// A key is read.
    pub fn reads_key(&self, parts: &Arc<KeyspaceParts>, key: &[u8]) {
        if self.isolation == Isolation::Serializable {
            self.reads.add_key(parts, key);
        }
    }

    /// A key is read at `seen` to be written.
    pub fn reads_for_update(&self, parts: &Arc<KeyspaceParts>, key: &[u8], seen: SeqNo) {
        self.for_update().push(ForUpdate {
            parts: Arc::clone(parts),
            key: key.to_vec(),
            seen,
        });
    }

    /// The keys that were read to be written.
    pub fn for_update(&self) -> MutexGuard<'_, Vec<ForUpdate>> {
        // Its changes are pushes.
        self.for_update
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// A cursor is opened over `range`; what it comes through goes to the recorder, if it counts.
    pub fn reads_range(
        &self,
        parts: &Arc<KeyspaceParts>,
        range: &KeyRange,
    ) -> Option<ScanRecorder> {
        let is_counted = self.isolation == Isolation::Serializable;
        is_counted.then(|| self.reads.recorder(parts, range.clone()))
    }
}
