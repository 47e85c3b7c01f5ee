//! What a transaction locks besides what it writes, how long it waits, and who ends its wait.

use std::fmt;
use std::sync::{Arc, Weak};
use std::time::Duration;

use crate::base::options::call::Isolation;
use crate::base::types::bytes::Bytes;
use crate::base::types::error::{Error, Result};
use crate::db::core::Core;
use crate::db::keyspace_handle::Keyspace;
use crate::db::transaction::Transaction;
use crate::db::txn::locks::lock_id::TxnId;
use crate::db::txn::locks::lock_mode::KeyMode;
use crate::db::txn::locks::owned_locks::LockMark;

impl Transaction {
    /// The value of a key that nobody is to write before the transaction ends, though others may
    /// read it in the same way: what SQL calls `LOCK IN SHARE MODE`. A locking transaction shares
    /// the lock of the key; who wants to write waits for all who share it. Two that share a key and
    /// both write to it are a [`Deadlock`](crate::ErrorKind::Deadlock) for the second. Otherwise as
    /// [`Transaction::get_for_update`], for optimistic transactions altogether.
    ///
    /// ```
    /// # fn main() -> esker::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a temporary directory");
    /// # let db = esker::Db::open(dir.path())?;
    /// use std::time::Duration;
    /// use esker::{ErrorKind, TransactionMode, TransactionOptions};
    ///
    /// let locking = TransactionOptions {
    ///     mode: TransactionMode::Locking,
    ///     lock_timeout: Duration::ZERO,
    ///     ..TransactionOptions::default()
    /// };
    /// db.put("berth:3", "free")?;
    /// let (first, second) = (db.begin_with(locking), db.begin_with(locking));
    /// assert!(first.get_for_share(&db, "berth:3")?.is_some());
    /// assert!(second.get_for_share(&db, "berth:3")?.is_some());
    /// let mut third = db.begin_with(locking);
    /// let refused = third.put(&db, "berth:3", "anna").unwrap_err();
    /// assert_eq!(refused.kind(), ErrorKind::LockTimeout);
    /// # Ok(())
    /// # }
    /// ```
    pub fn get_for_share(
        &self,
        keyspace: &Keyspace,
        key: impl AsRef<[u8]>,
    ) -> Result<Option<Bytes>> {
        let key = key.as_ref();
        self.lock_for_share(keyspace, key)?;
        let parts = keyspace.parts_in(self.database())?;
        self.moment_for_update(parts).get(key)
    }

    /// Does to a key what [`Transaction::get_for_update`] does, and reads nothing. The key need not
    /// be there, nor ever be: also a name that transactions agree on, such as the part of a key
    /// that has to be unique.
    ///
    /// ```
    /// # fn main() -> esker::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a temporary directory");
    /// # let db = esker::Db::open(dir.path())?;
    /// use esker::{TransactionMode, TransactionOptions};
    ///
    /// let mut tx = db.begin_with(TransactionOptions {
    ///     mode: TransactionMode::Locking,
    ///     ..TransactionOptions::default()
    /// });
    /// tx.lock_for_update(&db, "captain:anna")?; // Nobody else makes her a captain meanwhile.
    /// if tx.prefix("captain:anna:")?.next().is_none() {
    ///     tx.put(&db, "captain:anna:ship 7", "")?;
    /// }
    /// tx.commit()?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn lock_for_update(&self, keyspace: &Keyspace, key: impl AsRef<[u8]>) -> Result<()> {
        let parts = keyspace.parts_in(self.database())?;
        self.reads_for_update(parts, key.as_ref())
    }

    /// Does to a key what [`Transaction::get_for_share`] does, and reads nothing.
    pub fn lock_for_share(&self, keyspace: &Keyspace, key: impl AsRef<[u8]>) -> Result<()> {
        let parts = keyspace.parts_in(self.database())?;
        self.keeps(parts, key.as_ref(), KeyMode::Shared)
    }

    /// Where the transaction stands among the locks that it takes, for
    /// [`Transaction::unlock_since`]; goes up with each that it takes, and zero in an optimistic
    /// one.
    pub fn lock_place(&self) -> u64 {
        self.state().lock_mark().map_or(0, LockMark::number)
    }

    /// Gives back the locks of keys that were taken since that place, of reads that turned out not
    /// to matter: others may write to those keys from now on, and what was read of them is to be
    /// forgotten. What SQL does with rows that do not match, under READ COMMITTED. Keys that were
    /// locked before stay so. Under `Snapshot` the commit depends on what was read of them all the
    /// same, as of whatever was read to be written. `false`, and nothing was given back, if the
    /// transaction has written anything since, or was never there.
    ///
    /// Errors: `Invalid` of a serializable transaction, whose commit depends on all that it read.
    ///
    /// ```
    /// # fn main() -> esker::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a temporary directory");
    /// # let db = esker::Db::open(dir.path())?;
    /// use std::time::Duration;
    /// use esker::{Isolation, TransactionMode, TransactionOptions};
    ///
    /// let locking = TransactionOptions {
    ///     isolation: Isolation::ReadCommitted,
    ///     mode: TransactionMode::Locking,
    ///     lock_timeout: Duration::ZERO,
    /// };
    /// db.put("berth:3", "taken")?;
    /// let (mut first, mut second) = (db.begin_with(locking), db.begin_with(locking));
    /// let place = first.lock_place();
    /// if first.get_for_update(&db, "berth:3")?.as_deref() != Some(b"free") {
    ///     assert!(first.unlock_since(place)?);
    /// }
    /// second.put(&db, "berth:3", "free")?; // It does not wait.
    /// # Ok(())
    /// # }
    /// ```
    pub fn unlock_since(&mut self, place: u64) -> Result<bool> {
        match self.state().isolation() {
            Isolation::Serializable => Err(Error::invalid(
                "a serializable transaction keeps the locks of all that it read",
            )),
            Isolation::ReadCommitted | Isolation::Snapshot => {
                Ok(self.state().release_keys_since(LockMark::numbered(place)))
            }
        }
    }

    /// Waits so long for each lock from now on; zero is not to wait. Before that, as long as its
    /// [options](crate::TransactionOptions::lock_timeout) said. For a server whose sessions each
    /// say how long they wait, statement by statement.
    ///
    /// ```
    /// # fn main() -> esker::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a temporary directory");
    /// # let db = esker::Db::open(dir.path())?;
    /// use std::time::Duration;
    /// use esker::{TransactionMode, TransactionOptions};
    ///
    /// let locking = TransactionOptions {
    ///     mode: TransactionMode::Locking,
    ///     ..TransactionOptions::default()
    /// };
    /// let (mut first, mut second) = (db.begin_with(locking), db.begin_with(locking));
    /// first.put(&db, "berth:3", "anna")?;
    /// second.set_lock_timeout(Duration::ZERO);
    /// assert!(second.put(&db, "berth:3", "bela").is_err()); // At once.
    /// # Ok(())
    /// # }
    /// ```
    pub fn set_lock_timeout(&mut self, timeout: Duration) {
        self.state().set_lock_timeout(timeout);
    }

    /// A handle by which any thread ends the transaction's wait for a lock.
    ///
    /// ```
    /// # fn main() -> esker::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a temporary directory");
    /// # let db = esker::Db::open(dir.path())?;
    /// use std::time::Duration;
    /// use esker::{ErrorKind, TransactionMode, TransactionOptions};
    ///
    /// let locking = TransactionOptions {
    ///     mode: TransactionMode::Locking,
    ///     lock_timeout: Duration::from_secs(3600),
    ///     ..TransactionOptions::default()
    /// };
    /// let (mut first, mut second) = (db.begin_with(locking), db.begin_with(locking));
    /// first.put(&db, "berth:3", "anna")?;
    /// let interrupter = second.interrupter();
    /// let waits = std::thread::spawn({
    ///     let db = db.clone();
    ///     move || second.put(&db, "berth:3", "bela").unwrap_err().kind()
    /// });
    /// interrupter.interrupt(); // Before the wait or in it: it ends.
    /// assert_eq!(waits.join().expect("no panic"), ErrorKind::Interrupted);
    /// # Ok(())
    /// # }
    /// ```
    pub fn interrupter(&mut self) -> Interrupter {
        let presence = Arc::downgrade(self.presence());
        Interrupter {
            core: Arc::downgrade(self.database().core()),
            transaction: TxnId(self.number()),
            presence,
        }
    }

    /// Waits again from now on, after an [interruption](Interrupter::interrupt).
    pub fn clear_interrupt(&mut self) {
        let owner = TxnId(self.number());
        self.database().core().locks.clear_interrupt(owner);
    }
}

/// Ends the wait of one transaction for locks, from any thread: what a server does when a user
/// gives up a statement. Made by [`Transaction::interrupter`].
///
/// It holds neither the database nor the transaction: when one of them is gone, it does nothing.
#[derive(Clone)]
pub struct Interrupter {
    core: Weak<Core>,
    transaction: TxnId,
    presence: Weak<()>,
}

impl Interrupter {
    /// From now on the transaction waits for no lock, and for nothing that a prepared one claims:
    /// the call that does is told [`Interrupted`](crate::ErrorKind::Interrupted), and so is each
    /// later one that would, until [`Transaction::clear_interrupt`]. What can be had without
    /// waiting it gets.
    pub fn interrupt(&self) {
        let Some(core) = self.core.upgrade() else {
            return;
        };
        if core.gate.check_process().is_err() {
            return;
        }
        let is_there = || self.presence.strong_count() > 0;
        core.locks.interrupt(self.transaction, is_there);
        // Whoever waits for a prepared transaction looks again.
        core.committer.claims_ended.raise();
    }
}

impl fmt::Debug for Interrupter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Interrupter({})", self.transaction)
    }
}

#[cfg(test)]
mod tests;
