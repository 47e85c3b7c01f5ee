//! Numbers that must never mix: files, keyspaces, levels.

use std::fmt;

use crate::base::types::limits::LEVEL_COUNT;

/// Number of a file in the database directory; never used twice for different contents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileNumber(pub u64);

impl fmt::Display for FileNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:06}", self.0)
    }
}

/// Number of a keyspace; 0 is the keyspace `default`; never used again after a drop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyspaceId(pub u32);

impl KeyspaceId {
    /// The keyspace on which `Db` itself acts.
    pub const DEFAULT: KeyspaceId = KeyspaceId(0);
}

impl fmt::Display for KeyspaceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// Depth in a keyspace's tree: 0 is the newest, `LEVEL_COUNT - 1` the bottom.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Level(u8);

impl Level {
    /// The level that flushes write to; its runs may overlap one another.
    pub const ZERO: Level = Level(0);

    /// The level of that depth, if there is one.
    pub fn new(depth: usize) -> Option<Level> {
        if depth < LEVEL_COUNT {
            u8::try_from(depth).ok().map(Level)
        } else {
            None
        }
    }

    /// Depth as an index into arrays of [`LEVEL_COUNT`] elements.
    pub fn index(self) -> usize {
        usize::from(self.0)
    }

    /// The level below, if there is one.
    pub fn below(self) -> Option<Level> {
        Level::new(self.index() + 1)
    }

    /// All levels from the newest to the bottom.
    pub fn all() -> impl DoubleEndedIterator<Item = Level> {
        (0..LEVEL_COUNT).filter_map(Level::new)
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "L{}", self.0)
    }
}

/// A way to encode values one by one: what was encoded in it can be decoded wherever values of the
/// same one can. A store says which ways there are; for all others it is only equal or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EncodingId(pub u128);
