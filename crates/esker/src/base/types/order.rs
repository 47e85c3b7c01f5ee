//! How user keys compare; bytewise by default.

use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

/// The name under which the bytewise order stands in a manifest.
pub const BYTEWISE_NAME: &str = "bytewise";

/// A user's own order of keys.
///
/// The name stands in the manifest and is checked at open. The order must be total, must never
/// change, and keys that compare equal must be the same bytes.
pub trait Order: Send + Sync {
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
pub enum KeyOrder {
    /// As `memcmp`, the shorter first where one begins the other.
    #[default]
    Bytewise,
    /// The user's own.
    Custom(Arc<dyn Order>),
}

impl KeyOrder {
    /// Name kept in the manifest.
    pub fn name(&self) -> &str {
        match self {
            KeyOrder::Bytewise => BYTEWISE_NAME,
            KeyOrder::Custom(order) => order.name(),
        }
    }

    /// How `left` compares with `right`.
    #[inline]
    pub fn compare(&self, left: &[u8], right: &[u8]) -> Ordering {
        match self {
            KeyOrder::Bytewise => left.cmp(right),
            KeyOrder::Custom(order) => order.compare(left, right),
        }
    }

    /// Whether keys compare as bytes, so that prefixes and separators may be used.
    #[inline]
    pub fn is_bytewise(&self) -> bool {
        matches!(self, KeyOrder::Bytewise)
    }
}

impl fmt::Debug for KeyOrder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KeyOrder({})", self.name())
    }
}
