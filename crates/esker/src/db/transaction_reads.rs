//! What a transaction reads besides its snapshot: a moment of its choice, the latest, many at once.

use std::sync::Arc;

use crate::base::options::call::Isolation;
use crate::base::types::bytes::Bytes;
use crate::base::types::error::{Error, Result};
use crate::db::keyspace_handle::Keyspace;
use crate::db::locking;
use crate::db::moment::{When, check};
use crate::db::transaction::{ChosenMoment, Transaction, TransactionKeyspace, release};

impl Transaction {
    /// From now on plain reads see the database as it is now, and its own writes, until the next
    /// call or [`Transaction::clear_snapshot`]. What is read to be written, or to stay as it is, is
    /// read as it is by then, all the same: by `get_for_update`, `multi_get_for_update`,
    /// `get_for_share` and `set_expiry`.
    ///
    /// For `ReadCommitted`. Called before each statement, all that one statement reads is of one
    /// moment: SQL's READ COMMITTED. Called once, it is what SQL servers with locks name REPEATABLE
    /// READ: no commit is refused for what others wrote since. What others overwrite is kept on the
    /// disk until the moment is given up, or the transaction ends.
    ///
    /// Under `Snapshot` and `Serializable` a transaction has one snapshot for good. One that locks
    /// takes it with its first read or lock, and here, if it has none yet.
    ///
    /// Errors: `Invalid` under those two, if it has its snapshot; `Closed`.
    ///
    /// ```
    /// # fn main() -> esker::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a temporary directory");
    /// # let db = esker::Db::open(dir.path())?;
    /// use esker::{Isolation, TransactionMode, TransactionOptions};
    ///
    /// db.put("berth:3", "anna")?;
    /// let mut tx = db.begin_with(TransactionOptions {
    ///     isolation: Isolation::ReadCommitted,
    ///     mode: TransactionMode::Locking,
    ///     ..TransactionOptions::default()
    /// });
    /// tx.set_snapshot()?;
    /// db.put("berth:3", "bela")?;
    /// assert_eq!(tx.get("berth:3")?.as_deref(), Some(&b"anna"[..]));
    /// // To be written, it is locked and read as it is.
    /// assert_eq!(tx.get_for_update(&db, "berth:3")?.as_deref(), Some(&b"bela"[..]));
    /// tx.set_snapshot()?; // The next statement.
    /// assert_eq!(tx.get("berth:3")?.as_deref(), Some(&b"bela"[..]));
    /// # Ok(())
    /// # }
    /// ```
    pub fn set_snapshot(&mut self) -> Result<()> {
        let core = Arc::clone(self.database().core());
        // It passes the lock of all writers, which may be held in a forked child, and is held where
        // an operator runs.
        check(&core)?;
        match self.state().isolation() {
            Isolation::ReadCommitted => {
                let first_file = core.numbers.peek();
                let ticket = locking::register(&core);
                let before = self.choose(Some(ChosenMoment { ticket, first_file }));
                if let Some(ChosenMoment { ticket, first_file }) = before {
                    release(&core, ticket, first_file);
                }
                Ok(())
            }
            Isolation::Snapshot | Isolation::Serializable if self.state().pin().is_some() => {
                Err(Error::invalid(
                    "the transaction has its snapshot for good; begin one with \
                     Isolation::ReadCommitted to choose others, or read with \
                     `Transaction::latest`",
                ))
            }
            Isolation::Snapshot | Isolation::Serializable => {
                locking::take_snapshot(&core, self.state());
                Ok(())
            }
        }
    }

    /// From now on each plain read sees what is committed by then, as before
    /// [`Transaction::set_snapshot`]. Nothing under `Snapshot` and `Serializable`, where a snapshot
    /// is for good. Errors: `Closed`; `Invalid` in a forked process.
    pub fn clear_snapshot(&mut self) -> Result<()> {
        let core = Arc::clone(self.database().core());
        check(&core)?;
        if self.state().isolation() != Isolation::ReadCommitted {
            return Ok(());
        }
        if let Some(ChosenMoment { ticket, first_file }) = self.choose(None) {
            release(&core, ticket, first_file);
        }
        Ok(())
    }

    /// A keyspace with all that is committed by the time of each read, whatever the transaction's
    /// snapshot, and with its own writes: to look, under a lock, whether a key that has to be
    /// unique is there, or for the keys that a statement is about to lock. Locks nothing, and the
    /// commit does not depend on it. An iterator sees one moment, that of its making.
    ///
    /// Its reads are `Invalid` under `Serializable`, which could not answer for them.
    ///
    /// # Panics
    /// When the keyspace is one of another database.
    ///
    /// ```
    /// # fn main() -> esker::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a temporary directory");
    /// # let db = esker::Db::open(dir.path())?;
    /// let mut tx = db.begin();
    /// tx.put(&db, "captain:anna", "ship 7")?;
    /// db.put("captain:bela", "ship 3")?;
    /// assert_eq!(tx.iter()?.count(), 1);
    /// assert_eq!(tx.latest(&db).iter()?.count(), 2);
    /// # Ok(())
    /// # }
    /// ```
    pub fn latest(&self, keyspace: &Keyspace) -> TransactionKeyspace<'_> {
        self.of(keyspace).at(When::Latest(self.state()))
    }

    /// The values of several keys that are to be written next, in their order; otherwise as
    /// [`Transaction::get_for_update`] of each, and cheaper, as `multi_get` is. The keys are locked
    /// in their bytewise order, so that two that want the same ones do not wait for each other.
    ///
    /// Refused, it keeps the locks of those keys that it came to before; go back to a savepoint to
    /// give them up.
    ///
    /// ```
    /// # fn main() -> esker::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a temporary directory");
    /// # let db = esker::Db::open(dir.path())?;
    /// use esker::{TransactionMode, TransactionOptions};
    ///
    /// db.put("account:anna", "100")?;
    /// let tx = db.begin_with(TransactionOptions {
    ///     mode: TransactionMode::Locking,
    ///     ..TransactionOptions::default()
    /// });
    /// let found = tx.multi_get_for_update(&db, &["account:bela", "account:anna"])?;
    /// assert_eq!(found[0], None);
    /// assert_eq!(found[1].as_deref(), Some(&b"100"[..]));
    /// # Ok(())
    /// # }
    /// ```
    pub fn multi_get_for_update<K: AsRef<[u8]>>(
        &self,
        keyspace: &Keyspace,
        keys: &[K],
    ) -> Result<Vec<Option<Bytes>>> {
        let parts = keyspace.parts_in(self.database())?;
        let mut sorted: Vec<&[u8]> = keys.iter().map(AsRef::as_ref).collect();
        sorted.sort_unstable();
        sorted.dedup();
        for key in sorted {
            self.reads_for_update(parts, key)?;
        }
        self.moment_for_update(parts).multi_get(keys)
    }
}

#[cfg(test)]
mod tests;
