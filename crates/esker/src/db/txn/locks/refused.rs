//! Why a lock was not given.

use crate::db::txn::locks::lock_id::{LockName, TxnId};
use crate::db::txn::locks::lock_mode::Mode;

/// Why a lock was not given. The owner keeps what it had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    /// It was not free in time.
    Timeout {
        /// Who was in the way: it holds the lock, or came before. There may be more.
        holder: TxnId,
        /// Of what the lock is.
        name: LockName,
    },
    /// To wait for it would be to wait for oneself; or it is a plain write, for which a transaction
    /// would have to wait that is in its way.
    Deadlock {
        /// Everybody in the circle, the refused one first; each waits for the next, the last for
        /// the first. One that gives way is named alone.
        cycle: Vec<Waiter>,
    },
    /// The owner has as many locks of keys as it may have; a lock of their keyspace covers more.
    TooMany {
        /// How many it may have.
        locks_max: usize,
    },
    /// Somebody ended the wait.
    Interrupted,
    /// The database is closed, and nobody waits for locks any more.
    Closed,
}

/// An owner that waits for a lock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiter {
    /// Who waits.
    pub owner: TxnId,
    /// In which mode it wants to hold the lock.
    pub mode: Mode,
    /// Of what the lock is.
    pub name: LockName,
}
