//! One transaction under way: where it stands among others' writes, what it wrote, what it read.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use crate::base::options::call::{Isolation, TransactionMode, TransactionOptions};
use crate::base::types::error::{Error, Result};
use crate::base::types::range::KeyRange;
use crate::base::types::seqno::{SeqNo, Visibility};
use crate::db::keyspace::KeyspaceParts;
use crate::db::snapshots::Ticket;
use crate::db::txn::for_update::ForUpdate;
use crate::db::txn::locks::owned_locks::{LockMark, OwnedLocks};
use crate::db::txn::own_writes::OwnWrites;
use crate::db::txn::read_set::{ReadSet, ScanRecorder};
use crate::flow::read::view::View;

/// What a transaction knows of itself. Any thread may read in it; its owner writes.
pub struct TransactionState {
    isolation: Isolation,
    mode: TransactionMode,
    /// How long it waits for a lock, in nanoseconds.
    lock_timeout_ns: AtomicU64,
    /// `None` while there are none: of an optimistic one, and once they were given away.
    locks: Mutex<Option<TransactionLocks>>,
    /// The snapshot at whose number it reads, and since when what it depends on may not have
    /// changed. It keeps the traces of what others write.
    pin: OnceLock<Ticket>,
    /// At which number plain reads see what is committed, under `ReadCommitted`, where somebody
    /// asked for one moment for several of them. Whoever sets it keeps it registered.
    chosen: Option<SeqNo>,
    own: Mutex<OwnWrites>,
    reads: ReadSet,
    for_update: Mutex<ForUpdate>,
}

/// The locks of a transaction.
pub struct TransactionLocks {
    /// They.
    pub owned: OwnedLocks,
    /// Whether every write that was under way when the first of them was taken is visible by now.
    pub has_passed: bool,
}

impl TransactionState {
    /// One that wrote nothing yet; `locks` are there if it is to lock what it touches.
    pub fn new(options: TransactionOptions, locks: Option<OwnedLocks>) -> TransactionState {
        let locks = locks.map(|owned| TransactionLocks {
            owned,
            has_passed: false,
        });
        TransactionState {
            isolation: options.isolation,
            mode: options.mode,
            lock_timeout_ns: AtomicU64::new(nanos(options.lock_timeout)),
            locks: Mutex::new(locks),
            pin: OnceLock::new(),
            chosen: None,
            own: Mutex::default(),
            reads: ReadSet::default(),
            for_update: Mutex::default(),
        }
    }

    /// What the commit depends on besides what was written.
    pub fn reads(&self) -> &ReadSet {
        &self.reads
    }

    /// Since when what the commit depends on may not have changed; zero before there is a snapshot.
    pub fn seen(&self) -> SeqNo {
        self.pin.get().map_or(SeqNo::ZERO, |pin| pin.seqno)
    }

    /// The snapshot that it holds, taken by `take` if there is none yet.
    pub fn pinned(&self, take: impl FnOnce() -> Ticket) -> Ticket {
        *self.pin.get_or_init(take)
    }

    /// The snapshot that it holds, if there is any.
    pub fn pin(&self) -> Option<Ticket> {
        self.pin.get().copied()
    }

    /// Its locks: held for as long as somebody waits for one more.
    pub fn locks(&self) -> MutexGuard<'_, Option<TransactionLocks>> {
        // A panic leaves what was held before.
        self.locks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Its locks, for who holds them from now on; `None` if it locks nothing.
    pub fn take_locks(&self) -> Option<OwnedLocks> {
        self.locks().take().map(|locks| locks.owned)
    }

    /// Which locks it holds now; `None` if it locks nothing.
    pub fn lock_mark(&self) -> Option<LockMark> {
        self.locks().as_ref().map(|locks| locks.owned.mark())
    }

    /// Gives back the locks that were taken since.
    pub fn release_to(&self, mark: LockMark) {
        if let Some(locks) = &mut *self.locks() {
            locks.owned.release_to(mark);
            // Writes that come before the next one need not heed it.
            locks.has_passed &= locks.owned.is_holding();
        }
    }

    /// Gives back the locks of keys that were taken since, unless it has written since; says
    /// whether it did.
    pub fn release_keys_since(&self, mark: LockMark) -> bool {
        self.locks().as_mut().is_some_and(|locks| {
            let is_done = locks.owned.release_keys_since(mark);
            // Writes that come before the next one need not heed it.
            locks.has_passed &= locks.owned.is_holding();
            is_done
        })
    }

    /// How long it waits for a lock.
    pub fn lock_timeout(&self) -> Duration {
        // Relaxed: a number by itself.
        Duration::from_nanos(self.lock_timeout_ns.load(Ordering::Relaxed))
    }

    /// It waits so long for a lock from now on.
    pub fn set_lock_timeout(&self, timeout: Duration) {
        self.lock_timeout_ns
            .store(nanos(timeout), Ordering::Relaxed);
    }

    /// What keeps it apart from others.
    pub fn mode(&self) -> TransactionMode {
        self.mode
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

    /// From now on plain reads see what was committed at that number, which is registered; with
    /// `None` each sees what is committed by then. For `ReadCommitted`.
    pub fn choose(&mut self, seqno: Option<SeqNo>) {
        assert_eq!(self.isolation(), Isolation::ReadCommitted);
        self.chosen = seqno;
    }

    /// The number at which a plain read sees what is committed; `now` is the last write that
    /// everybody sees.
    pub fn reads_at(&self, now: SeqNo) -> SeqNo {
        match self.isolation() {
            Isolation::ReadCommitted => self.chosen.unwrap_or(now),
            Isolation::Snapshot | Isolation::Serializable => self.seen(),
        }
    }

    /// Whether it may read what is committed by now. Errors: `Invalid` under `Serializable`.
    pub fn check_latest(&self) -> Result<()> {
        match self.isolation() {
            Isolation::ReadCommitted | Isolation::Snapshot => Ok(()),
            Isolation::Serializable => Err(Error::invalid(
                "a serializable transaction reads nothing later than its snapshot, or it would \
                 have no place in the order of all; begin it with another isolation",
            )),
        }
    }

    /// What a read of that keyspace sees: `view`, and in front of it the transaction's own writes.
    /// `committed` is the last write of others that it sees; the last that everybody sees is to be
    /// asked for after the view. Errors: `Invalid` when the keyspace's comparator panics.
    pub fn view(
        &self,
        parts: &KeyspaceParts,
        view: Arc<View>,
        committed: SeqNo,
    ) -> Result<(Arc<View>, Visibility)> {
        self.own().in_front_of(parts, view, committed)
    }

    /// A key is read.
    pub fn reads_key(&self, parts: &Arc<KeyspaceParts>, key: &[u8]) {
        if self.isolation() == Isolation::Serializable {
            self.reads.add_key(parts, key);
        }
    }

    /// A key is read at `seen` to be written.
    pub fn reads_for_update(&self, parts: &Arc<KeyspaceParts>, key: &[u8], seen: SeqNo) {
        self.for_update().push(parts, key, seen);
    }

    /// The keys that were read to be written.
    pub fn for_update(&self) -> MutexGuard<'_, ForUpdate> {
        // Its changes are pushes, each of which counts from its last step on.
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
        let is_counted = self.isolation() == Isolation::Serializable;
        is_counted.then(|| self.reads.recorder(parts, range.clone()))
    }
}

/// 584 years are enough for whoever wants to wait for ever.
fn nanos(timeout: Duration) -> u64 {
    u64::try_from(timeout.as_nanos()).unwrap_or(u64::MAX)
}
