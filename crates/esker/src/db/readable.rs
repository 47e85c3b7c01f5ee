//! What can be read: what `Db`, `Keyspace` and `Snapshot` share.

use std::ops::RangeBounds;

use crate::base::types::bytes::Bytes;
use crate::base::types::error::Result;
use crate::base::types::expiry::Expiry;
use crate::base::types::range::KeyRange;
use crate::db::cursor::DbCursor;
use crate::db::iterator::Iter;
use crate::db::moment::Moment;
use crate::flow::read::get::Valued;

/// What has a moment at which it is read. Nobody outside the engine can implement it, because
/// nobody there can make a [`Moment`].
pub trait AtMoment {
    /// Where and at which moment reads happen.
    fn moment(&self) -> Moment<'_>;
}

/// A key and its value, if there is any.
pub type FoundEntry = Result<Option<(Bytes, Bytes)>>;

/// What can be read: a [`Keyspace`](crate::Keyspace) as it is now, or as it was when a
/// [`Snapshot`](crate::Snapshot) was taken.
///
/// For code that takes either. The methods do what those of the types do, which are told there.
///
/// ```
/// # fn main() -> esker::Result<()> {
/// # let dir = tempfile::tempdir().expect("a temporary directory");
/// fn ships_at_sea(harbour: &impl esker::Readable) -> esker::Result<usize> {
///     harbour.prefix("ship:")?.try_fold(0, |count, entry| {
///         Ok(count + usize::from(entry?.1 == "at sea"))
///     })
/// }
///
/// let db = esker::Db::open(dir.path())?;
/// db.put("ship:anna", "at sea")?;
/// let before = db.snapshot();
/// db.put("ship:anna", "in port")?;
/// assert_eq!((ships_at_sea(&db)?, ships_at_sea(&before)?), (0, 1));
/// # Ok(())
/// # }
/// ```
pub trait Readable: AtMoment {
    /// The value of `key`, if it has one.
    fn get(&self, key: impl AsRef<[u8]>) -> Result<Option<Bytes>> {
        self.moment().get(key.as_ref())
    }

    /// The value of `key` and when it ends, if it has one.
    fn get_valued(&self, key: impl AsRef<[u8]>) -> Result<Option<Valued>> {
        self.moment().get_valued(key.as_ref())
    }

    /// When the value of `key` is gone, without reading it.
    fn expiry(&self, key: impl AsRef<[u8]>) -> Result<Option<Option<Expiry>>> {
        self.moment().expiry(key.as_ref())
    }

    /// The values of several keys, in their order.
    fn multi_get<K: AsRef<[u8]>>(&self, keys: &[K]) -> Result<Vec<Option<Bytes>>> {
        self.moment().multi_get(keys)
    }

    /// Whether `key` has a value.
    fn contains_key(&self, key: impl AsRef<[u8]>) -> Result<bool> {
        self.moment().contains_key(key.as_ref())
    }

    /// The entry with the first key, if there is any.
    fn first(&self) -> FoundEntry {
        self.moment().first(KeyRange::ALL)
    }

    /// The entry with the first key in `bounds`, if there is any.
    fn first_in<K: AsRef<[u8]>>(&self, bounds: impl RangeBounds<K>) -> FoundEntry {
        self.moment().first(KeyRange::new(bounds))
    }

    /// The entry with the last key, if there is any.
    fn last(&self) -> FoundEntry {
        self.moment().last(KeyRange::ALL)
    }

    /// The entry with the last key in `bounds`, if there is any.
    fn last_in<K: AsRef<[u8]>>(&self, bounds: impl RangeBounds<K>) -> FoundEntry {
        self.moment().last(KeyRange::new(bounds))
    }

    /// The entries with keys in `bounds`, in order, from both ends.
    fn range<K: AsRef<[u8]>>(&self, bounds: impl RangeBounds<K>) -> Result<Iter> {
        self.moment().iter(KeyRange::new(bounds))
    }

    /// The entries whose keys begin with `prefix`, in order, from both ends.
    fn prefix(&self, prefix: impl AsRef<[u8]>) -> Result<Iter> {
        self.moment().iter(KeyRange::prefix(prefix.as_ref()))
    }

    /// All entries, in order, from both ends.
    fn iter(&self) -> Result<Iter> {
        self.moment().iter(KeyRange::ALL)
    }

    /// A cursor over the entries with keys in `bounds`, which stands nowhere yet.
    fn cursor_in<K: AsRef<[u8]>>(&self, bounds: impl RangeBounds<K>) -> Result<DbCursor> {
        self.moment().cursor(KeyRange::new(bounds))
    }

    /// A cursor over all entries, which stands nowhere yet.
    fn cursor(&self) -> Result<DbCursor> {
        self.moment().cursor(KeyRange::ALL)
    }
}

impl<T: AtMoment> Readable for T {}

/// The reads as methods of a type that is [`AtMoment`], so that nobody has to import the
/// trait.
macro_rules! inherent_reads {
    ($holder:ty) => {
        impl $holder {
            /// The value of `key`, if it has one: a handle that stays valid however long it is
            /// kept.
            ///
            /// Errors: `Corruption` and `Io` of the files that had to be read; `Invalid` when the
            /// merge operator does not fold the key's operands; `Busy` when the database was
            /// opened read-only and its writer has removed a file; `Closed`.
            ///
            /// ```
            /// # fn main() -> esker::Result<()> {
            /// # let dir = tempfile::tempdir().expect("a temporary directory");
            /// # let db = esker::Db::open(dir.path())?;
            /// db.put("ship:anna", "in port")?;
            /// assert_eq!(db.get("ship:anna")?.as_deref(), Some(&b"in port"[..]));
            /// assert_eq!(db.get("ship:bela")?, None);
            /// # Ok(())
            /// # }
            /// ```
            #[inline]
            pub fn get(
                &self,
                key: impl AsRef<[u8]>,
            ) -> $crate::base::types::error::Result<Option<$crate::base::types::bytes::Bytes>> {
                $crate::db::readable::AtMoment::moment(self).get(key.as_ref())
            }

            /// The value of `key` and when it ends, if it has one. Errors as of `get`.
            ///
            /// ```
            /// # fn main() -> esker::Result<()> {
            /// # let dir = tempfile::tempdir().expect("a temporary directory");
            /// # let db = esker::Db::open(dir.path())?;
            /// let end = esker::Expiry::from_unix_s(4_000_000_000);
            /// db.put_until("visit", "anna", Some(end))?;
            /// let valued = db.get_valued("visit")?.expect("it was just put");
            /// assert_eq!(valued.value, "anna");
            /// assert_eq!(valued.expiry, Some(end));
            /// # Ok(())
            /// # }
            /// ```
            pub fn get_valued(
                &self,
                key: impl AsRef<[u8]>,
            ) -> $crate::base::types::error::Result<Option<$crate::flow::read::get::Valued>> {
                $crate::db::readable::AtMoment::moment(self).get_valued(key.as_ref())
            }

            /// When the value of `key` ends, if it has one; `Some(None)` when it stays. The value
            /// is not read. Errors as of `get`.
            ///
            /// ```
            /// # fn main() -> esker::Result<()> {
            /// # let dir = tempfile::tempdir().expect("a temporary directory");
            /// # let db = esker::Db::open(dir.path())?;
            /// let end = esker::Expiry::from_unix_s(4_000_000_000);
            /// db.put_until("visit", "anna", Some(end))?;
            /// db.put("harbour", "open")?;
            /// assert_eq!(db.expiry("visit")?, Some(Some(end)));
            /// assert_eq!(db.expiry("harbour")?, Some(None));
            /// assert_eq!(db.expiry("nobody")?, None);
            /// # Ok(())
            /// # }
            /// ```
            pub fn expiry(
                &self,
                key: impl AsRef<[u8]>,
            ) -> $crate::base::types::error::Result<
                Option<Option<$crate::base::types::expiry::Expiry>>,
            > {
                $crate::db::readable::AtMoment::moment(self).expiry(key.as_ref())
            }

            /// The values of several keys, in their order; cheaper than one after the other. What
            /// is to be read of the disk is asked for all at once and only then waited for
            /// (docs/experiments/0109-many-keys-at-once.md).
            ///
            /// Errors as of `get`: the first that any key meets.
            ///
            /// ```
            /// # fn main() -> esker::Result<()> {
            /// # let dir = tempfile::tempdir().expect("a temporary directory");
            /// # let db = esker::Db::open(dir.path())?;
            /// db.put("a", "1")?;
            /// let values = db.multi_get(&["a", "b"])?;
            /// assert_eq!(values[0].as_deref(), Some(&b"1"[..]));
            /// assert_eq!(values[1], None);
            /// # Ok(())
            /// # }
            /// ```
            pub fn multi_get<K: AsRef<[u8]>>(
                &self,
                keys: &[K],
            ) -> $crate::base::types::error::Result<Vec<Option<$crate::base::types::bytes::Bytes>>>
            {
                $crate::db::readable::AtMoment::moment(self).multi_get(keys)
            }

            /// Whether `key` has a value; cheaper than reading it. Errors as of `get`.
            ///
            /// ```
            /// # fn main() -> esker::Result<()> {
            /// # let dir = tempfile::tempdir().expect("a temporary directory");
            /// # let db = esker::Db::open(dir.path())?;
            /// db.put("a", "1")?;
            /// assert!(db.contains_key("a")? && !db.contains_key("b")?);
            /// # Ok(())
            /// # }
            /// ```
            pub fn contains_key(
                &self,
                key: impl AsRef<[u8]>,
            ) -> $crate::base::types::error::Result<bool> {
                $crate::db::readable::AtMoment::moment(self).contains_key(key.as_ref())
            }

            /// The entry with the first key, if there is any. Errors as of `get`.
            ///
            /// ```
            /// # fn main() -> esker::Result<()> {
            /// # let dir = tempfile::tempdir().expect("a temporary directory");
            /// # let db = esker::Db::open(dir.path())?;
            /// assert_eq!(db.first()?, None);
            /// db.put("ship:anna", "in port")?;
            /// db.put("ship:bela", "at sea")?;
            /// let (key, value) = db.first()?.expect("there are two");
            /// assert!(key == "ship:anna" && value == "in port");
            /// # Ok(())
            /// # }
            /// ```
            pub fn first(&self) -> $crate::db::readable::FoundEntry {
                $crate::db::readable::AtMoment::moment(self)
                    .first($crate::base::types::range::KeyRange::ALL)
            }

            /// The entry with the first key in `bounds`, if there is any. Errors as of `get`.
            ///
            /// ```
            /// # fn main() -> esker::Result<()> {
            /// # let dir = tempfile::tempdir().expect("a temporary directory");
            /// # let db = esker::Db::open(dir.path())?;
            /// for hour in ["06", "12", "18"] {
            ///     db.put(hour, "high water")?;
            /// }
            /// let next = db.first_in("09"..)?.expect("there are two");
            /// assert_eq!(next.0, "12");
            /// # Ok(())
            /// # }
            /// ```
            pub fn first_in<K: AsRef<[u8]>>(
                &self,
                bounds: impl std::ops::RangeBounds<K>,
            ) -> $crate::db::readable::FoundEntry {
                $crate::db::readable::AtMoment::moment(self)
                    .first($crate::base::types::range::KeyRange::new(bounds))
            }

            /// The entry with the last key, if there is any: of a keyspace whose keys are numbers
            /// in the order of their bytes, the largest. Errors as of `get`.
            ///
            /// ```
            /// # fn main() -> esker::Result<()> {
            /// # let dir = tempfile::tempdir().expect("a temporary directory");
            /// # let db = esker::Db::open(dir.path())?;
            /// db.put(7_u64.to_be_bytes(), "anna")?;
            /// let (last, _) = db.last()?.expect("there is one");
            /// let last = u64::from_be_bytes(last[..].try_into().expect("eight bytes"));
            /// db.put((last + 1).to_be_bytes(), "bela")?;
            /// assert!(db.contains_key(8_u64.to_be_bytes())?);
            /// # Ok(())
            /// # }
            /// ```
            pub fn last(&self) -> $crate::db::readable::FoundEntry {
                $crate::db::readable::AtMoment::moment(self)
                    .last($crate::base::types::range::KeyRange::ALL)
            }

            /// The entry with the last key in `bounds`, if there is any. Errors as of `get`.
            ///
            /// ```
            /// # fn main() -> esker::Result<()> {
            /// # let dir = tempfile::tempdir().expect("a temporary directory");
            /// # let db = esker::Db::open(dir.path())?;
            /// for hour in ["06", "12", "18"] {
            ///     db.put(hour, "high water")?;
            /// }
            /// let latest = db.last_in(..="12")?.expect("there are two");
            /// assert_eq!(latest.0, "12");
            /// # Ok(())
            /// # }
            /// ```
            pub fn last_in<K: AsRef<[u8]>>(
                &self,
                bounds: impl std::ops::RangeBounds<K>,
            ) -> $crate::db::readable::FoundEntry {
                $crate::db::readable::AtMoment::moment(self)
                    .last($crate::base::types::range::KeyRange::new(bounds))
            }

            /// The entries with keys in `bounds`, in order, from both ends, as they are now:
            /// later writes do not show. Errors as of `get`; those of later steps are items.
            ///
            /// ```
            /// # fn main() -> esker::Result<()> {
            /// # let dir = tempfile::tempdir().expect("a temporary directory");
            /// # let db = esker::Db::open(dir.path())?;
            /// for key in ["a", "b", "c", "d"] {
            ///     db.put(key, "")?;
            /// }
            /// let newest = db.range("a".."d")?.next_back().expect("there are three")?;
            /// assert_eq!(newest.0, "c");
            /// let keys: Result<Vec<_>, _> = db.range("b"..)?.keys().collect();
            /// assert_eq!(keys?, ["b", "c", "d"]);
            /// # Ok(())
            /// # }
            /// ```
            pub fn range<K: AsRef<[u8]>>(
                &self,
                bounds: impl std::ops::RangeBounds<K>,
            ) -> $crate::base::types::error::Result<$crate::db::iterator::Iter> {
                $crate::db::readable::AtMoment::moment(self)
                    .iter($crate::base::types::range::KeyRange::new(bounds))
            }

            /// The entries whose keys begin with `prefix`, in order, from both ends. For keyspaces
            /// in the bytewise order. Errors as of `range`.
            ///
            /// ```
            /// # fn main() -> esker::Result<()> {
            /// # let dir = tempfile::tempdir().expect("a temporary directory");
            /// # let db = esker::Db::open(dir.path())?;
            /// db.put("port:kiel", "54.3")?;
            /// db.put("ship:anna", "at sea")?;
            /// db.put("ship:bela", "in port")?;
            /// assert_eq!(db.prefix("ship:")?.count(), 2);
            /// # Ok(())
            /// # }
            /// ```
            pub fn prefix(
                &self,
                prefix: impl AsRef<[u8]>,
            ) -> $crate::base::types::error::Result<$crate::db::iterator::Iter> {
                $crate::db::readable::AtMoment::moment(self).iter(
                    $crate::base::types::range::KeyRange::prefix(prefix.as_ref()),
                )
            }

            /// All entries, in order, from both ends. Errors as of `range`.
            ///
            /// ```
            /// # fn main() -> esker::Result<()> {
            /// # let dir = tempfile::tempdir().expect("a temporary directory");
            /// # let db = esker::Db::open(dir.path())?;
            /// db.put("b", "2")?;
            /// db.put("a", "1")?;
            /// for entry in db.iter()? {
            ///     let (key, value) = entry?;
            ///     println!("{key:?} has {value:?}");
            /// }
            /// # Ok(())
            /// # }
            /// ```
            pub fn iter(&self) -> $crate::base::types::error::Result<$crate::db::iterator::Iter> {
                $crate::db::readable::AtMoment::moment(self)
                    .iter($crate::base::types::range::KeyRange::ALL)
            }

            /// A cursor over the entries with keys in `bounds`, which stands nowhere yet: for
            /// walks that change direction or jump. Errors as of `range`.
            ///
            /// ```
            /// # fn main() -> esker::Result<()> {
            /// # let dir = tempfile::tempdir().expect("a temporary directory");
            /// # let db = esker::Db::open(dir.path())?;
            /// db.put("a", "1")?;
            /// db.put("b", "2")?;
            /// let mut cursor = db.cursor_in(.."b")?;
            /// assert!(cursor.seek_to_last()?);
            /// assert_eq!(cursor.key(), Some(&b"a"[..]));
            /// # Ok(())
            /// # }
            /// ```
            pub fn cursor_in<K: AsRef<[u8]>>(
                &self,
                bounds: impl std::ops::RangeBounds<K>,
            ) -> $crate::base::types::error::Result<$crate::db::cursor::DbCursor> {
                $crate::db::readable::AtMoment::moment(self)
                    .cursor($crate::base::types::range::KeyRange::new(bounds))
            }

            /// A cursor over all entries, which stands nowhere yet. Errors as of `range`.
            ///
            /// ```
            /// # fn main() -> esker::Result<()> {
            /// # let dir = tempfile::tempdir().expect("a temporary directory");
            /// # let db = esker::Db::open(dir.path())?;
            /// db.put("b", "2")?;
            /// let mut cursor = db.cursor()?;
            /// assert!(cursor.seek("a")?);
            /// assert_eq!(cursor.key(), Some(&b"b"[..]));
            /// assert!(!cursor.next()?);
            /// # Ok(())
            /// # }
            /// ```
            pub fn cursor(
                &self,
            ) -> $crate::base::types::error::Result<$crate::db::cursor::DbCursor> {
                $crate::db::readable::AtMoment::moment(self)
                    .cursor($crate::base::types::range::KeyRange::ALL)
            }
        }
    };
}

pub(crate) use inherent_reads;
