//! A batch: writes to any keyspaces that happen together or not at all.

use std::sync::Arc;
use std::time::Duration;

use crate::base::options::call::WriteOptions;
use crate::base::types::bytes::Bytes;
use crate::base::types::error::{Error, ErrorKind, Result};
use crate::base::types::expiry::Expiry;
use crate::base::types::limits::{BATCH_BYTES_MAX, MARK_BYTES_MAX};
use crate::db::core::Core;
use crate::db::database_ref::DatabaseRef;
use crate::db::keyspace::KeyspaceParts;
use crate::db::keyspace_handle::Keyspace;
use crate::db::new_ends::{BatchWithEnds, NewEnd};
use crate::db::writing::{self, Terms};
use crate::flow::write::unlogged::{NewMark, machine_time, marked_log};
use crate::store::batch::writer::Batch;

/// Writes that happen together: after a crash all of them are there or none. Over several
/// keyspaces, none of them unlogged.
///
/// Adding a write never fails. One that the database cannot take (`TooLarge`; `Invalid` for a
/// keyspace of another database, a merge without an operator, a range that ends before it starts)
/// is left out, and the commit then is refused with the first of these errors, with nothing
/// written; [`WriteBatch::take_refusal`] tells sooner.
///
/// ```
/// # fn main() -> esker::Result<()> {
/// # let dir = tempfile::tempdir().expect("a temporary directory");
/// # let db = esker::Db::open(dir.path())?;
/// let by_name = db.keyspace("by name")?;
/// db.batch().put(&db, "7", "anna").put(&by_name, "anna", "7").commit()?;
/// assert_eq!(by_name.get("anna")?.as_deref(), Some(&b"7"[..]));
/// # Ok(())
/// # }
/// ```
pub struct WriteBatch {
    database: DatabaseRef,
    batch: Batch<'static>,
    /// Among the writes of `batch`, in the order in which they were given.
    new_ends: Vec<NewEnd>,
    /// Bytes of their keys.
    new_ends_bytes: usize,
    mark: Option<NewMark>,
    /// Why the first write that was left out was not taken.
    refusal: Option<Error>,
}

impl WriteBatch {
    pub(crate) fn new(database: DatabaseRef) -> WriteBatch {
        WriteBatch {
            database,
            batch: Batch::new(),
            new_ends: Vec::new(),
            new_ends_bytes: 0,
            mark: None,
            refusal: None,
        }
    }

    /// Sets the value of a key.
    ///
    /// ```
    /// # fn main() -> esker::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a temporary directory");
    /// # let db = esker::Db::open(dir.path())?;
    /// let mut batch = db.batch();
    /// for number in 0..1000_u32 {
    ///     batch.put(&db, number.to_be_bytes(), "ship");
    /// }
    /// batch.commit()?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn put(
        &mut self,
        keyspace: &Keyspace,
        key: impl AsRef<[u8]>,
        value: impl AsRef<[u8]>,
    ) -> &mut WriteBatch {
        self.add(keyspace, |core, batch, parts| {
            let expiry = writing::own_expiry(core, parts);
            writing::put_kept(batch, parts, key.as_ref(), expiry, value.as_ref())
        })
    }

    /// Sets the value of a key for a time, after which it is as if deleted; never sooner. Counted
    /// as by [`Keyspace::put_with_ttl`].
    ///
    /// ```
    /// # fn main() -> esker::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a temporary directory");
    /// # let db = esker::Db::open(dir.path())?;
    /// use std::time::Duration;
    ///
    /// let hour = Duration::from_secs(3600);
    /// db.batch().put_with_ttl(&db, "session:7", "anna", hour).commit()?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn put_with_ttl(
        &mut self,
        keyspace: &Keyspace,
        key: impl AsRef<[u8]>,
        value: impl AsRef<[u8]>,
        ttl: Duration,
    ) -> &mut WriteBatch {
        self.add(keyspace, |core, batch, parts| {
            let expiry = Some(writing::expiry(core, parts, ttl));
            writing::put_kept(batch, parts, key.as_ref(), expiry, value.as_ref())
        })
    }

    /// Sets the value of a key up to that moment, or for good with `None`, whatever time to
    /// live the keyspace has: for entries that come from another database with what
    /// [`Valued`](crate::Valued) says of them. One that is past leaves the key as if deleted.
    ///
    /// ```
    /// # fn main() -> esker::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a temporary directory");
    /// # let db = esker::Db::open(dir.path())?;
    /// let end = esker::Expiry::from_unix_s(4_000_000_000);
    /// db.batch().put_until(&db, "visit", "anna", Some(end)).commit()?;
    /// assert_eq!(db.expiry("visit")?, Some(Some(end)));
    /// # Ok(())
    /// # }
    /// ```
    pub fn put_until(
        &mut self,
        keyspace: &Keyspace,
        key: impl AsRef<[u8]>,
        value: impl AsRef<[u8]>,
        expiry: Option<Expiry>,
    ) -> &mut WriteBatch {
        self.add(keyspace, |_, batch, parts| {
            writing::put_kept(batch, parts, key.as_ref(), expiry, value.as_ref())
        })
    }

    /// Removes a key.
    ///
    /// ```
    /// # fn main() -> esker::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a temporary directory");
    /// # let db = esker::Db::open(dir.path())?;
    /// // Moved as a whole: nobody sees it twice, or not at all.
    /// db.put("waiting:7", "mail")?;
    /// db.batch().delete(&db, "waiting:7").put(&db, "sent:7", "mail").commit()?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn delete(&mut self, keyspace: &Keyspace, key: impl AsRef<[u8]>) -> &mut WriteBatch {
        self.add(keyspace, |_, batch, parts| {
            batch.delete(parts.id, key.as_ref())
        })
    }

    /// Removes all keys from `start` up to `end`, exclusive.
    ///
    /// ```
    /// # fn main() -> esker::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a temporary directory");
    /// # let db = esker::Db::open(dir.path())?;
    /// db.put("a", "1")?;
    /// db.batch().delete_range(&db, "a", "b").put(&db, "a", "2").commit()?;
    /// assert_eq!(db.get("a")?.as_deref(), Some(&b"2"[..]));
    /// # Ok(())
    /// # }
    /// ```
    pub fn delete_range(
        &mut self,
        keyspace: &Keyspace,
        start: impl AsRef<[u8]>,
        end: impl AsRef<[u8]>,
    ) -> &mut WriteBatch {
        self.add(keyspace, |_, batch, parts| {
            writing::delete_range(batch, parts, start.as_ref(), end.as_ref())
        })
    }

    /// Folds an operand into the value of a key, by the keyspace's merge operator. Operands have
    /// no expiry: see [`Keyspace::merge`].
    ///
    /// ```
    /// # fn main() -> esker::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a temporary directory");
    /// let db = esker::Db::builder(dir.path())
    ///     .merge_operator(esker::merge::uint64_add())
    ///     .open()?;
    /// let (minus, plus) = (0_u64.wrapping_sub(5).to_le_bytes(), 5_u64.to_le_bytes());
    /// db.batch().merge(&db, "anna", minus).merge(&db, "bela", plus).commit()?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn merge(
        &mut self,
        keyspace: &Keyspace,
        key: impl AsRef<[u8]>,
        operand: impl AsRef<[u8]>,
    ) -> &mut WriteBatch {
        self.add(keyspace, |_, batch, parts| {
            writing::merge(batch, parts, key.as_ref(), operand.as_ref())
        })
    }

    /// Sets when a key's value ends, or has it stay with `None`: the value that it has when the
    /// batch is written, or by what stands earlier in it. Nothing happens where it has none then;
    /// who must know asks [`Keyspace::set_expiry`](crate::Keyspace::set_expiry), or a
    /// [`Transaction`](crate::Transaction).
    ///
    /// The commit reads the value, and begins again where the value ended, or somebody wrote to the
    /// key meanwhile; after some times it has others wait, as a transaction that locks does. So it
    /// may return what reads do, and `TooLarge`. One that lies in the value log is neither read nor
    /// written again.
    ///
    /// ```
    /// # fn main() -> esker::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a temporary directory");
    /// # let db = esker::Db::open(dir.path())?;
    /// let end = esker::Expiry::from_unix_s(4_000_000_000);
    /// db.put("cart:7", "2 books")?;
    /// db.batch().put(&db, "order:7", "sent").set_expiry(&db, "cart:7", Some(end)).commit()?;
    /// assert_eq!(db.expiry("cart:7")?, Some(Some(end)));
    /// # Ok(())
    /// # }
    /// ```
    pub fn set_expiry(
        &mut self,
        keyspace: &Keyspace,
        key: impl AsRef<[u8]>,
        expiry: Option<Expiry>,
    ) -> &mut WriteBatch {
        match self.new_end(keyspace, key.as_ref(), expiry) {
            Ok(end) => {
                self.new_ends_bytes += end.key.len();
                self.new_ends.push(end);
            }
            Err(error) => drop(self.refusal.get_or_insert(error)),
        }
        self
    }

    /// Gives the batch a mark of its keyspace, which is [unlogged](crate::KeyspaceOptions): 1 to
    /// 256 bytes that say, to their owner, up to where of his own log everything is applied. It
    /// becomes current with the writes of the batch, and durable with them. A batch may have but
    /// one, the last that was given, and then it writes to that keyspace or to none.
    ///
    /// ```
    /// # fn main() -> esker::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a temporary directory");
    /// # let db = esker::Db::open(dir.path())?;
    /// use esker::KeyspaceOptions;
    ///
    /// let options = KeyspaceOptions { is_unlogged: true, ..KeyspaceOptions::default() };
    /// let replica = db.keyspace_with("replica 7", options)?;
    /// db.batch().put(&replica, "berth:3", "anna").mark(&replica, 41_u64.to_be_bytes()).commit()?;
    /// assert_eq!(replica.mark()?.as_deref(), Some(&41_u64.to_be_bytes()[..]));
    /// assert_eq!(replica.flushed_mark()?, None);
    /// replica.flush()?;
    /// assert_eq!(replica.flushed_mark()?, replica.mark()?);
    /// # Ok(())
    /// # }
    /// ```
    pub fn mark(&mut self, keyspace: &Keyspace, mark: impl AsRef<[u8]>) -> &mut WriteBatch {
        self.take_mark(keyspace, mark.as_ref(), None)
    }

    /// As [`WriteBatch::mark`], and tells the keyspace what time it is, in unix milliseconds: one
    /// that has a [clock of its own](crate::KeyspaceOptions::has_own_clock). What ends does so by
    /// that clock from this batch on, in reads and in files, on every machine that has the
    /// same batches. It never goes back: an earlier time changes nothing.
    ///
    /// ```
    /// # fn main() -> esker::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a temporary directory");
    /// # let db = esker::Db::open(dir.path())?;
    /// use esker::{Expiry, KeyspaceOptions};
    ///
    /// let mut options = KeyspaceOptions { is_unlogged: true, ..KeyspaceOptions::default() };
    /// options.has_own_clock = true;
    /// let replica = db.keyspace_with("replica 7", options)?;
    /// let end = Some(Expiry::from_unix_ms(2_000));
    /// let mut batch = db.batch();
    /// batch.put_until(&replica, "berth:3", "anna", end).mark_at(&replica, "1", 1_999).commit()?;
    /// assert!(replica.contains_key("berth:3")?);
    /// db.batch().mark_at(&replica, "2", 2_000).commit()?;
    /// assert!(!replica.contains_key("berth:3")?);
    /// # Ok(())
    /// # }
    /// ```
    pub fn mark_at(
        &mut self,
        keyspace: &Keyspace,
        mark: impl AsRef<[u8]>,
        unix_ms: u64,
    ) -> &mut WriteBatch {
        self.take_mark(keyspace, mark.as_ref(), Some(unix_ms))
    }

    /// How many writes are in the batch.
    pub fn len(&self) -> usize {
        self.batch.count() as usize + self.new_ends.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.batch.is_empty() && self.new_ends.is_empty()
    }

    /// Bytes of the batch as it will stand in the log; large values go to the value log instead. Of
    /// a value that gets another end the key alone is counted: what it is shows when it is written.
    pub fn size_bytes(&self) -> usize {
        self.batch.size_bytes() + self.new_ends_bytes
    }

    /// Why a write was left out, the first if there are several; forgets it, so that the others
    /// can be committed.
    ///
    /// ```
    /// # fn main() -> esker::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a temporary directory");
    /// # let db = esker::Db::open(dir.path())?;
    /// let mut batch = db.batch();
    /// batch.put(&db, vec![b'k'; 70_000], "its key is too long").put(&db, "good", "1");
    /// let refusal = batch.take_refusal().expect("a key has at most 65 535 bytes");
    /// assert_eq!(refusal.kind(), esker::ErrorKind::TooLarge);
    /// batch.commit()?;
    /// assert!(db.contains_key("good")?);
    /// # Ok(())
    /// # }
    /// ```
    pub fn take_refusal(&mut self) -> Option<Error> {
        self.refusal.take()
    }

    /// Forgets all writes, and keeps the memory.
    pub fn clear(&mut self) {
        self.forget_writes();
        self.refusal = None;
    }

    /// Writes the batch and empties it; otherwise as [`WriteBatch::commit_with`].
    pub fn commit(&mut self) -> Result<()> {
        self.commit_with(WriteOptions::default())
    }

    /// Writes the batch as told and empties it.
    ///
    /// Errors: that of the first write that was left out; those of [`Keyspace::put`]. Unless it is
    /// `Faulted` nothing was written then, and the batch is as it was.
    ///
    /// ```
    /// # fn main() -> esker::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a temporary directory");
    /// # let db = esker::Db::open(dir.path())?;
    /// use esker::{Durability, WriteOptions};
    ///
    /// let synced = WriteOptions { durability: Some(Durability::Sync), ..WriteOptions::default() };
    /// db.batch().put(&db, "paid:7", "42").commit_with(synced)?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn commit_with(&mut self, options: WriteOptions) -> Result<()> {
        if let Some(refusal) = &self.refusal {
            return Err(refusal.again());
        }
        match self.new_ends.is_empty() {
            true => {
                let core = Arc::clone(self.database.core());
                let terms = Terms {
                    mark: self.mark.as_ref(),
                    ..Terms::PLAIN
                };
                writing::write(&core, &mut self.batch, options, terms)?;
            }
            false => {
                let all = BatchWithEnds {
                    batch: &self.batch,
                    ends: &self.new_ends,
                    mark: self.mark.as_ref(),
                };
                all.write(&self.database, options)?;
            }
        }
        self.forget_writes();
        Ok(())
    }

    fn forget_writes(&mut self) {
        self.batch.clear();
        self.new_ends.clear();
        self.new_ends_bytes = 0;
        self.mark = None;
    }

    fn new_end(&self, keyspace: &Keyspace, key: &[u8], expiry: Option<Expiry>) -> Result<NewEnd> {
        let parts = keyspace.parts_in(&self.database)?;
        if key.len() > BATCH_BYTES_MAX.saturating_sub(self.size_bytes()) {
            let message = format!(
                "a batch of {} bytes cannot take a key of {} more; the limit is \
                 {BATCH_BYTES_MAX}: write it in parts",
                self.size_bytes(),
                key.len()
            );
            return Err(Error::new(ErrorKind::TooLarge, message));
        }
        Ok(NewEnd {
            at: self.batch.mark(),
            parts: Arc::clone(parts),
            key: key.to_vec(),
            expiry,
        })
    }

    fn take_mark(
        &mut self,
        keyspace: &Keyspace,
        mark: &[u8],
        unix_ms: Option<u64>,
    ) -> &mut WriteBatch {
        match self.new_mark(keyspace, mark, unix_ms) {
            Ok(mark) => self.mark = Some(mark),
            Err(error) => drop(self.refusal.get_or_insert(error)),
        }
        self
    }

    fn new_mark(&self, keyspace: &Keyspace, mark: &[u8], unix_ms: Option<u64>) -> Result<NewMark> {
        let parts = keyspace.parts_in(&self.database)?;
        if !parts.is_unlogged {
            return Err(marked_log(Some(&parts.name)));
        }
        if unix_ms.is_some() && parts.clock.is_none() {
            return Err(machine_time(&parts.name));
        }
        if let Some(other) = self
            .mark
            .as_ref()
            .filter(|other| other.keyspace != parts.id)
        {
            let message = format!(
                "a batch has marks of keyspaces {} and {}",
                other.keyspace, parts.id
            );
            return Err(Error::invalid(message));
        }
        if mark.is_empty() || mark.len() > MARK_BYTES_MAX {
            let len = mark.len();
            let message = format!("a mark of {len} bytes; one has 1 to {MARK_BYTES_MAX}");
            return Err(Error::new(ErrorKind::TooLarge, message));
        }
        Ok(NewMark {
            keyspace: parts.id,
            bytes: Bytes::copy_of(mark),
            unix_ms,
        })
    }

    // What one write adds, or why it is left out.
    fn add(
        &mut self,
        keyspace: &Keyspace,
        fill: impl FnOnce(&Core, &mut Batch<'static>, &KeyspaceParts) -> Result<()>,
    ) -> &mut WriteBatch {
        let parts = keyspace.parts_in(&self.database);
        let added = parts.and_then(|parts| fill(self.database.core(), &mut self.batch, parts));
        if let Err(error) = added {
            self.refusal.get_or_insert(error);
        }
        self
    }
}
