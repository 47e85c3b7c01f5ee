//! Writes as the handles make them: into a batch, and down the one write path.

use std::sync::Arc;
use std::time::Duration;

use crate::base::options::call::{Durability, TransactionOptions, WriteOptions};
use crate::base::stats::statistics::Ticker;
use crate::base::types::bytes::Bytes;
use crate::base::types::error::{Error, ErrorKind, Result};
use crate::base::types::expiry::Expiry;
use crate::base::types::user_code;
use crate::db::claim_wait;
use crate::db::claims;
use crate::db::core::Core;
use crate::db::format_raise::raise_format;
use crate::db::keyspace::KeyspaceParts;
use crate::db::keyspace_time::now_unix_ms;
use crate::db::settling;
use crate::db::space;
use crate::db::txn::locks::owned_locks::OwnedLocks;
use crate::db::worker;
use crate::db::write_control;
use crate::flow::write::admission::{CommitOptions, Refusal};
use crate::flow::write::commit::Outcome;
use crate::flow::write::follow_ups::{FollowUp, FollowUps};
use crate::flow::write::unlogged::{NewMark, logged_write};
use crate::flow::write::validation::Unchanged;
use crate::flow::write::write_controller::LOOK_AGAIN;
use crate::store::batch::writer::{Batch, LargeBytes};
use crate::store::version::format::MILLIS_FORMAT;

/// When something put into the keyspace now expires; `None` without a time to live.
pub fn own_expiry(core: &Core, parts: &KeyspaceParts) -> Option<Expiry> {
    let ttl_ms = parts.ttl_ms();
    (ttl_ms > 0).then(|| expiry(core, parts, Duration::from_millis(ttl_ms)))
}

/// Adds a put that ends at `expiry`, if it is given.
pub fn put_until<'v>(
    batch: &mut Batch<'v>,
    parts: &KeyspaceParts,
    key: &[u8],
    expiry: Option<Expiry>,
    value: LargeBytes<'v>,
) -> Result<()> {
    if is_separated(parts, &value) {
        return batch.put_separated(parts.id, key, expiry, value);
    }
    put_here(batch, parts, key, expiry, &value)
}

/// As [`put_until`], with the value in the batch's bytes, however large it is.
pub fn put_here(
    batch: &mut Batch<'_>,
    parts: &KeyspaceParts,
    key: &[u8],
    expiry: Option<Expiry>,
    value: &[u8],
) -> Result<()> {
    match expiry {
        None => batch.put(parts.id, key, value),
        Some(expiry) => batch.put_expiring(parts.id, key, expiry, value),
    }
}

/// As [`put_until`], of a value that the caller does not lend: a large one is kept until the batch
/// is written, a small one goes into its bytes at once.
pub fn put_kept(
    batch: &mut Batch<'static>,
    parts: &KeyspaceParts,
    key: &[u8],
    expiry: Option<Expiry>,
    value: &[u8],
) -> Result<()> {
    if is_separated(parts, value) {
        let value = LargeBytes::Shared(Bytes::copy_of(value));
        return put_until(batch, parts, key, expiry, value);
    }
    put_here(batch, parts, key, expiry, value)
}

/// Whether a value is large enough to lie in the value log.
pub fn is_separated(parts: &KeyspaceParts, value: &[u8]) -> bool {
    let threshold = parts.value_threshold_bytes();
    threshold > 0 && value.len() >= threshold
}

/// Adds a merge; `Invalid` without a merge operator.
pub fn merge(
    batch: &mut Batch<'_>,
    parts: &KeyspaceParts,
    key: &[u8],
    operand: &[u8],
) -> Result<()> {
    if parts.options().merge.is_none() {
        return Err(Error::invalid(format!(
            "keyspace {:?} has no merge operator; give it one when opening the database, such as \
             merge_operator=uint64add, or by `Db::keyspace_with` (`esker keyspaces operator`)",
            parts.name
        )));
    }
    batch.merge(parts.id, key, operand)
}

/// Adds a range delete, unless the range is empty.
pub fn delete_range(
    batch: &mut Batch<'_>,
    parts: &KeyspaceParts,
    start: &[u8],
    end: &[u8],
) -> Result<()> {
    if is_empty_range(parts, start, end) {
        return Ok(());
    }
    batch.delete_range(parts.id, start, end)
}

/// Whether there can be no key from `start` up to `end`.
pub fn is_empty_range(parts: &KeyspaceParts, start: &[u8], end: &[u8]) -> bool {
    parts.options().comparator.compare(start, end).is_ge()
}

/// When something written now expires that is to live so long: see [`Expiry::after`]. What lives no
/// time at all is gone at once, also for who reads by the clock of the last tick.
///
/// By the clock of the keyspace, where it has one of its own.
pub fn expiry(core: &Core, parts: &KeyspaceParts, ttl: Duration) -> Expiry {
    if ttl.is_zero() {
        let second = now_unix_ms(core, parts) / 1000;
        return Expiry::from_unix_s(u32::try_from(second).unwrap_or(u32::MAX));
    }
    let told = parts.clock.as_ref();
    let told = told.map(|clock| Duration::from_millis(clock.unix_ms()));
    // The exact one: the last tick may have been up to 10 ms ago.
    let now = told.unwrap_or_else(|| core.env.clock.unix_time());
    Expiry::after(now, ttl)
}

/// How a write under conditions ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written {
    /// It is written.
    Done,
    /// It is not: the condition in that place does not hold, or too much was written meanwhile to
    /// tell.
    Conflict(Option<usize>),
    /// It is not: a value that was to go on has ended.
    Expired,
}

/// On which terms a batch is written.
#[derive(Clone, Copy)]
pub struct Terms<'a> {
    /// What must be as it was.
    pub unchanged: &'a [Unchanged<'a>],
    /// Up to when it may be written: it has a value go on that ends then.
    pub alive_until: Option<Expiry>,
    /// What becomes of it where somebody else has locked what it writes.
    pub heed: Heed,
    /// The mark that it brings.
    pub mark: Option<&'a NewMark>,
}

/// How a writer heeds the locks of others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heed {
    /// It waits for them: it is in no transaction.
    Wait,
    /// It is refused (`Conflict`): a transaction that waits for nobody.
    Refuse,
    /// It holds locks of all that it writes.
    Hold,
}

impl Terms<'_> {
    /// Of a write that depends on nothing and is in no transaction.
    pub const PLAIN: Terms<'static> = Terms {
        unchanged: &[],
        alive_until: None,
        heed: Heed::Wait,
        mark: None,
    };
}

/// Writes a batch, if the terms allow it. Wakes the background if the write gave it something to
/// do.
pub fn write(
    core: &Arc<Core>,
    batch: &mut Batch<'_>,
    options: WriteOptions,
    terms: Terms<'_>,
) -> Result<Written> {
    user_code::refuse()?;
    let durability = durability_of(core, batch, options, terms.mark)?;
    if batch.has_millis() {
        raise_for_millis(core)?;
    }
    let commit = CommitOptions {
        durability,
        no_wait: options.no_wait,
        unchanged: terms.unchanged,
        alive_until: terms.alive_until,
        holds_locks: terms.heed == Heed::Hold,
        mark: terms.mark,
    };
    let outcome = match commit_heeding(core, batch, &commit, terms.heed) {
        Err(error) if error.kind() == ErrorKind::Conflict && terms.heed == Heed::Wait => {
            once_unclaimed(core, batch, &commit, error)?
        }
        outcome => outcome?,
    };
    match outcome {
        Outcome::Refused(Refusal::Locked) => {
            unreachable!("who holds locks is not refused for lack of them")
        }
        Outcome::Refused(Refusal::Conflict(place)) => Ok(Written::Conflict(place)),
        Outcome::Refused(Refusal::Expired) => Ok(Written::Expired),
        Outcome::Committed(applied) => {
            core.statistics.add(Ticker::WriteBatches, 1);
            core.statistics
                .add(Ticker::WriteEntries, u64::from(batch.count()));
            let large_bytes = batch.large_bytes();
            let bytes = batch.size_bytes() as u64 + large_bytes;
            core.statistics.add(Ticker::WriteBytes, bytes);
            if large_bytes > 0 {
                core.statistics.add(Ticker::ValueLogBytes, large_bytes);
            }
            core.statistics.add(Ticker::WalBytes, applied.logged_bytes);
            if !applied.follow_ups.is_empty() {
                follow_up(core, applied.follow_ups);
            }
            Ok(Written::Done)
        }
    }
}

// Has the database be of a format that has expiries with milliseconds. After an error none may be
// written.
#[cold]
fn raise_for_millis(core: &Core) -> Result<()> {
    if core.history.peek().format_version >= MILLIS_FORMAT {
        return Ok(());
    }
    space::resume(core);
    core.gate.check_write()?;
    raise_format(core, MILLIS_FORMAT)
}

#[inline]
fn commit_heeding(
    core: &Arc<Core>,
    batch: &mut Batch<'_>,
    commit: &CommitOptions<'_>,
    heed: Heed,
) -> Result<Outcome> {
    match commit_or_again(core, batch, commit)? {
        Outcome::Refused(Refusal::Locked) => under_locks(core, batch, commit, heed),
        outcome => Ok(outcome),
    }
}

// A prepared transaction claims what is written: waits for its end, with no locks, as long as for
// a lock.
#[cold]
fn once_unclaimed(
    core: &Arc<Core>,
    batch: &mut Batch<'_>,
    commit: &CommitOptions<'_>,
    mut claimed: Error,
) -> Result<Outcome> {
    let times = (core.env.clock.monotonic(), TransactionOptions::LOCK_TIMEOUT);
    loop {
        wait_unclaimed(core, batch, (commit.no_wait, times), &claimed)?;
        match commit_heeding(core, batch, commit, Heed::Wait) {
            Err(error) if error.kind() == ErrorKind::Conflict => claimed = error,
            outcome => return outcome,
        }
    }
}

/// Waits until nothing of what the batch writes is claimed, or is refused as told: not at all, or
/// from when on and for how long. `claimed` says by whom it is.
pub fn wait_unclaimed(
    core: &Core,
    batch: &Batch<'_>,
    (no_wait, times): (bool, (Duration, Duration)),
    claimed: &Error,
) -> Result<()> {
    match no_wait {
        true => Err(claim_wait::at_once(claimed)),
        false => claim_wait::wait(core, times, || core.committer.check_batch_unclaimed(batch)),
    }
}

#[inline]
fn commit_or_again(
    core: &Arc<Core>,
    batch: &mut Batch<'_>,
    commit: &CommitOptions<'_>,
) -> Result<Outcome> {
    match core.committer.commit(batch, commit) {
        Ok(outcome) => Ok(outcome),
        Err(error) => again(core, batch, commit, error),
    }
}

// Somebody holds locks: the batch has its own until it is visible, and acknowledged.
#[cold]
fn under_locks(
    core: &Arc<Core>,
    batch: &mut Batch<'_>,
    commit: &CommitOptions<'_>,
    heed: Heed,
) -> Result<Outcome> {
    let _locks = match heed {
        Heed::Refuse => {
            let owned = OwnedLocks::momentary(Arc::clone(&core.locks));
            claims::try_for(core, batch, owned)?
        }
        Heed::Wait => claims::wait_for(core, batch, commit.no_wait)?,
        Heed::Hold => unreachable!("who holds locks is not refused for lack of them"),
    };
    let commit = CommitOptions {
        holds_locks: true,
        ..*commit
    };
    commit_or_again(core, batch, &commit)
}

// Of what goes to an unlogged keyspace nothing survives before it is flushed, and who asks for no
// more has it so. Refused here, before its large values are written; and where nobody can pass by,
// under the lock of all writers.
fn durability_of(
    core: &Core,
    batch: &Batch<'_>,
    options: WriteOptions,
    mark: Option<&NewMark>,
) -> Result<Durability> {
    let marked = mark.map(|mark| mark.keyspace);
    let found = match marked {
        Some(marked) => core.keyspaces.unlogged_of(&[marked]),
        None => core.keyspaces.unlogged_of(batch.keyspaces()),
    };
    let Some(parts) = found else {
        return Ok(durability(core, options));
    };
    let is_more = options
        .durability
        .is_some_and(|level| level > Durability::Memory);
    let others = batch.keyspaces().iter().filter(|id| **id != parts.id);
    let keyspace_count = 1 + others.count();
    match is_more || keyspace_count > 1 {
        true => Err(logged_write(Some(&parts.name), keyspace_count)),
        false => Ok(Durability::Memory),
    }
}

/// What a write is to survive: what is asked for, or what the database has for all.
pub fn durability(core: &Core, options: WriteOptions) -> Durability {
    match options.durability {
        Some(durability) => durability,
        None => core.settings.durability(),
    }
}

// A commit failed and wrote nothing: tries once more where what it lacked can be had.
#[cold]
fn again(
    core: &Arc<Core>,
    batch: &mut Batch<'_>,
    commit: &CommitOptions<'_>,
    error: Error,
) -> Result<Outcome> {
    match error.kind() {
        ErrorKind::OutOfSpace => once_there_is_space(core, batch, commit),
        ErrorKind::OutOfFiles if !commit.no_wait => {
            close_finished(core)?;
            core.committer.commit(batch, commit)
        }
        _ => Err(error),
    }
}

// Segments that nobody writes to any more are open until they are synced: so they are, of the value
// log beside those of the log.
fn close_finished(core: &Core) -> Result<()> {
    core.committer.sync_log()?;
    core.committer.close_own_segments()
}

// The disk may have drained since: looks, and tries once more. What waits to be flushed goes on
// too: this very write may need the memory. At `disk_limit` it tries for as long as anything is
// under way, which may give space back; and what memtables overwrote is found out for that, once.
fn once_there_is_space(
    core: &Arc<Core>,
    batch: &mut Batch<'_>,
    commit: &CommitOptions<'_>,
) -> Result<Outcome> {
    let since = core.env.clock.monotonic();
    let mut has_sealed = false;
    loop {
        let seen = core.work.ended.raised_count();
        space::look(core)?;
        let is_limited = space::is_beyond_limit(core);
        if is_limited || core.gate.full().is_none() {
            worker::wake(core);
        }
        let is_busy = core.work.state().job_count > 0;
        match core.committer.commit(batch, commit) {
            Err(error) if error.kind() == ErrorKind::OutOfSpace && is_limited => {
                if commit.no_wait {
                    return Err(error);
                }
                if !is_busy {
                    if has_sealed || !space::seal_values(core) {
                        return Err(error);
                    }
                    has_sealed = true;
                    continue;
                }
                core.env.pool.wait(&core.work.ended, seen, LOOK_AGAIN);
            }
            other => {
                core.write_controller.count_stall(since, &core.env);
                return other;
            }
        }
    }
}

/// Has the background do what is due because of a write.
#[cold]
pub fn follow_up(core: &Arc<Core>, due: FollowUps) {
    if due.has(FollowUp::Flush) || due.has(FollowUp::PrepareSegment) {
        settling::watch_load(core);
    } else if !due.without(FollowUp::ShareMemory).is_empty() {
        // All else that leaves much to give back comes by one of these.
        settling::watch(core);
    }
    if due.has(FollowUp::PrepareSegment) {
        worker::prepare_segment(core);
    }
    if due.has(FollowUp::LookAtSpace) {
        worker::look_at_space(core);
    }
    if due.has(FollowUp::FlushValues) {
        worker::flush_values(core);
    } else if due.has(FollowUp::WatchValues) {
        worker::watch_values(core);
    }
    if due.has(FollowUp::Flush) {
        worker::memtable_sealed(core);
    } else if due.has(FollowUp::ShareMemory) {
        write_control::set_memory(core);
    }
}
