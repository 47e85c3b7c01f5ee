//! A snapshot: every keyspace as it was at one moment.

use std::sync::Arc;

use crate::base::options::call::ReadOptions;
use crate::base::types::seqno::SeqNo;
use crate::db::database_ref::DatabaseRef;
use crate::db::keyspace::KeyspaceParts;
use crate::db::keyspace_handle::Keyspace;
use crate::db::moment::{Moment, When};
use crate::db::readable::{AtMoment, inherent_reads};
use crate::db::settling;
use crate::db::snapshots::{SnapshotOwner, Ticket};
use crate::db::worker;

/// Every keyspace as it was when this was taken, for as long as it is held.
///
/// Cheap to clone. While one lives, entries that it sees are kept by compaction; `stats` lists
/// live snapshots with their age and with the name of who holds them, if one was given.
#[derive(Clone)]
pub struct Snapshot(Arc<Held>);

struct Held {
    database: DatabaseRef,
    ticket: Ticket,
    default: Arc<KeyspaceParts>,
}

impl Snapshot {
    /// The database as it is now; panics in a merge operator or an order. `default` is the
    /// keyspace that the snapshot itself reads.
    pub(crate) fn take(
        database: DatabaseRef,
        default: Arc<KeyspaceParts>,
        owner: SnapshotOwner,
    ) -> Snapshot {
        let core = database.core();
        let now = core.env.clock.monotonic();
        // Between reading the number and registering it no write and no compaction that began
        // after such a write may come.
        let ticket = core
            .committer
            .paused(|_| core.snapshots.take(core.committer.visible(), now, owner));
        Snapshot(Arc::new(Held {
            database,
            ticket,
            default,
        }))
    }

    /// Another keyspace than `default`, at the same moment, read as its handle says
    /// ([`Keyspace::with_read`]).
    ///
    /// # Panics
    /// When the keyspace is one of another database: its writes have other numbers.
    ///
    /// ```
    /// # fn main() -> esker::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a temporary directory");
    /// # let db = esker::Db::open(dir.path())?;
    /// let visits = db.keyspace("visits")?;
    /// visits.put("anna", "3")?;
    /// let before = db.snapshot().of(&visits);
    /// visits.delete("anna")?;
    /// assert!(before.contains_key("anna")?);
    /// # Ok(())
    /// # }
    /// ```
    pub fn of(&self, keyspace: &Keyspace) -> KeyspaceSnapshot {
        assert!(
            Arc::ptr_eq(self.0.database.core(), keyspace.database().core()),
            "a snapshot reads keyspaces of its own database only"
        );
        KeyspaceSnapshot {
            snapshot: self.clone(),
            parts: Arc::clone(keyspace.parts()),
            read: keyspace.read_options(),
        }
    }

    /// The sequence number at which this reads.
    ///
    /// ```
    /// # fn main() -> esker::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a temporary directory");
    /// # let db = esker::Db::open(dir.path())?;
    /// let before = db.snapshot();
    /// db.put("a", "1")?;
    /// assert!(db.snapshot().seqno() > before.seqno());
    /// # Ok(())
    /// # }
    /// ```
    pub fn seqno(&self) -> SeqNo {
        self.0.ticket.seqno
    }
}

inherent_reads!(Snapshot);

impl AtMoment for Snapshot {
    fn moment(&self) -> Moment<'_> {
        let at = When::At(self.seqno());
        let options = ReadOptions::default();
        Moment {
            database: &self.0.database,
            parts: &self.0.default,
            at,
            options,
        }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let core = self.database.core();
        if core.gate.check_process().is_err() {
            return;
        }
        core.snapshots.release(self.ticket);
        // Deletes that were kept for this snapshot alone may be worth a compaction now.
        worker::wake(core);
        settling::released(core, self.ticket.seqno);
    }
}

/// One keyspace at the moment of a snapshot.
#[derive(Clone)]
pub struct KeyspaceSnapshot {
    snapshot: Snapshot,
    parts: Arc<KeyspaceParts>,
    read: ReadOptions,
}

inherent_reads!(KeyspaceSnapshot);

impl AtMoment for KeyspaceSnapshot {
    fn moment(&self) -> Moment<'_> {
        Moment {
            database: &self.snapshot.0.database,
            parts: &self.parts,
            at: When::At(self.snapshot.seqno()),
            options: self.read,
        }
    }
}

#[cfg(test)]
mod tests;
