//! What a database knows about transactions under way and their locks, as plain data.

use std::sync::Arc;
use std::time::Duration;

use crate::base::options::call::{Isolation, TransactionMode};
use crate::base::types::ids::KeyspaceId;
use crate::db::core::Core;
use crate::db::txn::locks::lock_id::TxnId;
use crate::db::txn::locks::lock_table::WaitingOwner;

/// What is known of one transaction under way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TransactionStats {
    /// Its place among all that were begun since the database was opened.
    pub number: u64,
    /// How far it is kept apart from others.
    pub isolation: Isolation,
    /// By what.
    pub mode: TransactionMode,
    /// For how long it has been under way.
    pub age: Duration,
    /// Whose it is, if [`Transaction::set_owner`](crate::Transaction::set_owner) said so.
    pub owner: Option<Arc<str>>,
    /// Locks that it holds, of keys and of keyspaces.
    pub lock_count: usize,
    /// The lock that it waits for, if it waits for one.
    pub waits_for: Option<LockWaitStats>,
}

/// A lock that a transaction waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockWaitStats {
    /// The keyspace; `None` if it was dropped.
    pub keyspace: Option<String>,
    /// The key in it; `None` is the keyspace as a whole.
    pub key: Option<Vec<u8>>,
    /// For how long it has waited.
    pub waited: Duration,
    /// Numbers of transactions for which it waits: the first few. Writes outside of transactions
    /// are not among them.
    pub transactions: Vec<u64>,
}

/// A lock that a transaction holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldLockStats {
    /// The keyspace; `None` if it was dropped.
    pub keyspace: Option<String>,
    /// The key in it, or a name that transactions agree on; `None` is the keyspace as a whole.
    pub key: Option<Vec<u8>>,
    /// How: `S` shared, `X` for itself alone; of a keyspace also `IS` and `IX`, which announce
    /// such locks of keys inside, and `SIX`.
    pub mode: &'static str,
    /// For how long, in whatever mode.
    pub held: Duration,
}

/// What is known of all locks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LockStats {
    /// Locks that are held, each counted once for each holder.
    pub held_count: usize,
    /// Transactions that hold one.
    pub holder_count: usize,
    /// Transactions and other writes that wait for one.
    pub waiting_count: usize,
    /// How often somebody began to wait since the database was opened.
    pub wait_count: u64,
    /// How long they waited, all together; those who wait now are not in it.
    pub waited: Duration,
    /// How often a wait would have been for oneself, and was refused.
    pub deadlock_count: u64,
    /// How often a wait ended without the lock because its time was over.
    pub timeout_count: u64,
    /// Bytes of memory that the table of locks takes.
    pub table_bytes: u64,
}

/// The transactions under way, oldest first.
pub fn transactions(core: &Core, now: Duration) -> Vec<TransactionStats> {
    let live = core.transactions.list();
    let held = core.locks.held_by_owner();
    let waiting = core.locks.waiting_owners(usize::MAX);
    let stats = live.into_iter().map(|live| {
        let owner = TxnId(live.number);
        let wait = waiting.iter().find(|wait| wait.waiter.owner == owner);
        TransactionStats {
            number: live.number,
            isolation: live.isolation,
            mode: live.mode,
            age: now.saturating_sub(live.begun_at),
            owner: live.owner,
            lock_count: held.get(&owner).copied().unwrap_or(0),
            waits_for: wait.map(|wait| wait_of(core, wait, now)),
        }
    });
    stats.collect()
}

/// The locks that the transaction with that number holds, in the order in which it took them, as
/// far as they are noted.
pub fn held_locks(core: &Core, number: u64) -> Vec<HeldLockStats> {
    let now = core.env.clock.monotonic();
    let Some(notes) = core.transactions.lock_notes(number) else {
        return Vec::new();
    };
    let held = notes.list().into_iter().filter_map(|noted| {
        // What was given back since the notes were read has no mode.
        let mode = core.locks.mode_of(TxnId(number), noted.id)?;
        Some(HeldLockStats {
            keyspace: keyspace_name(core, noted.name.keyspace),
            key: noted.name.key.map(Vec::from),
            mode: mode.name(),
            held: now.saturating_sub(noted.since),
        })
    });
    held.collect()
}

/// What is known of all locks now.
pub fn locks(core: &Core) -> LockStats {
    let statistics = core.locks.statistics();
    LockStats {
        held_count: statistics.held,
        holder_count: statistics.holding,
        waiting_count: statistics.waiting,
        wait_count: statistics.counts.waits,
        waited: statistics.counts.waited,
        deadlock_count: statistics.counts.deadlocks,
        timeout_count: statistics.counts.timeouts,
        table_bytes: statistics.table_bytes as u64,
    }
}

fn wait_of(core: &Core, wait: &WaitingOwner, now: Duration) -> LockWaitStats {
    let name = &wait.waiter.name;
    let blockers = wait.blockers.iter();
    let transactions = blockers.filter(|owner| !owner.is_momentary());
    LockWaitStats {
        keyspace: keyspace_name(core, name.keyspace),
        key: name.key.as_ref().map(|key| key.to_vec()),
        waited: now.saturating_sub(wait.since),
        transactions: transactions.map(|owner| owner.0).collect(),
    }
}

fn keyspace_name(core: &Core, id: KeyspaceId) -> Option<String> {
    core.keyspaces.by_id(id).map(|parts| parts.name.clone())
}
