//! A commit that has its place in the order of all, and how one learns that it is durable.

use std::fmt;

use crate::base::options::call::{Durability, WriteOptions};
use crate::base::types::error::Result;
use crate::base::types::user_code;
use crate::db::database_ref::DatabaseRef;
use crate::db::handle::Db;
use crate::db::{notifying, writing};
use crate::flow::write::sync::LogPosition;

/// A transaction that was committed in order: everybody sees it, and a power cut may undo it. Made
/// by [`PreparedTransaction::commit_ordered`](crate::PreparedTransaction::commit_ordered).
///
/// Dropped, it is as durable as a write with [`Durability::Buffered`].
#[must_use = "it may not be durable yet: finish it, or drop it if that is kept elsewhere"]
pub struct OrderedCommit {
    database: DatabaseRef,
    /// Where the log ends behind it.
    position: LogPosition,
}

impl fmt::Debug for OrderedCommit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "OrderedCommit({:?})", self.position)
    }
}

impl OrderedCommit {
    pub(in crate::db) fn new(database: DatabaseRef, position: LogPosition) -> OrderedCommit {
        OrderedCommit { database, position }
    }

    /// Returns when it is as durable as the database's writes are (setting `durability`).
    ///
    /// Errors: as [`OrderedCommit::finish_with`].
    pub fn finish(self) -> Result<()> {
        self.finish_with(WriteOptions::default())
    }

    /// Returns when it is as durable as told: with `Sync`, and all that was committed before it.
    /// Those who finish at the same time share a sync.
    ///
    /// Errors: `Faulted` when the sync failed: it may be prepared again at the next opening;
    /// `Invalid` in a comparator or a merge operator.
    ///
    /// ```
    /// # fn main() -> esker::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a temporary directory");
    /// # let db = esker::Db::open(dir.path())?;
    /// use esker::{Durability, WriteOptions};
    ///
    /// let mut tx = db.begin();
    /// tx.put(&db, "ship:anna", "in port")?;
    /// let committed = tx.prepare("arrival 7")?.commit_ordered()?;
    /// committed.finish_with(WriteOptions {
    ///     durability: Some(Durability::Sync),
    ///     ..WriteOptions::default()
    /// })?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn finish_with(self, options: WriteOptions) -> Result<()> {
        let core = self.database.core();
        core.gate.check_process()?;
        user_code::refuse()?;
        match writing::durability(core, options) {
            Durability::Sync => core.committer.sync_through(self.position),
            Durability::Buffered | Durability::Memory => Ok(()),
        }
    }
}

impl Db {
    /// Has `call` called once everything that was committed so far is on the medium, or with the
    /// error that says why that is not known; no thread of the caller's waits. Where something of
    /// it is not, the log is synced for it, once for all who ask by then.
    ///
    /// It is called once, on the thread of event listeners, `esker-events`, or by who closes the
    /// database, and before that ends. It may call the database, but not close it, and a panic of
    /// it is caught (and shown in [`Stats::failures`](crate::Stats::failures)). A slow one keeps
    /// later ones and listeners waiting. What was written with
    /// [`Durability::Memory`] is in no log, and not meant.
    ///
    /// Errors: `Faulted` after a failed write, `Closed`, `Invalid` for a database that was opened
    /// read-only; then it is not called.
    ///
    /// ```
    /// # fn main() -> esker::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a temporary directory");
    /// # let db = esker::Db::open(dir.path())?;
    /// use std::sync::mpsc;
    ///
    /// let mut tx = db.begin();
    /// tx.put(&db, "ship:anna", "in port")?;
    /// drop(tx.prepare("arrival 7")?.commit_ordered()?);
    /// let (sender, receiver) = mpsc::channel();
    /// db.notify_when_durable(move |durable| {
    ///     // From here on the server needs nothing of its own log for this.
    ///     let _ = sender.send(durable.is_ok());
    /// })?;
    /// assert_eq!(receiver.recv(), Ok(true));
    /// # Ok(())
    /// # }
    /// ```
    pub fn notify_when_durable(
        &self,
        call: impl FnOnce(Result<()>) + Send + 'static,
    ) -> Result<()> {
        notifying::when_durable(self.database().core(), Box::new(call))
    }
}
