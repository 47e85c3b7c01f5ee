//! Who waits for which lock: one place that all who wait come past.
//!
//! The graph of who waits for whom lies in the locks themselves. What is here leads from an owner
//! to the lock that it waits for, and is changed only under one mutex, which whoever looks for a
//! circle holds meanwhile. Why that finds each circle once, and no other:
//!
//! - An owner waits for one lock at a time, and its thread sleeps meanwhile: it gives nothing back.
//! - An edge is drawn when its waiter begins to wait, or when its target gets or asks for more of
//!   the lock. Nothing leads on from a target that does not wait, so that edge closes nothing until
//!   the target begins to wait. So every circle is closed by an owner that begins to wait, and goes
//!   through it. The search from there sees it, since nobody else begins to wait meanwhile.
//! - A circle that it finds stays: nobody in it gives back, times out (that is under the mutex) or
//!   is granted anything before the next one has given back. So none is reported that was never
//!   there as a whole, though the locks are looked at one after the other.
//! - Where a transaction closes circles, a plain write in each gives way, if there is one: from
//!   then on it counts as one that does not wait. It either has its lock already, or is refused it,
//!   lets go of everything and wakes whom it held up. If it has it and begins to wait for another,
//!   the search goes on from there.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use crate::db::txn::locks::lock_id::{LockId, LockName, TxnId};
use crate::db::txn::locks::lock_mode::Mode;
use crate::env::signal::Signal;

/// Who waits, and what was counted of waiting.
#[derive(Debug, Default)]
pub struct Waits {
    /// Whoever begins to wait from now on is refused.
    pub is_closed: bool,
    /// Those whose wait began and has not been ended by themselves: some may have their lock.
    pub waiting: BTreeMap<TxnId, Wait>,
    /// Those that somebody told not to wait, until they say that they do again.
    pub interrupted: BTreeSet<TxnId>,
    /// What happened so far.
    pub counts: WaitCounts,
}

/// One owner that waits.
#[derive(Debug)]
pub struct Wait {
    /// The lock.
    pub id: LockId,
    /// Of what it is.
    pub name: LockName,
    /// How it is wanted.
    pub mode: Mode,
    /// Since when, by the monotonic clock.
    pub since: Duration,
    /// Raised when it is granted, when it gives way, when somebody ends the wait, and when the
    /// table is closed.
    pub signal: Arc<Signal>,
    /// Whether it is to let go of all that it has, for a transaction that would wait for itself.
    pub gives_way: bool,
}

/// What was counted of waiting since the database was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WaitCounts {
    /// How often an owner began to wait.
    pub waits: u64,
    /// How long they waited, all together; those who wait now are not in it.
    pub waited: Duration,
    /// How often a circle was opened by a refusal: of who closed it, or of a plain write in it.
    pub deadlocks: u64,
    /// How often a wait ended without the lock because its time was over.
    pub timeouts: u64,
}

impl Waits {
    /// An owner begins to wait.
    pub fn begin(&mut self, owner: TxnId, wait: Wait) {
        self.counts.waits += 1;
        let other = self.waiting.insert(owner, wait);
        assert!(other.is_none(), "owner {owner} waits for two locks");
    }

    /// A plain write is told to let go of all that it has.
    pub fn give_way(&mut self, owner: TxnId) {
        let wait = self.waiting.get_mut(&owner);
        let wait = wait.expect("whoever is in a circle waits");
        wait.gives_way = true;
        wait.signal.raise();
    }

    /// An owner waits no longer; for what it did.
    pub fn end(&mut self, owner: TxnId, now: Duration) -> Wait {
        let wait = self.waiting.remove(&owner);
        let wait = wait.expect("whoever ends a wait has begun it");
        self.counts.waited += now.saturating_sub(wait.since);
        wait
    }
}
