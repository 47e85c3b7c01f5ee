//! A lock that several hold or wait for: who may hold it together, and who comes next.
//!
//! A request is granted when it goes together with what others hold and with every request before
//! it: so nobody overtakes whom it would hold up, and a stream of readers starves no writer. An
//! owner that holds the lock and wants more of it goes before those who hold nothing. It also
//! passes those whose requests conflict with what it holds: they wait for it whatever it does.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use crate::db::txn::locks::lock_id::TxnId;
use crate::db::txn::locks::lock_mode::{Mode, ModeSet};
use crate::env::signal::Signal;

/// Who holds a lock and who waits for it; plain bookkeeping, under the lock of its stripe.
#[derive(Debug)]
pub struct Lock {
    holders: BTreeMap<TxnId, Mode>,
    /// How many hold it in each mode: a keyspace that hundreds write to has as many holders.
    held_counts: [u32; Mode::COUNT],
    /// Upgrades first, then in order of arrival.
    queue: VecDeque<Request>,
}

/// Somebody who waits.
#[derive(Debug)]
struct Request {
    owner: TxnId,
    /// What the owner will hold.
    mode: Mode,
    is_upgrade: bool,
    granted: Arc<Signal>,
}

/// What became of an attempt to take a lock at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attempt {
    /// The owner held as much already.
    Held,
    /// The owner holds it now; before, it held it in that mode, or not at all.
    Taken {
        /// What to go back to.
        before: Option<Mode>,
    },
    /// Nothing changed.
    Blocked {
        /// One of those in the way.
        by: TxnId,
    },
}

/// The signals of those who were granted what they waited for, to be raised once the stripe is
/// unlocked.
#[derive(Debug, Default)]
#[must_use = "they sleep until their signals are raised"]
pub struct Woken(Vec<Arc<Signal>>);

impl Woken {
    /// Wakes them.
    pub fn raise(self) {
        for signal in self.0 {
            signal.raise();
        }
    }
}

impl Lock {
    /// The lock that this owner alone holds.
    pub fn new(owner: TxnId, mode: Mode) -> Lock {
        let mut lock = Lock {
            holders: BTreeMap::new(),
            held_counts: [0; Mode::COUNT],
            queue: VecDeque::new(),
        };
        lock.hold(owner, Some(mode));
        lock
    }

    /// How an owner holds it.
    pub fn mode_of(&self, owner: TxnId) -> Option<Mode> {
        self.holders.get(&owner).copied()
    }

    /// How many hold it.
    pub fn holder_count(&self) -> usize {
        self.holders.len()
    }

    /// Who holds it.
    pub fn holders(&self) -> impl Iterator<Item = TxnId> {
        self.holders.keys().copied()
    }

    /// Takes it, if that can be at once.
    pub fn attempt(&mut self, owner: TxnId, wanted: Mode) -> Attempt {
        let before = self.mode_of(owner);
        let mode = before.map_or(wanted, |before| before.joined(wanted));
        if before == Some(mode) {
            return Attempt::Held;
        }
        let ahead_count = self.queue_index(before.is_some());
        let ahead = self.modes_ahead(ahead_count);
        if self.may_hold(owner, mode, ahead) {
            self.hold(owner, Some(mode));
            return Attempt::Taken { before };
        }
        let mut blockers = self.blockers_of(owner, mode, ahead_count);
        let by = blockers.next();
        Attempt::Blocked {
            by: by.expect("who may not hold a lock has somebody in the way"),
        }
    }

    /// Has an owner wait whose attempt was blocked; `granted` is raised once it holds the lock.
    pub fn enqueue(&mut self, owner: TxnId, wanted: Mode, granted: Arc<Signal>) {
        let before = self.mode_of(owner);
        let is_upgrade = before.is_some();
        let request = Request {
            owner,
            mode: before.map_or(wanted, |before| before.joined(wanted)),
            is_upgrade,
            granted,
        };
        self.queue.insert(self.queue_index(is_upgrade), request);
        self.check();
    }

    /// Puts back what an owner held to what it held before, and grants what can be granted now.
    pub fn give_back(&mut self, owner: TxnId, before: Option<Mode>) -> Woken {
        self.hold(owner, before);
        self.grant()
    }

    /// Takes an owner out of those who wait, and grants what can be granted now; `None` if it does
    /// not wait.
    pub fn withdraw(&mut self, owner: TxnId) -> Option<Woken> {
        let index = self.queue_index_of(owner)?;
        self.queue.remove(index);
        Some(self.grant())
    }

    /// For whom an owner waits here: who holds what it cannot share, and who has asked for such
    /// before. Nobody, if it does not wait.
    pub fn blockers(&self, owner: TxnId) -> Vec<TxnId> {
        let Some(index) = self.queue_index_of(owner) else {
            return Vec::new();
        };
        let mode = self.queue[index].mode;
        self.blockers_of(owner, mode, index).collect()
    }

    /// Whether nobody holds it; then nobody waits for it either.
    pub fn is_free(&self) -> bool {
        self.holders.is_empty()
    }

    /// Where a new request goes.
    fn queue_index(&self, is_upgrade: bool) -> usize {
        match is_upgrade {
            true => self.queue.partition_point(|request| request.is_upgrade),
            false => self.queue.len(),
        }
    }

    fn queue_index_of(&self, owner: TxnId) -> Option<usize> {
        self.queue.iter().position(|request| request.owner == owner)
    }

    fn modes_ahead(&self, ahead_count: usize) -> ModeSet {
        let mut modes = ModeSet::default();
        for request in self.queue.range(..ahead_count) {
            modes.add(request.mode);
        }
        modes
    }

    /// Whether an owner may hold it in this mode while requests for the modes `ahead` wait before
    /// its own.
    fn may_hold(&self, owner: TxnId, mode: Mode, ahead: ModeSet) -> bool {
        let own = self.mode_of(owner);
        let held_by_others = |other: &Mode| {
            let count = self.held_counts[other.index()];
            count > u32::from(own == Some(*other))
        };
        let mut in_the_way = own.map_or(ahead, |own| ahead.without(own.conflicts()));
        for other in Mode::ALL.into_iter().filter(held_by_others) {
            in_the_way.add(other);
        }
        !mode.conflicts().meets(in_the_way)
    }

    /// Who keeps an owner from holding it in this mode, with that many requests before its own.
    fn blockers_of(
        &self,
        owner: TxnId,
        mode: Mode,
        ahead_count: usize,
    ) -> impl Iterator<Item = TxnId> {
        let own = self.mode_of(owner);
        let holders = self.holders.iter();
        let holders = holders
            .filter(move |(holder, held)| **holder != owner && mode.conflicts_with(**held))
            .map(|(holder, _)| *holder);
        let is_ahead = move |request: &&Request| {
            let waits_anyway = own.is_some_and(|own| own.conflicts_with(request.mode));
            mode.conflicts_with(request.mode) && !waits_anyway
        };
        let ahead = self.queue.range(..ahead_count).filter(is_ahead);
        holders.chain(ahead.map(|request| request.owner))
    }

    fn hold(&mut self, owner: TxnId, mode: Option<Mode>) {
        let before = match mode {
            Some(mode) => {
                self.held_counts[mode.index()] += 1;
                self.holders.insert(owner, mode)
            }
            None => self.holders.remove(&owner),
        };
        if let Some(before) = before {
            self.held_counts[before.index()] -= 1;
        }
    }

    /// Gives the lock to everybody who waits and may hold it now.
    fn grant(&mut self) -> Woken {
        let mut woken = Woken::default();
        let mut ahead = ModeSet::default();
        let mut index = 0;
        while let Some(request) = self.queue.get(index) {
            // Behind a request for the whole lock only upgrades may go on.
            if ahead.has(Mode::Exclusive) && !request.is_upgrade {
                break;
            }
            let (owner, mode) = (request.owner, request.mode);
            if self.may_hold(owner, mode, ahead) {
                let granted = self.queue.remove(index).expect("it was there just now");
                self.hold(owner, Some(mode));
                woken.0.push(granted.granted);
            } else {
                ahead.add(mode);
                index += 1;
            }
        }
        self.check();
        woken
    }

    /// Everybody who waits waits for somebody: else nobody would ever wake it.
    fn check(&self) {
        if cfg!(debug_assertions) {
            for (index, request) in self.queue.iter().enumerate() {
                let mut blockers = self.blockers_of(request.owner, request.mode, index);
                assert!(blockers.next().is_some(), "{request:?} waits for nobody");
            }
        }
    }
}

#[cfg(test)]
mod tests;
