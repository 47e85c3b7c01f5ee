//! Which locks a transaction holds, for whoever looks for what holds others up.

use std::time::Duration;

use crate::base::types::error::Result;
use crate::base::types::limits::NOTED_LOCKS_MAX;
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

    /// What the transaction that is prepared under `id` keeps from others, also after a crash: the
    /// first 1024 keys in the order of each keyspace, `X` of those that it writes to, and `S` of
    /// those that it read to write elsewhere. How many there are, [`Db::prepared`] says; ranges of
    /// keys are counted there, and not listed here. Errors: `Invalid` when none is prepared so.
    ///
    /// ```
    /// # fn main() -> esker::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a temporary directory");
    /// # let db = esker::Db::open(dir.path())?;
    /// let mut tx = db.begin();
    /// tx.put(&db, "ship:anna", "in port")?;
    /// drop(tx.prepare("arrival 7")?);
    /// let held = db.prepared_locks("arrival 7")?;
    /// assert_eq!((held[0].mode, held[0].key.as_deref()), ("X", Some(&b"ship:anna"[..])));
    /// # Ok(())
    /// # }
    /// ```
    pub fn prepared_locks(&self, id: impl AsRef<[u8]>) -> Result<Vec<HeldLockStats>> {
        let core = self.database().core();
        let now = core.env.clock.unix_seconds();
        core.committer.paused(|active| {
            let prepared = active.prepared().get(id.as_ref())?;
            let held = Duration::from_secs(now.saturating_sub(prepared.read().prepared_unix_s));
            let keys = prepared.claimed_keys().take(NOTED_LOCKS_MAX);
            let locks = keys.map(|(keyspace, key, is_written)| {
                let parts = core.keyspaces.by_id(keyspace);
                HeldLockStats {
                    keyspace: parts.map(|parts| parts.name.clone()),
                    key: Some(key.to_vec()),
                    mode: if is_written { "X" } else { "S" },
                    held,
                }
            });
            Ok(locks.collect())
        })
    }
}
