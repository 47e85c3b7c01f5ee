//! The lock table of a database: its stripes, who waits, and what is told of them.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use crate::db::txn::locks::cycle::find_cycle;
use crate::db::txn::locks::lock::{Attempt, Woken};
use crate::db::txn::locks::lock_id::{LockId, LockName, TxnId};
use crate::db::txn::locks::lock_mode::Mode;
use crate::db::txn::locks::refused::{Refused, Waiter};
use crate::db::txn::locks::stripe::Stripe;
use crate::db::txn::locks::waits::{Wait, WaitCounts, Waits};
use crate::env::primitives::atomic::{AtomicU64, Ordering};
use crate::env::primitives::{Mutex, MutexGuard};
use crate::flow::write::lock_holders::LockHolders;

/// Stripes of the table: several for each of the threads that lock at the same time, so that two
/// seldom meet; all together take 8 KiB.
const STRIPE_COUNT: usize = 64;

/// Of those for whom one owner waits, how many are listed.
const LISTED_BLOCKERS_MAX: usize = 8;

/// The locks of one database. Any thread may call anything; owners take and release locks by
/// [`OwnedLocks`](crate::db::txn::locks::owned_locks::OwnedLocks).
#[derive(Debug)]
pub struct LockTable {
    stripes: Box<[PaddedStripe]>,
    waits: Mutex<Waits>,
    holders: Arc<LockHolders>,
    momentary_count: AtomicU64,
    locks_max: usize,
}

/// 128 bytes: processors fetch cache lines of 64 bytes in pairs.
#[derive(Debug, Default)]
#[repr(align(128))]
struct PaddedStripe(Mutex<Stripe>);

/// What a lock table tells of itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LockStatistics {
    /// Locks that are held, each counted once for each holder.
    pub held: usize,
    /// Owners that hold a lock for longer than one write takes.
    pub holding: usize,
    /// Owners that wait for a lock.
    pub waiting: usize,
    /// What happened so far.
    pub counts: WaitCounts,
    /// Bytes of memory that locks with one holder take, with the room for more.
    pub table_bytes: usize,
}

/// One owner that waits, for whoever looks into a database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitingOwner {
    /// Who waits, for what, and how.
    pub waiter: Waiter,
    /// Since when, by the monotonic clock.
    pub since: Duration,
    /// For whom: the first few.
    pub blockers: Vec<TxnId>,
}

impl LockTable {
    /// A table without locks, in which no owner may have more than `locks_max` locks of keys.
    /// Writes learn from `holders` that there are any.
    pub fn new(holders: Arc<LockHolders>, locks_max: usize) -> LockTable {
        LockTable {
            stripes: (0..STRIPE_COUNT).map(|_| PaddedStripe::default()).collect(),
            waits: Mutex::default(),
            holders,
            momentary_count: AtomicU64::new(0),
            locks_max,
        }
    }

    /// How many locks of keys an owner may have.
    pub fn locks_max(&self) -> usize {
        self.locks_max
    }

    /// Refuses everybody who waits, and everybody who would from now on: the database is closed.
    /// Locks stay with those who hold them until they give them back.
    pub fn close(&self) {
        let mut waits = self.waits();
        waits.is_closed = true;
        for wait in waits.waiting.values() {
            wait.signal.raise();
        }
    }

    /// Ends the wait of an owner, and refuses each that it begins later, until
    /// [`LockTable::clear_interrupt`]. `is_alive` is asked where the owner cannot end meanwhile.
    pub fn interrupt(&self, owner: TxnId, is_alive: impl FnOnce() -> bool) {
        let mut waits = self.waits();
        if !is_alive() {
            return;
        }
        waits.interrupted.insert(owner);
        if let Some(wait) = waits.waiting.get(&owner) {
            wait.signal.raise();
        }
    }

    /// The owner waits again for what it wants from now on.
    pub fn clear_interrupt(&self, owner: TxnId) {
        self.waits().interrupted.remove(&owner);
    }

    /// Whether the owner was told not to wait.
    pub fn is_interrupted(&self, owner: TxnId) -> bool {
        self.waits().interrupted.contains(&owner)
    }

    /// What the table holds and has counted.
    pub fn statistics(&self) -> LockStatistics {
        let mut statistics = LockStatistics {
            holding: self.holders.count(),
            ..LockStatistics::default()
        };
        {
            let waits = self.waits();
            statistics.waiting = waits.waiting.len();
            statistics.counts = waits.counts;
        }
        for stripe in &self.stripes {
            let stripe = lock(&stripe.0);
            statistics.held += stripe.held_count();
            statistics.table_bytes += stripe.table_bytes();
        }
        statistics
    }

    /// Up to `count_max` of those who wait, the longest wait first.
    pub fn waiting_owners(&self, count_max: usize) -> Vec<WaitingOwner> {
        let waits = self.waits();
        let mut waiting: Vec<_> = waits.waiting.iter().collect();
        waiting.sort_by_key(|(owner, wait)| (wait.since, **owner));
        let listed = waiting.into_iter().take(count_max);
        listed
            .map(|(owner, wait)| {
                let mut blockers = self.stripe(wait.id).blockers(wait.id, *owner);
                blockers.truncate(LISTED_BLOCKERS_MAX);
                WaitingOwner {
                    waiter: waiter(*owner, wait),
                    since: wait.since,
                    blockers,
                }
            })
            .collect()
    }

    /// A name for one plain write, which nobody else has.
    pub fn momentary_owner(&self) -> TxnId {
        // Relaxed: only that no two get the same.
        TxnId::momentary(self.momentary_count.fetch_add(1, Ordering::Relaxed))
    }

    /// How many locks each owner holds, those of plain writes included. Goes through all of them.
    pub fn held_by_owner(&self) -> BTreeMap<TxnId, usize> {
        let mut held = BTreeMap::new();
        for stripe in &self.stripes {
            let stripe = lock(&stripe.0);
            for owner in stripe.holders() {
                *held.entry(owner).or_default() += 1;
            }
        }
        held
    }

    /// Who holds locks for longer than one write takes.
    pub fn holders(&self) -> &LockHolders {
        &self.holders
    }

    /// Takes a lock, if that can be at once.
    #[inline]
    pub(in crate::db::txn::locks) fn attempt(
        &self,
        owner: TxnId,
        id: LockId,
        wanted: Mode,
    ) -> Attempt {
        self.stripe(id).attempt(id, owner, wanted)
    }

    /// Takes a lock, or begins to wait for it: then it is `Blocked`, and the wait is to be ended by
    /// [`LockTable::end_wait`] or [`LockTable::abandon_wait`]. `Deadlock` if to wait would close a
    /// circle, unless a plain write is in it that can give way to a transaction.
    pub(in crate::db::txn::locks) fn begin_wait(
        &self,
        owner: TxnId,
        wait: Wait,
    ) -> Result<Attempt, Refused> {
        // Held to the end: nobody else begins to wait, or ceases to, while a circle is looked for.
        let mut waits = self.waits();
        if waits.is_closed {
            return Err(Refused::Closed);
        }
        if waits.interrupted.contains(&owner) {
            return Err(Refused::Interrupted);
        }
        let (id, since) = (wait.id, wait.since);
        let attempt = {
            let mut stripe = self.stripe(id);
            let attempt = stripe.attempt(id, owner, wait.mode);
            if !matches!(attempt, Attempt::Blocked { .. }) {
                return Ok(attempt);
            }
            stripe.enqueue(id, owner, wait.mode, Arc::clone(&wait.signal));
            attempt
        };
        waits.begin(owner, wait);
        let Some(cycle) = self.cycle_to_break(&mut waits, owner) else {
            return Ok(attempt);
        };
        let member = |owner: TxnId| waiter(owner, &waits.waiting[&owner]);
        let cycle = cycle.into_iter().map(member).collect();
        let ended = self.cease(&mut waits, owner, since);
        // The next in the circle has what this one waits for, and gives nothing back.
        assert!(ended.is_some(), "nobody in a circle is granted anything");
        waits.counts.deadlocks += 1;
        Err(Refused::Deadlock { cycle })
    }

    /// A circle that the wait of this owner closes, and that nobody else opens: where it is a
    /// transaction, plain writes give way to it, and are woken to do so.
    fn cycle_to_break(&self, waits: &mut Waits, owner: TxnId) -> Option<Vec<TxnId>> {
        loop {
            let cycle = find_cycle(owner, |owner| match waits.waiting.get(&owner) {
                // Who gives way is about to let go of all that it has.
                Some(wait) if !wait.gives_way => self.stripe(wait.id).blockers(wait.id, owner),
                _ => Vec::new(),
            })?;
            let plain = cycle[1..].iter().find(|member| member.is_momentary());
            let Some(plain) = plain.filter(|_| !owner.is_momentary()) else {
                return Some(cycle);
            };
            waits.give_way(*plain);
        }
    }

    /// Ends a wait: `Ok` if the owner has the lock, else `Timeout`, `Interrupted` or `Closed`, or
    /// `Deadlock` with itself alone where it gives way.
    pub(in crate::db::txn::locks) fn end_wait(
        &self,
        owner: TxnId,
        now: Duration,
    ) -> Result<(), Refused> {
        let mut waits = self.waits();
        let wait = waits.waiting.get(&owner).filter(|wait| wait.gives_way);
        let giving_way = wait.map(|wait| waiter(owner, wait));
        match (self.cease(&mut waits, owner, now), giving_way) {
            (None, _) => Ok(()),
            (Some(_), _) if waits.is_closed => Err(Refused::Closed),
            (Some(_), Some(waiter)) => {
                waits.counts.deadlocks += 1;
                let cycle = vec![waiter];
                Err(Refused::Deadlock { cycle })
            }
            (Some(_), None) if waits.interrupted.contains(&owner) => Err(Refused::Interrupted),
            (Some((holder, name)), None) => {
                waits.counts.timeouts += 1;
                Err(Refused::Timeout { holder, name })
            }
        }
    }

    /// Ends a wait of which nobody will use what it brought; `before` is what the owner had.
    pub(in crate::db::txn::locks) fn abandon_wait(
        &self,
        owner: TxnId,
        id: LockId,
        before: Option<Mode>,
        now: Duration,
    ) {
        let ended = self.cease(&mut self.waits(), owner, now);
        if ended.is_none() {
            self.give_back(owner, id, before);
        }
    }

    /// Takes an owner out of those who wait: `None` if it has the lock, else one of those in the
    /// way, and of what the lock is.
    fn cease(&self, waits: &mut Waits, owner: TxnId, now: Duration) -> Option<(TxnId, LockName)> {
        let wait = waits.end(owner, now);
        let (blockers, withdrawn) = {
            let mut stripe = self.stripe(wait.id);
            let blockers = stripe.blockers(wait.id, owner);
            (blockers, stripe.withdraw(wait.id, owner))
        };
        withdrawn?.raise();
        let blocker = *blockers.first().expect("who waits waits for somebody");
        Some((blocker, wait.name))
    }

    /// Puts back a lock to how it was held before, and wakes those who can go on.
    #[inline]
    pub(in crate::db::txn::locks) fn give_back(
        &self,
        owner: TxnId,
        id: LockId,
        before: Option<Mode>,
    ) {
        let woken: Woken = self.stripe(id).give_back(id, owner, before);
        woken.raise();
    }

    /// How an owner holds a lock.
    pub fn mode_of(&self, owner: TxnId, id: LockId) -> Option<Mode> {
        self.stripe(id).mode_of(id, owner)
    }

    fn stripe(&self, id: LockId) -> MutexGuard<'_, Stripe> {
        lock(&self.stripes[id.stripe_index(STRIPE_COUNT)].0)
    }

    fn waits(&self) -> MutexGuard<'_, Waits> {
        lock(&self.waits)
    }
}

// Nothing of a caller runs under these locks, and a broken invariant leaves no change half done
// that the next one would build on.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn waiter(owner: TxnId, wait: &Wait) -> Waiter {
    Waiter {
        owner,
        mode: wait.mode,
        name: wait.name.clone(),
    }
}
