//! The public handle of a database: each method a few lines that name the flow below.

use std::ops::{Deref, RangeBounds};
use std::path::Path;
use std::sync::Arc;

use crate::base::options::keyspace::KeyspaceOptions;
use crate::base::types::error::Result;
use crate::db::backup::checkpoint;
use crate::db::backup::report::RepairReport;
use crate::db::backup::verify::{self, VerifyProgress, VerifyReport};
use crate::db::database_ref::DatabaseRef;
use crate::db::keyspace_handle::Keyspace;
use crate::db::live_settings;
use crate::db::manual;
use crate::db::moment::Moment;
use crate::db::open::Builder;
use crate::db::open_keyspace::{self, DEFAULT_KEYSPACE};
use crate::db::properties;
use crate::db::readable::AtMoment;
use crate::db::snapshot::Snapshot;
use crate::db::snapshots::SnapshotOwner;
use crate::db::statistics::{self, Stats};
use crate::db::write_batch::WriteBatch;
use crate::env::process::Process;

/// An open database: a directory of keyspaces. Cheap to clone; any thread may call anything.
///
/// Acts on the keyspace `default` as that keyspace's handle would: every method of [`Keyspace`]
/// is there. When the last handle, iterator and snapshot is gone, the database is closed.
///
/// A handle is of use only in the process that opened the database. In a child that forks from it
/// every call is refused (`Invalid`), and dropping the handle does nothing to the database.
#[derive(Clone)]
pub struct Db {
    database: DatabaseRef,
    default: Keyspace,
}

impl Builder {
    /// Opens the database.
    ///
    /// Errors: `Locked` with the holder's process id; `Invalid` for contradicting settings, for
    /// a directory without a database that shall not be created, or for another merge operator
    /// than the database was written with; `Unsupported` for a newer format or an operator or
    /// order that is not known; `Corruption` with file and offset; `Io`.
    pub fn open(self) -> Result<Db> {
        Db::new(self.open_database()?)
    }

    /// Opens a damaged database to read what is left of it, and tells what is lost: what a
    /// [`repair`](crate::repair) would keep, and the database stays as it is, to the byte. It may
    /// lie where nothing can be written.
    ///
    /// What a repair would write goes to `scratch`, an empty directory, which the caller removes
    /// when the result is closed: the rest of each damaged sorted file and of a damaged log, and
    /// everything when the manifest is lost. Until then nobody opens the database for writing.
    ///
    /// Errors: those of [`Builder::open`] and of [`repair`](crate::repair).
    pub fn open_past_damage(self, scratch: impl AsRef<Path>) -> Result<(Db, RepairReport)> {
        let (database, report) = self.open_database_past_damage(scratch.as_ref())?;
        Ok((Db::new(database)?, report))
    }
}

impl Db {
    /// Opens the database in directory `path` with default settings; creates it if it is not
    /// there. Errors as [`Builder::open`].
    ///
    /// ```
    /// # fn main() -> esker::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a temporary directory");
    /// let db = esker::Db::open(dir.path().join("harbour"))?;
    /// db.put("ship:anna", "in port")?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn open(path: impl AsRef<Path>) -> Result<Db> {
        Builder::new(path).open()
    }

    /// Opens the database in directory `path` for reading only, even while another process
    /// writes to it: as it is at this moment. Errors as [`Builder::open`].
    ///
    /// ```
    /// # fn main() -> esker::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a temporary directory");
    /// # esker::Db::open(dir.path())?.put("ship:anna", "in port")?;
    /// let db = esker::Db::open_read_only(dir.path())?;
    /// assert!(db.contains_key("ship:anna")?);
    /// # Ok(())
    /// # }
    /// ```
    pub fn open_read_only(path: impl AsRef<Path>) -> Result<Db> {
        Builder::new(path).read_only(true).open()
    }

    /// A builder for the database in directory `path`.
    ///
    /// ```
    /// # fn main() -> esker::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a temporary directory");
    /// let db = esker::Db::builder(dir.path()).memory_limit(128 << 20).open()?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn builder(path: impl AsRef<Path>) -> Builder {
        Builder::new(path)
    }

    pub(crate) fn new(database: DatabaseRef) -> Result<Db> {
        let parts = database.core().keyspaces.get(DEFAULT_KEYSPACE)?;
        let default = Keyspace::new(database.clone(), parts);
        Ok(Db { database, default })
    }

    /// The keyspace of that name; created, with the settings given at open, if it is not there.
    ///
    /// ```
    /// # fn main() -> esker::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a temporary directory");
    /// # let db = esker::Db::open(dir.path())?;
    /// let visits = db.keyspace("visits")?;
    /// visits.put("anna", "3")?;
    /// assert_eq!(db.get("anna")?, None); // Another map.
    /// # Ok(())
    /// # }
    /// ```
    pub fn keyspace(&self, name: &str) -> Result<Keyspace> {
        let parts = open_keyspace::find_or_create(self.database.core(), name, None)?;
        Ok(Keyspace::new(self.database.clone(), parts))
    }

    /// The keyspace of that name; created with `options` if it is not there. `Invalid` for
    /// settings that contradict each other or those of the database, and when the keyspace is
    /// there with another order or merge operator; `Unsupported` for an order that was not
    /// given when the database was opened.
    ///
    /// A keyspace that is there without a merge operator is given that of `options`, for good, and
    /// keeps its other settings: so one gets its operator back after a repair without a manifest,
    /// which cannot know it.
    ///
    /// ```
    /// # fn main() -> esker::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a temporary directory");
    /// # let db = esker::Db::open(dir.path())?;
    /// use esker::{KeyspaceOptions, merge};
    ///
    /// let options = KeyspaceOptions::default().merge_operator(merge::uint64_add());
    /// let visits = db.keyspace_with("visits", options)?;
    /// visits.merge("anna", 1_u64.to_le_bytes())?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn keyspace_with(&self, name: &str, options: KeyspaceOptions) -> Result<Keyspace> {
        let parts = open_keyspace::find_or_create(self.database.core(), name, Some(options))?;
        Ok(Keyspace::new(self.database.clone(), parts))
    }

    /// The keyspace of that name if it is there.
    ///
    /// ```
    /// # fn main() -> esker::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a temporary directory");
    /// # let db = esker::Db::open(dir.path())?;
    /// assert!(db.existing_keyspace("visits").is_none());
    /// db.keyspace("visits")?;
    /// assert!(db.existing_keyspace("visits").is_some());
    /// # Ok(())
    /// # }
    /// ```
    pub fn existing_keyspace(&self, name: &str) -> Option<Keyspace> {
        let parts = self.database.core().keyspaces.find(name)?;
        Some(Keyspace::new(self.database.clone(), parts))
    }

    /// The keyspace `default`.
    ///
    /// ```
    /// # fn main() -> esker::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a temporary directory");
    /// # let db = esker::Db::open(dir.path())?;
    /// db.put("anna", "3")?;
    /// assert!(db.default_keyspace().contains_key("anna")?);
    /// # Ok(())
    /// # }
    /// ```
    pub fn default_keyspace(&self) -> &Keyspace {
        &self.default
    }

    /// Names of all keyspaces, in order.
    ///
    /// ```
    /// # fn main() -> esker::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a temporary directory");
    /// # let db = esker::Db::open(dir.path())?;
    /// db.keyspace("visits")?;
    /// assert_eq!(db.keyspaces(), ["default", "visits"]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn keyspaces(&self) -> Vec<String> {
        let all = self.database.core().keyspaces.all();
        all.iter().map(|parts| parts.name.clone()).collect()
    }

    /// Drops a keyspace with everything in it. The name may be used again at once. `Invalid`
    /// when there is none of that name, or for `default`.
    ///
    /// ```
    /// # fn main() -> esker::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a temporary directory");
    /// # let db = esker::Db::open(dir.path())?;
    /// db.keyspace("visits")?.put("anna", "3")?;
    /// db.drop_keyspace("visits")?;
    /// assert!(db.keyspace("visits")?.iter()?.next().is_none());
    /// # Ok(())
    /// # }
    /// ```
    pub fn drop_keyspace(&self, name: &str) -> Result<()> {
        open_keyspace::drop_keyspace(self.database.core(), name)
    }

    /// An empty batch of writes.
    ///
    /// ```
    /// # fn main() -> esker::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a temporary directory");
    /// # let db = esker::Db::open(dir.path())?;
    /// db.batch().put(&db, "a", "1").delete(&db, "b").commit()?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn batch(&self) -> WriteBatch {
        WriteBatch::new(self.database.clone())
    }

    /// Every keyspace as it is now.
    ///
    /// # Panics
    /// In a merge operator or an order: see [`MergeOperator`](crate::MergeOperator).
    ///
    /// ```
    /// # fn main() -> esker::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a temporary directory");
    /// # let db = esker::Db::open(dir.path())?;
    /// db.put("ship:anna", "in port")?;
    /// let before = db.snapshot();
    /// db.put("ship:anna", "at sea")?;
    /// assert_eq!(before.get("ship:anna")?.as_deref(), Some(&b"in port"[..]));
    /// # Ok(())
    /// # }
    /// ```
    pub fn snapshot(&self) -> Snapshot {
        self.snapshot_of(SnapshotOwner::Unnamed)
    }

    /// Every keyspace as it is now, held by somebody of that name: [`Db::stats`] tells it, so that
    /// a snapshot that nobody lets go is traced to whom it belongs.
    ///
    /// # Panics
    /// As [`Db::snapshot`].
    ///
    /// ```
    /// # fn main() -> esker::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a temporary directory");
    /// # let db = esker::Db::open(dir.path())?;
    /// use esker::SnapshotOwner;
    ///
    /// let moment = db.snapshot_named("nightly report");
    /// let live = &db.stats().snapshots[0];
    /// assert_eq!(live.owner, SnapshotOwner::Named("nightly report".into()));
    /// assert_eq!(moment.iter()?.count(), 0);
    /// # Ok(())
    /// # }
    /// ```
    pub fn snapshot_named(&self, owner: &str) -> Snapshot {
        self.snapshot_of(SnapshotOwner::Named(owner.into()))
    }

    fn snapshot_of(&self, owner: SnapshotOwner) -> Snapshot {
        let default = Arc::clone(self.default.parts());
        Snapshot::take(self.database.clone(), default, owner)
    }

    /// Returns when everything written so far, to any keyspace, lies in sorted files.
    ///
    /// ```
    /// # fn main() -> esker::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a temporary directory");
    /// # let db = esker::Db::open(dir.path())?;
    /// db.put("a", "1")?;
    /// db.flush_all()?;
    /// assert_eq!(db.files().len(), 1);
    /// # Ok(())
    /// # }
    /// ```
    pub fn flush_all(&self) -> Result<()> {
        manual::flush_all(self.database.core())
    }

    /// Returns when everything written so far, to any keyspace and with whatever durability, is on
    /// the medium. What was written with [`Durability::Memory`](crate::Durability::Memory) is in
    /// no log, and so is flushed.
    ///
    /// Errors: `Faulted` when a sync or flush failed: what it should have kept may be lost in a
    /// power cut; `OutOfSpace`; `Closed`.
    ///
    /// ```
    /// # fn main() -> esker::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a temporary directory");
    /// # let db = esker::Db::open(dir.path())?;
    /// for number in 0..1000_u32 {
    ///     db.put(number.to_be_bytes(), "cheap")?; // Survives a killed process.
    /// }
    /// db.sync()?; // All of them survive a power cut.
    /// # Ok(())
    /// # }
    /// ```
    pub fn sync(&self) -> Result<()> {
        manual::sync(self.database.core())
    }

    /// Makes a second database in the directory `target`, with everything written so far to any
    /// keyspace: hard links where the file system has them, copies else. Writes go on meanwhile.
    ///
    /// Files are taken as they are: nothing of them is read but what has to be copied, so a damaged
    /// file is damaged in the copy too. [`Db::verify`] of the copy, opened read-only, tells.
    ///
    /// Errors: `Invalid` when `target` is there and not empty; those of a flush; `OutOfSpace` and
    /// `Io`. Nothing that passes for a database is left in `target` then.
    ///
    /// ```
    /// # fn main() -> esker::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a temporary directory");
    /// # let db = esker::Db::open(dir.path())?;
    /// db.put("a", "1")?;
    /// let copy = dir.path().join("copy");
    /// db.checkpoint(&copy)?;
    /// assert!(esker::Db::open(&copy)?.contains_key("a")?);
    /// # Ok(())
    /// # }
    /// ```
    pub fn checkpoint(&self, target: impl AsRef<Path>) -> Result<()> {
        checkpoint::checkpoint(self.database.core(), target.as_ref())
    }

    /// Reads every byte of every file and holds it against what the database knows of it; goes on
    /// behind damage and lists all. Reads and writes go on meanwhile.
    ///
    /// Errors: `Closed`; `Busy` when it was opened read-only, and a file is gone that whoever
    /// writes needs no more: open it again. Whatever else a file's reading gives is in the report.
    ///
    /// ```
    /// # fn main() -> esker::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a temporary directory");
    /// # let db = esker::Db::open(dir.path())?;
    /// db.put("a", "1")?;
    /// assert!(db.verify()?.is_whole());
    /// # Ok(())
    /// # }
    /// ```
    pub fn verify(&self) -> Result<VerifyReport> {
        verify::verify(self.database.core(), &mut |_| {})
    }

    /// As [`Db::verify`], and `tell` hears now and then how far it is.
    ///
    /// ```
    /// # fn main() -> esker::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a temporary directory");
    /// # let db = esker::Db::open(dir.path())?;
    /// let mut done = 0;
    /// db.verify_with(|progress| done = progress.done_bytes)?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn verify_with(&self, mut tell: impl FnMut(VerifyProgress)) -> Result<VerifyReport> {
        verify::verify(self.database.core(), &mut tell)
    }

    /// Merges everything in `bounds` of the keyspace `default` into one run.
    ///
    /// ```
    /// # fn main() -> esker::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a temporary directory");
    /// # let db = esker::Db::open(dir.path())?;
    /// db.put("a", "1")?;
    /// db.delete("a")?;
    /// db.compact::<&str>(..)?; // Nothing of it is left on the disk.
    /// # Ok(())
    /// # }
    /// ```
    pub fn compact<K: AsRef<[u8]>>(&self, bounds: impl RangeBounds<K>) -> Result<()> {
        self.default.compact(bounds)
    }

    /// Changes a setting while the database is open, by its name in the catalogue; what is there
    /// already, such as files and log segments, stays as it was made.
    ///
    /// A setting of the database, such as `memory_limit`, goes until the database is closed: the
    /// next opening says its own. A setting of keyspaces changes the keyspace `default`, as
    /// [`Keyspace::set`] does, and is what keyspaces begin with that are created later.
    ///
    /// `Invalid`, and nothing changed, for an unknown name, for a setting that takes effect only
    /// when a database is opened, for an impossible value, and for one that contradicts others.
    ///
    /// ```
    /// # fn main() -> esker::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a temporary directory");
    /// # let db = esker::Db::open(dir.path())?;
    /// db.set("memory_limit", "64MiB")?;
    /// assert!(db.set("memory_limit", "lots").is_err());
    /// # Ok(())
    /// # }
    /// ```
    pub fn set(&self, name: &str, text: &str) -> Result<()> {
        live_settings::set(self.database.core(), self.default.parts(), name, text)
    }

    /// What the database knows about itself now.
    ///
    /// # Panics
    /// In a merge operator or an order: see [`MergeOperator`](crate::MergeOperator).
    ///
    /// ```
    /// # fn main() -> esker::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a temporary directory");
    /// # let db = esker::Db::open(dir.path())?;
    /// db.put("a", "1")?;
    /// println!("{}", db.stats());
    /// # Ok(())
    /// # }
    /// ```
    pub fn stats(&self) -> Stats {
        statistics::gather(self.database.core())
    }

    /// The process that opened the database: only there it is of use.
    pub fn process(&self) -> Process {
        self.database.core().gate.process()
    }

    /// The text of a property such as `leveldb.stats`; `None` for an unknown one.
    ///
    /// ```
    /// # fn main() -> esker::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a temporary directory");
    /// # let db = esker::Db::open(dir.path())?;
    /// assert!(db.property("leveldb.stats").is_some());
    /// assert!(db.property("unheard.of").is_none());
    /// # Ok(())
    /// # }
    /// ```
    pub fn property(&self, name: &str) -> Option<String> {
        properties::property(self.database.core(), name)
    }

    /// Closes the database: puts all memtables into sorted files and gives up the directory.
    /// Every later use of any handle is `Closed`. Closing twice does nothing, and returns the
    /// same.
    ///
    /// Errors: `Faulted` with the first cause when a failed write or sync, or a panic, had ended
    /// writing: what was acknowledged lies in sorted files and the log, and the next opening reads
    /// it; those of a flush, likewise. The directory is given up all the same.
    ///
    /// ```
    /// # fn main() -> esker::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a temporary directory");
    /// # let db = esker::Db::open(dir.path())?;
    /// db.put("a", "1")?;
    /// db.close()?;
    /// assert_eq!(db.get("a").unwrap_err().kind(), esker::ErrorKind::Closed);
    /// # Ok(())
    /// # }
    /// ```
    pub fn close(&self) -> Result<()> {
        self.database.close()
    }
}

impl AtMoment for Db {
    fn moment(&self) -> Moment<'_> {
        self.default.moment()
    }
}

impl Deref for Db {
    type Target = Keyspace;

    fn deref(&self) -> &Keyspace {
        &self.default
    }
}
