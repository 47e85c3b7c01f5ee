//! What a lock is of, and who holds it.

use std::fmt;
use std::hash::{Hash, Hasher};

use crate::base::codec::checksum::hash64;
use crate::base::types::ids::KeyspaceId;

/// One owner of locks: a transaction, or a write outside of any. The caller gives it out; no two
/// live owners have the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TxnId(pub u64);

/// The first of the numbers that plain writes have; transactions are counted from 0 on.
const MOMENTARY_FIRST: u64 = 1 << 63;

impl TxnId {
    /// The plain write with that number among all that ever took locks.
    pub fn momentary(number: u64) -> TxnId {
        TxnId(MOMENTARY_FIRST | number)
    }

    /// Whether it is a plain write.
    pub fn is_momentary(self) -> bool {
        self.0 >= MOMENTARY_FIRST
    }
}

impl fmt::Display for TxnId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// Stands for the hash of a whole keyspace. A key with this hash gets the one below, and shares its
/// lock with keys that have that one.
const WHOLE: u64 = u64::MAX;

/// Names a lock: a keyspace and the hash of a key in it, or the keyspace as a whole.
///
/// Shape: 12 bytes, aligned to 4, so that an entry of the table takes 24.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(Rust, packed(4))]
pub struct LockId {
    keyspace: KeyspaceId,
    hash: u64,
}

const _: () = assert!(size_of::<LockId>() == 12);

impl LockId {
    /// The lock of a key.
    #[inline]
    pub fn of_key(keyspace: KeyspaceId, key: &[u8]) -> LockId {
        LockId {
            keyspace,
            hash: hash64(key).min(WHOLE - 1),
        }
    }

    /// The lock of the keyspace as a whole.
    pub fn of_keyspace(keyspace: KeyspaceId) -> LockId {
        LockId {
            keyspace,
            hash: WHOLE,
        }
    }

    /// The keyspace of the lock, or in which it is.
    pub fn keyspace(self) -> KeyspaceId {
        self.keyspace
    }

    /// Whether it is of a keyspace as a whole.
    pub fn is_keyspace(self) -> bool {
        self.hash == WHOLE
    }

    /// Which of `count` stripes has it: by the high bits, because the maps of a stripe look at the
    /// low ones. Keyspaces are spread by their numbers.
    #[inline]
    pub fn stripe_index(self, count: usize) -> usize {
        let hash = match self.is_keyspace() {
            true => u64::from(self.keyspace.0) << 32,
            false => self.hash,
        };
        (hash >> 32) as usize % count
    }
}

impl Hash for LockId {
    // The hash of a key is one already, and keyspaces differ in few low bits.
    #[inline]
    fn hash<H: Hasher>(&self, state: &mut H) {
        let keyspace = u64::from(self.keyspace.0);
        state.write_u64(self.hash ^ keyspace.rotate_right(32) ^ keyspace);
    }
}

impl fmt::Debug for LockId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (keyspace, hash) = (self.keyspace, self.hash);
        write!(f, "LockId({keyspace}, {hash:016x})")
    }
}

/// What a lock is of, in full, for messages.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LockName {
    /// The keyspace.
    pub keyspace: KeyspaceId,
    /// The key in it; `None` is the keyspace as a whole.
    pub key: Option<Box<[u8]>>,
}

impl LockName {
    /// Of a key.
    pub fn of_key(keyspace: KeyspaceId, key: &[u8]) -> LockName {
        LockName {
            keyspace,
            key: Some(key.into()),
        }
    }

    /// Of a keyspace as a whole.
    pub fn of_keyspace(keyspace: KeyspaceId) -> LockName {
        LockName {
            keyspace,
            key: None,
        }
    }
}

#[cfg(test)]
mod tests;
