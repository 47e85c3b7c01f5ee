//! Two phases on the one write path: a transaction is prepared, and later committed or rolled back.
//!
//! A prepare is a record of the log that has no numbers and is in no memtable. What it claims
//! nobody else writes to, so its commit depends on nothing: it gets its numbers then, and is logged
//! once more, by a reference where the prepare lies in the same segment.

use std::collections::BTreeSet;
use std::sync::atomic::Ordering;

use crate::base::options::call::Durability;
use crate::base::types::error::{Error, ErrorKind, Result};
use crate::base::types::ids::{FileNumber, KeyspaceId};
use crate::base::types::limits::BATCH_BYTES_MAX;
use crate::flow::current::FlushedTables;
use crate::flow::values::value_log::Pending;
use crate::flow::write::active::{Active, Applied};
use crate::flow::write::admission::{CommitOptions, Refusal};
use crate::flow::write::commit::{Committer, FailUnlessWhole, LOOKS_MAX, Outcome, Watch};
use crate::flow::write::follow_ups::FollowUp;
use crate::flow::write::prepared::{
    CommitRoom, HeldPrepare, PreparedBatch, here_bytes, read_whole,
};
use crate::flow::write::sync::LogPosition;
use crate::flow::write::validation::{Look, Validation};
use crate::store::batch::prepared_log::LoggedPrepare;
use crate::store::batch::reader::BatchReader;
use crate::store::batch::two_phases::{NewPrepare, Prepare, copy_of, encode_rollback};
use crate::store::batch::writer::Batch;
use crate::store::vlog::pointer::ValuePointer;
use crate::store::wal::format::framed_len;

impl Committer {
    /// Whether a transaction is prepared, or was since the database was opened.
    pub fn has_two_phases(&self) -> bool {
        // Acquire and Release: who asks after it has seen a commit sees this.
        self.has_two_phases.load(Ordering::Acquire)
    }

    /// Takes over the transactions that recovery found prepared. Before anything is removed from
    /// the directory: they keep the segments of their large values.
    pub fn adopt_prepared(&self, found: Vec<LoggedPrepare>) -> Result<()> {
        let mut active = self.active();
        for logged in found {
            self.has_two_phases.store(true, Ordering::Release);
            let id = logged.read()?.id.to_vec();
            let mut values = self.values.pending();
            values.hold(value_segments(&logged.read()?.entries)?);
            let prepared = PreparedBatch::new(logged, values)?;
            active.prepared_mut().insert(&id, prepared);
        }
        Ok(())
    }

    /// Prepares a batch, which nobody sees: when this returns `Committed` it is durable, and nobody
    /// else writes to what it writes to or what its conditions are about, until
    /// [`Committer::commit_prepared`] or [`Committer::rollback_prepared`]. The batch may be empty.
    /// As long as `room` is held, the log keeps room for its commit, if that of all together is
    /// little enough.
    ///
    /// Errors: as [`Committer::commit`]; `Invalid` when the id is in use.
    pub fn prepare(
        &self,
        batch: &mut Batch<'_>,
        new: &NewPrepare<'_>,
        options: &CommitOptions<'_>,
        room: &CommitRoom,
    ) -> Result<Outcome> {
        self.gate.check_write()?;
        if self.admission.refuses_early(options) {
            return Ok(Outcome::Refused(Refusal::Locked));
        }
        let mut record = new.encode_front();
        check_size(record.len() + batch.size_bytes())?;
        self.controller
            .delay_write(batch, options.no_wait, &self.env)?;
        let mut validation = Validation::new(options.unchanged);
        let watch = validation.wants_recent().then(|| Watch::begin(self));
        let last = watch.as_ref().map_or_else(|| self.visible(), |it| it.last);
        if let Look::Broken(index) = validation.look(last)? {
            return Ok(conflict(Some(index)));
        }
        let values = self.values.write_batch(batch);
        let mut values = values.inspect_err(|error| self.refuse(error))?;
        let entries = BatchReader::new(batch.bytes())?;
        if batch.has_pointers() {
            values.hold(value_segments(&entries)?);
        }
        if !batch.large_values().is_empty() || batch.has_pointers() {
            // Durable before the record is: so wherever there is one, its values are there.
            self.sync_values()?;
        }
        record.extend_from_slice(entries.body());
        let mut prepare = Some((record, values, room));
        for _ in 0..LOOKS_MAX {
            let keyspaces = batch.keyspaces();
            match self.log_prepare((new.id, keyspaces), options, &validation, &mut prepare)? {
                (Outcome::Refused(Refusal::Conflict(None)), _) => {
                    if let Look::Broken(index) = validation.look(self.visible())? {
                        return Ok(conflict(Some(index)));
                    }
                }
                (outcome, position) => {
                    position.map_or(Ok(()), |position| self.sync_through(position))?;
                    return Ok(outcome);
                }
            }
        }
        Ok(conflict(None))
    }

    fn log_prepare(
        &self,
        (id, keyspaces): (&[u8], &[KeyspaceId]),
        options: &CommitOptions<'_>,
        validation: &Validation<'_>,
        prepare: &mut Option<(Vec<u8>, Pending, &CommitRoom)>,
    ) -> Result<(Outcome, Option<LogPosition>)> {
        let mut active = self.writable(options.no_wait)?;
        active.prepared().check_new(id, keyspaces)?;
        let commit_bytes = {
            let (record, _, _) = prepare.as_ref().expect("taken once it is logged");
            let new = Prepare::read(record)?;
            let entries = &new.entries;
            let claimed = new.claims.iter().map(|claim| &claim.keyspace);
            active.check_preparable(keyspaces.iter().chain(claimed))?;
            active.try_comparators(entries)?;
            active.check_unclaimed(entries)?;
            active.check_unwritten(&new.claims)?;
            let keeps_room = active.may_keep_room(framed_len(record.len()));
            keeps_room.then(|| here_bytes(&new))
        };
        // No keyspace with a clock of its own is among them: it would be unlogged.
        let now = || self.env.clock.unix_millis();
        let refusal = self
            .admission
            .refuse(&active, now, options, Some(validation))?;
        if let Some(refusal) = refusal {
            return Ok((Outcome::Refused(refusal), None));
        }
        let (record, values, room) = prepare.take().expect("as above");
        // Before the record is there: a flush that begins then syncs the log.
        self.has_two_phases.store(true, Ordering::Release);
        let whole = FailUnlessWhole { gate: &self.gate };
        let mut applied = Applied::default();
        let has_begun = values.has_begun();
        active.prepared_mut().keep_coming(commit_bytes.unwrap_or(0));
        active.count_room();
        let logged = self.log_record(&mut active, &record, &mut applied);
        active.prepared_mut().keep_coming(0);
        let inserted = logged.and_then(|place| {
            let mut prepared = PreparedBatch::new(LoggedPrepare { place, record }, values)?;
            if commit_bytes.is_some() {
                prepared = prepared.with_room(room);
            }
            active.prepared_mut().insert(id, prepared);
            Ok(())
        });
        active.count_room();
        whole.it_is();
        inserted?;
        applied.follow_ups.add_if(has_begun, FollowUp::LookAtSpace);
        Ok((Outcome::Committed(applied), active.log_position()))
    }

    /// Commits the prepared transaction with that id, and has readers see it.
    ///
    /// Errors: `Invalid` when none is prepared; unless it is `Faulted` it stays prepared then.
    pub fn commit_prepared(&self, id: &[u8], durability: Durability) -> Result<Applied> {
        self.gate.check_write()?;
        // For memory only: no keyspace's rate is asked for.
        self.controller
            .delay_write(&Batch::new(), false, &self.env)?;
        let (applied, position) = self.commit_here(id, || self.gate.check_write())?;
        if durability == Durability::Sync {
            self.sync_through(position)?;
        }
        Ok(applied)
    }

    /// Commits the prepared transaction with that id, and has readers see it, in the order of
    /// calls; waits for nothing but the lock of all writers, and files that are being taken in; it
    /// syncs nothing, and is not refused for lack of space where the log kept room for it. Where
    /// the log ends behind it.
    ///
    /// Errors: `Invalid` when none is prepared; `Closed`, `Faulted`; without room as
    /// [`Committer::commit_prepared`].
    pub fn commit_ordered(&self, id: &[u8]) -> Result<(Applied, LogPosition)> {
        self.commit_here(id, || self.gate.check_upkeep())
    }

    fn commit_here(
        &self,
        id: &[u8],
        check: impl Fn() -> Result<()>,
    ) -> Result<(Applied, LogPosition)> {
        let mut applied = Applied::default();
        let mut active = self.writable_if(false, check)?;
        let whole = FailUnlessWhole { gate: &self.gate };
        let committed = self.log_commit(&mut active, id, &mut applied);
        whole.it_is();
        committed?;
        let position = active.log_position().expect("a record lies in the log");
        Ok((applied, position))
    }

    fn log_commit(&self, active: &mut Active, id: &[u8], applied: &mut Applied) -> Result<()> {
        let prepared = active.prepared().get(id)?;
        let (place, keyspaces) = (prepared.place(), prepared.keyspaces());
        let record = prepared.logged().record.clone();
        let prepare = read_whole(&record);
        if prepare.entries.count() == 0 {
            // It has no numbers to get.
            return self.log_end(active, id, &encode_rollback(id), true, applied);
        }
        active.prepared_mut().give_up_room(id);
        active.count_room();
        let first = active.last_seqno().plus(1);
        let here = prepare.encode_commit_here(first, place.1);
        let commit = match active.fits_in(place.0, here.len()) {
            true => here,
            false => prepare.encode_commit_full(first),
        };
        self.log_record(active, &commit, applied)?;
        let entries = prepare.entries.numbered(first)?;
        let position = active.log_position();
        // Memtables name the values from here on, and the prepare holds them until then.
        let mut named = self.values.pending();
        self.apply(active, (&entries, &keyspaces), Some(&mut named), applied)?;
        let position = position.expect("a record lies in the log");
        active.prepared_mut().end(id, position, true);
        self.claims_ended.raise();
        Ok(())
    }

    /// Rolls back the prepared transaction with that id.
    ///
    /// Errors: as [`Committer::commit_prepared`].
    pub fn rollback_prepared(&self, id: &[u8], durability: Durability) -> Result<Applied> {
        self.gate.check_write()?;
        let mut applied = Applied::default();
        let position = {
            let mut active = self.active();
            self.gate.check_write()?;
            active.prepared().get(id)?;
            let whole = FailUnlessWhole { gate: &self.gate };
            let record = encode_rollback(id);
            let ended = self.log_end(&mut active, id, &record, false, &mut applied);
            whole.it_is();
            ended?;
            active.log_position()
        };
        if let (Durability::Sync, Some(position)) = (durability, position) {
            self.sync_through(position)?;
        }
        Ok(applied)
    }

    fn log_end(
        &self,
        active: &mut Active,
        id: &[u8],
        record: &[u8],
        is_committed: bool,
        applied: &mut Applied,
    ) -> Result<()> {
        active.prepared_mut().give_up_room(id);
        active.count_room();
        self.log_record(active, record, applied)?;
        let position = active.log_position().expect("a record lies in the log");
        active.prepared_mut().end(id, position, is_committed);
        self.claims_ended.raise();
        Ok(())
    }

    fn log_record(
        &self,
        active: &mut Active,
        record: &[u8],
        applied: &mut Applied,
    ) -> Result<(FileNumber, u64)> {
        let logged = active.log(record, &self.sync, applied);
        let offset = logged.inspect_err(|error| self.refuse(error))?;
        let position = active.log_position().expect("a record lies in the log");
        Ok((position.segment, offset))
    }

    /// Copies what is prepared to the end of the log, where that gives back segments that nobody
    /// else needs when the memtables that were `flushed` no longer count. Without `is_last`, as at
    /// closing, not unless that gives back twice what it takes: what is freed has the copies' own
    /// earlier places in it.
    ///
    /// Errors: those of writing and syncing; whatever was not copied stays where it is.
    pub fn carry_prepared(&self, flushed: Option<&FlushedTables>, is_last: bool) -> Result<()> {
        {
            let mut active = self.active();
            let active = &mut *active;
            active.prepared_mut().release(&self.sync);
            let needed = active.oldest_needed_by_tables(flushed);
            let Some(needed) = needed.filter(|_| !active.prepared().is_empty()) else {
                return Ok(());
            };
            let live = active.prepared().live();
            let old = live.filter(|one| one.place().0 < needed);
            let old: Vec<LoggedPrepare> = old.map(|one| one.logged().clone()).collect();
            let framed = |one: &LoggedPrepare| framed_len(one.record.len());
            let copied_bytes: u64 = old.iter().map(framed).sum();
            let Some(oldest) = old.iter().map(|one| one.place.0).min() else {
                return Ok(());
            };
            let used = active.used_segments();
            let freed_bytes = used.bytes_before(needed) - used.bytes_before(oldest);
            if !is_last && freed_bytes < 2 * copied_bytes {
                return Ok(());
            }
            for one in old {
                let copy = copy_of(&one.record, one.place);
                let place = self.log_record(active, &copy, &mut Applied::default())?;
                let until = active.log_position().expect("a record lies in the log");
                let id = read_whole(&one.record).id;
                active.prepared_mut().moved(id, place, until);
                active.count_room();
            }
        }
        // From here on they are needed where they were no longer.
        self.sync_log()
    }

    /// `Conflict` when a prepared transaction claims that key.
    pub fn check_unclaimed(&self, keyspace: KeyspaceId, key: &[u8]) -> Result<()> {
        if !self.has_two_phases() {
            return Ok(());
        }
        self.paused(|active| active.check_key_unclaimed(keyspace, key))
    }

    /// The same of anything in a keyspace.
    pub fn check_keyspace_unclaimed(&self, keyspace: KeyspaceId) -> Result<()> {
        if !self.has_two_phases() {
            return Ok(());
        }
        self.paused(|active| active.check_keyspace_unclaimed(keyspace))
    }

    /// The same of all that a batch writes to.
    pub fn check_batch_unclaimed(&self, batch: &Batch<'_>) -> Result<()> {
        let entries = BatchReader::new(batch.bytes())?;
        self.paused(|active| active.check_unclaimed(&entries))
    }

    /// Oldest segment that is needed: see [`Active::oldest_needed_log`].
    pub fn oldest_needed_log(&self, flushed: Option<&FlushedTables>) -> Option<FileNumber> {
        self.paused(|active| {
            active.prepared_mut().release(&self.sync);
            active.oldest_needed_log(flushed)
        })
    }

    /// Nobody may prepare writes to that keyspace until the result is dropped, and how those that
    /// were prepared ended is durable.
    ///
    /// Errors: `Invalid` while a prepared transaction needs it; those of a sync.
    pub fn begin_drop(&self, keyspace: KeyspaceId) -> Result<DroppingKeyspace<'_>> {
        self.active().prepared_mut().begin_drop(keyspace)?;
        let dropping = DroppingKeyspace {
            committer: self,
            keyspace,
        };
        if self.has_two_phases() {
            self.sync_log()?;
        }
        Ok(dropping)
    }
}

fn conflict(place: Option<usize>) -> Outcome {
    Outcome::Refused(Refusal::Conflict(place))
}

/// A keyspace that is being dropped.
pub struct DroppingKeyspace<'a> {
    committer: &'a Committer,
    keyspace: KeyspaceId,
}

impl Drop for DroppingKeyspace<'_> {
    fn drop(&mut self) {
        let mut active = self.committer.active();
        active.prepared_mut().end_drop(self.keyspace);
    }
}

/// What is prepared now, each with its large values held.
pub fn held_prepares(active: &Active) -> Result<Vec<HeldPrepare>> {
    let live = active.prepared().live();
    live.map(|one| {
        Ok(HeldPrepare {
            logged: one.logged().clone(),
            value_segments: value_segments(&one.read().entries)?,
            values: one.values(),
        })
    })
    .collect()
}

/// The segments of the value log that entries name.
fn value_segments(entries: &BatchReader<'_>) -> Result<BTreeSet<FileNumber>> {
    let mut segments = BTreeSet::new();
    for entry in entries.entries() {
        if let Some(pointer) = ValuePointer::of(&entry?.in_keyspace())? {
            segments.insert(pointer.segment);
        }
    }
    Ok(segments)
}

fn check_size(bytes: usize) -> Result<()> {
    if bytes <= BATCH_BYTES_MAX {
        return Ok(());
    }
    let message = format!(
        "a transaction of {bytes} bytes cannot be prepared; the limit is {BATCH_BYTES_MAX}: do it \
         in parts"
    );
    Err(Error::new(ErrorKind::TooLarge, message))
}
