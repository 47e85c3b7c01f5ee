//! Which locks a transaction holds, for whoever looks for what holds others up.

use crate::db::handle::Db;
use crate::db::transaction_statistics::{self, HeldLockStats};

impl Db {
    /// The locks that the transaction with that number holds
    /// ([`TransactionStats::number`](crate::TransactionStats::number)), in the order in which it
    /// took them: the first 1024, or less where keys are longer than 64 bytes. How many it holds
    /// altogether, [`Db::stats`] says. None of one that has ended, is optimistic, or is prepared
    /// and was let go.
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
    /// tx.put(&db, "berth:3", "anna")?;
    /// let held = db.held_locks(db.stats().transactions[0].number);
    /// assert_eq!((held[0].mode, held[0].key.as_deref()), ("IX", None)); // Of the keyspace.
    /// assert_eq!((held[1].mode, held[1].key.as_deref()), ("X", Some(&b"berth:3"[..])));
    /// # Ok(())
    /// # }
    /// ```
    pub fn held_locks(&self, transaction: u64) -> Vec<HeldLockStats> {
        transaction_statistics::held_locks(self.database().core(), transaction)
    }
}
