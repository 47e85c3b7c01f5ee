//! A transaction that is prepared: it survives, and is committed or rolled back later.

use std::fmt;

use crate::base::options::call::WriteOptions;
use crate::base::types::bytes::Bytes;
use crate::base::types::error::Result;
use crate::db::database_ref::DatabaseRef;
use crate::db::handle::Db;
use crate::db::ordered_commit::OrderedCommit;
use crate::db::preparing::{self, PreparedStats};
use crate::db::transaction::Transaction;
use crate::flow::write::prepared::CommitRoom;

/// A transaction that is prepared: its writes and its id are durable, and nobody sees them yet.
/// Made by [`Transaction::prepare`].
///
/// It stays prepared until it is committed or rolled back, here or by its id
/// ([`Db::commit_prepared`], [`Db::rollback_prepared`]): also when this is dropped, when the
/// database is closed, and after a crash. Until then whoever writes to a key that it writes to, or
/// that it read to be written, waits as for a lock, and is told
/// [`ErrorKind::LockTimeout`](crate::ErrorKind::LockTimeout) in the end, or at once
/// [`ErrorKind::Conflict`](crate::ErrorKind::Conflict) in an optimistic transaction; if it is
/// serializable, of any key that it read.
#[must_use = "it stays prepared, and keeps its keys from others, until it is ended"]
pub struct PreparedTransaction {
    database: DatabaseRef,
    id: Bytes,
    /// Has the log keep room for [`PreparedTransaction::commit_ordered`].
    _room: CommitRoom,
}

impl fmt::Debug for PreparedTransaction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PreparedTransaction(\"{}\")", self.id.escape_ascii())
    }
}

impl PreparedTransaction {
    /// By what it is known.
    pub fn id(&self) -> &[u8] {
        &self.id
    }

    /// Writes all of it; otherwise as [`PreparedTransaction::commit_with`].
    ///
    /// ```
    /// # fn main() -> esker::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a temporary directory");
    /// # let db = esker::Db::open(dir.path())?;
    /// let mut tx = db.begin();
    /// tx.put(&db, "ship:anna", "in port")?;
    /// let prepared = tx.prepare("arrival 7")?;
    /// assert!(!db.contains_key("ship:anna")?);
    /// prepared.commit()?;
    /// assert!(db.contains_key("ship:anna")?);
    /// # Ok(())
    /// # }
    /// ```
    pub fn commit(self) -> Result<()> {
        self.commit_with(WriteOptions::default())
    }

    /// Writes all of it as told: it depends on nothing any more. What was not synced when the power
    /// is lost is prepared again afterwards.
    ///
    /// Errors: those of [`Keyspace::put`](crate::Keyspace::put). Unless it is `Faulted` the
    /// transaction stays prepared, and can be committed by its id.
    pub fn commit_with(self, options: WriteOptions) -> Result<()> {
        preparing::commit_prepared(self.database.core(), &self.id, options)
    }

    /// Writes all of it now, in the order of the calls of this: that is its place in the log and
    /// the order in which readers see it. For a server that has a log of its own, and commits here
    /// in the order of that. [`OrderedCommit::finish`] ends it, at leisure, and
    /// [`Db::notify_when_durable`] tells when it is on the medium; until then a power cut may have
    /// it prepared again, and with it all that were committed later.
    ///
    /// Waits for no room in memory, no rate and no sync, and is not refused for lack of space: the
    /// log keeps room for it from the prepare on, while this handle is held. Any thread may call
    /// it.
    ///
    /// Errors: `Faulted` after a failed write; `Closed`; `Invalid` when it was ended by its id.
    /// Only where all that is prepared has more than a quarter of a segment of the log (setting
    /// `wal.segment_size`), also `OutOfSpace`, and it stays prepared.
    ///
    /// ```
    /// # fn main() -> esker::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a temporary directory");
    /// # let db = esker::Db::open(dir.path())?;
    /// let mut tx = db.begin();
    /// tx.put(&db, "ship:anna", "in port")?;
    /// let prepared = tx.prepare("arrival 7")?;
    /// // Here the server writes its own log, of many transactions at once; then, in its order:
    /// let committed = prepared.commit_ordered()?;
    /// assert!(db.contains_key("ship:anna")?);
    /// committed.finish()?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn commit_ordered(self) -> Result<OrderedCommit> {
        let position = preparing::commit_ordered(self.database.core(), &self.id)?;
        Ok(OrderedCommit::new(self.database, position))
    }

    /// Forgets all of it; otherwise as [`PreparedTransaction::rollback_with`].
    pub fn rollback(self) -> Result<()> {
        self.rollback_with(WriteOptions::default())
    }

    /// Forgets all of it as told. A rollback that was not synced when the power is lost is prepared
    /// again afterwards. Errors: as [`PreparedTransaction::commit_with`].
    ///
    /// ```
    /// # fn main() -> esker::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a temporary directory");
    /// # let db = esker::Db::open(dir.path())?;
    /// use esker::{Durability, WriteOptions};
    ///
    /// let mut tx = db.begin();
    /// tx.put(&db, "ship:anna", "in port")?;
    /// let prepared = tx.prepare("arrival 7")?;
    /// // Nothing else has written down how it was decided.
    /// prepared.rollback_with(WriteOptions {
    ///     durability: Some(Durability::Sync),
    ///     ..WriteOptions::default()
    /// })?;
    /// assert!(!db.contains_key("ship:anna")?);
    /// # Ok(())
    /// # }
    /// ```
    pub fn rollback_with(self, options: WriteOptions) -> Result<()> {
        preparing::rollback_prepared(self.database.core(), &self.id, options)
    }
}

impl Transaction {
    /// Ends the first of two phases: makes the writes durable under `id`, 1 to 256 bytes that name
    /// no other transaction which is prepared, if what it depends on is as it was. From here on a
    /// commit depends on nothing. For one decision over several databases: prepare in each, write
    /// the decision down, then commit each; after a crash [`Db::prepared`] lists what is undecided.
    ///
    /// The first one of a database raises its format to 2, which older programs refuse.
    ///
    /// Errors: `Conflict` as of [`Transaction::commit_with`], also where another prepared
    /// transaction has claimed a key; `Invalid` for an id that is in use or of another length;
    /// those of [`Keyspace::put`](crate::Keyspace::put). Unless it is `Faulted` the transaction is
    /// rolled back then.
    ///
    /// ```
    /// # fn main() -> esker::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a temporary directory");
    /// # let db = esker::Db::open(dir.path())?;
    /// use esker::ErrorKind;
    ///
    /// let mut tx = db.begin();
    /// tx.put(&db, "berth:3", "anna")?;
    /// let prepared = tx.prepare("arrival 7")?;
    /// let mut other = db.begin();
    /// other.put(&db, "berth:3", "bela")?;
    /// assert_eq!(other.commit().unwrap_err().kind(), ErrorKind::Conflict);
    /// prepared.rollback()?;
    /// db.put("berth:3", "bela")?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn prepare(self, id: impl AsRef<[u8]>) -> Result<PreparedTransaction> {
        let id = id.as_ref();
        let room = preparing::prepare(self.database().core(), self.state(), id)?;
        Ok(PreparedTransaction {
            database: self.database().clone(),
            id: Bytes::copy_of(id),
            _room: room,
        })
    }
}

impl Db {
    /// The transactions that are prepared, by their ids: also those of before a crash, which
    /// somebody has to decide on.
    ///
    /// # Panics
    /// In a merge operator or a comparator.
    ///
    /// ```
    /// # fn main() -> esker::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a temporary directory");
    /// # let db = esker::Db::open(dir.path())?;
    /// let mut tx = db.begin();
    /// tx.put(&db, "ship:anna", "in port")?;
    /// drop(tx.prepare("arrival 7")?);
    /// db.close()?;
    ///
    /// let db = esker::Db::open(dir.path())?;
    /// let prepared = db.prepared();
    /// assert_eq!((&*prepared[0].id, prepared[0].entries), (&b"arrival 7"[..], 1));
    /// db.commit_prepared("arrival 7")?;
    /// assert!(db.prepared().is_empty() && db.contains_key("ship:anna")?);
    /// # Ok(())
    /// # }
    /// ```
    pub fn prepared(&self) -> Vec<PreparedStats> {
        preparing::list(self.database().core())
    }

    /// Commits the transaction that is prepared under `id`; otherwise as
    /// [`PreparedTransaction::commit`]. Errors: `Invalid` when none is.
    pub fn commit_prepared(&self, id: impl AsRef<[u8]>) -> Result<()> {
        self.commit_prepared_with(id, WriteOptions::default())
    }

    /// Commits the transaction that is prepared under `id`; otherwise as
    /// [`PreparedTransaction::commit_with`]. Errors: `Invalid` when none is.
    ///
    /// ```
    /// # fn main() -> esker::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a temporary directory");
    /// # let db = esker::Db::open(dir.path())?;
    /// use esker::{Durability, WriteOptions};
    ///
    /// let mut tx = db.begin();
    /// tx.put(&db, "ship:anna", "in port")?;
    /// drop(tx.prepare("arrival 7")?);
    /// let synced = WriteOptions {
    ///     durability: Some(Durability::Sync),
    ///     ..WriteOptions::default()
    /// };
    /// db.commit_prepared_with("arrival 7", synced)?;
    /// assert!(db.contains_key("ship:anna")?);
    /// # Ok(())
    /// # }
    /// ```
    pub fn commit_prepared_with(&self, id: impl AsRef<[u8]>, options: WriteOptions) -> Result<()> {
        preparing::commit_prepared(self.database().core(), id.as_ref(), options)
    }

    /// Rolls back the transaction that is prepared under `id`; otherwise as
    /// [`PreparedTransaction::rollback`]. Errors: `Invalid` when none is.
    ///
    /// ```
    /// # fn main() -> esker::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a temporary directory");
    /// # let db = esker::Db::open(dir.path())?;
    /// let mut tx = db.begin();
    /// tx.put(&db, "ship:anna", "in port")?;
    /// drop(tx.prepare("arrival 7")?);
    /// db.rollback_prepared("arrival 7")?;
    /// assert!(db.rollback_prepared("arrival 7").is_err());
    /// # Ok(())
    /// # }
    /// ```
    pub fn rollback_prepared(&self, id: impl AsRef<[u8]>) -> Result<()> {
        self.rollback_prepared_with(id, WriteOptions::default())
    }

    /// Rolls back the transaction that is prepared under `id`; otherwise as
    /// [`PreparedTransaction::rollback_with`]. Errors: `Invalid` when none is.
    ///
    /// ```
    /// # fn main() -> esker::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a temporary directory");
    /// # let db = esker::Db::open(dir.path())?;
    /// use esker::{Durability, WriteOptions};
    ///
    /// let mut tx = db.begin();
    /// tx.put(&db, "ship:anna", "in port")?;
    /// drop(tx.prepare("arrival 7")?);
    /// let synced = WriteOptions {
    ///     durability: Some(Durability::Sync),
    ///     ..WriteOptions::default()
    /// };
    /// db.rollback_prepared_with("arrival 7", synced)?;
    /// assert!(db.prepared().is_empty());
    /// # Ok(())
    /// # }
    /// ```
    pub fn rollback_prepared_with(
        &self,
        id: impl AsRef<[u8]>,
        options: WriteOptions,
    ) -> Result<()> {
        preparing::rollback_prepared(self.database().core(), id.as_ref(), options)
    }
}
