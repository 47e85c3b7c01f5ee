//! Changes that depend on what is there: each happens as a whole, with no other write between.
//!
//! They read without a lock and then write under the condition that nobody wrote to the key since,
//! and begin again where somebody did.

use crate::base::types::bytes::Bytes;
use crate::base::types::error::Result;
use crate::base::types::expiry::Expiry;
use crate::base::types::seqno::SeqNo;
use crate::db::keyspace_handle::Keyspace;
use crate::db::other_end::put_again;
use crate::db::readable::AtMoment;
use crate::db::snapshots::{Pin, SnapshotOwner};
use crate::db::writing::{self, Terms, Written};
use crate::flow::read::newest::Target;
use crate::flow::write::validation::Unchanged;
use crate::store::batch::writer::{Batch, LargeBytes};

impl Keyspace {
    /// Sets the value of a key to `new` (removes it with `None`) if it is `expected` now; says
    /// whether it was.
    ///
    /// ```
    /// # fn main() -> esker::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a temporary directory");
    /// # let db = esker::Db::open(dir.path())?;
    /// db.put("berth:3", "anna")?;
    /// assert!(!db.compare_and_swap("berth:3", Some(b"bela"), Some(b"cleo"))?);
    /// assert!(db.compare_and_swap("berth:3", Some(b"anna"), None)?);
    /// assert!(!db.contains_key("berth:3")?);
    /// # Ok(())
    /// # }
    /// ```
    pub fn compare_and_swap(
        &self,
        key: impl AsRef<[u8]>,
        expected: Option<&[u8]>,
        new: Option<&[u8]>,
    ) -> Result<bool> {
        let mut is_swapped = false;
        self.update(key, |current| {
            is_swapped = current == expected;
            if is_swapped {
                Update::to(new)
            } else {
                Update::Keep
            }
        })?;
        Ok(is_swapped)
    }

    /// Changes the value of a key by what `change` says of the present one, atomically; returns the
    /// value afterwards. `change` runs again when another write came between, or the value ended.
    ///
    /// ```
    /// # fn main() -> esker::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a temporary directory");
    /// # let db = esker::Db::open(dir.path())?;
    /// use esker::Update;
    ///
    /// db.put("crew:anna", "12")?;
    /// db.update("crew:anna", |crew| {
    ///     let count = crew.and_then(|text| std::str::from_utf8(text).ok()?.parse::<u32>().ok());
    ///     Update::Set((count.unwrap_or(0) + 1).to_string().into())
    /// })?;
    /// assert_eq!(db.get("crew:anna")?.as_deref(), Some(&b"13"[..]));
    /// # Ok(())
    /// # }
    /// ```
    pub fn update(
        &self,
        key: impl AsRef<[u8]>,
        mut change: impl FnMut(Option<&[u8]>) -> Update,
    ) -> Result<Option<Bytes>> {
        let key = key.as_ref();
        loop {
            let look = self.look();
            let found = self.moment().get_lasting(key)?;
            let alive_until = found.as_ref().and_then(|(_, alive_until)| *alive_until);
            let current = found.map(|(found, _)| found.value);
            let after = match change(current.as_deref()) {
                Update::Keep => return Ok(current),
                Update::Remove => None,
                Update::Set(value) => Some(Bytes::from(value)),
            };
            let mut batch = Batch::new();
            match &after {
                None => batch.delete(self.parts().id, key)?,
                Some(value) => {
                    let value = LargeBytes::Shared(value.clone());
                    self.add_own_put(&mut batch, key, value)?;
                }
            }
            if self.write_while(alive_until, &look, key, &mut batch)? {
                return Ok(after);
            }
        }
    }

    /// Sets the value of a key if it has none, atomically; says whether it did. A value that is
    /// there is not read, however large it is. Errors as [`Keyspace::put`].
    ///
    /// ```
    /// # fn main() -> esker::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a temporary directory");
    /// # let db = esker::Db::open(dir.path())?;
    /// assert!(db.put_if_absent("berth:3", "anna")?);
    /// assert!(!db.put_if_absent("berth:3", "bela")?);
    /// # Ok(())
    /// # }
    /// ```
    pub fn put_if_absent(&self, key: impl AsRef<[u8]>, value: impl AsRef<[u8]>) -> Result<bool> {
        let (key, value) = (key.as_ref(), value.as_ref());
        loop {
            let look = self.look();
            if self.contains_key(key)? {
                return Ok(false);
            }
            let mut batch = Batch::new();
            self.add_own_put(&mut batch, key, LargeBytes::Lent(value))?;
            if self.write_while(None, &look, key, &mut batch)? {
                return Ok(true);
            }
        }
    }

    /// Removes a key if it is there, atomically; says whether it was. Its value is not read,
    /// however large it is. Errors as [`Keyspace::put`].
    ///
    /// ```
    /// # fn main() -> esker::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a temporary directory");
    /// # let db = esker::Db::open(dir.path())?;
    /// db.put("berth:3", "anna")?;
    /// assert!(db.delete_if_present("berth:3")?);
    /// assert!(!db.delete_if_present("berth:3")?);
    /// # Ok(())
    /// # }
    /// ```
    pub fn delete_if_present(&self, key: impl AsRef<[u8]>) -> Result<bool> {
        let key = key.as_ref();
        loop {
            let look = self.look();
            let Some(alive_until) = self.expiry(key)? else {
                return Ok(false);
            };
            let mut batch = Batch::new();
            batch.delete(self.parts().id, key)?;
            if self.write_while(alive_until, &look, key, &mut batch)? {
                return Ok(true);
            }
        }
    }

    /// Sets when a key's value ends, or has it stay with `None`, atomically;
    /// says whether there is a value. One that lies in the value log is neither read nor written
    /// again; a smaller one is written anew, and so is what merge operands make. Errors as
    /// [`Keyspace::put`].
    ///
    /// ```
    /// # fn main() -> esker::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a temporary directory");
    /// # let db = esker::Db::open(dir.path())?;
    /// db.put("film", vec![7; 100_000])?;
    /// let end = esker::Expiry::from_unix_s(4_000_000_000);
    /// assert!(db.set_expiry("film", Some(end))?);
    /// assert_eq!(db.expiry("film")?, Some(Some(end)));
    /// assert!(db.set_expiry("film", None)?); // It stays.
    /// assert!(!db.set_expiry("nothing", None)?);
    /// # Ok(())
    /// # }
    /// ```
    pub fn set_expiry(&self, key: impl AsRef<[u8]>, expiry: Option<Expiry>) -> Result<bool> {
        let key = key.as_ref();
        loop {
            let look = self.look();
            // Kept until its segment is held.
            let (view, stored) = self.moment().stored(key)?;
            let Some(stored) = stored else {
                return Ok(false);
            };
            if stored.ends_at(expiry) {
                return Ok(true);
            }
            let alive_until = stored.alive_until();
            let mut batch = Batch::new();
            let core = self.database().core();
            let held = put_again(core, &mut batch, self.parts(), key, stored, expiry)?;
            drop(view);
            let is_written = self.write_while(alive_until, &look, key, &mut batch)?;
            drop(held);
            if is_written {
                return Ok(true);
            }
        }
    }

    // To be taken before the read that a write depends on.
    fn look(&self) -> Look<'_> {
        let core = self.database().core();
        let now = core.env.clock.monotonic();
        Look {
            _traces: core
                .snapshots
                .pin(core.committer.visible(), now, SnapshotOwner::AtomicChange),
            seen: core.committer.visible(),
        }
    }

    // Writes unless `key` was written to since that look, or the value that was found has ended;
    // says whether it did.
    fn write_while(
        &self,
        alive_until: Option<Expiry>,
        look: &Look<'_>,
        key: &[u8],
        batch: &mut Batch<'_>,
    ) -> Result<bool> {
        let unchanged = Unchanged {
            keyspace: self.parts().id,
            current: &self.parts().current,
            target: Target::Key(key),
            seen: look.seen,
        };
        let written = writing::write(
            self.database().core(),
            batch,
            self.write_options(),
            Terms {
                unchanged: &[unchanged],
                alive_until,
                ..Terms::PLAIN
            },
        )?;
        Ok(written == Written::Done)
    }
}

/// A moment before a read, by which a write that depends on the read finds what came between.
struct Look<'a> {
    /// While this lives, compaction keeps the trace of every later write: a delete that reached
    /// the bottom would else be gone, and not be found below.
    _traces: Pin<'a>,
    /// The read may see more: a write between the two is found then.
    seen: SeqNo,
}

/// What [`Keyspace::update`] does with a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Update {
    /// Leaves it.
    Keep,
    /// Sets it.
    Set(Vec<u8>),
    /// Removes the key.
    Remove,
}

impl Update {
    fn to(new: Option<&[u8]>) -> Update {
        new.map_or(Update::Remove, |value| Update::Set(value.to_vec()))
    }
}
