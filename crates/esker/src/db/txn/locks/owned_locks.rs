//! The locks of one owner, in the order in which they were taken.

use std::sync::Arc;

use crate::base::types::id_map::IdMap;
use crate::base::types::ids::KeyspaceId;
use crate::base::types::limits::NOTED_LOCKS_MAX;
use crate::db::txn::locks::lock::Attempt;
use crate::db::txn::locks::lock_id::{LockId, TxnId};
use crate::db::txn::locks::lock_mode::{KeyMode, Mode};
use crate::db::txn::locks::lock_notes::LockNotes;
use crate::db::txn::locks::lock_table::LockTable;
use crate::db::txn::locks::refused::Refused;
use crate::db::txn::locks::waiting::{Patience, Wanted, acquire};

/// The locks of one owner, given back when this goes. One thread at a time takes and releases, any
/// may be next.
#[derive(Debug)]
pub struct OwnedLocks {
    table: Arc<LockTable>,
    owner: TxnId,
    tenure: Tenure,
    taken: Vec<Taken>,
    key_count: usize,
    /// How the owner holds keyspaces, so that of many keys in one only the first asks the table.
    keyspaces: IdMap<KeyspaceId, Mode>,
    /// Where what it takes is noted for others to read; `None` of who holds locks for a moment.
    notes: Option<Arc<LockNotes>>,
    /// How many of the changes in `taken` are not to be taken back alone: what was written by then
    /// depends on them.
    kept: usize,
}

/// How long an owner holds what it takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tenure {
    /// For a moment: plain writes need not heed it, since nobody reads under it.
    Momentary,
    /// As a transaction does, and none of its locks is held now.
    Idle,
    /// As a transaction does, and the table knows of it.
    Holding,
}

/// One change that the owner made to what it holds.
#[derive(Clone, Copy, Debug)]
struct Taken {
    id: LockId,
    before: Option<Mode>,
}

// Beside the 24 bytes of the table.
const _: () = assert!(size_of::<Taken>() == 16);

/// A moment in the life of an owner, to which its locks can go back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LockMark(usize);

impl LockMark {
    /// As a number that grows with what is held.
    pub fn number(self) -> u64 {
        self.0 as u64
    }

    /// The mark with that number.
    pub fn numbered(number: u64) -> LockMark {
        LockMark(usize::try_from(number).unwrap_or(usize::MAX))
    }
}

impl OwnedLocks {
    /// Of a transaction, and none yet. The caller gives out `owner`; nobody else alive has it.
    pub fn new(table: Arc<LockTable>, owner: TxnId) -> OwnedLocks {
        OwnedLocks::with_tenure(table, owner, Tenure::Idle)
    }

    /// Of a plain write, which holds them until it is visible: they keep others out, but are no
    /// reason for other plain writes to take any ([`LockTable::holders`]).
    pub fn momentary(table: Arc<LockTable>) -> OwnedLocks {
        let owner = table.momentary_owner();
        OwnedLocks::with_tenure(table, owner, Tenure::Momentary)
    }

    fn with_tenure(table: Arc<LockTable>, owner: TxnId, tenure: Tenure) -> OwnedLocks {
        OwnedLocks {
            table,
            owner,
            tenure,
            taken: Vec::new(),
            key_count: 0,
            keyspaces: IdMap::default(),
            notes: None,
            kept: 0,
        }
    }

    /// What is taken from now on is noted there; nothing is held yet.
    #[must_use]
    pub fn noted_in(mut self, notes: Arc<LockNotes>) -> OwnedLocks {
        assert!(self.taken.is_empty(), "notes begin with the first lock");
        self.notes = Some(notes);
        self
    }

    /// Whose they are.
    pub fn owner(&self) -> TxnId {
        self.owner
    }

    /// Whether it holds any lock, and for longer than a plain write.
    pub fn is_holding(&self) -> bool {
        self.tenure == Tenure::Holding
    }

    /// How many keys the owner has locked one by one; two with one hash are one.
    pub fn key_count(&self) -> usize {
        self.key_count
    }

    /// How the owner holds a keyspace as a whole.
    pub fn keyspace_mode(&self, keyspace: KeyspaceId) -> Option<Mode> {
        self.keyspaces.get(&keyspace).copied()
    }

    /// Locks a key, and its keyspace with the intention that goes before; waits for both together
    /// no longer than `patience` has it. Says whether anything was taken: `false` is that the owner
    /// held as much already, by itself or by the keyspace.
    ///
    /// Refused for a key, the owner may be left with the intention.
    pub fn lock_key(
        &mut self,
        keyspace: KeyspaceId,
        key: &[u8],
        mode: KeyMode,
        mut patience: Patience<'_>,
    ) -> Result<bool, Refused> {
        let held = self.keyspace_mode(keyspace);
        if held.is_some_and(|held| held.covers(mode.whole())) {
            return Ok(false);
        }
        if held.is_none_or(|held| !held.covers(mode.intention())) {
            self.take_keyspace(keyspace, mode.intention(), &mut patience)?;
        }
        let id = LockId::of_key(keyspace, key);
        let is_full = self.key_count >= self.table.locks_max();
        if is_full && self.table.mode_of(self.owner, id).is_none() {
            let locks_max = self.table.locks_max();
            return Err(Refused::TooMany { locks_max });
        }
        let (mode, key) = (mode.mode(), Some(key));
        self.take(Wanted { id, mode, key }, &mut patience)
    }

    /// As [`OwnedLocks::lock_key`]; once the owner may have no more locks of keys, it locks their
    /// keyspace as a whole. Refused, the owner has what it had.
    pub fn lock_key_or_keyspace(
        &mut self,
        keyspace: KeyspaceId,
        key: &[u8],
        mode: KeyMode,
        patience: Patience<'_>,
    ) -> Result<bool, Refused> {
        let mark = self.mark();
        let locked = match self.lock_key(keyspace, key, mode, patience) {
            Err(Refused::TooMany { .. }) => self.lock_keyspace(keyspace, mode.whole(), patience),
            locked => locked,
        };
        if locked.is_err() {
            // An intention to do what was refused would keep others out for nothing.
            self.release_to(mark);
        }
        locked
    }

    /// Locks a keyspace as a whole, or announces what is locked inside. Says whether that changed
    /// how the owner holds it. Locks of keys that it covers from then on stay as they are: they
    /// count once the owner goes back to before.
    pub fn lock_keyspace(
        &mut self,
        keyspace: KeyspaceId,
        mode: Mode,
        mut patience: Patience<'_>,
    ) -> Result<bool, Refused> {
        let held = self.keyspace_mode(keyspace);
        if held.is_some_and(|held| held.covers(mode)) {
            return Ok(false);
        }
        self.take_keyspace(keyspace, mode, &mut patience)
    }

    /// This moment, for [`OwnedLocks::release_to`].
    pub fn mark(&self) -> LockMark {
        LockMark(self.taken.len())
    }

    /// Goes back to that moment: what was taken since is released, and what was only raised since,
    /// from shared to exclusive, is held as it was then. Whoever can go on is woken.
    ///
    /// Others may then change what was read under a lock that is released here: what was learnt
    /// since the mark is to be forgotten with it. A mark from a time to which the owner has gone
    /// back before changes nothing.
    pub fn release_to(&mut self, mark: LockMark) {
        while self.taken.len() > mark.0
            && let Some(taken) = self.taken.pop()
        {
            self.undo(taken);
        }
        self.kept = self.kept.min(self.taken.len());
        if let Some(notes) = &self.notes {
            notes.truncate(self.taken.len());
        }
        self.end_holding_if_none();
    }

    /// What is held now stays until the owner goes back to a mark before: it has written.
    pub fn keep(&mut self) {
        self.kept = self.taken.len();
    }

    /// Releases the locks of keys that were taken since, and holds those that were raised since as
    /// they were held then; intentions stay, as the next key needs them again. `false`, and nothing
    /// is done, if the owner has [kept](OwnedLocks::keep) its locks since, or was before the mark.
    pub fn release_keys_since(&mut self, mark: LockMark) -> bool {
        if mark.0 < self.kept || mark.0 > self.taken.len() {
            return false;
        }
        for place in (mark.0..self.taken.len()).rev() {
            if self.taken[place].id.is_keyspace() {
                continue;
            }
            let taken = self.taken.remove(place);
            if let Some(notes) = &self.notes {
                notes.remove(place);
            }
            self.undo(taken);
        }
        self.end_holding_if_none();
        true
    }

    /// Releases every lock; the owner may take others.
    pub fn release_all(&mut self) {
        self.release_to(LockMark(0));
        // Memory for a million of them does not wait for the next one.
        self.taken = Vec::new();
    }

    fn take_keyspace(
        &mut self,
        keyspace: KeyspaceId,
        mode: Mode,
        patience: &mut Patience<'_>,
    ) -> Result<bool, Refused> {
        let id = LockId::of_keyspace(keyspace);
        let is_taken = self.take(
            Wanted {
                id,
                mode,
                key: None,
            },
            patience,
        )?;
        let held = self.keyspaces.entry(keyspace).or_insert(mode);
        *held = held.joined(mode);
        Ok(is_taken)
    }

    fn take(&mut self, wanted: Wanted<'_>, patience: &mut Patience<'_>) -> Result<bool, Refused> {
        if self.tenure == Tenure::Idle {
            // Before the first lock is there.
            self.table.holders().begin();
            self.tenure = Tenure::Holding;
        }
        let acquired = acquire(&self.table, self.owner, wanted, patience);
        match acquired {
            Ok(Attempt::Taken { before }) => {
                let id = wanted.id;
                self.note(wanted, before.is_none(), patience);
                self.taken.push(Taken { id, before });
                if before.is_none() && !id.is_keyspace() {
                    self.key_count += 1;
                }
                Ok(true)
            }
            Ok(Attempt::Held) => Ok(false),
            Ok(Attempt::Blocked { .. }) => unreachable!("who is blocked waits or is refused"),
            Err(refused) => {
                self.end_holding_if_none();
                Err(refused)
            }
        }
    }

    fn note(&self, wanted: Wanted<'_>, is_first: bool, patience: &Patience<'_>) {
        let place = self.taken.len();
        let Some(notes) = self.notes.as_ref().filter(|_| place < NOTED_LOCKS_MAX) else {
            return;
        };
        let key = wanted.key.unwrap_or_default();
        let now = patience.env.clock.monotonic();
        notes.push(place, (wanted.id, is_first), key, now);
    }

    fn undo(&mut self, Taken { id, before }: Taken) {
        if id.is_keyspace() {
            match before {
                Some(mode) => self.keyspaces.insert(id.keyspace(), mode),
                None => self.keyspaces.remove(&id.keyspace()),
            };
        } else if before.is_none() {
            self.key_count -= 1;
        }
        self.table.give_back(self.owner, id, before);
    }

    fn end_holding_if_none(&mut self) {
        if self.tenure == Tenure::Holding && self.taken.is_empty() {
            self.table.holders().end();
            self.tenure = Tenure::Idle;
        }
    }
}

impl Drop for OwnedLocks {
    fn drop(&mut self) {
        self.release_all();
    }
}

#[cfg(all(test, loom))]
mod loom_models;
#[cfg(test)]
mod tests;
