//! Who has locked what, the obvious way: for a model in which nobody waits.

use std::collections::{BTreeMap, BTreeSet};

/// One lock: of a key, or of a keyspace as a whole.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Of {
    Key(usize, Vec<u8>),
    Keyspace(usize),
}

/// What somebody does under a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Does {
    /// Reads keys inside.
    ReadsInside,
    /// Writes keys inside.
    WritesInside,
    /// Reads the whole.
    Reads,
    /// Writes the whole.
    Writes,
}

impl Does {
    fn disturbs(self, other: Does) -> bool {
        use Does::{Reads, Writes, WritesInside};
        matches!(
            (self, other),
            (Writes, _) | (_, Writes) | (WritesInside, Reads) | (Reads, WritesInside)
        )
    }
}

/// All locks, by owner.
#[derive(Clone, Debug, Default)]
pub struct Locks(BTreeMap<u64, BTreeSet<(Of, Does)>>);

impl Locks {
    /// Locks a key; says whether that could be. If not, nothing is announced either.
    pub fn lock_key(&mut self, owner: u64, keyspace: usize, key: &[u8], is_written: bool) -> bool {
        let (inside, whole) = match is_written {
            true => (Does::WritesInside, Does::Writes),
            false => (Does::ReadsInside, Does::Reads),
        };
        let keyspace_of = Of::Keyspace(keyspace);
        if self.has(owner, &keyspace_of, whole) {
            return true;
        }
        let before = self.of(owner);
        let is_locked = self.lock(owner, keyspace_of, inside)
            && self.lock(owner, Of::Key(keyspace, key.to_vec()), whole);
        if !is_locked {
            self.put_back(owner, before);
        }
        is_locked
    }

    /// Locks a keyspace as a whole; says whether that could be.
    pub fn lock_keyspace(&mut self, owner: u64, keyspace: usize, is_written: bool) -> bool {
        let does = match is_written {
            true => Does::Writes,
            false => Does::Reads,
        };
        self.lock(owner, Of::Keyspace(keyspace), does)
    }

    /// What an owner has.
    pub fn of(&self, owner: u64) -> Locks {
        let held = self.0.get(&owner).cloned();
        Locks(held.map(|held| (owner, held)).into_iter().collect())
    }

    /// An owner has what it had then.
    pub fn put_back(&mut self, owner: u64, before: Locks) {
        self.release(owner);
        self.0.extend(before.0);
    }

    /// An owner has nothing.
    pub fn release(&mut self, owner: u64) {
        self.0.remove(&owner);
    }

    fn has(&self, owner: u64, of: &Of, does: Does) -> bool {
        let mut held = self.0.get(&owner).into_iter().flatten();
        held.any(|(held, doing)| held == of && (*doing == does || *doing == Does::Writes))
    }

    fn lock(&mut self, owner: u64, of: Of, does: Does) -> bool {
        let others = self.0.iter().filter(|(other, _)| **other != owner);
        let mut held = others.flat_map(|(_, held)| held);
        if held.any(|(held, doing)| *held == of && does.disturbs(*doing)) {
            return false;
        }
        self.0.entry(owner).or_default().insert((of, does));
        true
    }
}
