//! A transaction: reads and writes that happen together, as if nobody else were there.

use std::sync::Arc;

use crate::base::options::call::{
    Isolation, ReadOptions, TransactionMode, TransactionOptions, WriteOptions,
};
use crate::base::types::bytes::Bytes;
use crate::base::types::error::{Error, Result};
use crate::base::types::ids::FileNumber;
use crate::base::types::user_code;
use crate::db::committing;
use crate::db::core::Core;
use crate::db::database_ref::DatabaseRef;
use crate::db::keyspace::KeyspaceParts;
use crate::db::keyspace_handle::Keyspace;
use crate::db::locking;
use crate::db::moment::{Moment, When};
use crate::db::readable::{AtMoment, inherent_reads};
use crate::db::settling;
use crate::db::snapshots::{SnapshotOwner, Ticket};
use crate::db::txn::live::LivePlace;
use crate::db::txn::locks::lock_id::TxnId;
use crate::db::txn::locks::lock_mode::KeyMode;
use crate::db::txn::locks::lock_notes::LockNotes;
use crate::db::txn::locks::owned_locks::{LockMark, OwnedLocks};
use crate::db::txn::state::TransactionState;
use crate::db::worker;
use crate::db::write_control;
use crate::store::batch::writer::BatchMark;

/// Reads and writes over any keyspaces that happen together or not at all, as far apart from what
/// others do as its [`Isolation`] says.
///
/// It reads the database and its own writes, which nobody else sees before they are committed. What
/// was read, or is written, is checked when it is committed, and
/// [`Conflict`](crate::ErrorKind::Conflict) says that somebody else was faster; then run it again,
/// or have [`Db::transaction`](crate::Db::transaction) do so. When it is dropped, it is rolled
/// back.
///
/// Nobody waits for anybody, unless its [`TransactionMode`] is to lock what it touches. Then a call
/// that does not get a lock in time is a [`LockTimeout`](crate::ErrorKind::LockTimeout), or a
/// [`Deadlock`](crate::ErrorKind::Deadlock) where it would wait for itself; the transaction has
/// what it had, and may go on.
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
    savepoints: Vec<Savepoint>,
    live: LivePlace,
    /// Where files were when it began.
    first_file: FileNumber,
    /// There while the transaction is, once anybody may interrupt it.
    presence: Option<Arc<()>>,
    /// The moment that its plain reads see, if it was chosen.
    chosen: Option<ChosenMoment>,
}

/// A registered moment.
#[derive(Clone, Copy)]
pub(crate) struct ChosenMoment {
    pub ticket: Ticket,
    /// Where files were then.
    pub first_file: FileNumber,
}

/// What there was at one moment.
struct Savepoint {
    written: BatchMark,
    /// `None` where nothing is locked.
    locked: Option<LockMark>,
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
        let notes = (options.mode == TransactionMode::Locking).then(Arc::<LockNotes>::default);
        let live = core.transactions.begin(&options, now, notes.clone());
        let locks = notes.map(|notes| {
            OwnedLocks::new(Arc::clone(&core.locks), TxnId(live.number)).noted_in(notes)
        });
        let state = TransactionState::new(options, locks);
        if options.mode == TransactionMode::Optimistic {
            locking::take_snapshot(core, &state);
        }
        Transaction {
            state: Some(state),
            savepoints: Vec::new(),
            live,
            first_file,
            presence: None,
            chosen: None,
            default,
            database,
        }
    }

    /// Says whose it is: [`Db::stats`](crate::Db::stats) tells it with the transaction's age, and
    /// so do errors of those who wait for its locks, so that one that nobody ends is traced to whom
    /// it belongs.
    ///
    /// ```
    /// # fn main() -> esker::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a temporary directory");
    /// # let db = esker::Db::open(dir.path())?;
    /// let mut tx = db.begin();
    /// tx.set_owner("harbour 7");
    /// assert_eq!(db.stats().transactions[0].owner.as_deref(), Some("harbour 7"));
    /// # drop(tx);
    /// # Ok(())
    /// # }
    /// ```
    pub fn set_owner(&mut self, owner: &str) {
        let transactions = &self.database.core().transactions;
        transactions.set_owner(self.live, owner.into());
    }

    /// Another keyspace than `default`, as the transaction sees it, read as its handle says
    /// ([`Keyspace::with_read`]).
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
            at: When::Within(self.state()),
            read: keyspace.read_options(),
        }
    }

    /// The value of a key that is to be written next: a commit that writes anything fails if
    /// anybody else writes to it meanwhile, whatever the isolation is. A locking transaction locks
    /// the key for itself alone, so that nobody does; where somebody did since its snapshot, its
    /// commit would fail, and the call is a `Conflict` at once. Errors as [`Keyspace::get`];
    /// `LockTimeout`, `Deadlock` and `Conflict`, after which it has what it had; `Invalid` for a
    /// keyspace of another database.
    ///
    /// ```
    /// # fn main() -> esker::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a temporary directory");
    /// # let db = esker::Db::open(dir.path())?;
    /// use esker::{ErrorKind, Isolation, TransactionOptions};
    ///
    /// let mut tx = db.begin_with(TransactionOptions {
    ///     isolation: Isolation::ReadCommitted,
    ///     ..TransactionOptions::default()
    /// });
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
        self.reads_for_update(parts, key)?;
        self.moment_for_update(parts).get(key)
    }

    // The key is about to be read, to be written.
    pub(crate) fn reads_for_update(&self, parts: &Arc<KeyspaceParts>, key: &[u8]) -> Result<()> {
        self.keeps(parts, key, KeyMode::Exclusive)
    }

    // The key is about to be read, and nobody else is to write to it.
    pub(crate) fn keeps(
        &self,
        parts: &Arc<KeyspaceParts>,
        key: &[u8],
        mode: KeyMode,
    ) -> Result<()> {
        locking::before_lasting_read(self.database.core(), self.state(), parts, key, mode)?;
        self.depends_on(parts, key);
        Ok(())
    }

    /// The commit fails if anybody writes to the key that is read now.
    fn depends_on(&self, parts: &Arc<KeyspaceParts>, key: &[u8]) {
        let (core, state) = (self.database.core(), self.state());
        match (state.isolation(), state.mode()) {
            (Isolation::Snapshot | Isolation::Serializable, _) => {
                state.reads_for_update(parts, key, state.seen());
            }
            (Isolation::ReadCommitted, TransactionMode::Optimistic) => {
                let now = core.env.clock.monotonic();
                state.pinned(|| {
                    let visible = core.committer.visible();
                    core.snapshots
                        .take(visible, now, SnapshotOwner::Transaction)
                });
                // The read may see more: a write between the two is found then.
                state.reads_for_update(parts, key, core.committer.visible());
            }
            // Nobody writes to it until the transaction has ended.
            (Isolation::ReadCommitted, TransactionMode::Locking) => {}
        }
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
        let state = self.state();
        // One after the other: locks are never taken under what is written.
        let written = state.own().mark();
        let locked = state.lock_mark();
        self.savepoints.push(Savepoint { written, locked });
    }

    /// Forgets what was written since the last savepoint, and the savepoint. What was read since
    /// counts all the same; but locks that were taken since are given back, and under
    /// `ReadCommitted`, where nothing else keeps it, with them what was read to be written.
    ///
    /// Errors: `Invalid` when there is none, and in a forked process.
    pub fn rollback_to_savepoint(&mut self) -> Result<()> {
        self.database.core().gate.check_process()?;
        let savepoint = self.savepoints.pop().ok_or_else(no_savepoint)?;
        self.state().own().rewind(&savepoint.written);
        if let Some(locked) = savepoint.locked {
            self.state().release_to(locked);
        }
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
    /// Errors: `Conflict` with the key that somebody else wrote to, or has locked; those of
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

    /// What is there for as long as the transaction.
    pub(crate) fn presence(&mut self) -> &Arc<()> {
        self.presence.get_or_insert_default()
    }

    pub(crate) fn database(&self) -> &DatabaseRef {
        &self.database
    }

    pub(crate) fn state(&self) -> &TransactionState {
        self.state.as_ref().expect("there until dropped")
    }

    /// Its plain reads see that moment from now on; says which they saw before.
    pub(crate) fn choose(&mut self, chosen: Option<ChosenMoment>) -> Option<ChosenMoment> {
        let state = self.state.as_mut().expect("there until dropped");
        state.choose(chosen.map(|chosen| chosen.ticket.seqno));
        std::mem::replace(&mut self.chosen, chosen)
    }

    pub(crate) fn moment_of<'a>(&'a self, parts: &'a Arc<KeyspaceParts>) -> Moment<'a> {
        Moment {
            database: &self.database,
            parts,
            at: When::Within(self.state()),
            options: ReadOptions::default(),
        }
    }

    /// Where a key is read that was locked just now, or counts from now on: under `ReadCommitted`
    /// that is what is committed by now, also where a moment was chosen for plain reads.
    pub(crate) fn moment_for_update<'a>(&'a self, parts: &'a Arc<KeyspaceParts>) -> Moment<'a> {
        let at = match self.state().isolation() {
            Isolation::ReadCommitted => When::Latest(self.state()),
            Isolation::Snapshot | Isolation::Serializable => When::Within(self.state()),
        };
        Moment {
            at,
            ..self.moment_of(parts)
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
        let pin = self.state().pin();
        let has_held = self.state().own().is_holding();
        // With its locks, and the view of its last read, which may have kept files and memtables.
        self.state = None;
        if self.presence.take().is_some() {
            // Nobody interrupts it any more; who was in the middle of that is waited for.
            core.locks.clear_interrupt(TxnId(self.live.number));
        }
        write_control::let_go(core);
        if has_held {
            // Perhaps nobody else points to what it kept.
            core.values.set_dying(true);
        }
        worker::tidy(core);
        core.transactions.end(self.live);
        if let Some(ChosenMoment { ticket, first_file }) = self.chosen {
            release(core, ticket, first_file);
        }
        if let Some(pin) = pin {
            release(core, pin, self.first_file);
        }
    }
}

/// Nobody reads at that moment any more, when the next file was `first_file`.
pub(crate) fn release(core: &Arc<Core>, ticket: Ticket, first_file: FileNumber) {
    core.snapshots.release(ticket);
    // Only files that were written meanwhile can have kept anything for it.
    if core.numbers.peek() != first_file {
        worker::wake(core);
        settling::released(core, ticket.seqno);
    }
}

/// One keyspace as a transaction sees it. Made by [`Transaction::of`] and [`Transaction::latest`].
pub struct TransactionKeyspace<'a> {
    transaction: &'a Transaction,
    parts: Arc<KeyspaceParts>,
    at: When<'a>,
    read: ReadOptions,
}

impl<'a> TransactionKeyspace<'a> {
    /// The same keyspace at another moment.
    pub(crate) fn at(self, at: When<'a>) -> TransactionKeyspace<'a> {
        TransactionKeyspace { at, ..self }
    }
}

inherent_reads!(TransactionKeyspace<'_>);

impl AtMoment for TransactionKeyspace<'_> {
    fn moment(&self) -> Moment<'_> {
        Moment {
            at: self.at,
            options: self.read,
            ..self.transaction.moment_of(&self.parts)
        }
    }
}
