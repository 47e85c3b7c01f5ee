//! A transaction: reads and writes that happen together, as if nobody else were there.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::base::options::call::{Isolation, ReadOptions, TransactionOptions, WriteOptions};
use crate::base::types::bytes::Bytes;
use crate::base::types::error::{Error, ErrorKind, Result};
use crate::base::types::ids::FileNumber;
use crate::base::types::limits::BATCH_BYTES_MAX;
use crate::base::types::user_code;
use crate::db::committing;
use crate::db::database_ref::DatabaseRef;
use crate::db::keyspace::KeyspaceParts;
use crate::db::keyspace_handle::Keyspace;
use crate::db::moment::{Moment, When};
use crate::db::readable::{AtMoment, inherent_reads};
use crate::db::settling;
use crate::db::snapshots::{SnapshotOwner, Ticket};
use crate::db::txn::live::LivePlace;
use crate::db::txn::state::TransactionState;
use crate::db::worker;
use crate::db::write_control;
use crate::db::writing;
use crate::store::batch::writer::{Batch, BatchMark};

/// Reads and writes over any keyspaces that happen together or not at all, as far apart from what
/// others do as its [`Isolation`] says.
///
/// It reads the database and its own writes, which nobody else sees before they are committed.
/// Nobody waits for anybody: what was read, or is written, is checked when it is committed, and
/// [`ErrorKind::Conflict`] says that somebody else was faster; then run it again, or have
/// [`Db::transaction`](crate::Db::transaction) do so. When it is dropped, it is rolled back.
///
/// Its writes lie in memory until then, a second time once it reads what it wrote; all together
/// have at most 2 GiB (`TooLarge`). Values that expire do so by the clock, whatever a transaction
/// saw before.
///
/// ```
/// # fn main() -> esker::Result<()> {
/// # let dir = tempfile::tempdir().expect("a temporary directory");
/// # let db = esker::Db::open(dir.path())?;
/// db.put("berth:3", "anna")?;
/// let mut tx = db.begin();
/// if let Some(ship) = tx.get("berth:3")? {
///     tx.delete(&db, "berth:3")?;
///     tx.put(&db, "berth:7", ship)?;
/// }
/// assert_eq!(tx.get("berth:7")?.as_deref(), Some(&b"anna"[..]));
/// assert_eq!(db.get("berth:7")?, None); // Not yet.
/// tx.commit()?;
/// assert!(db.contains_key("berth:7")?);
/// # Ok(())
/// # }
/// ```
pub struct Transaction {
    database: DatabaseRef,
    default: Arc<KeyspaceParts>,
    /// `None` only while being dropped.
    state: Option<TransactionState>,
    /// Keeps the traces of what others write, from before the first read that counts.
    pin: Mutex<Option<Ticket>>,
    savepoints: Vec<BatchMark>,
    live: LivePlace,
    /// Where files were when it began.
    first_file: FileNumber,
}

impl Transaction {
    /// One that begins now; panics in a merge operator or an order. `default` is the keyspace that
    /// the transaction itself reads.
    pub(crate) fn begin(
        database: DatabaseRef,
        default: Arc<KeyspaceParts>,
        options: TransactionOptions,
    ) -> Transaction {
        let core = database.core();
        user_code::forbid();
        let now = core.env.clock.monotonic();
        let first_file = core.numbers.peek();
        // As a snapshot: between reading the number and registering it nothing may come.
        let pin = (options.isolation != Isolation::ReadCommitted).then(|| {
            core.committer.paused(|_| {
                core.snapshots
                    .take(core.committer.visible(), now, SnapshotOwner::Transaction)
            })
        });
        let seen = pin.map_or_else(|| core.committer.visible(), |pin| pin.seqno);
        Transaction {
            state: Some(TransactionState::new(options.isolation, seen)),
            pin: Mutex::new(pin),
            savepoints: Vec::new(),
            live: core.transactions.begin(options.isolation, now),
            first_file,
            default,
            database,
        }
    }

    /// Another keyspace than `default`, as the transaction sees it.
    ///
    /// # Panics
    /// When the keyspace is one of another database.
    ///
    /// ```
    /// # fn main() -> esker::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a temporary directory");
    /// # let db = esker::Db::open(dir.path())?;
    /// let visits = db.keyspace("visits")?;
    /// let mut tx = db.begin();
    /// tx.put(&visits, "anna", "3")?;
    /// assert!(tx.of(&visits).contains_key("anna")?);
    /// assert!(!visits.contains_key("anna")?);
    /// # Ok(())
    /// # }
    /// ```
    pub fn of(&self, keyspace: &Keyspace) -> TransactionKeyspace<'_> {
        let parts = keyspace.parts_in(&self.database);
        TransactionKeyspace {
            transaction: self,
            parts: Arc::clone(parts.expect("a transaction reads keyspaces of its own database")),
        }
    }

    /// The value of a key that is to be written next: a commit that writes anything fails if
    /// anybody else writes to it meanwhile, whatever the isolation is. Errors as [`Keyspace::get`];
    /// `Invalid` for a keyspace of another database.
    ///
    /// ```
    /// # fn main() -> esker::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a temporary directory");
    /// # let db = esker::Db::open(dir.path())?;
    /// use esker::{ErrorKind, Isolation, TransactionOptions};
    ///
    /// let mut tx = db.begin_with(TransactionOptions { isolation: Isolation::ReadCommitted });
    /// let ships = tx.get_for_update(&db, "ships")?.map_or(0, |count| count.len());
    /// db.put("ships", "many")?;
    /// tx.put(&db, "ships", vec![b'I'; ships + 1])?;
    /// assert_eq!(tx.commit().unwrap_err().kind(), ErrorKind::Conflict);
    /// # Ok(())
    /// # }
    /// ```
    pub fn get_for_update(
        &self,
        keyspace: &Keyspace,
        key: impl AsRef<[u8]>,
    ) -> Result<Option<Bytes>> {
        let (parts, key) = (keyspace.parts_in(&self.database)?, key.as_ref());
        let core = self.database.core();
        let seen = match self.state().isolation() {
            Isolation::Snapshot | Isolation::Serializable => self.state().seen(),
            Isolation::ReadCommitted => {
                let mut pin = self.pin.lock().unwrap_or_else(PoisonError::into_inner);
                let now = core.env.clock.monotonic();
                pin.get_or_insert_with(|| {
                    core.snapshots
                        .take(core.committer.visible(), now, SnapshotOwner::Transaction)
                });
                // The read may see more: a write between the two is found then.
                core.committer.visible()
            }
        };
        self.state().reads_for_update(parts, key, seen);
        self.moment_of(parts).get(key)
    }

    /// Sets the value of a key. Errors: `TooLarge`; `Invalid` for a keyspace of another database;
    /// the transaction is as it was then.
    pub fn put(
        &mut self,
        keyspace: &Keyspace,
        key: impl AsRef<[u8]>,
        value: impl AsRef<[u8]>,
    ) -> Result<()> {
        let core = Arc::clone(self.database.core());
        let (key, value) = (key.as_ref(), value.as_ref());
        self.add(keyspace, value.len(), |batch, parts| {
            let expiry = writing::own_expiry(&core, parts);
            writing::put_kept(batch, parts, key, expiry, value)
        })
    }

    /// Sets the value of a key for a time, after which it is as if deleted. Errors as
    /// [`Transaction::put`].
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
        let expiry = writing::expiry(self.database.core(), ttl);
        self.put_until(keyspace, key, value, Some(expiry))
    }

    /// Sets the value of a key up to that unix second, or for good with `None`, whatever time to
    /// live the keyspace has. Errors as [`Transaction::put`].
    ///
    /// ```
    /// # fn main() -> esker::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a temporary directory");
    /// # let db = esker::Db::open(dir.path())?;
    /// let mut tx = db.begin();
    /// tx.put_until(&db, "visit", "anna", Some(4_000_000_000))?;
    /// assert_eq!(tx.expiry("visit")?, Some(Some(4_000_000_000)));
    /// # Ok(())
    /// # }
    /// ```
    pub fn put_until(
        &mut self,
        keyspace: &Keyspace,
        key: impl AsRef<[u8]>,
        value: impl AsRef<[u8]>,
        expiry_unix_s: Option<u32>,
    ) -> Result<()> {
        let (key, value) = (key.as_ref(), value.as_ref());
        self.add(keyspace, value.len(), |batch, parts| {
            writing::put_kept(batch, parts, key, expiry_unix_s, value)
        })
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
        self.add(keyspace, 0, |batch, parts| {
            batch.delete(parts.id, key.as_ref())
        })
    }

    /// Removes all keys from `start` up to `end`, exclusive; a write of others to any of them is a
    /// conflict. Errors as [`Transaction::put`].
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
        self.add(keyspace, 0, |batch, parts| {
            writing::delete_range(batch, parts, start.as_ref(), end.as_ref())
        })
    }

    /// Folds an operand into the value of a key, by the keyspace's merge operator. Not a conflict
    /// with any write of others, unless the key was read under `Serializable` or to be written: it
    /// is folded into whatever is there at the commit. Errors as [`Transaction::put`]; `Invalid`
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
        let operand = operand.as_ref();
        self.add(keyspace, operand.len(), |batch, parts| {
            writing::merge(batch, parts, key.as_ref(), operand)
        })
    }

    /// Remembers what is written so far, to come back to. They nest.
    ///
    /// ```
    /// # fn main() -> esker::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a temporary directory");
    /// # let db = esker::Db::open(dir.path())?;
    /// let mut tx = db.begin();
    /// tx.put(&db, "a", "1")?;
    /// tx.set_savepoint();
    /// tx.put(&db, "a", "2")?;
    /// tx.rollback_to_savepoint()?;
    /// assert_eq!(tx.get("a")?.as_deref(), Some(&b"1"[..]));
    /// # Ok(())
    /// # }
    /// ```
    pub fn set_savepoint(&mut self) {
        let mark = self.state().own().mark();
        self.savepoints.push(mark);
    }

    /// Forgets what was written since the last savepoint, and the savepoint. What was read since
    /// counts all the same. Errors: `Invalid` when there is none.
    pub fn rollback_to_savepoint(&mut self) -> Result<()> {
        let mark = self.savepoints.pop().ok_or_else(no_savepoint)?;
        self.state().own().rewind(&mark);
        Ok(())
    }

    /// Forgets the last savepoint, and keeps what was written since. Errors: `Invalid` when there
    /// is none.
    ///
    /// ```
    /// # fn main() -> esker::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a temporary directory");
    /// # let db = esker::Db::open(dir.path())?;
    /// let mut tx = db.begin();
    /// tx.set_savepoint();
    /// tx.put(&db, "a", "1")?;
    /// tx.pop_savepoint()?;
    /// assert!(tx.rollback_to_savepoint().is_err());
    /// assert_eq!(tx.len(), 1);
    /// # Ok(())
    /// # }
    /// ```
    pub fn pop_savepoint(&mut self) -> Result<()> {
        self.savepoints.pop().map(drop).ok_or_else(no_savepoint)
    }

    /// How many writes it has.
    pub fn len(&self) -> usize {
        self.state().own().count()
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes of the keys and values that it writes.
    pub fn size_bytes(&self) -> u64 {
        self.state().own().size_bytes()
    }

    /// Writes all of it; otherwise as [`Transaction::commit_with`].
    pub fn commit(self) -> Result<()> {
        self.commit_with(WriteOptions::default())
    }

    /// Writes all of it as told, if what it depends on is as it was.
    ///
    /// Errors: `Conflict` with the key that somebody else wrote to; those of
    /// [`Keyspace::put`](crate::Keyspace::put). Unless it is `Faulted` nothing was written then.
    ///
    /// ```
    /// # fn main() -> esker::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a temporary directory");
    /// # let db = esker::Db::open(dir.path())?;
    /// use esker::{Durability, ErrorKind, WriteOptions};
    ///
    /// let (mut first, mut second) = (db.begin(), db.begin());
    /// first.put(&db, "berth:3", "anna")?;
    /// second.put(&db, "berth:3", "bela")?;
    /// let synced = WriteOptions { durability: Some(Durability::Sync), ..WriteOptions::default() };
    /// first.commit_with(synced)?;
    /// assert_eq!(second.commit().unwrap_err().kind(), ErrorKind::Conflict);
    /// # Ok(())
    /// # }
    /// ```
    pub fn commit_with(self, options: WriteOptions) -> Result<()> {
        committing::commit(self.database.core(), self.state(), options)
    }

    /// Its place among all that were begun since the database was opened.
    pub(crate) fn number(&self) -> u64 {
        self.live.number
    }

    /// Forgets all of it, as dropping it does.
    pub fn rollback(self) {}

    fn state(&self) -> &TransactionState {
        self.state.as_ref().expect("there until dropped")
    }

    fn add(
        &mut self,
        keyspace: &Keyspace,
        value_bytes: usize,
        fill: impl FnOnce(&mut Batch<'static>, &KeyspaceParts) -> Result<()>,
    ) -> Result<()> {
        let parts = keyspace.parts_in(&self.database)?;
        let mut own = self.state().own();
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

    fn moment_of<'a>(&'a self, parts: &'a Arc<KeyspaceParts>) -> Moment<'a> {
        Moment {
            database: &self.database,
            parts,
            at: When::Within(self.state()),
            options: ReadOptions::default(),
        }
    }
}

fn no_savepoint() -> Error {
    Error::invalid("the transaction has no savepoint; set one first (`set_savepoint`)")
}

inherent_reads!(Transaction);

impl AtMoment for Transaction {
    fn moment(&self) -> Moment<'_> {
        self.moment_of(&self.default)
    }
}

impl Drop for Transaction {
    fn drop(&mut self) {
        let core = self.database.core();
        if core.gate.check_process().is_err() {
            // What it read in is shared under locks that may be held in a forked child.
            std::mem::forget(self.state.take());
            return;
        }
        // With the view of its last read, which may have kept files and memtables.
        self.state = None;
        write_control::let_go(core);
        worker::tidy(core);
        core.transactions.end(self.live);
        let pin = self.pin.get_mut().unwrap_or_else(PoisonError::into_inner);
        let Some(pin) = pin.take() else { return };
        core.snapshots.release(pin);
        // Only files that were written meanwhile can have kept anything for it.
        if core.numbers.peek() != self.first_file {
            worker::wake(core);
            settling::released(core, pin.seqno);
        }
    }
}

/// One keyspace as a transaction sees it. Made by [`Transaction::of`].
pub struct TransactionKeyspace<'a> {
    transaction: &'a Transaction,
    parts: Arc<KeyspaceParts>,
}

inherent_reads!(TransactionKeyspace<'_>);

impl AtMoment for TransactionKeyspace<'_> {
    fn moment(&self) -> Moment<'_> {
        self.transaction.moment_of(&self.parts)
    }
}
