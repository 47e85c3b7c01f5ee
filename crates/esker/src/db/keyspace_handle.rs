//! The public handle of a keyspace: each method a few lines that name the flow below.

use std::cell::Cell;
use std::ops::{Bound, RangeBounds};
use std::sync::Arc;
use std::time::Duration;

use crate::base::options::call::{ReadOptions, WriteOptions};
use crate::base::types::error::{Error, Result};
use crate::base::types::expiry::Expiry;
use crate::base::types::limits::KEY_BYTES_MAX;
use crate::base::types::range::KeyRange;
use crate::base::types::spare::{SpareBuffer, SpareCell};
use crate::db::database_ref::DatabaseRef;
use crate::db::file_list::{self, FileStats};
use crate::db::keyspace::KeyspaceParts;
use crate::db::live_settings;
use crate::db::manual;
use crate::db::moment::{Moment, When};
use crate::db::readable::{AtMoment, inherent_reads};
use crate::db::writing::{self, Terms};
use crate::store::batch::writer::{Batch, LargeBytes};

thread_local! {
    static BATCH: SpareCell = const { Cell::new(Vec::new()) };
}

/// For a write of one entry, which so allocates nothing: making and growing the bytes of a batch
/// took 900 of the 4000 instructions of a put.
const BATCH_BUFFER: SpareBuffer = SpareBuffer::new(&BATCH, 16 << 10);

/// A named ordered map in a database. Cheap to clone; any thread may call anything.
#[derive(Clone)]
pub struct Keyspace {
    database: DatabaseRef,
    parts: Arc<KeyspaceParts>,
    write: WriteOptions,
    read: ReadOptions,
}

impl Keyspace {
    pub(crate) fn new(database: DatabaseRef, parts: Arc<KeyspaceParts>) -> Keyspace {
        let (write, read) = (WriteOptions::default(), ReadOptions::default());
        Keyspace {
            database,
            parts,
            write,
            read,
        }
    }

    pub(crate) fn database(&self) -> &DatabaseRef {
        &self.database
    }

    pub(crate) fn write_options(&self) -> WriteOptions {
        self.write
    }

    pub(crate) fn read_options(&self) -> ReadOptions {
        self.read
    }

    pub(crate) fn parts(&self) -> &Arc<KeyspaceParts> {
        &self.parts
    }

    /// Its parts, for who writes or reads in `database`: numbers of keyspaces mean something in
    /// their own database only. `Invalid` where that is another.
    pub(crate) fn parts_in(&self, database: &DatabaseRef) -> Result<&Arc<KeyspaceParts>> {
        if Arc::ptr_eq(database.core(), self.database.core()) {
            return Ok(&self.parts);
        }
        Err(Error::invalid(format!(
            "keyspace {:?} belongs to another database",
            self.name()
        )))
    }

    /// The name.
    ///
    /// ```
    /// # fn main() -> esker::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a temporary directory");
    /// # let db = esker::Db::open(dir.path())?;
    /// assert_eq!(db.keyspace("visits")?.name(), "visits");
    /// # Ok(())
    /// # }
    /// ```
    pub fn name(&self) -> &str {
        &self.parts.name
    }

    /// The same keyspace; writes through the returned handle are done as told.
    ///
    /// ```
    /// # fn main() -> esker::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a temporary directory");
    /// # let db = esker::Db::open(dir.path())?;
    /// use esker::{Durability, WriteOptions};
    ///
    /// let synced = WriteOptions { durability: Some(Durability::Sync), ..WriteOptions::default() };
    /// let careful = db.with_write(synced);
    /// careful.put("paid", "42")?; // On the medium when this returns.
    /// # Ok(())
    /// # }
    /// ```
    pub fn with_write(&self, write: WriteOptions) -> Keyspace {
        Keyspace {
            write,
            ..self.clone()
        }
    }

    /// The same keyspace; reads through the returned handle are done as told.
    ///
    /// ```
    /// # fn main() -> esker::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a temporary directory");
    /// # let db = esker::Db::open(dir.path())?;
    /// use esker::ReadOptions;
    ///
    /// // A walk over everything that leaves the cache to those who come again.
    /// let once = db.with_read(ReadOptions { fill_cache: false, ..ReadOptions::default() });
    /// assert_eq!(once.iter()?.count(), 0);
    /// # Ok(())
    /// # }
    /// ```
    pub fn with_read(&self, read: ReadOptions) -> Keyspace {
        Keyspace {
            read,
            ..self.clone()
        }
    }

    /// Sets the value of a key. When this returns, the durability asked for holds.
    ///
    /// Errors: `TooLarge`; `Busy` when asked not to wait; `LockTimeout` when a transaction has
    /// locked the key for more than a second; `OutOfSpace`, retryable; `Faulted` after a failed
    /// write; `Closed`. Nothing was written then, unless it is `Faulted`.
    ///
    /// ```
    /// # fn main() -> esker::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a temporary directory");
    /// # let db = esker::Db::open(dir.path())?;
    /// db.put("ship:anna", "in port")?;
    /// db.put([0, 255], vec![7; 100_000])?; // Any bytes; large values are separated by themselves.
    /// # Ok(())
    /// # }
    /// ```
    pub fn put(&self, key: impl AsRef<[u8]>, value: impl AsRef<[u8]>) -> Result<()> {
        let value = LargeBytes::Lent(value.as_ref());
        self.write(|batch| self.add_own_put(batch, key.as_ref(), value))
    }

    /// Sets the value of a key for a time, after which it is as if deleted; the last that there is
    /// ends in the year 2106. Never sooner: a time in whole seconds ends at a whole second, up to
    /// one later than asked, any other at its millisecond. Zero is gone at once.
    ///
    /// ```
    /// # fn main() -> esker::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a temporary directory");
    /// # let db = esker::Db::open(dir.path())?;
    /// use std::time::Duration;
    ///
    /// db.put_with_ttl("session:7", "anna", Duration::from_secs(3600))?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn put_with_ttl(
        &self,
        key: impl AsRef<[u8]>,
        value: impl AsRef<[u8]>,
        ttl: Duration,
    ) -> Result<()> {
        let expiry = writing::expiry(self.database.core(), &self.parts, ttl);
        let value = LargeBytes::Lent(value.as_ref());
        self.write(|batch| {
            writing::put_until(batch, &self.parts, key.as_ref(), Some(expiry), value)
        })
    }

    /// Sets the value of a key up to that moment, or for good with `None`: see
    /// [`WriteBatch::put_until`](crate::WriteBatch::put_until).
    ///
    /// ```
    /// # fn main() -> esker::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a temporary directory");
    /// # let db = esker::Db::open(dir.path())?;
    /// let end = esker::Expiry::from_unix_s(4_000_000_000);
    /// db.put_until("visit", "anna", Some(end))?;
    /// assert_eq!(db.expiry("visit")?, Some(Some(end)));
    /// # Ok(())
    /// # }
    /// ```
    pub fn put_until(
        &self,
        key: impl AsRef<[u8]>,
        value: impl AsRef<[u8]>,
        expiry: Option<Expiry>,
    ) -> Result<()> {
        let value = LargeBytes::Lent(value.as_ref());
        self.write(|batch| writing::put_until(batch, &self.parts, key.as_ref(), expiry, value))
    }

    /// Removes a key; no error if it is not there.
    ///
    /// ```
    /// # fn main() -> esker::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a temporary directory");
    /// # let db = esker::Db::open(dir.path())?;
    /// db.put("a", "1")?;
    /// db.delete("a")?;
    /// db.delete("a")?;
    /// assert!(!db.contains_key("a")?);
    /// # Ok(())
    /// # }
    /// ```
    pub fn delete(&self, key: impl AsRef<[u8]>) -> Result<()> {
        self.write(|batch| batch.delete(self.parts.id, key.as_ref()))
    }

    /// Removes all keys in `bounds`, at the price of one write however many there are.
    ///
    /// Where a bound cannot be written down for all keys that may ever come (no end, or an order
    /// of the user's own), it ends at the last key that is there when this is called.
    ///
    /// ```
    /// # fn main() -> esker::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a temporary directory");
    /// # let db = esker::Db::open(dir.path())?;
    /// for day in ["2026-01-30", "2026-01-31", "2026-02-01"] {
    ///     db.put(day, "log")?;
    /// }
    /// db.delete_range(.."2026-02")?;
    /// assert_eq!(db.iter()?.count(), 1);
    /// # Ok(())
    /// # }
    /// ```
    pub fn delete_range<K: AsRef<[u8]>>(&self, bounds: impl RangeBounds<K>) -> Result<()> {
        // A range delete has an inclusive start and an exclusive end. Only in the bytewise order
        // is it known which key comes next, and which is the first of all.
        let options = self.parts.options();
        let comparator = &options.comparator;
        let has_next = |key: &[u8]| comparator.is_bytewise() && key.len() < KEY_BYTES_MAX;
        let range = KeyRange::new(bounds);
        let start = match range.lower {
            Bound::Included(key) => Some(key),
            Bound::Unbounded if comparator.is_bytewise() => Some(Vec::new()),
            Bound::Excluded(key) if has_next(&key) => Some(after(key)),
            lower => self.first_key(lower)?,
        };
        let (end, is_end_inside) = match range.upper {
            Bound::Excluded(key) => (Some(key), false),
            Bound::Included(key) if has_next(&key) => (Some(after(key)), false),
            Bound::Included(key) => (Some(key), true),
            Bound::Unbounded => (self.last_key()?, true),
        };
        let (Some(start), Some(end)) = (start, end) else {
            return Ok(());
        };
        self.write(|batch| {
            writing::delete_range(batch, &self.parts, &start, &end)?;
            if is_end_inside && comparator.compare(&start, &end).is_le() {
                batch.delete(self.parts.id, &end)?;
            }
            Ok(())
        })
    }

    /// Folds an operand into the value of a key, by the keyspace's merge operator, at the price
    /// of a put. `Invalid` without a merge operator.
    ///
    /// An operand has no expiry, not even in a keyspace with a default time to live (`ttl`): a
    /// key that a merge creates stays until it is deleted, and when the value below operands
    /// expires, they stay and fold into nothing. Values that are to be changed and to expire are
    /// for [`Keyspace::update`], which reads, and whose value lives as long as a put.
    ///
    /// ```
    /// # fn main() -> esker::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a temporary directory");
    /// let db = esker::Db::builder(dir.path()).merge_operator(esker::merge::uint64_add()).open()?;
    /// for _ in 0..3 {
    ///     db.merge("visits", 1_u64.to_le_bytes())?;
    /// }
    /// assert_eq!(db.get("visits")?.as_deref(), Some(&3_u64.to_le_bytes()[..]));
    /// # Ok(())
    /// # }
    /// ```
    pub fn merge(&self, key: impl AsRef<[u8]>, operand: impl AsRef<[u8]>) -> Result<()> {
        self.write(|batch| writing::merge(batch, &self.parts, key.as_ref(), operand.as_ref()))
    }

    /// Changes a setting of the keyspace while it is open, by its name in the catalogue; what is
    /// there already, such as files, stays as it was made. The change is kept: the keyspace has it
    /// when the database is opened again.
    ///
    /// `Invalid`, and nothing changed, for an unknown name, for a setting of the database or one
    /// that takes effect only when a keyspace is created, for an impossible value, and for one
    /// that contradicts other settings.
    ///
    /// ```
    /// # fn main() -> esker::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a temporary directory");
    /// # let db = esker::Db::open(dir.path())?;
    /// let logs = db.keyspace("logs")?;
    /// logs.set("ttl", "7d")?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn set(&self, name: &str, text: &str) -> Result<()> {
        live_settings::set_of_keyspace(self.database.core(), &self.parts, name, text)
    }

    /// The settings that the keyspace has and a new one would not have: name and text of each, its
    /// merge operator included. They make its like elsewhere, with
    /// [`Db::keyspace_with`](crate::Db::keyspace_with).
    ///
    /// ```
    /// # fn main() -> esker::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a temporary directory");
    /// # let db = esker::Db::open(dir.path())?;
    /// db.set("ttl", "7d")?;
    /// assert_eq!(db.own_settings(), [("ttl".to_owned(), "7d".to_owned())]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn own_settings(&self) -> Vec<(String, String)> {
        live_settings::own_settings(self.database.core(), &self.parts)
    }

    /// Every sorted file of the keyspace now: from the newest run to the oldest, each in the
    /// order of its keys.
    ///
    /// ```
    /// # fn main() -> esker::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a temporary directory");
    /// # let db = esker::Db::open(dir.path())?;
    /// db.put("a", "1")?;
    /// db.flush()?;
    /// assert_eq!(db.files()[0].entry_count, 1);
    /// # Ok(())
    /// # }
    /// ```
    pub fn files(&self) -> Vec<FileStats> {
        file_list::files(&self.parts)
    }

    /// Returns when everything written to the keyspace so far lies in sorted files. What other
    /// keyspaces have in memory stays there, and so does the log from the first of their entries
    /// on: only [`Db::flush_all`](crate::Db::flush_all) surely lets all of it go.
    ///
    /// ```
    /// # fn main() -> esker::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a temporary directory");
    /// # let db = esker::Db::open(dir.path())?;
    /// db.put("a", "1")?;
    /// db.flush()?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn flush(&self) -> Result<()> {
        manual::flush(self.database.core(), &self.parts)
    }

    /// Merges everything in `bounds` into one run, without anything obsolete. Takes long on
    /// much data; reads and writes go on meanwhile. Works where writes are refused for lack of
    /// space, too, as long as the disk has room for what it writes: that may be beyond
    /// `disk_limit` until the files that it replaces are gone.
    ///
    /// Errors: `OutOfSpace` when there is no such room; smaller bounds need less; `Invalid` when
    /// the keyspace was dropped.
    ///
    /// ```
    /// # fn main() -> esker::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a temporary directory");
    /// # let db = esker::Db::open(dir.path())?;
    /// for key in ["a", "b", "c"] {
    ///     db.put(key, "1")?;
    /// }
    /// db.delete_range("a".."c")?;
    /// db.compact("a".."c")?; // Only where something was deleted.
    /// # Ok(())
    /// # }
    /// ```
    pub fn compact<K: AsRef<[u8]>>(&self, bounds: impl RangeBounds<K>) -> Result<()> {
        manual::compact(self.database.core(), &self.parts, &KeyRange::new(bounds))
    }

    fn write<'v>(&self, fill: impl FnOnce(&mut Batch<'v>) -> Result<()>) -> Result<()> {
        let mut batch = Batch::within(BATCH_BUFFER.take());
        let core = self.database.core();
        let written = fill(&mut batch)
            .and_then(|()| writing::write(core, &mut batch, self.write, Terms::PLAIN).map(drop));
        BATCH_BUFFER.give_back(batch.into_buffer());
        written
    }

    // A put that lives as long as the keyspace says.
    pub(crate) fn add_own_put<'v>(
        &self,
        batch: &mut Batch<'v>,
        key: &[u8],
        value: LargeBytes<'v>,
    ) -> Result<()> {
        let expiry = writing::own_expiry(self.database.core(), &self.parts);
        writing::put_until(batch, &self.parts, key, expiry, value)
    }

    fn first_key(&self, lower: Bound<Vec<u8>>) -> Result<Option<Vec<u8>>> {
        let range = KeyRange {
            lower,
            upper: Bound::Unbounded,
        };
        let mut cursor = self.moment().cursor(range)?;
        cursor.seek_to_first()?;
        Ok(cursor.key().map(<[u8]>::to_vec))
    }

    fn last_key(&self) -> Result<Option<Vec<u8>>> {
        let mut cursor = self.cursor()?;
        cursor.seek_to_last()?;
        Ok(cursor.key().map(<[u8]>::to_vec))
    }
}

inherent_reads!(Keyspace);

impl AtMoment for Keyspace {
    fn moment(&self) -> Moment<'_> {
        Moment {
            database: &self.database,
            parts: &self.parts,
            at: When::Now,
            options: self.read,
        }
    }
}

/// The next key, bytewise.
fn after(mut key: Vec<u8>) -> Vec<u8> {
    key.push(0);
    key
}

#[cfg(test)]
mod tests;
