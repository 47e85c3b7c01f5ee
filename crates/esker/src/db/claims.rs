//! Locks of all that a batch writes, for who holds no others.
//!
//! A plain write has them for the moment until it is visible, and so has the commit of a
//! transaction that locked nothing. They have keys beside one another, as where nobody locks, and
//! keep out only those who lock for longer; a range delete has its keyspace alone.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use crate::base::options::call::TransactionOptions;
use crate::base::types::error::Result;
use crate::base::types::ids::KeyspaceId;
use crate::base::types::kind::Kind;
use crate::db::core::Core;
use crate::db::lock_refusal;
use crate::db::txn::locks::lock_mode::{KeyMode, Mode};
use crate::db::txn::locks::owned_locks::OwnedLocks;
use crate::db::txn::locks::refused::Refused;
use crate::db::txn::locks::waiting::Patience;
use crate::store::batch::reader::BatchReader;
use crate::store::batch::writer::{Batch, BatchMark};

/// A key that is written, or any keys of a keyspace, which sort before single ones.
type Claim<'a> = (KeyspaceId, Option<&'a [u8]>);

/// For a plain write: waits as long as a transaction does unless told, or not at all.
///
/// Errors: `LockTimeout`, and `Busy` for who does not wait; `Closed`.
pub fn wait_for(core: &Core, batch: &Batch<'_>, no_wait: bool) -> Result<OwnedLocks> {
    wait_for_all(core, &claims(batch)?, no_wait)
}

/// The same for whoever writes to any keys of those keyspaces.
pub fn wait_for_keyspaces(core: &Core, keyspaces: &BTreeSet<KeyspaceId>) -> Result<OwnedLocks> {
    wait_for_all(core, &whole(keyspaces), false)
}

/// The same for who reads under them what it writes then: plain writes heed these, as they do a
/// transaction's.
pub fn hold_keyspaces(
    core: &Core,
    keyspaces: &BTreeSet<KeyspaceId>,
    no_wait: bool,
) -> Result<OwnedLocks> {
    let none = || OwnedLocks::new(Arc::clone(&core.locks), core.locks.momentary_owner());
    let locks = wait_with(core, none, &whole(keyspaces), no_wait)?;
    // Who saw no locks before there were these has written by now.
    core.committer.paused(|_| ());
    Ok(locks)
}

fn whole(keyspaces: &BTreeSet<KeyspaceId>) -> Vec<Claim<'static>> {
    keyspaces.iter().map(|id| (*id, None)).collect()
}

fn wait_for_all(core: &Core, claims: &[Claim<'_>], no_wait: bool) -> Result<OwnedLocks> {
    let none = || OwnedLocks::momentary(Arc::clone(&core.locks));
    wait_with(core, none, claims, no_wait)
}

fn wait_with(
    core: &Core,
    none: impl Fn() -> OwnedLocks,
    claims: &[Claim<'_>],
    no_wait: bool,
) -> Result<OwnedLocks> {
    let wait_max = match no_wait {
        true => Duration::ZERO,
        false => TransactionOptions::LOCK_TIMEOUT,
    };
    let until = core.env.clock.monotonic() + wait_max;
    loop {
        let mut owned = none();
        let left = || until.saturating_sub(core.env.clock.monotonic());
        match take(core, &mut owned, claims, left) {
            Ok(()) => return Ok(owned),
            // Nothing was read under them, so they can be given back, and no transaction is ended
            // for the sake of a plain write. Whom it held up comes first now, so next time it has
            // fewer of them when it waits; and once its time is over it does not wait.
            Err(Refused::Deadlock { .. }) => {}
            Err(refused) if no_wait => return Err(lock_refusal::at_once(core, refused)),
            Err(refused) => return Err(lock_refusal::plain(core, refused, wait_max)),
        }
    }
}

/// For a transaction that locked nothing, when it is committed: into `owned`, and waits for nobody.
/// Errors: `Conflict` where somebody else holds one of them.
pub fn try_for(core: &Core, batch: &Batch<'_>, mut owned: OwnedLocks) -> Result<OwnedLocks> {
    take(core, &mut owned, &claims(batch)?, || Duration::ZERO)
        .map_err(|refused| lock_refusal::commit(core, refused))?;
    Ok(owned)
}

// In one order for all, so that two that delete ranges do not each have what the other wants.
fn claims<'a>(batch: &'a Batch<'_>) -> Result<Vec<Claim<'a>>> {
    let mut claims = Vec::with_capacity(batch.count() as usize);
    // Large values have no place yet, so no pointers are looked at.
    let entries = BatchReader::new(batch.bytes())?;
    for entry in entries.entries_behind(&BatchMark::START) {
        let entry = entry?;
        let is_range = entry.trailer.kind() == Kind::RangeDelete;
        claims.push((entry.keyspace, (!is_range).then_some(entry.key)));
    }
    claims.sort_unstable();
    Ok(claims)
}

fn take(
    core: &Core,
    owned: &mut OwnedLocks,
    claims: &[Claim<'_>],
    wait_max: impl Fn() -> Duration,
) -> Result<(), Refused> {
    for &(keyspace, key) in claims {
        let patience = Patience {
            env: &core.env,
            wait_max: wait_max(),
        };
        match key {
            Some(key) => owned.lock_key_or_keyspace(keyspace, key, KeyMode::Beside, patience)?,
            None => owned.lock_keyspace(keyspace, Mode::Exclusive, patience)?,
        };
    }
    Ok(())
}
