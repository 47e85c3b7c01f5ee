//! What one transaction has locked, by name and time, for whoever looks into a database.
//!
//! The lock table knows keys by their hashes alone. The first locks of each transaction are noted
//! here in full besides: those of whoever does something by hand, or in statements of few rows. Of
//! more only the number is known.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::base::types::limits::{NOTED_KEY_BYTES_MAX, NOTED_LOCKS_MAX};
use crate::db::txn::locks::lock_id::{LockId, LockName};

/// The notes of one transaction. Its own thread writes, any other may read.
#[derive(Debug, Default)]
pub struct LockNotes {
    notes: Mutex<Notes>,
}

/// The first of the changes that the transaction made to what it holds, in their order.
#[derive(Debug, Default)]
struct Notes {
    changes: Vec<Change>,
    keys: Vec<u8>,
}

#[derive(Debug)]
struct Change {
    id: LockId,
    /// Whether the transaction held nothing of the lock before.
    is_first: bool,
    at: Duration,
    /// Where its key begins in `keys`, and the one of the next.
    key_from: usize,
    key_to: usize,
}

/// A lock that was held at some moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotedLock {
    /// As the table knows it.
    pub id: LockId,
    /// Of what it is.
    pub name: LockName,
    /// Since when, by the monotonic clock; it may have become a stronger one since.
    pub since: Duration,
}

impl LockNotes {
    /// The change with that place among all was made, if there is room for one more.
    pub fn push(&self, place: usize, taken: (LockId, bool), key: &[u8], at: Duration) {
        let notes = &mut *self.notes();
        // One that was not noted has none behind it that is: places are the same in both.
        let is_next = notes.changes.len() == place;
        let has_room = place < NOTED_LOCKS_MAX
            && key.len() <= NOTED_KEY_BYTES_MAX.saturating_sub(notes.keys.len());
        if !is_next || !has_room {
            return;
        }
        let key_from = notes.keys.len();
        notes.keys.extend_from_slice(key);
        let (id, is_first) = taken;
        notes.changes.push(Change {
            id,
            is_first,
            at,
            key_from,
            key_to: notes.keys.len(),
        });
    }

    /// Only the first `count` changes are left.
    pub fn truncate(&self, count: usize) {
        let notes = &mut *self.notes();
        if let Some(change) = notes.changes.get(count) {
            notes.keys.truncate(change.key_from);
            notes.changes.truncate(count);
        }
    }

    /// The change with that place was taken back; those behind it have no keys.
    pub fn remove(&self, place: usize) {
        let notes = &mut *self.notes();
        if place >= notes.changes.len() {
            return;
        }
        let removed = notes.changes.remove(place);
        notes.keys.truncate(removed.key_from);
        for change in &mut notes.changes[place..] {
            assert_eq!(
                change.key_from, change.key_to,
                "only the last key is removed"
            );
            (change.key_from, change.key_to) = (removed.key_from, removed.key_from);
        }
    }

    /// The locks that are noted, in the order in which they were taken.
    pub fn list(&self) -> Vec<NotedLock> {
        let notes = &*self.notes();
        let first = notes.changes.iter().filter(|change| change.is_first);
        let locks = first.map(|change| {
            let keyspace = change.id.keyspace();
            let key = &notes.keys[change.key_from..change.key_to];
            NotedLock {
                id: change.id,
                name: match change.id.is_keyspace() {
                    true => LockName::of_keyspace(keyspace),
                    false => LockName::of_key(keyspace, key),
                },
                since: change.at,
            }
        });
        locks.collect()
    }

    // No caller's code runs under it.
    fn notes(&self) -> MutexGuard<'_, Notes> {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
