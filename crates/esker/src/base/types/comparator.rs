//! How user keys compare; bytewise by default.

use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

use crate::base::types::user_code;

/// The name under which the bytewise order stands in a manifest.
pub const BYTEWISE_NAME: &str = "bytewise";

/// A user's own order of keys.
///
/// The name stands in the manifest and is checked at open. The order must be total, must never
/// change, and keys that compare equal must be the same bytes.
///
/// It is called in the middle of reads and writes, under locks of the engine. So it must not use
/// the database: every operation called from here is refused as `Invalid`, or panics if it cannot
/// return an error. Nor may it wait for another thread that uses it.
///
/// A write of a key that the order panics on, or that it says is not equal to itself, is refused
/// as `Invalid`. A panic in the middle of a write ends all writing until the database is opened
/// again (`Faulted`): the batch is there as a whole then, or not at all. A panic in a read goes
/// through to the caller; one while a database is opened or copied is told as `Invalid`; one in the
/// background counts as a failed write.
pub trait CustomComparator: Send + Sync {
    /// Name kept in the manifest.
    fn name(&self) -> &str;
    /// How `left` compares with `right`.
    fn compare(&self, left: &[u8], right: &[u8]) -> Ordering;
}

/// The order of a keyspace's keys.
///
/// An enum, not only a trait: the bytewise order is nearly always the one, and a comparison that
/// can be inlined halves the cost of a search in a memtable.
#[derive(Clone, Default)]
pub enum Comparator {
    /// As `memcmp`, the shorter first where one begins the other.
    #[default]
    Bytewise,
    /// The user's own.
    Custom(Arc<dyn CustomComparator>),
}

impl Comparator {
    /// Name kept in the manifest.
    pub fn name(&self) -> &str {
        match self {
            Comparator::Bytewise => BYTEWISE_NAME,
            Comparator::Custom(comparator) => comparator.name(),
        }
    }

    /// How `left` compares with `right`.
    #[inline]
    pub fn compare(&self, left: &[u8], right: &[u8]) -> Ordering {
        match self {
            Comparator::Bytewise => left.cmp(right),
            Comparator::Custom(comparator) => compare_by(&**comparator, left, right),
        }
    }

    /// Whether keys compare as bytes, so that prefixes and separators may be used.
    #[inline]
    pub fn is_bytewise(&self) -> bool {
        matches!(self, Comparator::Bytewise)
    }
}

/// How `left` compares with `right` in a user's own comparator.
// Apart: with the mark and what takes it off inlined, every comparison of bytes was dearer.
#[inline(never)]
pub fn compare_by(comparator: &dyn CustomComparator, left: &[u8], right: &[u8]) -> Ordering {
    user_code::run(|| comparator.compare(left, right))
}

impl fmt::Debug for Comparator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Comparator({})", self.name())
    }
}
