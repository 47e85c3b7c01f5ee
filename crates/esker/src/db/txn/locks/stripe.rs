//! One part of the lock table: the locks whose hashes fall into it.
//!
//! Nearly every lock has one holder and nobody who waits; such a one is an entry of 24 bytes, with
//! the free places of its map 29 to 57. From the second holder, or the first who waits, until the
//! last of them goes it is a [`Lock`].

use std::collections::hash_map::Entry;
use std::sync::Arc;

use crate::base::types::id_map::IdMap;
use crate::db::txn::locks::lock::{Attempt, Lock, Woken};
use crate::db::txn::locks::lock_id::{LockId, TxnId};
use crate::db::txn::locks::lock_mode::Mode;
use crate::env::signal::Signal;

/// Places for locks that a stripe keeps though nobody holds any: one page of memory.
const KEPT_CAPACITY: usize = 128;

/// What is given back when no more than one of so many places is in use: a table that large was
/// for one transaction, and the next one that needs it fills it in less time than this one took.
const SHRINK_DIVISOR: usize = 8;

/// The locks of one stripe, under its mutex.
#[derive(Debug, Default)]
pub struct Stripe {
    sole: IdMap<LockId, Sole>,
    shared: IdMap<LockId, Box<Lock>>,
}

/// The only one that has anything to do with a lock.
#[derive(Clone, Copy, Debug)]
#[repr(Rust, packed(4))]
struct Sole {
    owner: TxnId,
    mode: Mode,
}

/// Bytes of an entry of a lock with one holder; the map has a byte of its own for each place.
const ENTRY_BYTES: usize = size_of::<(LockId, Sole)>();

const _: () = assert!(ENTRY_BYTES == 24);

impl Stripe {
    /// As [`Lock::attempt`].
    #[inline]
    pub fn attempt(&mut self, id: LockId, owner: TxnId, wanted: Mode) -> Attempt {
        if !self.shared.is_empty()
            && let Some(lock) = self.shared.get_mut(&id)
        {
            return lock.attempt(owner, wanted);
        }
        match self.sole.entry(id) {
            Entry::Vacant(vacant) => {
                let mode = wanted;
                vacant.insert(Sole { owner, mode });
                Attempt::Taken { before: None }
            }
            Entry::Occupied(mut occupied) if { occupied.get().owner } == owner => {
                let before = occupied.get().mode;
                let mode = before.joined(wanted);
                if mode == before {
                    return Attempt::Held;
                }
                occupied.insert(Sole { owner, mode });
                let before = Some(before);
                Attempt::Taken { before }
            }
            Entry::Occupied(occupied) if !wanted.conflicts_with(occupied.get().mode) => {
                let Sole { owner: other, mode } = occupied.remove();
                let mut lock = Box::new(Lock::new(other, mode));
                let attempt = lock.attempt(owner, wanted);
                self.shared.insert(id, lock);
                attempt
            }
            Entry::Occupied(occupied) => Attempt::Blocked {
                by: occupied.get().owner,
            },
        }
    }

    /// As [`Lock::enqueue`].
    pub fn enqueue(&mut self, id: LockId, owner: TxnId, wanted: Mode, granted: Arc<Signal>) {
        let sole = self.sole.remove(&id);
        let lock = self.shared.entry(id).or_insert_with(|| {
            let Sole { owner, mode } = sole.expect("a lock that blocks somebody is held");
            Box::new(Lock::new(owner, mode))
        });
        lock.enqueue(owner, wanted, granted);
    }

    /// As [`Lock::give_back`].
    #[inline]
    pub fn give_back(&mut self, id: LockId, owner: TxnId, before: Option<Mode>) -> Woken {
        if !self.shared.is_empty()
            && let Some(lock) = self.shared.get_mut(&id)
        {
            let woken = lock.give_back(owner, before);
            self.drop_if_free(id);
            return woken;
        }
        match before {
            Some(mode) => {
                self.sole.insert(id, Sole { owner, mode });
            }
            None => {
                self.sole.remove(&id);
                self.shrink();
            }
        }
        Woken::default()
    }

    /// As [`Lock::withdraw`].
    pub fn withdraw(&mut self, id: LockId, owner: TxnId) -> Option<Woken> {
        self.shared.get_mut(&id)?.withdraw(owner)
    }

    /// As [`Lock::blockers`].
    pub fn blockers(&self, id: LockId, owner: TxnId) -> Vec<TxnId> {
        let lock = self.shared.get(&id);
        lock.map_or_else(Vec::new, |lock| lock.blockers(owner))
    }

    /// As [`Lock::mode_of`].
    pub fn mode_of(&self, id: LockId, owner: TxnId) -> Option<Mode> {
        if let Some(lock) = self.shared.get(&id) {
            return lock.mode_of(owner);
        }
        let sole = self.sole.get(&id).filter(|sole| { sole.owner } == owner);
        sole.map(|sole| sole.mode)
    }

    /// How many locks are held, each counted once for each holder.
    pub fn held_count(&self) -> usize {
        let shared = self.shared.values().map(|lock| lock.holder_count());
        self.sole.len() + shared.sum::<usize>()
    }

    /// Who holds locks: each owner once for each of its locks.
    pub fn holders(&self) -> impl Iterator<Item = TxnId> {
        let sole = self.sole.values().map(|sole| sole.owner);
        let shared = self.shared.values();
        sole.chain(shared.flat_map(|lock| lock.holders()))
    }

    /// Bytes that locks with one holder take, with the room for more.
    pub fn table_bytes(&self) -> usize {
        // A map fills seven of eight places before it grows.
        self.sole.capacity() * 8 / 7 * (ENTRY_BYTES + 1)
    }

    fn drop_if_free(&mut self, id: LockId) {
        if self.shared.get(&id).is_some_and(|lock| lock.is_free()) {
            self.shared.remove(&id);
        }
    }

    fn shrink(&mut self) {
        let (used, capacity) = (self.sole.len(), self.sole.capacity());
        if capacity > KEPT_CAPACITY && used < capacity / SHRINK_DIVISOR {
            self.sole.shrink_to((used * 2).max(KEPT_CAPACITY));
        }
    }
}

#[cfg(test)]
mod tests;
