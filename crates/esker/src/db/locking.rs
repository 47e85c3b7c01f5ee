//! Locks what a transaction touches, and then takes its snapshot.
//!
//! In this order, so that who waits for a first lock keeps nothing of the past. Of a locking
//! transaction each statement locks what it touches and then sees to it that there is a snapshot. A
//! plain write that was under way when a transaction took its first lock may not have heeded it;
//! before anything is read the lock of all writers is passed once, so that it is visible then.
//! Taking a snapshot passes it. A snapshot that is older than a lock is checked at the commit, and
//! at once where a key is read under the lock.

use std::sync::Arc;
use std::time::Duration;

use crate::base::options::call::{Isolation, TransactionMode};
use crate::base::stats::statistics::Ticker;
use crate::base::types::error::Result;
use crate::base::types::user_code;
use crate::db::claim_wait;
use crate::db::core::Core;
use crate::db::keyspace::KeyspaceParts;
use crate::db::lock_refusal;
use crate::db::snapshots::{SnapshotOwner, Ticket};
use crate::db::txn::locks::lock_id::TxnId;
use crate::db::txn::locks::lock_mode::{KeyMode, Mode};
use crate::db::txn::locks::owned_locks::OwnedLocks;
use crate::db::txn::locks::refused::Refused;
use crate::db::txn::locks::waiting::Patience;
use crate::db::txn::state::TransactionState;
use crate::flow::read::newest::{Target, is_written_since};

/// A key is about to be written.
///
/// Errors, of this and the others: `LockTimeout`, also where a prepared transaction claims the key;
/// `Deadlock`; `Closed`, `Invalid` where no read may begin.
pub fn before_write(
    core: &Core,
    state: &TransactionState,
    parts: &KeyspaceParts,
    key: &[u8],
) -> Result<()> {
    lock_key(core, state, parts, key, KeyMode::Exclusive)
}

/// A key is about to be read, and nobody else is to write to it until the transaction ends: with
/// [`KeyMode::Exclusive`] because the transaction is about to.
///
/// Errors besides: `Conflict` where somebody has written to it since the transaction's snapshot.
pub fn before_lasting_read(
    core: &Core,
    state: &TransactionState,
    parts: &KeyspaceParts,
    key: &[u8],
    mode: KeyMode,
) -> Result<()> {
    let take = |owned: &mut OwnedLocks, patience: Patience<'_>| {
        owned.lock_key_or_keyspace(parts.id, key, mode, patience)
    };
    let wait = |owner, times| {
        wait_for_claims(core, owner, times, || {
            core.committer.check_unclaimed(parts.id, key)
        })
    };
    lock(core, state, take, wait, || {
        check_unwritten(core, state, parts, key)
    })
}

/// Any keys of a keyspace are about to be written.
pub fn before_range_write(
    core: &Core,
    state: &TransactionState,
    parts: &KeyspaceParts,
) -> Result<()> {
    lock_keyspace(core, state, parts, Mode::Exclusive)
}

/// A keyspace as a whole is locked until the transaction ends, whatever is done in it then.
pub fn whole(
    core: &Core,
    state: &TransactionState,
    parts: &KeyspaceParts,
    mode: KeyMode,
) -> Result<()> {
    let take = |owned: &mut OwnedLocks, patience: Patience<'_>| {
        owned.lock_keyspace(parts.id, mode.whole(), patience)
    };
    let wait = |owner, times| {
        wait_for_claims(core, owner, times, || {
            core.committer.check_keyspace_unclaimed(parts.id)
        })
    };
    lock(core, state, take, wait, || Ok(()))
}

/// A key is about to be read; it counts if all that is read does.
pub fn before_read(
    core: &Core,
    state: &TransactionState,
    parts: &Arc<KeyspaceParts>,
    key: &[u8],
) -> Result<()> {
    if state.isolation() == Isolation::Serializable {
        lock_key(core, state, parts, key, KeyMode::Shared)?;
        state.reads_key(parts, key);
    }
    Ok(())
}

/// A cursor over keys of a keyspace is about to be opened.
pub fn before_scan(core: &Core, state: &TransactionState, parts: &KeyspaceParts) -> Result<()> {
    match state.isolation() {
        Isolation::Serializable => lock_keyspace(core, state, parts, Mode::Shared),
        Isolation::ReadCommitted | Isolation::Snapshot => Ok(()),
    }
}

/// Takes the snapshot, if the transaction reads at one and has none. Before the view is loaded: one
/// that is older may lack what the snapshot sees.
#[inline]
pub fn take_snapshot(core: &Core, state: &TransactionState) {
    if state.isolation() == Isolation::ReadCommitted {
        return;
    }
    state.pinned(|| register(core));
}

/// Registers this moment, for a transaction whose reads are to see it.
pub fn register(core: &Core) -> Ticket {
    let now = core.env.clock.monotonic();
    // As a snapshot: between reading the number and registering it nothing may come.
    core.committer.paused(|_| {
        let seen = core.committer.visible();
        core.snapshots.take(seen, now, SnapshotOwner::Transaction)
    })
}

fn lock_key(
    core: &Core,
    state: &TransactionState,
    parts: &KeyspaceParts,
    key: &[u8],
    mode: KeyMode,
) -> Result<()> {
    let take = |owned: &mut OwnedLocks, patience: Patience<'_>| {
        let taken = owned.lock_key_or_keyspace(parts.id, key, mode, patience)?;
        owned.keep();
        Ok(taken)
    };
    let wait = |owner, times| match mode {
        KeyMode::Exclusive => wait_for_claims(core, owner, times, || {
            core.committer.check_unclaimed(parts.id, key)
        }),
        KeyMode::Shared | KeyMode::Beside => Ok(()),
    };
    lock(core, state, take, wait, || Ok(()))
}

// Of a key that is locked by now: whoever wrote to it before is visible.
fn check_unwritten(
    core: &Core,
    state: &TransactionState,
    parts: &KeyspaceParts,
    key: &[u8],
) -> Result<()> {
    let seen = state.seen();
    if state.isolation() == Isolation::ReadCommitted || core.committer.visible() <= seen {
        return Ok(());
    }
    let look = || is_written_since(&parts.current.load(), Target::Key(key), seen);
    if !user_code::told(look)? {
        return Ok(());
    }
    core.statistics.add(Ticker::TransactionConflicts, 1);
    Err(lock_refusal::overtaken(core, parts.id, key))
}

// Whoever prepares from here on heeds the lock. Who did before is about to write, and what is read
// now to be kept would be old by then.
fn wait_for_claims(
    core: &Core,
    owner: TxnId,
    times: (Duration, Duration),
    check: impl Fn() -> Result<()>,
) -> Result<()> {
    claim_wait::wait(core, times, || match check() {
        Err(_) if core.locks.is_interrupted(owner) => Err(lock_refusal::interrupted()),
        unclaimed => unclaimed,
    })
}

fn lock_keyspace(
    core: &Core,
    state: &TransactionState,
    parts: &KeyspaceParts,
    mode: Mode,
) -> Result<()> {
    let take = |owned: &mut OwnedLocks, patience: Patience<'_>| {
        let taken = owned.lock_keyspace(parts.id, mode, patience)?;
        owned.keep();
        Ok(taken)
    };
    lock(core, state, take, |_, _| Ok(()), || Ok(()))
}

// What is taken is given back if `wait_for_claims` or then `look` refuses.
#[inline]
fn lock(
    core: &Core,
    state: &TransactionState,
    take: impl FnOnce(&mut OwnedLocks, Patience<'_>) -> Result<bool, Refused>,
    wait_for_claims: impl FnOnce(TxnId, (Duration, Duration)) -> Result<()>,
    look: impl FnOnce() -> Result<()>,
) -> Result<()> {
    if state.mode() == TransactionMode::Optimistic {
        return Ok(());
    }
    user_code::refuse()?;
    // In a forked child the locks of the table may be held for ever.
    core.gate.check_read()?;
    let mut locks = state.locks();
    let locks = locks.as_mut().expect("there until it is committed");
    let (since, wait_max) = (core.env.clock.monotonic(), state.lock_timeout());
    let patience = Patience {
        env: &core.env,
        wait_max,
    };
    let mark = locks.owned.mark();
    take(&mut locks.owned, patience)
        .map_err(|refused| lock_refusal::statement(core, refused, wait_max))?;
    // Before the snapshot is taken: what it waits for, it sees.
    let owner = locks.owned.owner();
    let mut allowed = wait_for_claims(owner, (since, wait_max));
    if allowed.is_ok() {
        if !locks.has_passed {
            pass_writers(core, state);
            locks.has_passed = true;
        }
        allowed = look();
    }
    if allowed.is_err() {
        locks.owned.release_to(mark);
        // Writes that come before the next one need not heed it.
        locks.has_passed &= locks.owned.is_holding();
    }
    allowed
}

// Every write that may not have heeded the first lock is visible afterwards.
fn pass_writers(core: &Core, state: &TransactionState) {
    match state.isolation() {
        Isolation::Snapshot | Isolation::Serializable if state.pin().is_none() => {
            take_snapshot(core, state);
        }
        _ => core.committer.paused(|_| ()),
    }
}

#[cfg(test)]
mod tests;
