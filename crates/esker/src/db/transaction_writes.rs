//! What a transaction writes: into memory, until it is committed.

use std::sync::Arc;
use std::time::Duration;

use crate::base::types::error::{Error, ErrorKind, Result};
use crate::base::types::expiry::Expiry;
use crate::base::types::limits::BATCH_BYTES_MAX;
use crate::db::keyspace::KeyspaceParts;
use crate::db::keyspace_handle::Keyspace;
use crate::db::locking;
use crate::db::other_end::put_again;
use crate::db::transaction::Transaction;
use crate::db::writing;
use crate::store::batch::writer::Batch;

/// What one write touches.
enum Touched<'a> {
    Key(&'a [u8]),
    /// Any keys of its keyspace.
    Keyspace,
}

impl Transaction {
    /// Sets the value of a key. Errors: `TooLarge`; `Invalid` for a keyspace of another database;
    /// of a [locking](crate::TransactionMode::Locking) transaction `LockTimeout` and `Deadlock`
    /// when somebody else has locked the key, and `Closed`. The transaction has what it had then.
    pub fn put(
        &mut self,
        keyspace: &Keyspace,
        key: impl AsRef<[u8]>,
        value: impl AsRef<[u8]>,
    ) -> Result<()> {
        let core = Arc::clone(self.database().core());
        let (key, value) = (key.as_ref(), value.as_ref());
        self.add(keyspace, Touched::Key(key), value.len(), |batch, parts| {
            let expiry = writing::own_expiry(&core, parts);
            writing::put_kept(batch, parts, key, expiry, value)
        })
    }

    /// Sets the value of a key for a time, after which it is as if deleted; never sooner. Counted
    /// as by [`Keyspace::put_with_ttl`], from this call on. Errors as [`Transaction::put`].
    ///
    /// ```
    /// # fn main() -> esker::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a temporary directory");
    /// # let db = esker::Db::open(dir.path())?;
    /// use std::time::Duration;
    ///
    /// let mut tx = db.begin();
    /// tx.put_with_ttl(&db, "session:7", "anna", Duration::from_secs(3600))?;
    /// tx.commit()?;
    /// assert!(db.expiry("session:7")?.flatten().is_some());
    /// # Ok(())
    /// # }
    /// ```
    pub fn put_with_ttl(
        &mut self,
        keyspace: &Keyspace,
        key: impl AsRef<[u8]>,
        value: impl AsRef<[u8]>,
        ttl: Duration,
    ) -> Result<()> {
        let expiry = writing::expiry(self.database().core(), keyspace.parts(), ttl);
        self.put_until(keyspace, key, value, Some(expiry))
    }

    /// Sets the value of a key up to that moment, or for good with `None`, whatever time to
    /// live the keyspace has. Errors as [`Transaction::put`].
    ///
    /// ```
    /// # fn main() -> esker::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a temporary directory");
    /// # let db = esker::Db::open(dir.path())?;
    /// let mut tx = db.begin();
    /// let end = esker::Expiry::from_unix_s(4_000_000_000);
    /// tx.put_until(&db, "visit", "anna", Some(end))?;
    /// assert_eq!(tx.expiry("visit")?, Some(Some(end)));
    /// # Ok(())
    /// # }
    /// ```
    pub fn put_until(
        &mut self,
        keyspace: &Keyspace,
        key: impl AsRef<[u8]>,
        value: impl AsRef<[u8]>,
        expiry: Option<Expiry>,
    ) -> Result<()> {
        let (key, value) = (key.as_ref(), value.as_ref());
        self.add(keyspace, Touched::Key(key), value.len(), |batch, parts| {
            writing::put_kept(batch, parts, key, expiry, value)
        })
    }

    /// Sets when a key's value ends, or has it stay with `None`; says whether
    /// there is a value, as the transaction sees it. The key counts as read to be written, as by
    /// [`Transaction::get_for_update`], and where the value ends before the commit, that is a
    /// conflict. A value that lies in the value log is neither read nor written again; a smaller
    /// one is a part of the transaction, as if it were put. Errors as [`Transaction::put`], and
    /// those of reading.
    ///
    /// ```
    /// # fn main() -> esker::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a temporary directory");
    /// # let db = esker::Db::open(dir.path())?;
    /// let end = esker::Expiry::from_unix_s(4_000_000_000);
    /// db.put_until("session:7", "anna", Some(end))?;
    /// db.transaction(|tx| {
    ///     tx.put(&db, "kept", "session:7")?;
    ///     tx.set_expiry(&db, "session:7", None)
    /// })?;
    /// assert_eq!(db.expiry("session:7")?, Some(None)); // It stays.
    /// # Ok(())
    /// # }
    /// ```
    pub fn set_expiry(
        &mut self,
        keyspace: &Keyspace,
        key: impl AsRef<[u8]>,
        expiry: Option<Expiry>,
    ) -> Result<bool> {
        let (parts, key) = (keyspace.parts_in(self.database())?, key.as_ref());
        self.reads_for_update(parts, key)?;
        // Kept until its segment is held.
        let (_view, stored) = self.moment_for_update(parts).stored(key)?;
        let Some(stored) = stored else {
            return Ok(false);
        };
        if stored.ends_at(expiry) {
            return Ok(true);
        }
        let core = Arc::clone(self.database().core());
        let (ended_at, value_bytes) = (stored.alive_until(), stored.written_bytes());
        let mut held = None;
        self.add(keyspace, Touched::Key(key), value_bytes, |batch, parts| {
            held = put_again(&core, batch, parts, key, stored, expiry)?;
            Ok(())
        })?;
        let mut own = self.state().own();
        if let Some(held) = held {
            own.hold(held.number, held.pending);
        }
        if let Some(ended_at) = ended_at {
            own.goes_on(ended_at);
        }
        Ok(true)
    }

    /// Removes a key. Errors as [`Transaction::put`].
    ///
    /// ```
    /// # fn main() -> esker::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a temporary directory");
    /// # let db = esker::Db::open(dir.path())?;
    /// db.put("a", "1")?;
    /// let mut tx = db.begin();
    /// tx.delete(&db, "a")?;
    /// assert_eq!((tx.get("a")?, db.contains_key("a")?), (None, true));
    /// # Ok(())
    /// # }
    /// ```
    pub fn delete(&mut self, keyspace: &Keyspace, key: impl AsRef<[u8]>) -> Result<()> {
        let key = key.as_ref();
        self.add(keyspace, Touched::Key(key), 0, |batch, parts| {
            batch.delete(parts.id, key)
        })
    }

    /// Removes all keys from `start` up to `end`, exclusive; a write of others to any of them is a
    /// conflict. A locking transaction locks the keyspace as a whole. Errors as
    /// [`Transaction::put`].
    ///
    /// ```
    /// # fn main() -> esker::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a temporary directory");
    /// # let db = esker::Db::open(dir.path())?;
    /// db.put("a", "1")?;
    /// let mut tx = db.begin();
    /// tx.delete_range(&db, "a", "c")?;
    /// tx.put(&db, "b", "2")?;
    /// assert_eq!(tx.iter()?.count(), 1);
    /// # Ok(())
    /// # }
    /// ```
    pub fn delete_range(
        &mut self,
        keyspace: &Keyspace,
        start: impl AsRef<[u8]>,
        end: impl AsRef<[u8]>,
    ) -> Result<()> {
        let (start, end) = (start.as_ref(), end.as_ref());
        let parts = keyspace.parts_in(self.database())?;
        if writing::is_empty_range(parts, start, end) {
            return Ok(());
        }
        self.add(keyspace, Touched::Keyspace, 0, |batch, parts| {
            writing::delete_range(batch, parts, start, end)
        })
    }

    /// Folds an operand into the value of a key, by the keyspace's merge operator. Not a conflict
    /// with any write of others, unless the key was read under `Serializable` or to be written: it
    /// is folded into whatever is there at the commit. (A locking transaction locks the key as for
    /// a put.) Errors as [`Transaction::put`]; `Invalid`
    /// without an operator.
    ///
    /// ```
    /// # fn main() -> esker::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a temporary directory");
    /// let db = esker::Db::builder(dir.path())
    ///     .merge_operator(esker::merge::uint64_add())
    ///     .open()?;
    /// let one = 1_u64.to_le_bytes();
    /// let mut tx = db.begin();
    /// tx.merge(&db, "visits", one)?;
    /// db.merge("visits", one)?;
    /// tx.commit()?;
    /// assert_eq!(db.get("visits")?.as_deref(), Some(&2_u64.to_le_bytes()[..]));
    /// # Ok(())
    /// # }
    /// ```
    pub fn merge(
        &mut self,
        keyspace: &Keyspace,
        key: impl AsRef<[u8]>,
        operand: impl AsRef<[u8]>,
    ) -> Result<()> {
        let (key, operand) = (key.as_ref(), operand.as_ref());
        self.add(
            keyspace,
            Touched::Key(key),
            operand.len(),
            |batch, parts| writing::merge(batch, parts, key, operand),
        )
    }

    // What it locked stays locked, whatever comes of the rest.
    fn add(
        &mut self,
        keyspace: &Keyspace,
        touched: Touched<'_>,
        value_bytes: usize,
        fill: impl FnOnce(&mut Batch<'static>, &KeyspaceParts) -> Result<()>,
    ) -> Result<()> {
        let parts = keyspace.parts_in(self.database())?;
        let (core, state) = (self.database().core(), self.state());
        match touched {
            Touched::Key(key) => locking::before_write(core, state, parts, key)?,
            Touched::Keyspace => locking::before_range_write(core, state, parts)?,
        }
        let mut own = state.own();
        if own.size_bytes() + value_bytes as u64 > BATCH_BYTES_MAX as u64 {
            let message = format!(
                "a transaction of {} bytes cannot take {value_bytes} more; the limit is \
                 {BATCH_BYTES_MAX}: do it in parts",
                own.size_bytes()
            );
            return Err(Error::new(ErrorKind::TooLarge, message));
        }
        fill(own.batch_for(parts), parts)
    }
}
