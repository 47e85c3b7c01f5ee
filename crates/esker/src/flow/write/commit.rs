//! The one write path: every put, delete, merge and transaction becomes a batch and comes here.

use std::sync::atomic::{self, AtomicBool, AtomicU64};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::base::hooks::event_reasons::StallCause;
use crate::base::options::call::Durability;
use crate::base::types::error::{Error, ErrorKind, Result};
use crate::base::types::ids::{FileNumber, KeyspaceId};
use crate::base::types::seqno::SeqNo;
use crate::base::types::user_code;
use crate::env::bundle::Env;
use crate::env::fs::LogSync;
use crate::env::signal::Signal;
use crate::flow::values::value_log::{Pending, ValueLog};
use crate::flow::write::active::{Active, Applied};
use crate::flow::write::admission::{Admission, CommitOptions, Refusal};
use crate::flow::write::follow_ups::FollowUp;
use crate::flow::write::gate::Gate;
use crate::flow::write::held_values::HeldValues;
use crate::flow::write::lock_holders::LockHolders;
use crate::flow::write::stall_watch::StallWatch;
use crate::flow::write::sync::{LogPosition, SyncGroup};
use crate::flow::write::validation::{Look, Validation};
use crate::flow::write::write_controller::{LOOK_AGAIN, WriteController};
use crate::flow::write::writer_hold::WriterHold;
use crate::store::batch::reader::BatchReader;
use crate::store::batch::writer::Batch;
use crate::store::vlog::value_pool::PoolRoom;

/// Growth of the live memtables that is told to the background: the largest chunk that a memtable
/// takes at once. Told more often it would cost writes, less often memory beyond the limit.
const GROWTH_BYTES: usize = 1 << 20;

/// How often a commit looks in full at what it depends on.
pub(in crate::flow::write) const LOOKS_MAX: u32 = 3;

/// How a commit ended, failures apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Written, and what the background has to do because of it.
    Committed(Applied),
    /// Nothing was written.
    Refused(Refusal),
}

/// The write path of one database. Any thread may call anything.
///
/// A plain lock, not a queue with a leader: with the log in mapped memory the critical section
/// is two memory copies, shorter than waking a thread (decision record 0003). Syncs are outside
/// the lock and shared.
pub struct Committer {
    pub(in crate::flow::write) active: Mutex<Active>,
    /// The last write that readers may see.
    pub(in crate::flow::write) visible: AtomicU64,
    /// Whether a transaction was prepared since the database was opened, or before.
    pub(in crate::flow::write) has_two_phases: AtomicBool,
    /// Raised whenever a prepared transaction has ended: for who waits for what it claimed.
    pub claims_ended: Signal,
    pub(in crate::flow::write) sync: SyncGroup,
    pub(in crate::flow::write) values: Arc<ValueLog>,
    pub(in crate::flow::write) gate: Arc<Gate>,
    pub(in crate::flow::write) controller: Arc<WriteController>,
    pub(in crate::flow::write) admission: Admission,
    /// Who waits for room for large values.
    waiting: StallWatch,
    pub(in crate::flow::write) hold: WriterHold,
    pub(in crate::flow::write) env: Env,
}

/// Whether a batch goes to the log. Without it, the flush of one keyspace would bring half of a
/// batch over several.
fn is_logged(batch: &Batch<'_>, options: &CommitOptions<'_>) -> bool {
    options.durability != Durability::Memory || batch.keyspaces().len() > 1
}

impl Committer {
    /// The write path over `active`.
    pub fn new(
        active: Active,
        values: Arc<ValueLog>,
        gate: Arc<Gate>,
        controller: Arc<WriteController>,
        env: Env,
    ) -> Committer {
        Committer {
            visible: AtomicU64::new(active.last_seqno().get()),
            active: Mutex::new(active),
            has_two_phases: AtomicBool::new(false),
            claims_ended: Signal::default(),
            sync: SyncGroup::behind(Arc::clone(&values) as Arc<dyn LogSync>),
            values,
            gate,
            controller,
            admission: Admission::default(),
            waiting: StallWatch::new(StallCause::ValueBufferLimit),
            hold: WriterHold::default(),
            env,
        }
    }

    /// The last write that readers may see.
    #[inline]
    pub fn visible(&self) -> SeqNo {
        // Acquire pairs with the Release in `write`: who sees the number sees its entries.
        SeqNo::new(self.visible.load(atomic::Ordering::Acquire))
    }

    /// Who holds locks, for whoever gives them out.
    pub fn lock_holders(&self) -> &Arc<LockHolders> {
        &self.admission.lock_holders
    }

    /// Writes a batch.
    ///
    /// When this returns `Committed`, the durability holds, and every later read sees the batch.
    /// Other readers may see it a moment before it is durable. An error other than `Faulted`
    /// means that nothing was written; `Conflict` is one of what a prepared transaction claims. A
    /// panic (of an order, or of the engine) ends all writing: the batch may be in the log, and no
    /// reader sees any of it before the next opening.
    pub fn commit(&self, batch: &mut Batch<'_>, options: &CommitOptions<'_>) -> Result<Outcome> {
        self.gate.check_write()?;
        if batch.is_empty() && options.mark.is_none() {
            return Ok(Outcome::Committed(Applied::default()));
        }
        if self.admission.refuses_early(options) {
            return Ok(Outcome::Refused(Refusal::Locked));
        }
        self.controller
            .delay_write(batch, options.no_wait, &self.env)?;
        match options.unchanged {
            [] => self.commit_under(batch, options, None),
            _ => self.commit_checked(batch, options),
        }
    }

    fn commit_checked(
        &self,
        batch: &mut Batch<'_>,
        options: &CommitOptions<'_>,
    ) -> Result<Outcome> {
        let mut validation = Validation::new(options.unchanged);
        let watch = validation.wants_recent().then(|| Watch::begin(self));
        let last = watch.as_ref().map_or_else(|| self.visible(), |it| it.last);
        match validation.look(last)? {
            Look::Broken(index) => Ok(conflict(Some(index))),
            _ => self.commit_under(batch, options, Some(&mut validation)),
        }
    }

    #[inline]
    fn commit_under(
        &self,
        batch: &mut Batch<'_>,
        options: &CommitOptions<'_>,
        mut validation: Option<&mut Validation<'_>>,
    ) -> Result<Outcome> {
        // Until the pointers are in memtables, or given up: a batch that is refused from here on
        // leaves dead values behind, collected like any others.
        let mut held = HeldValues {
            pending: self.write_values(batch, options)?,
            has_room: true,
            gate: &self.gate,
        };
        let mut looks_left = LOOKS_MAX;
        let (outcome, position) = loop {
            let pending = held.pending.as_mut();
            let written = self.write(batch, options, validation.as_deref(), pending)?;
            looks_left -= 1;
            let again = validation.as_mut().filter(|_| looks_left > 0);
            match (written, again) {
                ((Outcome::Refused(Refusal::Conflict(None)), _), Some(validation)) => {
                    if let Look::Broken(index) = validation.look(self.visible())? {
                        break (conflict(Some(index)), None);
                    }
                }
                (written, _) => break written,
            }
        };
        held.has_room = matches!(outcome, Outcome::Refused(_));
        drop(held);
        if let (Durability::Sync, Some(position)) = (options.durability, position) {
            self.sync_through(position)?;
        }
        Ok(outcome)
    }

    /// Makes everything durable that was logged so far.
    pub fn sync(&self) -> Result<()> {
        self.gate.check_write()?;
        self.sync_log()
    }

    /// Makes the log durable as far as it is written, and leaves a mark in it that says so. For
    /// the background, at any time.
    pub fn sync_log(&self) -> Result<()> {
        self.sync
            .sync_all(&*self.env.pool)
            .map_err(|error| self.sync_failed(error))?;
        self.mark_synced(self.active());
        Ok(())
    }

    /// Ends the log that recovery read, for good: see [`Active::end_recovered`].
    ///
    /// Errors: `OutOfSpace` or another when no segment could be had; those of a sync.
    pub fn end_recovered(&self) -> Result<()> {
        self.active().end_recovered(&self.sync)?;
        self.sync_log()
    }

    /// Takes over a segment that recovery read: the next sync makes it durable too, because a
    /// killed process may have left it in the page cache only.
    pub fn adopt_segment(&self, number: FileNumber, syncer: Arc<dyn LogSync>) {
        self.sync.add_segment(number, syncer);
    }

    /// Ends the log with a segment that holds nothing: see [`Active::end_log`].
    pub fn end_log(&self) -> Result<()> {
        self.active().end_log(&self.sync)
    }

    /// Leaves a segment that was made for one giant batch: see [`Active::leave_giant`].
    pub fn leave_giant_segment(&self) -> Result<()> {
        let left = self.active().leave_giant(&self.sync);
        match left {
            // It stays until there is space for the next one.
            Err(error) if error.kind() == ErrorKind::OutOfSpace => Ok(()),
            left => left.inspect_err(|error| self.refuse(error)),
        }
    }

    /// Makes every segment before the live one durable.
    pub fn sync_finished_segments(&self) -> Result<()> {
        self.sync.sync_finished(&*self.env.pool)
    }

    /// Runs `change` while no write is going on.
    ///
    /// # Panics
    /// In a merge operator or an order, which a write may be waiting for.
    pub fn paused<T>(&self, change: impl FnOnce(&mut Active) -> T) -> T {
        user_code::forbid();
        let mut active = self.active();
        let whole = FailUnlessWhole { gate: &self.gate };
        let changed = change(&mut active);
        whole.it_is();
        changed
    }

    fn write(
        &self,
        batch: &mut Batch<'_>,
        options: &CommitOptions<'_>,
        validation: Option<&Validation<'_>>,
        pending: Option<&mut Pending>,
    ) -> Result<(Outcome, Option<LogPosition>)> {
        let mut active = self.writable(options.no_wait)?;
        let mut is_plain = options.mark.is_none();
        for &keyspace in batch.keyspaces() {
            is_plain &= active.table(keyspace)?.is_plain;
        }
        if !is_plain {
            let is_logged = is_logged(batch, options);
            active.check_unlogged(batch.keyspaces(), options.mark, is_logged)?;
        }
        if !active.prepared().is_empty() {
            active.check_unclaimed(&BatchReader::new(batch.bytes())?)?;
        }
        let now = || active.now_unix_ms(batch.keyspaces(), &*self.env.clock);
        let refusal = self.admission.refuse(&active, now, options, validation)?;
        if let Some(refusal) = refusal {
            return Ok((Outcome::Refused(refusal), None));
        }
        batch.set_first_seqno(active.last_seqno().plus(1));
        if !is_plain && !active.are_bytewise(batch.keyspaces())? {
            active.try_comparators(&BatchReader::new(batch.bytes())?)?;
        }
        // From here on half of the batch may be somewhere.
        let whole = FailUnlessWhole { gate: &self.gate };
        let applied = self.log_and_apply(&mut active, batch, options, pending);
        whole.it_is();
        Ok((Outcome::Committed(applied?), active.log_position()))
    }

    fn log_and_apply(
        &self,
        active: &mut Active,
        batch: &Batch<'_>,
        options: &CommitOptions<'_>,
        pending: Option<&mut Pending>,
    ) -> Result<Applied> {
        let mut applied = Applied::default();
        match is_logged(batch, options) {
            true => self.log(active, batch, &mut applied)?,
            false => active.begin_unlogged(batch.keyspaces(), options.mark)?,
        }
        let entries = BatchReader::new(batch.bytes())?;
        self.apply(active, (&entries, batch.keyspaces()), pending, &mut applied)?;
        Ok(applied)
    }

    /// Puts entries that were logged into memtables, where readers see them.
    pub(in crate::flow::write) fn apply(
        &self,
        active: &mut Active,
        (entries, keyspaces): (&BatchReader<'_>, &[KeyspaceId]),
        pending: Option<&mut Pending>,
        applied: &mut Applied,
    ) -> Result<()> {
        let live_before = active.live_bytes();
        let is_any_full = active
            .apply(entries)
            .inspect_err(|error| self.gate.fail(error))?;
        let has_values = pending.is_some();
        if let Some(pending) = pending {
            for &keyspace in keyspaces {
                let table = active.table(keyspace)?.writer.table();
                table.values().keep(pending.take_waiting());
                self.values.name(table);
            }
            let follow_ups = &mut applied.follow_ups;
            follow_ups.add_if(pending.has_begun(), FollowUp::LookAtSpace);
            follow_ups.add_if(self.values.is_flush_due(), FollowUp::FlushValues);
            follow_ups.add_if(self.values.is_watch_due(), FollowUp::WatchValues);
            let used_bytes = self.values.pool().used_bytes();
            let has_moved = self
                .values
                .watch()
                .has_moved(used_bytes, GROWTH_BYTES as u64);
            follow_ups.add_if(has_moved, FollowUp::ShareMemory);
        }
        self.visible
            .store(active.last_seqno().get(), atomic::Ordering::Release);
        let has_grown = live_before / GROWTH_BYTES != active.live_bytes() / GROWTH_BYTES;
        applied.follow_ups.add_if(has_grown, FollowUp::ShareMemory);
        if is_any_full || has_values {
            active.seal_full(keyspaces, applied);
        }
        if active.live_bytes() > self.controller.live_bytes_max() {
            applied
                .follow_ups
                .add_if(active.seal_largest(), FollowUp::Flush);
        }
        // A keyspace that is seldom written to must not keep the log of all the others.
        let has_rotated = applied.follow_ups.has(FollowUp::PrepareSegment);
        if has_rotated && active.used_segments().size_bytes() > self.controller.log_bytes_max() {
            applied
                .follow_ups
                .add_if(active.seal_oldest(), FollowUp::Flush);
        }
        Ok(())
    }

    fn write_values(
        &self,
        batch: &mut Batch<'_>,
        options: &CommitOptions<'_>,
    ) -> Result<Option<Pending>> {
        if batch.large_values().is_empty() {
            // A memtable that takes pointers is to name their segments.
            return Ok(batch.has_pointers().then(|| self.values.pending()));
        }
        // What the log points to must be there when the log is.
        if !is_logged(batch, options)
            && let Some(room) = self.room_for_values(batch, options.no_wait)?
        {
            return Ok(Some(self.values.keep_batch(batch, room)));
        }
        let written = self.values.write_batch(batch);
        written.map(Some).inspect_err(|error| self.refuse(error))
    }

    // Whoever made so much wait was told to have it flushed, so there will be room. `None` where
    // the values may not wait: the pool is too small for them, perhaps since a moment ago.
    fn room_for_values(&self, batch: &Batch<'_>, no_wait: bool) -> Result<Option<PoolRoom>> {
        if !self.values.may_wait(batch) {
            return Ok(None);
        }
        if let Some(room) = self.values.room_for(batch) {
            return Ok(Some(room));
        }
        if no_wait || user_code::is_answering() {
            let message = "the memory for large values is full (setting value_buffer_size); try \
                           again, or write without no_wait";
            return Err(Error::new(ErrorKind::Busy, message));
        }
        let since = self.env.clock.monotonic();
        self.values.watch().count_wait();
        let _waiting = self.waiting.enter(&self.gate.events, &self.env);
        loop {
            let seen = self.gate.changed.raised_count();
            self.gate.check_write()?;
            let may_wait = self.values.may_wait(batch);
            let room = self.values.room_for(batch);
            if room.is_some() || !may_wait {
                self.controller.count_stall(since, &self.env);
                return Ok(room);
            }
            self.env.pool.wait(&self.gate.changed, seen, LOOK_AGAIN);
        }
    }

    fn log(&self, active: &mut Active, batch: &Batch<'_>, applied: &mut Applied) -> Result<()> {
        let logged = active.log(batch.bytes(), &self.sync, applied);
        logged.map(drop).inspect_err(|error| self.refuse(error))
    }

    // A segment that could not be made leaves the live one whole: writes may pass again when
    // there is space, or a file can be opened. Anything else leaves it unknown what was written.
    pub(in crate::flow::write) fn refuse(&self, error: &Error) {
        match error.kind() {
            ErrorKind::OutOfSpace => self.gate.set_full(Some(error.again())),
            ErrorKind::OutOfFiles => {}
            _ => self.gate.fail(error),
        }
    }

    /// Makes the log durable up to there, at any time. Errors: `Faulted`.
    pub fn sync_through(&self, position: LogPosition) -> Result<()> {
        let synced = self.sync.sync_through(position, &*self.env.pool);
        synced.map_err(|error| self.sync_failed(error))?;
        let active = self.active();
        // Once it is closed, somebody else may write to that segment: who closes leaves the marks.
        if !self.gate.is_closed() {
            self.mark_synced(active);
        }
        Ok(())
    }

    // Should nothing more be written, the last synced record has a mark behind it all the same.
    fn mark_synced(&self, mut active: MutexGuard<'_, Active>) {
        let marked = active.mark_synced(&self.sync);
        // What was asked for is durable; the next write learns of this.
        marked.unwrap_or_else(|error| self.gate.fail(&error));
    }

    pub(in crate::flow::write) fn sync_failed(&self, error: Error) -> Error {
        self.gate.fail(&error);
        let message = "writes may be lost: a sync of the log failed; reopen the database";
        Error::new(ErrorKind::Faulted, message).caused_by(error)
    }

    // Whoever holds the lock while something is half done fails the gate if it panics, so a
    // poisoned one says nothing: what is under it is whole, or nothing passes any more.
    pub(in crate::flow::write) fn active(&self) -> MutexGuard<'_, Active> {
        self.active.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn conflict(place: Option<usize>) -> Outcome {
    Outcome::Refused(Refusal::Conflict(place))
}

/// Has the writes of others kept while one commit is on its way.
pub(in crate::flow::write) struct Watch<'a> {
    committer: &'a Committer,
    /// The last write before.
    pub(in crate::flow::write) last: SeqNo,
}

impl Watch<'_> {
    pub(in crate::flow::write) fn begin(committer: &Committer) -> Watch<'_> {
        let last = committer.active().watch();
        Watch { committer, last }
    }
}

impl Drop for Watch<'_> {
    fn drop(&mut self) {
        self.committer.active().unwatch();
    }
}

/// Fails the gate when it is dropped: by a panic in the middle of a change, as one of an order.
/// Before the lock is released, so that nobody makes a half applied batch durable.
pub(in crate::flow::write) struct FailUnlessWhole<'a> {
    pub(in crate::flow::write) gate: &'a Gate,
}

impl FailUnlessWhole<'_> {
    pub(in crate::flow::write) fn it_is(self) {
        std::mem::forget(self);
    }
}

impl Drop for FailUnlessWhole<'_> {
    fn drop(&mut self) {
        let message = "a thread panicked in the middle of a write";
        self.gate.fail(&Error::new(ErrorKind::Faulted, message));
    }
}
