//! Locks of keyspaces as a whole, which a transaction takes by name.

use crate::base::options::call::TransactionMode;
use crate::base::types::error::{Error, Result};
use crate::db::keyspace_handle::Keyspace;
use crate::db::locking;
use crate::db::transaction::Transaction;
use crate::db::txn::locks::lock_mode::KeyMode;

impl Transaction {
    /// Locks a keyspace for itself alone, until it ends: nobody else writes to it, and nobody reads
    /// in it under a lock; other reads go on. It waits as for the lock of a key, for all who lock
    /// anything inside. From then on the transaction takes no locks of keys there, so a bulk of
    /// writes costs one lock, and is a part of the transaction all the same. Also for changes of
    /// how a keyspace is used, such as another index.
    ///
    /// For locking transactions. Errors: `Invalid` in others, which lock nothing, and for a
    /// keyspace of another database; `LockTimeout`, `Deadlock` and `Closed` as of
    /// [`Transaction::put`].
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
    /// tx.lock_keyspace_for_update(&db)?;
    /// for berth in 0..1_000 {
    ///     tx.put(&db, format!("berth:{berth:03}"), "free")?;
    /// }
    /// assert_eq!(db.stats().locks.held_count, 1);
    /// tx.commit()?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn lock_keyspace_for_update(&self, keyspace: &Keyspace) -> Result<()> {
        self.lock_whole(keyspace, KeyMode::Exclusive)
    }

    /// Locks a keyspace together with others who do so, until it ends: nobody writes to it. Under
    /// `ReadCommitted` what is read in it from then on stays as it is, ranges too, as SQL's
    /// SERIALIZABLE wants of a table. Waits for all who have locked keys inside to write to them.
    /// Errors as [`Transaction::lock_keyspace_for_update`].
    ///
    /// ```
    /// # fn main() -> esker::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a temporary directory");
    /// # let db = esker::Db::open(dir.path())?;
    /// use esker::{ErrorKind, Isolation, TransactionMode, TransactionOptions, WriteOptions};
    ///
    /// let tx = db.begin_with(TransactionOptions {
    ///     isolation: Isolation::ReadCommitted,
    ///     mode: TransactionMode::Locking,
    ///     ..TransactionOptions::default()
    /// });
    /// tx.lock_keyspace_for_share(&db)?;
    /// let count = tx.iter()?.count();
    /// let now = db.with_write(WriteOptions { no_wait: true, ..WriteOptions::default() });
    /// assert_eq!(now.put("berth:7", "bela").unwrap_err().kind(), ErrorKind::Busy);
    /// assert_eq!(tx.iter()?.count(), count);
    /// # Ok(())
    /// # }
    /// ```
    pub fn lock_keyspace_for_share(&self, keyspace: &Keyspace) -> Result<()> {
        self.lock_whole(keyspace, KeyMode::Shared)
    }

    fn lock_whole(&self, keyspace: &Keyspace, mode: KeyMode) -> Result<()> {
        let parts = keyspace.parts_in(self.database())?;
        if self.state().mode() == TransactionMode::Optimistic {
            return Err(Error::invalid(
                "an optimistic transaction locks nothing; begin it with TransactionMode::Locking",
            ));
        }
        locking::whole(self.database().core(), self.state(), parts, mode)
    }
}

#[cfg(test)]
mod tests;
